"""The walk: its factor, its twin, and the optimality conditions on all of it."""

import numpy as np
import pytest

from mercer import _jit
from mercer.gram import MatrixGram
from mercer.problems.parametric_family import soft_margin_family, tube_family
from mercer.solvers import Decomposition, Limits
from mercer.solvers.path.breakpoints import KINDS
from mercer.solvers.path.follow import PathSolver
from naive_path import clouds, kernels, naive_path, nasty_sets

pytestmark = pytest.mark.core

NASTY = {name: (X, y) for name, X, y in nasty_sets()}


def check_everywhere(path, K, C_max, *, shares=(0.37,), tol=1e-8):
    """The optimality conditions at every knot and between all of them, from nothing but the coefficients."""
    assert path.status == "optimal"
    assert path.t[-1] == 1.0 / C_max
    assert (np.diff(path.t) <= 0).all()
    np.testing.assert_allclose(path.a @ K, path.products, atol=1e-10 * max(1.0, np.abs(K).max() * len(K)))
    points = [float(t) for t in path.t]
    for share in shares:
        points += [share * s + (1 - share) * t for s, t in zip(path.t[:-1], path.t[1:], strict=True) if s > t]
    points.append(1.5 * float(path.t[0]))  # before the first knot nothing moves
    for t in points:
        dual, solution = path.solution(1.0 / t)
        b = solution.b
        assert (b >= dual.lo).all()
        assert (b <= dual.hi).all()
        f = K @ dual.beta(b)
        rounding = 1e-15 * np.abs(K).max() * np.abs(dual.beta(b)).sum()
        assert dual.violation(b, dual.gradient(b, f)) <= max(tol, 4 * rounding)
        if dual.group is not None:
            assert abs(b.sum()) <= 1e-12 * np.abs(b).sum() + 1e-300


# -- the factor ------------------------------------------------------------------------------------------


def test_appending_and_deleting_keep_the_factor():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    G = A @ A.T
    R, members, x = np.zeros((12, 12)), [], np.empty(12)
    for _ in range(200):
        if members and (len(members) == 12 or rng.random() < 0.45):
            k = int(rng.integers(len(members)))
            _jit.free_factor.delete(R, len(members), k)
            del members[k]
        else:
            i = int(rng.choice([i for i in range(12) if i not in members]))
            m = len(members)
            x[:m] = G[members, i]
            left = _jit.free_factor.schur(R, m, x, G[i, i])
            _jit.free_factor.append(R, m, x, left)
            members.append(i)
        m = len(members)
        U = np.triu(R[:m, :m])
        np.testing.assert_allclose(U.T @ U, G[np.ix_(members, members)], atol=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_systems_with_a_sum_against_the_bordered_matrix(bias):
    rng = np.random.default_rng(1)
    m = 9
    A = rng.normal(size=(m, m))
    K = A @ A.T
    kappa = 2.5 if bias else 0.0
    R = np.linalg.cholesky(K + kappa).T.copy()
    rhs, total = rng.normal(size=m), 0.7
    M = np.block([[K, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    expected = np.linalg.solve(M, np.append(rhs, total)) if bias else np.append(np.linalg.solve(K, rhs), 0.0)
    x = rhs.copy()
    mu = _jit.free_factor.solve_with_sum(R, m, bias, kappa, total, x, np.empty(m))
    np.testing.assert_allclose(np.append(x, mu), expected, rtol=1e-8, atol=1e-10)


def test_equal_slopes_move_nothing():
    R = np.linalg.cholesky(np.eye(3) + 0.5).T.copy()
    x = np.full(3, 0.3)
    mu = _jit.free_factor.solve_with_sum(R, 3, True, 0.5, 0.0, x, np.empty(3))
    assert (x == 0.0).all()
    assert mu == 0.3


# -- the twin --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_knots_of_the_naive_twin(name, regression):
    X, y = clouds(30, 5)
    K = kernels(X)[name]
    target = X[:, 0] + np.sin(2 * X[:, 1])
    weight = np.random.default_rng(6).uniform(0.5, 1.5, 30)  # with equal ones, two rows may leave together
    family = tube_family(target, weight, 0.2) if regression else soft_margin_family(y, weight)
    path = PathSolver().solve(K, family, 1e-2)
    k = path.t.size // 4
    t = 0.5 * (path.t[k] + path.t[k + 1])
    knots = naive_path(K, family.rests, family.slopes, path.locate(t)[0], t, 1e-2)
    assert len(knots) == path.t.size - k - 1
    np.testing.assert_allclose([knot[0] for knot in knots], path.t[k + 1 :], rtol=1e-8)
    np.testing.assert_allclose([knot[1] for knot in knots], path.a[k + 1 :], atol=1e-7)


def test_the_first_published_example_by_hand():
    """Rows at -1 and 1, a linear kernel: w = min(2 C, 1) and the knot is at C = 1/2."""
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    path = PathSolver().solve(X @ X.T, soft_margin_family(y, np.ones(2)), 1e-3)
    np.testing.assert_allclose(path.t, [2.0, 1e-3])
    for C in (0.1, 0.5, 2.0, 100.0):
        a, products = path.locate(1.0 / C)
        np.testing.assert_allclose(C * products @ y, 2 * min(2 * C, 1.0))
        np.testing.assert_allclose(C * a, min(C, 0.5) * y)


# -- the truth -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_optimal_everywhere(name, balanced, weighted, bias):
    X, y = clouds(60, 1, balanced=balanced)
    weight = np.random.default_rng(2).uniform(0.2, 3.0, 60) if weighted else np.ones(60)
    K = kernels(X)[name]
    path = PathSolver().solve(K, soft_margin_family(y, weight, fit_intercept=bias), 1e-4)
    check_everywhere(path, K, 1e4)
    assert path.n_restarts == 0


@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("data", NASTY)
def test_ties_and_duplicates(data, name):
    X, y = NASTY[data]
    K = kernels(X)[name]
    path = PathSolver().solve(K, soft_margin_family(y, np.ones(len(y))), 1e-3)
    check_everywhere(path, K, 1e3, shares=(0.2, 0.8))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ties", [False, True])
def test_regression_is_optimal_everywhere(ties, epsilon, bias):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 2))
    y = 2 * np.sin(X[:, 0]) + 0.4 * rng.normal(size=50)
    if ties:
        X, y = np.round(X), np.round(y)
    for K in kernels(X).values():
        path = PathSolver().solve(K, tube_family(y, np.ones(50), epsilon, fit_intercept=bias), 1e-3)
        check_everywhere(path, K, 1e3)


def test_singular_elbows_are_exchanged_and_listed():
    X, y = NASTY["near duplicates"]
    path = PathSolver().solve(kernels(X)["rbf"], soft_margin_family(y, np.ones(len(y))), 1e-3)
    assert (path.event_kind == KINDS.index("exchange")).any()
    check_everywhere(path, kernels(X)["rbf"], 1e3)


def test_direct_solutions_agree():
    rng = np.random.default_rng(4)
    for balanced in (True, False):
        X, y = clouds(80, 6, balanced=balanced)
        for K in kernels(X).values():
            path = PathSolver().solve(K, soft_margin_family(y, np.ones(80)), 1e-2)
            for C in np.exp(rng.uniform(np.log(1e-3), np.log(1e2), 50)):
                dual, ours = path.solution(float(C))
                theirs = Decomposition(tol=1e-7).solve(MatrixGram(K, True), dual)
                assert abs(ours.values.dual - theirs.values.dual) <= 1e-6 * max(1.0, theirs.values.dual)
                assert ours.values.primal <= theirs.values.primal + 1e-9 * theirs.values.primal


@pytest.mark.slow
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_a_thousand_rows(name, balanced):
    X, y = clouds(1000, 9, balanced=balanced, features=5)
    K = kernels(X)[name]
    C_max = 10.0 if name == "linear" else 1e3
    path = PathSolver().solve(K, soft_margin_family(y, np.ones(1000)), 1.0 / C_max)
    violations, _ = path.verdict()
    assert violations.max() <= 1e-8
    rng = np.random.default_rng(0)
    start = None
    for C in np.sort(np.exp(rng.uniform(np.log(1e-3), np.log(C_max), 200))):
        dual, ours = path.solution(float(C))
        assert ours.values.violation <= 1e-8
        if rng.random() < 0.05:
            theirs = Decomposition(tol=1e-5).solve(MatrixGram(K, True), dual, start)
            start = theirs.b
            gap = theirs.values.gap + 1e-6 * max(1.0, theirs.values.dual)
            assert abs(ours.values.primal - theirs.values.primal) <= gap
        assert ours.values.gap <= 1e-6 * max(1.0, ours.values.primal)


# -- trouble ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["STUCK", "DRIFT"])
def test_a_lost_walk_starts_again(reason, monkeypatch):
    X, y = clouds(50, 11)
    K = kernels(X)["rbf"]
    family = soft_margin_family(y, np.ones(50))
    walk, calls = _jit.path_walk.walk, []

    def unlucky(ground, walker, log, t_end, *scratch):
        calls.append(float(walker.scalars[0]))
        if len(calls) == 1 and family.slopes is ground.slopes:
            walk(ground, walker, log, 0.3 * calls[0], *scratch)
            return getattr(_jit.path_walk, reason)
        return walk(ground, walker, log, t_end, *scratch)

    # The unbalanced beginning has a walk of its own, which is left alone.
    monkeypatch.setattr(
        _jit.path_walk, "walk", lambda g, *rest: (unlucky if g.slopes is family.slopes else walk)(g, *rest)
    )
    path = PathSolver().solve(K, family, 1e-3)
    assert path.n_restarts == 1
    check_everywhere(path, K, 1e3)


def test_a_beginning_that_cannot_be_walked_is_solved(monkeypatch):
    X, y = clouds(50, 12)
    K = kernels(X)["rbf"]
    family = soft_margin_family(y, np.ones(50))
    walk = _jit.path_walk.walk
    monkeypatch.setattr(
        _jit.path_walk,
        "walk",
        lambda g, *rest: walk(g, *rest) if g.slopes is family.slopes else _jit.path_walk.DRIFT,
    )
    check_everywhere(PathSolver().solve(K, family, 1e-3), K, 1e3)


def test_many_members_need_more_room():
    X, y = clouds(400, 13)
    K = kernels(3 * X)["rbf"]
    path = PathSolver().solve(K, soft_margin_family(y, np.ones(400)), 1e-2)
    free = ((path.a != 0) & (np.abs(path.a) != 1)).sum(axis=1)
    assert free.max() > 128
    assert path.verdict()[0].max() <= 1e-8


def test_limits_end_the_path_where_it_is():
    X, y = clouds(300, 14)
    K = kernels(X)["rbf"]
    family = soft_margin_family(y, np.ones(300))
    whole = PathSolver().solve(K, family, 1e-3)
    part = PathSolver(limits=Limits(max_iter=1)).solve(K, family, 1e-3)
    assert part.status == "iteration_limit"
    assert part.t[-1] > whole.t[-1]
    np.testing.assert_array_equal(part.a[:-1], whole.a[: part.t.size - 1])
    assert PathSolver(limits=Limits(time_limit=0.0)).solve(K, family, 1e-3).status == "time_limit"
    with pytest.raises(ValueError, match="the path ends at"):
        part.locate(1e-3)


def test_a_part_of_the_path():
    X, y = clouds(60, 15)
    K = kernels(X)["rbf"]
    family = soft_margin_family(y, np.ones(60))
    whole, part = PathSolver().solve(K, family, 1e-3), PathSolver().solve(K, family, 1e-3, 2.0)
    assert part.t[0] == 2.0
    assert part.event_t.max() <= 2.0
    for t in (2.0, 1.3, 0.01):
        np.testing.assert_allclose(part.locate(t)[0], whole.locate(t)[0], atol=1e-13)
