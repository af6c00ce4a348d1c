"""Weights of features: a decision is their sum."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.inspect import along_sequence, feature_weights
from mercer.kernels import BlendedSpectrum, GappyPairs, Linear, Mismatch, Spectrum, Subsequence

pytestmark = pytest.mark.core


def sequences(seed=0, n=40):
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        letters = rng.choice(list("ACGT"), size=rng.integers(10, 25))
        letters[3:8] = list("TATAA" if i % 2 else "GGCCG")
        made.append("".join(letters))
    return made, np.arange(n) % 2


COUNTING = [
    Spectrum(3),
    Spectrum(3).normalized(),
    2.5 * BlendedSpectrum(4, 0.7),
    BlendedSpectrum(3).normalized(),
    Mismatch(3, 1),
    (0.5 * Mismatch(3, 1)).normalized(),
]


@pytest.mark.parametrize("kernel", [*COUNTING, GappyPairs(1, 2), Spectrum(2) + Spectrum(3)], ids=repr)
def test_the_decision_is_the_sum_of_the_weights(kernel):
    X, y = sequences()
    model = mercer.SVC(kernel=kernel, C=3.0).fit(X, y)
    found = feature_weights(model)
    features = model.kernel_.feature_map(model.support_vectors_)
    assert features.names == found.names
    new = sequences(1, 7)[0]
    decided = features.transform(model.kernel_.check(new)) @ found.weights[0] + found.intercepts[0]
    np.testing.assert_allclose(decided, model.decision_function(new), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", COUNTING, ids=repr)
@pytest.mark.parametrize("form", [str, str.encode, list], ids=["text", "bytes", "tokens"])
def test_symbols_share_the_decision(kernel, form):
    X, y = sequences()
    X = [x.encode() if form is str.encode else list(x) if form is list else x for x in X]
    model = mercer.SVC(kernel=kernel, C=3.0).fit(X, y)
    for item in [*X[:4], X[0][:2], X[0][:0], X[1] + X[0][:1]]:
        shares = along_sequence(model, item)
        assert shares.shape == (len(item),)
        np.testing.assert_allclose(
            shares.sum() + model.intercept_[0], model.decision_function([item])[0], rtol=1e-9, atol=1e-12
        )


def test_the_motif_weighs_most():
    X, y = sequences()
    model = mercer.SVC(kernel=Spectrum(3).normalized(), C=10.0).fit(X, y)
    heavy = dict(feature_weights(model).top(8))
    assert heavy["TAA"] > 0 > heavy["GCC"]
    shares = along_sequence(model, "ACACATATAACACAC")
    assert 4 <= int(np.argmax(shares)) <= 9


def test_several_functions_and_linear_kernels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, :3].argmax(axis=1)
    model = mercer.SVC(kernel="linear", multiclass="ovr").fit(X, y)
    np.testing.assert_allclose(feature_weights(model).weights, model.coef_, rtol=1e-12)
    piped = make_pipeline(StandardScaler(), mercer.SVR(kernel=Linear())).fit(X, X[:, 0])
    np.testing.assert_allclose(feature_weights(piped).weights, piped[-1].coef_, rtol=1e-12)
    assert feature_weights(piped).top(1)[0][0] == "x0"


def test_columns_of_a_table():
    pandas = pytest.importorskip("pandas")
    X, y = sequences()
    frame = pandas.DataFrame({"sequence": X, "age": np.linspace(0.0, 1.0, 40)})
    model = mercer.SVC(kernel=Spectrum(2).normalized().on("sequence")).fit(frame, y)
    shares = along_sequence(model, X[0])
    np.testing.assert_allclose(
        shares.sum() + model.intercept_[0], model.decision_function(frame[:1])[0], rtol=1e-9
    )
    both = mercer.SVC(kernel=Spectrum(2).on("sequence") + Linear().on("age")).fit(frame, y)
    assert "k2.age" in feature_weights(both).names


@pytest.mark.parametrize(
    ("call", "model", "message"),
    [
        (feature_weights, mercer.SVC(kernel=Subsequence(2)), "no features that could be listed"),
        (lambda m: along_sequence(m, "ACG"), mercer.SVC(kernel=Subsequence(2)), "does not count substrings"),
        (feature_weights, mercer.SVC(kernel=Spectrum(2)), "multiclass='ovr'"),
        (feature_weights, mercer.KernelPCA(kernel=Spectrum(2)), "not a sum over support vectors"),
    ],
)
def test_what_is_wrong_is_named(call, model, message):
    X, y = sequences()
    y = np.arange(40) % 3 if "ovr" in message else y
    with pytest.raises((ValueError, TypeError), match=message):
        call(model.fit(X, y))
