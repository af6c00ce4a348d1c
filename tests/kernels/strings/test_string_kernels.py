"""String kernels against their naive twins, on characters, bytes and tokens."""

import math
import pickle

import naive_strings as naive
import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer.kernels import (
    AllSubstrings,
    BlendedSpectrum,
    Edit,
    GappyPairs,
    LocalAlignment,
    Mismatch,
    Spectrum,
    Subsequence,
    WeightedDegree,
)

pytestmark = pytest.mark.core

SCORES = {(a, b): 2.0 if a == b else -1.0 for a in "abcd" for b in "abcd"}
FEATURES = [
    (Spectrum(1), lambda x: naive.spectrum(x, 1)),
    (Spectrum(3), lambda x: naive.spectrum(x, 3)),
    (BlendedSpectrum(4, 0.5), lambda x: naive.blended(x, 4, 0.5)),
    (BlendedSpectrum(7), lambda x: naive.blended(x, 7, 1.0)),
    (GappyPairs(1, 2), lambda x: naive.gappy_pairs(x, 1, 2)),
    (GappyPairs(2, 0), lambda x: naive.gappy_pairs(x, 2, 0)),
    (Mismatch(2, 0, "abc"), lambda x: naive.mismatches(x, 2, 0, "abc")),
    (Mismatch(3, 1, "abc"), lambda x: naive.mismatches(x, 3, 1, "abc")),
    (Mismatch(3, 2, "abc"), lambda x: naive.mismatches(x, 3, 2, "abc")),
    (Subsequence(1, 0.5), lambda x: naive.subsequences(x, 1, 0.5, False)),
    (Subsequence(3, 0.7), lambda x: naive.subsequences(x, 3, 0.7, False)),
    (Subsequence(4, 1.0, exactly=True), lambda x: naive.subsequences(x, 4, 1.0, True)),
    (AllSubstrings(), lambda x: naive.all_substrings(x, lambda n: 1.0)),
    (AllSubstrings("exponential", 1.3), lambda x: naive.all_substrings(x, lambda n: 1.3**-n)),
    (AllSubstrings("bounded", most=3), lambda x: naive.all_substrings(x, lambda n: float(n <= 3))),
]
IDS = [repr(kernel) for kernel, _ in FEATURES]


def words(seed, n, letters="abc"):
    """Return random words, one of them empty, one of a single letter again and again."""
    rng = np.random.default_rng(seed)
    made = ["".join(rng.choice(list(letters), size=size)) for size in rng.integers(0, 10, size=n - 3)]
    return [*made, "", letters[0] * 11, letters[:2] * 5]


def matrix(function, X, Z):
    return np.array([[function(x, z) for z in Z] for x in X])


def close(values, truth):
    np.testing.assert_allclose(values, truth, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("kernel", "features"), FEATURES, ids=IDS)
def test_values_are_inner_products_of_the_features(kernel, features):
    X, Z = words(0, 9), words(1, 8, "abcd")  # d is new

    def value(x, z):
        return naive.inner(features(x), features(z))

    close(kernel(X), matrix(value, X, X))
    close(kernel(X, Z), matrix(value, X, Z))
    close(kernel(Z), matrix(value, Z, Z))
    close(kernel.diag(Z), [value(z, z) for z in Z])


@pytest.mark.parametrize(("degree", "shift"), [(1, 0), (3, 0), (12, 0), (3, 2), (2, 9)])
def test_weighted_degree(degree, shift):
    rng = np.random.default_rng(2)
    X = ["".join(row) for row in rng.choice(list("ab"), size=(7, 8))]
    truth = matrix(lambda x, z: naive.weighted_degree(x, z, degree, shift), X, X)
    close(WeightedDegree(degree, shift)(X), truth)
    close(WeightedDegree(degree, shift)(X[:3], X), truth[:3])


@pytest.mark.parametrize(("indel", "substitution"), [(1.0, 1.0), (1.0, 3.0), (2.0, 0.5)])
def test_edit_distances(indel, substitution):
    X, Z = words(3, 7), words(4, 6, "abcd")
    truth = matrix(lambda x, z: math.exp(-0.2 * naive.edit_distance(x, z, indel, substitution)), X, Z)
    close(Edit(0.2, indel, substitution)(X, Z), truth)


def test_local_alignments():
    X, Z = [x[:5] for x in words(5, 7)], [z[:5] for z in words(6, 6, "abcd")]
    kernel = LocalAlignment(SCORES, gap_open=1.5, gap_extend=0.5, beta=0.4)
    truth = matrix(lambda x, z: naive.local_alignments(x, z, SCORES, 1.5, 0.5, 0.4), X, Z)
    close(kernel(X, Z), truth)
    close(kernel.diag(X), [naive.local_alignments(x, x, SCORES, 1.5, 0.5, 0.4) for x in X])


@pytest.mark.parametrize(("kernel", "features"), FEATURES[:9], ids=IDS[:9])
def test_feature_maps_are_the_kernel(kernel, features):
    X, Z = words(7, 9), words(8, 8, "abcd")
    fitted = kernel.feature_map(X)
    A, B = fitted.transform(kernel.check(X)), fitted.transform(kernel.check(Z))
    close((A @ B.T).toarray(), kernel(X, Z))
    close(fitted.squared_norms(kernel.check(Z)), kernel.diag(Z))
    assert len(fitted.names) == A.shape[1] == len(set(fitted.names))


def test_features_have_the_names_of_what_they_count():
    assert Spectrum(2).feature_map(["abab", "bca"]).names == ("ab", "ba", "bc", "ca")
    assert Spectrum(2).feature_map([["to", "be"], ["or", "not"]]).names == ("to be", "or not")
    assert Spectrum(2).feature_map([b"ab"]).names == ("ab",)
    assert BlendedSpectrum(2).feature_map(["ab"]).names == ("a", "b", "ab")
    assert GappyPairs(1, 1).feature_map(["abc"]).names == ("ab", "bc", "a.c")
    assert Mismatch(2, 1, "ab").feature_map(["aa"]).names == ("aa", "ab", "ba")


KERNELS = [*(kernel for kernel, _ in FEATURES), Edit(), LocalAlignment(SCORES, 1.5, 0.5, 0.4)]


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=repr)
def test_any_hashable_tokens(kernel):
    X = words(9, 9)
    if isinstance(kernel, Mismatch):
        tokens, raw = kernel.replaced(alphabet=[("t", c) for c in "abc"]), kernel.replaced(alphabet=b"abc")
    else:
        tokens = raw = kernel
    truth = kernel(X)
    close(tokens([[("t", c) for c in x] for x in X]), truth)
    close(raw([x.encode() for x in X]), truth)
    close(kernel(np.array(X)), truth)
    close(kernel(np.array(X, dtype=object)), truth)


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2), AllSubstrings(), Edit()], ids=repr)
def test_rows_of_integers_are_sequences(kernel):
    table = np.random.default_rng(0).integers(0, 3, size=(6, 7))
    close(kernel(table), kernel(["".join(map(str, row)) for row in table]))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_blocks_order_and_copies(kernel):
    X = [x for x in words(10, 12) if x]
    K = kernel(X)
    order = np.random.default_rng(0).permutation(len(X))
    close(kernel([X[i] for i in order]), K[np.ix_(order, order)])
    close(kernel(X[:4], X), K[:4])
    for copy in (pickle.loads(pickle.dumps(kernel)), clone(kernel), eval(repr(kernel), vars(mercer.kernels))):
        assert copy == kernel
    if kernel.is_psd:
        assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.trace(K)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, Edit)], ids=repr)
def test_machines_on_strings(kernel, tmp_path):
    X = [x + "ab" for x in words(11, 30)]
    y = np.array(["aa" in x for x in X])
    kernel = kernel.normalized()
    asked = {"C": 10.0, "criterion": "gap", "tol": 1e-7}
    model = mercer.SVC(kernel=kernel, **asked).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, y).status == "optimal"
    K = kernel(X)
    twin = mercer.SVC(kernel="precomputed", **asked).fit(K, y)
    np.testing.assert_allclose(model.certificate_.primal, twin.certificate_.primal, rtol=1e-6)
    mercer.save(model, tmp_path / "words.mercer")
    same = mercer.load(tmp_path / "words.mercer")
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), rtol=1e-12)


def test_an_alphabet_is_that_of_the_training_data():
    kernel = Mismatch(3, 1)
    assert not kernel.is_resolved
    assert kernel.resolve(["bad", "cab"]).alphabet == "abcd"
    assert kernel.resolve([[3, 1], [2]]).alphabet == (1, 2, 3)
    assert kernel.resolve([b"ba"]).alphabet == b"ab"


@pytest.mark.parametrize(
    ("kernel", "data", "message"),
    [
        (Spectrum(2), "abc", "must be a list or array of sequences; it is a str"),
        (Spectrum(2), ["ab", None], r"X\[1\] is missing \(None\)"),
        (Spectrum(2), ["ab", float("nan")], r"X\[1\] is missing \(nan\)"),
        (Spectrum(2), ["ab", 3], r"X\[1\] is a int"),
        (Spectrum(2), ["ab", b"ab"], r"X\[1\] is a bytes, but X\[0\] a str"),
        (Spectrum(2), [["a", []]], r"X\[0\] holds a list, which cannot be a token"),
        (Spectrum(2), np.ones((3, 2)), "table of float64 with 2 columns"),
        (Spectrum(2), [], "0 sample"),
        (WeightedDegree(2), ["ab", "abc"], r"X\[1\] has 3 symbols, X\[0\] has 2"),
        (Spectrum(0), ["ab"], "k=0"),
        (Mismatch(2, 2), ["ab"], "m=2"),
        (Mismatch(40, 1, "abc"), ["ab"], "k=40 .* at most 39 for 3 letters"),
        (Subsequence(2, 1.5), ["ab"], "decay=1.5"),
        (AllSubstrings("none"), ["ab"], "weighting='none'"),
        (LocalAlignment("BLOSUM99"), ["ab"], "substitution='BLOSUM99'"),
        (LocalAlignment(), ["AB1"], r"X\[0\] holds '1'"),
    ],
)
def test_what_is_wrong_is_named(kernel, data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernel(data)


def test_long_and_many():
    rng = np.random.default_rng(0)
    long = ["".join(rng.choice(list("acgt"), size=20_000)) for _ in range(2)]
    for kernel in (Spectrum(12), AllSubstrings(), Mismatch(6, 1)):
        K = kernel(long)
        assert np.isfinite(K).all()
        assert K[0, 1] <= math.sqrt(K[0, 0] * K[1, 1])
