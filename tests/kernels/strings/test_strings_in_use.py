"""String kernels where kernels are used: frames, projections, bounds, reports, Ctrl-C, memory."""

import math
import signal

import naive_strings as naive
import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import mercer
from mercer.gram import gram
from mercer.kernels import (
    AllSubstrings,
    BlendedSpectrum,
    Edit,
    LocalAlignment,
    Mismatch,
    Spectrum,
    Subsequence,
    WeightedDegree,
)
from mercer.kernels.strings import mismatch
from mercer.kernels.strings.substitutions import table

pytestmark = pytest.mark.core


def genes(n=40, seed=0, length=20):
    """Return random sequences, every other one with a motif, and which have it."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        letters = rng.choice(list("ACGT"), size=length)
        if i % 2:
            letters[4:10] = list("TATAAT")
        made.append("".join(letters))
    return made, np.arange(n) % 2


def test_values_in_print():
    # Lodhi and others, 2002, section 2; Shawe-Taylor and Cristianini, 2004, section 11.2.
    decay = 0.7
    K = Subsequence(2, decay, exactly=True)(["cat", "car", "bat", "bar"])
    same, shared = 2 * decay**4 + decay**6, decay**4
    truth = [[same, shared, shared, 0], [shared, same, 0, shared]]
    np.testing.assert_allclose(K[:2], truth, rtol=1e-14)
    counts = Spectrum(2)(["bar", "bat", "car", "cat"])
    assert counts.tolist() == [[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]]
    assert Spectrum(3)(["statistics"], ["computation"]).item() == 2


@pytest.mark.parametrize("lengths", [(1, 1), (3, 40), (300, 2), (60, 60)])
def test_subsequences_of_unequal_lengths(lengths):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab"), size=n)) for n in (*lengths, 0, *range(20))]
    K = Subsequence(2, 0.8)(X)
    np.testing.assert_allclose(K, K.T, rtol=1e-13)
    for i in range(2, 12):
        value = naive.inner(
            naive.subsequences(X[i], 2, 0.8, False), naive.subsequences(X[1][:30], 2, 0.8, False)
        )
        np.testing.assert_allclose(Subsequence(2, 0.8)([X[i]], [X[1][:30]])[0, 0], value, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [Subsequence(3), AllSubstrings(), WeightedDegree(3), Edit(), LocalAlignment(beta=0.3)], ids=repr
)
def test_tiles_of_all_threads_are_the_whole(kernel):
    X = genes(150, length=12)[0]
    whole = kernel.evaluate(kernel.prepare(X))
    np.testing.assert_allclose(kernel(X), whole, rtol=1e-13)
    np.testing.assert_allclose(kernel(X[:70], X), whole[:70], rtol=1e-13)
    np.testing.assert_allclose(kernel.normalized()(X).diagonal(), 1.0)


@pytest.mark.parametrize("weighting", ["constant", "exponential", "bounded"])
def test_letters_from_far_away_are_letters(weighting):
    """Tables of few letters and lists of edges give the same sums."""
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("abcd"), size=n)) for n in (0, 1, 2, 30, 60, 61)]
    Z = ["".join(rng.choice(list("abcde"), size=n)) for n in (5, 0, 40, 17)]  # one letter that X has not
    far = str.maketrans("abcde", "".join(map(chr, (0x1F600, 0x20000, 0x1D11E, 0xE000, 0x10FFFF))))
    kernel = AllSubstrings(weighting, decay=1.3, most=4)
    moved = [[item.translate(far) for item in items] for items in (X, Z)]
    np.testing.assert_allclose(kernel(*moved), kernel(X, Z), rtol=1e-13)
    np.testing.assert_allclose(kernel(moved[0]), kernel(X), rtol=1e-13)
    many = [chr(0x4E00 + 7 * k) + item for k, item in enumerate(X * 40)]  # more letters than a table has
    truth = kernel(X)
    truth = np.block([[truth] * 40] * 40)
    own = np.array([AllSubstrings(weighting, decay=1.3, most=4).diag([item])[0] for item in many])
    np.testing.assert_allclose(kernel(many) - np.diag(own), truth - np.diag(np.diag(truth)), rtol=1e-12)


@pytest.mark.parametrize("name", ["BLOSUM62", "PAM250"])
@pytest.mark.parametrize("beta", [0.1, 0.2, 0.5, 1.0])
def test_alignments_are_claimed_definite_where_their_scores_are(name, beta):
    smallest = np.linalg.eigvalsh(np.exp(beta * table(name))).min()
    assert LocalAlignment(name, beta=beta).is_psd is (True if smallest > 0 else None)


def test_claims():
    assert LocalAlignment("PAM250", beta=0.2).is_psd is None
    assert LocalAlignment("BLOSUM62", beta=0.5).is_psd
    assert Edit().is_psd is None
    assert WeightedDegree(3, shift=1).is_psd is None
    assert Spectrum(2).is_psd


def test_an_edit_kernel_that_is_not_definite_is_told():
    X = ["ab", "ba", "aba", "bab", "abab", "baba", "aabb", "bbaa", "a", "b"]
    K = Edit(gamma=0.3, substitution=2.0)(X)
    smallest = np.linalg.eigvalsh(K).min()
    model = mercer.SVC(kernel=Edit(gamma=0.3, substitution=2.0))
    y = np.arange(10) % 2
    if smallest < 0:
        with pytest.warns(mercer.estimators.machine.IndefiniteKernelWarning):
            model.fit(X, y)
        assert model.certificate_.status == "stationary"
    else:
        model.fit(X, y)
    np.testing.assert_allclose(model.smallest_eigenvalue_, smallest, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_data_frames(library):
    frames = pytest.importorskip(library)
    X, y = genes()
    K = Spectrum(3).normalized()(X)
    column = frames.Series(X)
    np.testing.assert_allclose(Spectrum(3).normalized()(column), K)
    np.testing.assert_allclose(Spectrum(3).normalized()(frames.DataFrame({"sequence": X})), K)
    model = mercer.SVC(kernel=Spectrum(3).normalized()).fit(column, y)
    assert (model.predict(X) == model.predict(np.array(X))).all()


def test_text_by_vectorisers():
    notes = ["the pump leaks oil", "oil leaks from the pump", "the fan is loud", "a loud fan"] * 3
    kinds = ["pump", "pump", "fan", "fan"] * 3
    for kernel in ("linear", "rbf"):
        model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), mercer.SVC(kernel=kernel, C=10.0))
        assert model.fit(notes, kinds).score(notes, kinds) == 1.0
    model = make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), mercer.SVC(kernel="linear")
    )
    grid = {"tfidfvectorizer__ngram_range": [(1, 2), (2, 3)], "svc__C": [1.0, 10.0]}
    assert GridSearchCV(model, grid, cv=3, error_score="raise").fit(notes, kinds).best_score_ > 0.9
    counts = CountVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False).fit_transform(notes)
    np.testing.assert_allclose((counts @ counts.T).toarray(), BlendedSpectrum(3)(notes), rtol=1e-13)


def test_projections_are_those_of_the_matrix():
    X, _ = genes()
    kernel = Mismatch(4, 1, "ACGT").normalized()
    ours = mercer.KernelPCA(n_components=3, kernel=kernel).fit(X)
    twin = mercer.KernelPCA(n_components=3, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(
        np.abs(ours.transform(X)), np.abs(twin.transform(kernel(X))), rtol=1e-6, atol=1e-9
    )


def test_bounds_of_a_machine_on_strings():
    X, y = genes()
    model = mercer.SVC(kernel=Spectrum(3).normalized(), C=1.0).fit(X, y)
    told = str(mercer.bounds.report(model, X, y))
    assert "delta" in told or "probability" in told


def test_a_report_of_a_machine_on_strings():
    pytest.importorskip("matplotlib")
    X, y = genes()
    model = mercer.SVC(kernel=Spectrum(3).normalized(), C=1.0).fit(X, y)
    page = mercer.report(model, X, y, cv=0)
    assert "Spectrum" in page
    assert "heaviest features" in page
    assert "TAT +" in page


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["ab", 3], r"X\[1\] is a int"),
        (["ab", None], r"X\[1\] is missing \(None\)"),
        (["ab", b"ab"], r"X\[1\] is a bytes"),
        (["ab", {"a": 1}], r"X\[1\] is a dict"),
    ],
)
def test_wrong_items_are_named_through_the_algebra(data, message):
    for kernel in (Spectrum(2).normalized(), Spectrum(2) + 1, 2 * Subsequence(2), Spectrum(1) * Edit()):
        with pytest.raises(TypeError, match=message):
            kernel(data)
        with pytest.raises(TypeError, match=message):
            mercer.SVC(kernel=kernel).fit(data, [0, 1])


def test_empty_and_very_long_items():
    rng = np.random.default_rng(0)
    long = "".join(rng.choice(list("ACGT"), size=3000))
    X = ["", "A", long, long[::-1], ""]
    for kernel in (Subsequence(2, 0.5), AllSubstrings(), Mismatch(4, 1), BlendedSpectrum(6), Edit(0.001)):
        K = kernel.normalized()(X)
        assert np.isfinite(K).all()
        np.testing.assert_allclose(K, K.T, rtol=1e-12)
    model = mercer.SVR(kernel=Spectrum(3).normalized()).fit(X, [0.0, 1.0, 2.0, 3.0, 0.0])
    assert model.predict(["", long]).shape == (2,)


@pytest.mark.parametrize("asked", ["keep", "raise"])
def test_ctrl_c_ends_a_fit(asked, monkeypatch):
    X, y = genes(80)
    model = mercer.SVC(kernel=Subsequence(3).normalized(), C=10.0, on_interrupt=asked, n_jobs=1)
    model.fit(X, y)
    fill, sent = Subsequence.fill, []

    def interrupted(self, *arguments):
        if not sent:  # as a terminal would, in the first values of the fit
            sent.append(signal.raise_signal(signal.SIGINT))
        fill(self, *arguments)

    monkeypatch.setattr(Subsequence, "fill", interrupted)
    if asked == "raise":
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    else:
        assert model.fit(X, y).certificate_.status == "interrupted"


def test_what_does_not_fit_into_memory_is_counted_in_pieces(monkeypatch):
    X, y = genes(24)
    kernel = Mismatch(4, 1, "ACGT").normalized()
    K = kernel(X)
    monkeypatch.setattr(mismatch, "MOST_BYTES", 40_000)
    assert kernel.prepare(X) is X
    np.testing.assert_allclose(kernel(X), K, rtol=1e-13)
    np.testing.assert_allclose(kernel(X[:7], X), K[:7], rtol=1e-13)
    model = mercer.SVC(kernel=kernel).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X),
        mercer.SVC(kernel="precomputed").fit(K, y).decision_function(K),
        rtol=1e-3,
        atol=1e-3,
    )
    assert math.isfinite(model.certificate_.gap)


def test_a_square_block_is_computed_by_halves():
    X = genes(90, length=12)[0]
    kernel = Subsequence(2).normalized()
    served = gram(kernel, X)
    every = np.arange(90)
    before = served.evaluations
    np.testing.assert_allclose(served.block(every, every), kernel(X), rtol=1e-13)
    assert served.evaluations - before == 90 * 91 // 2
    some = np.array([3, 80, 7, 41])
    np.testing.assert_allclose(served.block(some, some), kernel(X)[np.ix_(some, some)], rtol=1e-13)
