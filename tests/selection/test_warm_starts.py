"""Starting from a neighbour's solution changes the way, never the goal."""

import numpy as np
import pytest
from sklearn.base import clone

from clouds import blobs
from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.gram.base import MatrixGram
from mercer.gram.shared_statistic import SharedStatistic
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial
from mercer.problems import soft_margin, squared_hinge
from mercer.problems.nu import NuMargin
from mercer.problems.regression import NuTube, epsilon_tube
from mercer.problems.warm_start import best_multiple, carried, largest_multiple
from mercer.solvers import Decomposition, Limits
from mercer.solvers.dual.free_newton import newton_step
from mercer.solvers.dual.neighbours import Walk

pytestmark = pytest.mark.core

X, LABEL = blobs(90, 3, 2, seed=0)
SIGN = np.where(LABEL == 1, 1.0, -1.0)
TARGET = np.sin(X[:, 0]) + 0.3 * np.cos(5 * X[:, 1])
K = RBF(gamma=0.4)(X)
GRAM = MatrixGram(K, True)


def duals():
    """Return neighbouring problems of each kind, along C or nu."""
    prices = (0.01, 1.0, 30.0, 3000.0)
    ones = np.ones(90)
    return {
        "hinge": [soft_margin(SIGN, C * ones) for C in prices],
        "no bias": [soft_margin(SIGN, C * ones, fit_intercept=False) for C in prices],
        "weights": [soft_margin(SIGN, C * np.linspace(0.0, 2.0, 90)) for C in prices],
        "squared hinge": [squared_hinge(SIGN, C * ones) for C in prices],
        "tube": [epsilon_tube(TARGET, C * ones, 0.05) for C in prices],
        "nu margin": [NuMargin(SIGN, ones, nu, 1.0) for nu in (0.3, 0.5, 0.7, 0.6)],
        "nu tube": [NuTube(TARGET, C, ones, 0.4) for C in prices],
    }


@pytest.mark.parametrize("kind", list(duals()))
@pytest.mark.parametrize("up", [True, False])
def test_a_walk_ends_where_cold_starts_end(kind, up):
    problems = duals()[kind]
    last = None
    for problem in problems if up else problems[::-1]:
        walked = Walk(tol=1e-8).solve(GRAM, problem, [] if last is None else [last])
        cold = Decomposition(tol=1e-8).solve(GRAM, problem)
        assert walked.status == "optimal"
        assert walked.values.violation <= problem.tolerance(1e-8, problem.objective(walked.b, walked.f))
        assert walked.values.dual == pytest.approx(cold.values.dual, rel=1e-6, abs=1e-9)
        last = walked.b


@pytest.mark.parametrize("kind", list(duals()))
def test_starts_are_feasible_and_multiples_are_no_worse(kind):
    rng = np.random.default_rng(0)
    for before in duals()[kind]:
        b = Walk(tol=1e-4).solve(GRAM, before).b
        for after in duals()[kind]:
            start = carried(after, b)
            assert (start >= after.lo).all()
            assert (start <= after.hi).all()
            if after.group is not None:
                sums = np.bincount(after.group, weights=start, minlength=after.sums.size)
                np.testing.assert_allclose(sums, after.sums, atol=1e-7 * max(1.0, np.abs(start).sum()))
            f = K @ after.beta(start)
            better, product = best_multiple(after, start, f)
            np.testing.assert_allclose(product, K @ after.beta(better), atol=1e-7 * max(1.0, np.abs(f).max()))
            assert after.objective(better, product) <= after.objective(start, f) + 1e-9
            t = min(1e3, largest_multiple(after, start)) * rng.random()
            if not after.sums.any():  # no point of the ray is better
                assert after.objective(better, product) <= after.objective(t * start, t * f) + 1e-7


def test_when_c_grows_bounded_variables_follow():
    ones = np.full(90, 0.001)
    b = Walk(tol=1e-9).solve(GRAM, soft_margin(SIGN, ones)).b
    wider = soft_margin(SIGN, 2 * ones)
    start = carried(wider, b)
    moved, _ = best_multiple(wider, start, K @ start)
    np.testing.assert_allclose(moved, 2 * b)


@pytest.mark.parametrize("kind", list(duals()))
def test_a_newton_step_is_feasible_and_never_worse(kind):
    for problem in duals()[kind]:
        start = Decomposition(tol=1e-12, limits=Limits(max_iter=40)).solve(GRAM, problem)
        b, f = start.b, K @ problem.beta(start.b)
        new = newton_step(K, problem, b, problem.gradient(b, f), 500)
        if new is None:
            continue
        assert (new >= problem.lo).all()
        assert (new <= problem.hi).all()
        if problem.group is not None:
            before = np.bincount(problem.group, weights=b, minlength=problem.sums.size)
            after = np.bincount(problem.group, weights=new, minlength=problem.sums.size)
            np.testing.assert_allclose(after, before, atol=1e-9 * max(1.0, np.abs(b).sum()))
        value = problem.objective(new, K @ problem.beta(new))
        assert value <= problem.objective(b, f) + 1e-12 * max(1.0, abs(value))


def test_newton_finishes_what_pairs_cannot():
    rng = np.random.default_rng(1)
    Z = np.repeat(rng.normal(size=(60, 5)), 2, axis=0)  # duplicates, and a wide kernel: badly conditioned
    y = np.where(Z[:, 0] + 0.5 * rng.normal(size=120) > 0, 1.0, -1.0)
    G = RBF(gamma=1e-3)(Z)
    problem = soft_margin(y, np.full(120, 1e4))
    walked = Walk(tol=1e-6).solve(MatrixGram(G, True, diag=np.ones(120)), problem)
    assert walked.status == "optimal"
    assert walked.values.gap <= 1e-6 * 2e4 * 120
    steps = Decomposition(tol=1e-6).solve(MatrixGram(G, True, diag=np.ones(120)), problem).n_iter
    assert walked.n_iter < steps


def test_limits_end_a_walk():
    problem = duals()["hinge"][2]
    stopped = Walk(tol=1e-12, limits=Limits(max_iter=5)).solve(GRAM, problem)
    assert stopped.status == "iteration_limit"
    assert stopped.n_iter <= 5
    assert Walk(limits=Limits(time_limit=0.0)).solve(GRAM, problem).status == "time_limit"


MACHINES = [
    (SVC(kernel="rbf"), "C", (0.05, 1.0, 40.0)),
    (SVC(kernel="rbf", loss="squared_hinge"), "C", (0.05, 1.0, 40.0)),
    (SVC(kernel="rbf", fit_intercept=False), "C", (0.05, 1.0, 40.0)),
    (SVC(kernel="rbf"), "gamma", (0.05, 0.3, 2.0)),
    (NuSVC(), "nu", (0.3, 0.5, 0.7)),
    (SVR(epsilon=0.05), "C", (0.05, 1.0, 40.0)),
    (SVR(C=3.0), "epsilon", (0.3, 0.1, 0.01)),
    (NuSVR(C=2.0), "nu", (0.2, 0.5, 0.8)),
    (OneClassSVM(), "nu", (0.1, 0.3, 0.6)),
    (SVDD(nu=0.2), "nu", (0.1, 0.3, 0.6)),
]


@pytest.mark.parametrize(("machine", "name", "values"), MACHINES, ids=lambda v: str(v)[:30])
@pytest.mark.parametrize("up", [True, False])
def test_warm_start_finds_what_a_cold_start_finds(machine, name, values, up):
    y = LABEL if hasattr(machine, "class_weight") else TARGET if hasattr(machine, "epsilon") else None
    y = TARGET if isinstance(machine, NuSVR) else y
    warm = clone(machine).set_params(warm_start=True, tol=1e-8)
    for value in values if up else values[::-1]:
        warm.set_params(**{name: value}).fit(X, y)
        cold = clone(machine).set_params(**{name: value, "tol": 1e-8}).fit(X, y)
        assert warm.certificate_.status == "optimal"
        assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-6)
        np.testing.assert_allclose(
            *((m.predict if y is TARGET else m.decision_function)(X) for m in (warm, cold)), atol=2e-4
        )


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.3), Matern(1.0, 1.5), Linear(), Polynomial(2, 0.5, 1.0), Laplacian(0.2), RBF(0.3) + Linear()],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_from_a_shared_statistic(kernel, dtype):
    shared = SharedStatistic(X)
    for _ in range(2):  # the second is made of what the first left
        made = shared.matrix(kernel, dtype)
        assert made.dtype == dtype
        np.testing.assert_allclose(made, kernel(X), rtol=1e-5 if dtype == np.float32 else 1e-9, atol=1e-6)
