"""The same machines by other parameters: norm, margin, sum of slacks, a bound; against a generic solver."""

import numpy as np
import pytest

import mercer
from mercer import SVC, KernelRidge, SVCPath, SVRPath, bounds
from mercer.kernels import RBF
from mercer.selection import alpha_for_norm

cp = pytest.importorskip("cvxpy")

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=40) > 0, 1, -1)
TARGET = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
WEIGHT = rng.uniform(0.5, 2.0, size=40)
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
ROOT = np.linalg.cholesky(K + 1e-11 * np.eye(40))  # features whose inner products are the kernel


@pytest.fixture(scope="module")
def path():
    return SVCPath(kernel=RBF(0.5), C_max=100.0).fit(X, y, WEIGHT)


def problem(slack, w, objective, *limits):
    cp.Problem(cp.Minimize(objective), list(limits)).solve(
        solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11
    )
    return slack.value, w.value


def test_the_least_norm_for_a_sum_of_slacks(path):
    """(12.7): min ||w|| subject to sum xi <= constant."""
    for wished in (12.0, 20.0, 30.0):
        C = path.C_for(slack_sum=wished)
        machine = path.at(C)
        w, b = cp.Variable(40), cp.Variable()
        slack = cp.pos(1 - cp.multiply(y, ROOT @ w + b))
        _, best = problem(slack, w, cp.norm(w), WEIGHT @ slack <= wished)
        assert 1.0 / machine.margin_ == pytest.approx(np.linalg.norm(best), rel=1e-5)
        assert WEIGHT @ machine.slacks(X, y) == pytest.approx(wished, rel=1e-9)
        np.testing.assert_allclose(machine.decision_function(X), ROOT @ best + b.value, atol=1e-4)


def test_the_least_slacks_for_a_margin(path):
    """Remark 7.31: a value of the margin is a value of C, and minimises the slacks for that margin."""
    for wished in (0.2, 0.5):
        machine = path.at(path.C_for(margin=wished))
        assert machine.margin_ == pytest.approx(wished, rel=1e-9)
        w, b = cp.Variable(40), cp.Variable()
        slack = cp.pos(1 - cp.multiply(y, ROOT @ w + b))
        found, _ = problem(slack, w, WEIGHT @ slack, cp.norm(w) <= 1.0 / wished)
        assert WEIGHT @ machine.slacks(X, y) == pytest.approx(WEIGHT @ found, rel=1e-5)
    assert path.C_for(norm=2.0) == pytest.approx(path.C_for(margin=0.5), rel=1e-12)


def test_regressions_by_norm_and_by_slacks():
    path = SVRPath(kernel=RBF(0.5), epsilon=0.1, C_max=100.0).fit(X, TARGET)
    for wished in (1.5, 4.0):
        machine = path.at(path.C_for(slack_sum=wished))
        off = np.maximum(np.abs(machine.predict(X) - TARGET) - 0.1, 0.0).sum()
        assert off == pytest.approx(wished, rel=1e-9)
        w, b = cp.Variable(40), cp.Variable()
        slack = cp.pos(cp.abs(ROOT @ w + b - TARGET) - 0.1)
        _, best = problem(slack, w, cp.norm(w), cp.sum(slack) <= wished)
        a = np.zeros(40)
        a[machine.support_] = machine.dual_coef_[0]
        assert np.sqrt(a @ K @ a) == pytest.approx(np.linalg.norm(best), rel=1e-4)
        assert path.C_for(norm=np.sqrt(a @ K @ a)) == pytest.approx(machine.C, rel=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge_with_a_bound_on_the_norm(fit_intercept):
    """Computation 7.40."""
    model = KernelRidge(kernel=RBF(0.5), fit_intercept=fit_intercept)
    for wished in (0.3, 1.0):
        alpha = alpha_for_norm(model, X, TARGET, wished)
        fitted = KernelRidge(kernel=RBF(0.5), fit_intercept=fit_intercept, alpha=alpha).fit(X, TARGET)
        assert fitted.dual_coef_ @ K @ fitted.dual_coef_ == pytest.approx(wished**2, rel=1e-8)
        w, b = cp.Variable(40), cp.Variable()
        error = cp.sum_squares(ROOT @ w + (b if fit_intercept else 0.0) - TARGET)
        cp.Problem(cp.Minimize(error), [cp.norm(w) <= wished]).solve(solver="CLARABEL")
        assert ((fitted.predict(X) - TARGET) ** 2).sum() == pytest.approx(float(error.value), rel=1e-5)
    assert alpha_for_norm(model, X, TARGET, 1e9) == 0.0


def test_the_price_of_least_vc_bound(path):
    """No C of a fine grid has a smaller bound (12.51), with training errors charged."""

    def bound(C):
        machine = path.at(C)
        h = int(np.floor(1.0 / machine.margin_**2)) + 1
        if h > 80:
            return np.inf
        e = WEIGHT @ (machine.predict(X) != y) / WEIGHT.sum()
        eps = 4.0 * (h * (np.log(80.0 / h) + 1.0) - np.log(0.05 / 4.0)) / 40
        return e + eps / 2 * (1 + np.sqrt(1 + 4 * e / eps))

    found = bounds.price_by_vc_bound(path, radius=1.0)
    assert found.bound == pytest.approx(bound(found.C), rel=1e-9)
    assert found.bound <= min(bound(C) for C in np.geomspace(1e-2, 100.0, 150)) + 1e-9
    assert bounds.vc_error(h=3, n=500, training_error=0.0) == bounds.vc_error(h=3, n=500)


def test_what_a_path_does_not_reach_is_told(path):
    with pytest.raises(ValueError, match=r"slack_sum=0\.001 is not reached between C="):
        path.C_for(slack_sum=0.001)
    with pytest.raises(ValueError, match="give one of"):
        path.C_for(norm=1.0, margin=1.0)
    with pytest.raises(ValueError, match="margin=-1"):
        path.C_for(margin=-1.0)
    with pytest.raises(ValueError, match="norm=0"):
        alpha_for_norm(KernelRidge(), X, TARGET, 0.0)


def test_the_machine_of_a_wished_margin_is_an_svc(path):
    C = path.C_for(margin=0.3)
    direct = SVC(kernel=RBF(0.5), C=C, tol=1e-10).fit(X, y, WEIGHT)
    assert direct.margin_ == pytest.approx(0.3, rel=1e-6)
    assert isinstance(path.at(C), mercer.SVC)
