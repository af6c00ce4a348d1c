"""Certificates of nu tubes from their coefficients alone: rounding in a sum makes no free variables."""

import numpy as np
import pytest
import sklearn.svm

from mercer import NuSVR
from mercer.problems.regression import NuTube, Tube

pytestmark = pytest.mark.core


def problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)
    return X, y, {"nu": float(rng.uniform(0.05, 1.0)), "C": float(10 ** rng.uniform(-2, 2)), "tol": 1e-4}


@pytest.mark.parametrize("seed", range(40))
def test_violation_and_gap_agree_whoever_solved_it(seed):
    """The gap of a feasible point bounds what its violation can be worth, and both are small together."""
    X, y, params = problem(seed)
    theirs = NuSVR.from_sklearn(sklearn.svm.NuSVR(**params).fit(X, y))
    for model in (theirs, NuSVR(**params, n_jobs=1).fit(X, y)):
        found = model.certify(X, y)
        # LIBSVM's stopping rule is ours, but for what it rounds and shrinks.
        assert found.kkt_violation <= 5 * params["tol"]
        assert 0 <= found.gap <= found.kkt_violation * 2 * params["C"] * y.size + 1e-9


def test_a_real_violation_is_still_told():
    X, y, params = problem(3)
    model = NuSVR(**params, n_jobs=1).fit(X, y)
    coef = np.zeros(y.size)
    coef[model.support_] = model.dual_coef_[0]
    inside = int(np.flatnonzero(coef == 0)[0])
    free = int(np.argmax(np.minimum(np.abs(coef), params["C"] - np.abs(coef))))
    coef[inside] += 1e-3 * params["C"] * np.sign(coef[free])
    coef[free] -= 1e-3 * params["C"] * np.sign(coef[free])
    dual = NuTube(y, params["C"], np.ones(y.size), params["nu"])
    f = model.kernel_(X) @ coef
    values = dual.certify(Tube(coef, float(model.intercept_[0]), f, model.epsilon_), f)
    assert values.violation > 0.1 * model.epsilon_


def test_what_cancels_in_the_coefficients_is_put_back():
    """With nu = 1 the tube has no width and points may carry both of their multipliers."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=12)
    dual = NuTube(y, 2.0, np.ones(12), 1.0)
    coef = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    b = dual.recover(coef)
    np.testing.assert_allclose([b[:12].sum(), b[12:].sum()], dual.sums)
    np.testing.assert_allclose(dual.beta(b), coef, atol=1e-14)
    assert (b >= dual.lo).all()
    assert (b <= dual.hi).all()
