"""partial_fit and forget of kernel ridge regression, against fits from nothing."""

import pickle

import numpy as np
import pytest

import mercer
from mercer import KernelRidge
from mercer.kernels import RBF

pytestmark = pytest.mark.core


def rows(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X = np.round(X) if ties else X
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def fresh(model):
    twin = KernelRidge(
        alpha=model.alpha_, kernel=model.kernel_, fit_intercept=model.fit_intercept, solver=model.solver
    )
    return twin.fit(model.X_fit_, model.y_fit_, model.sample_weight_fit_)


def close(model, X):
    twin = fresh(model)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-8)
    np.testing.assert_allclose(model.certificate_.dual, twin.certificate_.dual, rtol=1e-8)
    assert model.certificate_.status == "optimal"


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("solver", ["auto", "eigen"])
def test_every_step_equals_a_fresh_fit(ties, fit_intercept, solver):
    X, y = rows(0, 60, ties)
    rng = np.random.default_rng(1)
    w = rng.integers(0, 3, size=60).astype(float)
    model = KernelRidge(
        alpha=0.1, kernel=RBF(gamma=0.5), fit_intercept=fit_intercept, solver=solver, updatable=True
    )
    model.fit(X[:30], y[:30], w[:30])
    for i in range(30, 60):
        model.partial_fit(X[i : i + 1], y[i : i + 1], w[i : i + 1])
        model.forget(int(rng.integers(model.shape_fit_[0])))
        close(model, X)
    again = model.certify(model.X_fit_, model.y_fit_, model.sample_weight_fit_)
    assert again.gap <= 1e-12 * max(again.primal, 1.0)


def test_outputs_many_rows_and_a_window():
    X, y = rows(2, 200)
    Y = np.stack([y, -(y**2)], axis=1)
    model = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.3, updatable=True, window=80).fit(X[:100], Y[:100])
    np.testing.assert_array_equal(model.X_fit_, X[20:100])
    for i in range(100, 120):
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(model.X_fit_, X[40:120])
    close(model, X)
    model.partial_fit(X[120:], Y[120:])  # all rows are new
    close(model, X)
    assert model.predict(X).shape == (200, 2)
    with pytest.raises(ValueError, match="1 outputs"):
        model.partial_fit(X[:1], y[:1])


def test_alpha_found_by_leaving_one_out_is_frozen_and_its_errors_go():
    X, y = rows(3, 50)
    model = KernelRidge(alpha="loo", kernel="rbf", gamma=0.5, updatable=True).fit(X[:40], y[:40])
    alpha = model.alpha_
    model.partial_fit(X[40:], y[40:]).forget(0)
    assert model.alpha_ == alpha
    assert not hasattr(model, "loo_errors_")
    close(model, X)


def test_duplicates_without_a_penalty_are_solved_by_eigenvectors():
    X, y = rows(4, 20)
    model = KernelRidge(alpha=1e-6, kernel="rbf", gamma=0.5, updatable=True).fit(X, y)
    model.partial_fit(X[:3], y[:3])
    twin = fresh(model)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-5)


def test_files_and_refusals(tmp_path):
    X, y = rows(5, 30)
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5, updatable=True).fit(X, y)
    path = mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(path).forget(4)
    mercer.save(loaded, path)
    for value in (X[4, 0], X[4, 1], y[4]):
        assert value.tobytes() not in path.read_bytes()
        assert value.tobytes() not in pickle.dumps(loaded)
    close(mercer.load(path).partial_fit(X[4:5], y[4:5]), X)
    with pytest.raises(ValueError, match="'cg' has no factor"):
        KernelRidge(solver="cg", updatable=True).fit(X, y)
    with pytest.raises(AttributeError, match="updatable=True"):
        KernelRidge().fit(X, y).forget(0)
