"""Blocks that are ill-conditioned: Newton steps, the interior-point start, and what float64 can tell."""

import numpy as np
import pytest
from nasty_blocks import NASTY

from mercer.gram import gram
from mercer.kernels import Polynomial, Precomputed
from mercer.problems import soft_margin
from mercer.solvers import SMO, Chunking, Decomposition, InteriorPoint, Limits
from mercer.solvers.dual.dense_block import DenseBlock
from mercer.solvers.dual.free_newton import step_on_plane
from mercer.solvers.dual.quadratic import solve_quadratic
from mercer.solvers.dual.rounding import resolution

pytestmark = pytest.mark.core

EPS = np.finfo(float).eps
FEW = 200_000  # steps; pairs of variables alone take up to forty million, and do not get there


def rounding(K, beta):
    """Return what float64 loses of K beta, given the points' lengths."""
    lengths = np.sqrt(np.maximum(K.diag(), 0.0))
    return EPS * lengths.max() * (lengths @ np.abs(beta))


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("criterion", ["kkt", "gap"])
@pytest.mark.parametrize("tol", [1e-3, 1e-11])
def test_nasty_blocks_are_solved_in_few_steps(name, criterion, tol):
    kernel, X, problem = NASTY[name]
    K = gram(kernel, X)
    found = Decomposition(tol=tol, criterion=criterion).solve(K, problem)
    judge = InteriorPoint(tol=1e-3).solve(K, problem)
    assert judge.status == "optimal"
    assert found.n_iter <= FEW
    values, beta = found.values, problem.beta(found.b)
    objective = problem.objective(found.b, found.f)
    size = max(abs(values.primal), abs(values.dual))
    # Each gap bounds how far a value is from the optimum, but for what a sum of products loses.
    lost = 10 * rounding(K, beta) * np.abs(beta).sum() / abs(objective) * size
    assert abs(values.dual - judge.values.dual) <= values.gap + judge.values.gap + lost
    violation = problem.violation(found.b, problem.gradient(found.b, found.f))
    wanted = problem.tolerance(tol, objective)
    if criterion == "kkt" and found.status == "optimal":
        small = violation <= max(wanted, resolution(problem, found.b, found.f))
        assert small or values.gap <= values.rounding  # beyond which float64 can tell nothing
    if tol == 1e-3:
        assert found.status == "optimal"
        assert criterion == "kkt" or values.gap <= 1e-3 * size
    else:
        assert violation <= 100 * max(wanted, rounding(K, beta))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("solver", [Decomposition, SMO, Chunking])
def test_the_hard_margin_of_a_narrow_gap_is_not_called_optimal_too_early(solver, seed):
    """The violation of the hulls is small beside 1 long before it is small beside their squared distance."""
    kernel, X, problem = NASTY[f"hulls {seed}"]
    found = solver(tol=1e-3, limits=Limits(max_iter=20_000)).solve(gram(kernel, X), problem)
    if solver is not SMO:  # whose pairs get there much later, if ever
        assert found.status == "optimal"
    if found.status == "optimal":
        assert found.values.gap <= 1e-2 * found.values.primal


def test_a_matrix_that_rounding_has_spoilt_is_not_called_solved():
    """Cubes of numbers near 3e8: a unit in the last place is larger than any solution."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 1e4
    y = np.where(X[:, 0] > 1e4, 1.0, -1.0)
    problem = soft_margin(y, np.ones(30))
    for solver in (Decomposition(tol=1e-6), InteriorPoint(tol=1e-6)):
        found = solver.solve(gram(Polynomial(3, gamma=1.0, coef0=1.0), X), problem)
        assert found.status == "ill_conditioned"


@pytest.mark.parametrize("groups", [0, 1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_a_step_on_a_plane_solves_the_equations(groups, seed):
    rng = np.random.default_rng(seed)
    m, rank = rng.integers(2, 13), rng.integers(1, 13)
    root = rng.normal(size=(m, min(rank, m)))
    Q = root @ root.T
    A = (np.arange(groups)[:, None] == np.arange(m) % max(groups, 1)).astype(float)
    wanted = rng.normal(size=m)  # where the gradient is a combination of the rows of A
    multipliers = rng.normal(size=A.shape[0])
    g = -(Q @ wanted + A.T @ multipliers)
    d = step_on_plane(Q, g, A, A @ wanted, 1e-13 * np.abs(Q).max(), 3)
    assert d is not None
    scale = np.abs(Q).max() * np.abs(wanted).max() + np.abs(multipliers).max(initial=0.0)
    # The solution need not be unique, but the slope along the plane is zero at every one.
    slope = Q @ d + g
    along = slope - A.T @ ((A @ slope) / np.maximum(A.sum(axis=1), 1.0))
    np.testing.assert_allclose(A @ d, A @ wanted, atol=1e-6 * max(1.0, np.abs(d).max()))
    np.testing.assert_allclose(along, 0.0, atol=1e-6 * scale)


def test_without_a_factor_there_is_no_step():
    assert step_on_plane(-np.eye(3), np.ones(3), np.zeros((0, 3)), np.zeros(0), 1e-13, 3) is None


@pytest.mark.parametrize("name", [name for name in NASTY if name.endswith("0")])
def test_no_help_makes_a_block_worse(name):
    kernel, X, problem = NASTY[name]
    whole = gram(kernel, X)
    K = whole.block(np.arange(whole.n), np.arange(whole.n))
    b = problem.start()
    for steps in (3, 30, 300):
        block = DenseBlock(K, whole.diag(), problem, b, problem.gradient(b, K @ problem.beta(b)))
        block.run(1e-12, steps)
        for kind in ("newton", "interior"):
            before, sums, violation = block._value(), block._sums()[1], block.violation
            helped = block.newton(100) if kind == "newton" else block.restart_from_interior(lambda: False)
            lost = 10 * rounding(whole, problem.beta(b)) * np.abs(b).sum() + 1e-12 * abs(before)
            block.write(b)
            after = block._value()
            lost += 10 * rounding(whole, problem.beta(b)) * np.abs(b).sum()
            assert after <= before + lost
            assert helped or after == before
            assert helped or block.violation == violation
            assert (block.b >= block.lo).all()
            assert (block.b <= block.hi).all()
            np.testing.assert_allclose(block._sums()[1], sums, atol=1e-12 * np.abs(b).sum())


def test_a_quadratic_problem_is_solved_at_any_scale():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(20, 6))
    Q, p = root @ root.T, rng.normal(size=20)
    A, s = np.ones((1, 20)), np.array([3.0])
    lo, hi = np.zeros(20), np.full(20, 0.5)
    b, n_iter = solve_quadratic(Q, p, lo, hi, A, s)
    assert n_iter < 60
    value = b @ (0.5 * Q @ b + p)
    for unit in (1e-8, 1e6):
        again, _ = solve_quadratic(Q, p * unit, lo * unit, hi * unit, A, s * unit)
        assert again @ (0.5 * Q @ again + p * unit) == pytest.approx(value * unit**2, rel=1e-9)
    stopped, none = solve_quadratic(Q, p, lo, hi, A, s, should_stop=lambda: True)
    assert none == 0
    assert (stopped >= lo).all()
    assert (stopped <= hi).all()


@pytest.mark.parametrize("noise", [0.0, 1e-300, 1e-14, 1e-9])
def test_rounding_in_place_of_a_linear_term_sets_no_scale(noise):
    rng = np.random.default_rng(4)
    root = rng.normal(size=(40, 25))
    Q, A = root @ root.T, np.kron(np.eye(2), np.ones(20))
    s, lo, hi = np.array([6.0, 6.0]), np.zeros(40), np.ones(40)
    exact, usual = solve_quadratic(Q, np.zeros(40), lo, hi, A, s)
    b, n_iter = solve_quadratic(Q, noise * rng.normal(size=40), lo, hi, A, s)
    assert n_iter <= usual + 1
    assert b @ Q @ b == pytest.approx(exact @ Q @ exact, rel=1e-7, abs=1e-12 * np.trace(Q))


def test_an_indefinite_block_has_no_interior_start():
    """Decomposition goes on with pairs of variables; what cannot be factorised must not end the fit."""
    K = np.array([[1.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    problem = soft_margin(np.array([1.0, 1.0, -1.0]), np.full(3, np.inf))
    b = np.array([0.5, 0.5, -1.0])
    block = DenseBlock(K, np.ones(3), problem, b, problem.gradient(b, K @ b))
    block.run(1e-12, 0)
    kept = block.b.copy()
    assert not block.newton(100)
    assert block.restart_from_interior(lambda: False) or (block.b == kept).all()


def test_a_given_matrix_that_is_nearly_singular_is_solved_in_few_steps():
    """Nothing is declared of a precomputed matrix; pairs of variables alone took a million steps."""
    rng = np.random.default_rng(3)
    V = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    K = (V * np.r_[25.0, 2.0, 1.0, 0.5, np.geomspace(1e-3, 1e-6, 6), np.zeros(20)]) @ V.T
    K = 0.5 * (K + K.T)
    y = np.where(rng.normal(size=30) > 0, 1.0, -1.0)
    problem = soft_margin(y, np.full(30, 10.0))
    found = Decomposition(tol=1e-8, criterion="gap").solve(gram(Precomputed(), K), problem)
    assert found.status == "optimal"
    assert found.n_iter <= FEW
    assert found.values.gap <= 1e-8 * abs(found.values.primal)


@pytest.mark.parametrize(("smallest", "definite"), [(0.0, True), (1e-9, True), (-1e-9, False)])
def test_definiteness_of_a_block_of_which_nothing_is_declared(smallest, definite):
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
    K = (V * np.r_[np.linspace(1, 2, 19), smallest]) @ V.T
    K = 0.5 * (K + K.T)
    problem = soft_margin(np.resize([1.0, -1.0], 20), np.ones(20))
    block = DenseBlock(
        K, K.diagonal().copy(), problem, np.zeros(20), problem.gradient(np.zeros(20), np.zeros(20))
    )
    assert block.is_definite(20) is definite
    assert not block.is_definite(19)  # too large to ask
    block.K = np.triu(K)
    assert not block.is_definite(20)  # not symmetric
