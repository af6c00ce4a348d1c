"""Gradient ascent in its other forms, each against a generic solver of the problem it solves."""

import cvxpy as cp
import numpy as np
import pytest

from mercer import SVC, SVR
from mercer.kernels import RBF
from mercer.solvers import Ascent

KERNEL, C, N = RBF(0.5), 2.0, 60


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    return X, np.where(X[:, 0] + 0.4 * rng.normal(size=N) > 0.3, 1.0, -1.0)


def optimum(X, penalty, *, bias=None, tau=None):
    """Return the least 1/2 |w|^2 + penalty(f), with a bias that is given, penalised or free."""
    L = np.linalg.cholesky(KERNEL(X) + 1e-12 * np.eye(len(X)))
    u, b = cp.Variable(len(X)), cp.Variable()
    cost = 0.5 * cp.sum_squares(u) + (0.0 if tau is None else 0.5 * cp.square(b / tau))
    fixed = [] if bias is None else [b == bias]
    return cp.Problem(cp.Minimize(cost + penalty(L @ u + b)), fixed).solve(solver="CLARABEL")


def hinge(y):
    return lambda f: C * cp.sum(cp.pos(1 - cp.multiply(y, f)))


@pytest.mark.parametrize("order", ["gap", "batch"])
def test_orders_end_at_the_same_optimum(data, order):
    X, y = data
    model = SVC(kernel=KERNEL, C=C, solver=Ascent(order=order), criterion="gap", tol=1e-6).fit(X, y)
    best = optimum(X, hinge(y), tau=1.0)  # of a Gaussian kernel the largest norm is 1
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(best, rel=1e-5)


def test_steepest_ascent_never_descends(data):
    X, y = data
    model = SVC(kernel=KERNEL, C=C, solver=Ascent(order="batch"), trace=True).fit(X, y)
    dual = np.array([line["dual"] for line in model.history_[0]])
    assert (np.diff(dual) >= -1e-12 * np.abs(dual[1:])).all()


def test_rates_may_be_functions_of_time(data):
    X, y = data
    seen = []

    def rates(t):
        seen.append(t)
        return 0.9 / (1.0 + 0.01 * t)  # K_ii + tau^2 is 2 here

    model = SVC(kernel=KERNEL, C=C, solver=Ascent(rates=rates, order="cyclic"), criterion="gap", tol=1e-6)
    model.fit(X, y)
    assert model.certificate_.primal == pytest.approx(optimum(X, hinge(y), tau=1.0), rel=1e-5)
    assert sorted(set(seen)) == list(range(len(set(seen))))
    whole = Ascent(order="batch", rates=lambda t: np.full(N, 0.5 / N))
    batch = SVC(kernel=KERNEL, C=C, solver=whole, criterion="gap", tol=1e-3).fit(X, y)
    assert batch.certificate_.primal == pytest.approx(optimum(X, hinge(y), tau=1.0), rel=1e-2)
    with pytest.raises(ValueError, match=r"rates\(0\) must be a positive number"):
        SVC(solver=Ascent(rates=lambda t: -1.0)).fit(X, y)


@pytest.mark.parametrize("bias", [-0.7, 0.0, 1.5])
def test_a_bias_may_be_given(data, bias):
    X, y = data
    model = SVC(kernel=KERNEL, C=C, solver=Ascent(bias=bias), criterion="gap", tol=1e-6).fit(X, y)
    assert model.intercept_[0] == bias
    assert model.certificate_.primal == pytest.approx(optimum(X, hinge(y), bias=bias), rel=1e-5)
    assert model.certify(X, y).status == "optimal"
    target = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    tube = SVR(kernel=KERNEL, C=C, epsilon=0.1, solver=Ascent(bias=bias), criterion="gap", tol=1e-6)
    tube.fit(X, target)
    best = optimum(X, lambda f: C * cp.sum(cp.pos(cp.abs(target - f) - 0.1)), bias=bias)
    assert tube.certificate_.primal == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("order", ["cyclic", "violators", "gap", "random"])
def test_the_sum_may_be_relaxed_so_that_the_bias_is_free(data, order):
    X, y = data
    best = optimum(X, hinge(y))
    for zeta in (2.0, lambda t: 0.98**t):
        model = SVC(kernel=KERNEL, C=C, solver=Ascent(zeta=zeta, order=order), criterion="gap", tol=1e-2)
        model.fit(X, y)
        assert model.certificate_.status == "optimal"
        assert best * (1 - 1e-6) <= model.certificate_.primal <= best * 1.01
        beta = np.zeros(N)
        beta[model.support_] = model.dual_coef_[0]
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()


def test_one_way_to_have_a_bias_at_a_time(data):
    X, y = data
    with pytest.raises(ValueError, match="bias and zeta are different ways"):
        Ascent(bias=0.0, zeta=1.0)
    with pytest.raises(ValueError, match="zeta and tau are different ways"):
        Ascent(tau=2.0, zeta=1.0)
    with pytest.raises(ValueError, match="fit_intercept=False has none"):
        SVC(solver=Ascent(bias=1.0), fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match="cannot be given beforehand"):
        SVC(solver=Ascent(bias=1.0), C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="zeta=-1 must be a positive number"):
        Ascent(zeta=-1)
