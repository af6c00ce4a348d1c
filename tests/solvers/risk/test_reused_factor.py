"""Newton steps that are preconditioned by the factor of an earlier one, against L-BFGS on the primal."""

import numpy as np
import pytest
from scipy.linalg import cholesky
from scipy.optimize import minimize

from mercer import KernelLogisticRegression
from mercer.kernels import RBF
from mercer.problems.risk import Root
from mercer.solvers.risk import newton
from mercer.solvers.risk.newton_step import OldFactor

N = newton.SMALL + 20


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_ends_at_the_optimum(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=N) > 0.3, 1.0, -1.0)
    model = KernelLogisticRegression(kernel=RBF(0.3), C=C, tol=1e-10).fit(X, y)
    L = cholesky(RBF(0.3)(X) + 1e-12 * np.eye(N), lower=True)

    def risk(v):
        margins = y * (L @ v[:-1] + v[-1])
        slope = -C * y / (1.0 + np.exp(margins))
        value = 0.5 * v[:-1] @ v[:-1] + C * np.logaddexp(0.0, -margins).sum()
        return value, np.append(v[:-1] + L.T @ slope, slope.sum())

    best = minimize(
        risk, np.zeros(N + 1), jac=True, method="L-BFGS-B", options={"maxiter": 3000, "ftol": 1e-14}
    )
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(best.fun, rel=1e-6)
    assert model.certificate_.dual <= best.fun * (1 + 1e-9)


def test_a_factor_is_no_help_for_other_unknowns_or_far_away():
    old = OldFactor((np.eye(3), True), Root(np.ones((3, 1)), np.arange(3)))
    assert old.inverse(Root(np.full((3, 1), 2.0), np.arange(3)))(np.ones(3)) == pytest.approx(
        np.full(3, 0.25)
    )
    assert old.inverse(Root(np.ones((2, 1)), np.arange(2))) is None
    assert old.inverse(Root(np.ones((3, 1)), np.array([0, 1, 3]))) is None
    assert old.inverse(Root(np.array([[1.0], [1.0], [1e-3]]), np.arange(3))) is None


@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_inexact_steps_do_not_creep_where_the_price_is_high(gamma):
    """Solved to a thousandth each, systems so ill-conditioned took hundreds of steps."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 10))
    y = np.where(X[:, 0] + rng.normal(size=N) > 0, 1.0, -1.0)
    model = KernelLogisticRegression(kernel=RBF(gamma), C=1e5).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap <= 1e-6
    assert np.max(model.n_iter_) <= 60
