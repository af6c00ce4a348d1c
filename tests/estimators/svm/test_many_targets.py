"""A matrix of targets: each column is the machine of that column, and all share the kernel matrix."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVR
from mercer.gram.vectors import VectorGram


@parametrize_with_checks([SVR(tol=1e-8), SVR(loss="squared_epsilon_insensitive", tol=1e-8)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def waves(n=80):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(n, 2))
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2, X[:, 0] * X[:, 1]], axis=1)
    return X, Y + 0.1 * rng.normal(size=Y.shape)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"loss": "squared_epsilon_insensitive"},
        {"fit_intercept": False},
        {"kernel": "linear"},
        {"C": np.inf, "epsilon": 0.5, "gamma": 1.0},
        {"parametric": "linear"},
        {"approximation": "nystroem", "n_components": 40},
    ],
)
def test_each_column_is_the_machine_of_that_column(asked, tmp_path):
    X, Y = waves()
    weight = np.linspace(0.5, 1.5, len(X))
    model = SVR(tol=1e-7, **asked).fit(X, Y, weight)
    assert model.predict(X).shape == Y.shape
    assert len(model.certificate_.parts) == 3
    for k in range(3):
        one = SVR(tol=1e-7, **asked).fit(X, Y[:, k], weight)
        np.testing.assert_allclose(model.predict(X)[:, k], one.predict(X), atol=1e-4)
        assert model.certificate_.parts[k].primal == pytest.approx(one.certificate_.primal, rel=1e-5)
    again = model.certify(X, Y, weight)
    assert again.gap == pytest.approx(model.certificate_.gap, rel=1e-3, abs=1e-8)
    mercer.save(model, tmp_path / "m.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "m.mercer").predict(X), model.predict(X))
    assert model.score(X, Y) > 0.1


def test_refusals_traces_and_warm_starts():
    X, Y = waves()
    model = SVR(trace=True, warm_start=True).fit(X, Y)
    assert len(model.history_) == 3
    steps = model.n_iter_
    assert model.fit(X, Y).n_iter_ < steps
    with pytest.raises(ValueError, match="y has 2 outputs; this model has 3"):
        model.certify(X, Y[:, :2])
    with pytest.raises(ValueError, match="3 targets cannot be given"):
        model.to_sklearn()
    with pytest.raises(ValueError, match="for one target, and y has 3"):
        SVR(updatable=True).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        SVR().fit(X, np.where(Y > 2, np.nan, Y))
    assert model.fit(X, Y[:, 0]).predict(X).shape == (len(X),)


def test_the_kernel_matrix_is_computed_once(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 120))  # dear values: worth keeping
    Y = rng.normal(size=(300, 5))
    seen = []
    plain = VectorGram.block

    def block(self, idx, jdx, out=None):
        seen.append(len(idx) * len(jdx))
        return plain(self, idx, jdx, out)

    monkeypatch.setattr(VectorGram, "block", block)
    SVR(gamma=0.01).fit(X, Y)
    assert sum(seen) < 2 * 300**2
