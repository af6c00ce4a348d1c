"""The saddle-point gradient method for the hard margin, against a generic QP solver."""

import cvxpy as cp
import numpy as np
import pytest

from mercer import SVC


def separable(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.2, 1.0, -1.0)
    X[:, 0] += 0.4 * y
    return X, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(30, 2), (40, 60)])
def test_finds_the_maximal_margin(n, d, fit_intercept):
    X, y = separable(n, d)
    if not fit_intercept:
        X = X - 0.2 * np.eye(d)[0]  # separable through the origin
    model = SVC(
        kernel="linear", C=np.inf, solver="lagrangian", criterion="gap", tol=1e-2, fit_intercept=fit_intercept
    ).fit(X, y)
    w, b = cp.Variable(d), cp.Variable() if fit_intercept else 0.0
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), [cp.multiply(y, X @ w + b) >= 1])
    best = problem.solve(solver="CLARABEL")
    assert model.certificate_.status == "optimal"
    assert model.certificate_.dual <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= model.certificate_.primal <= best * 1.01
    assert (y * model.decision_function(X)).min() > 0
    assert model.certify(X, y).relative_gap <= 1e-2


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_says_that_there_is_no_margin(fit_intercept):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.choice([-1, 1], 40)
    with pytest.raises(ValueError, match="cannot be separated"):
        SVC(kernel="linear", C=np.inf, solver="lagrangian", fit_intercept=fit_intercept).fit(X, y)
