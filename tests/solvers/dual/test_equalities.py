"""Duals with linear equalities: an unpenalised parametric part, against a generic QP solver."""

import cvxpy as cp
import numpy as np
import pytest

from mercer.gram import gram
from mercer.kernels import RBF
from mercer.problems import InfeasibleError, certified, soft_margin
from mercer.problems.equalities import EqualityDual
from mercer.solvers import Decomposition, InteriorPoint, UnsuitableSolverError, suited

N = 30


def instance(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0, 1.0, -1.0)
    C = rng.uniform(0.2, 4.0, N)
    P = np.column_stack([np.ones(N), X])
    return X, y, C, P


def parametric_margin(y, C, P):
    return EqualityDual(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0), P.T, np.zeros(P.shape[1]))


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_a_generic_solver(seed):
    X, y, C, P = instance(seed)
    K = gram(RBF(0.5), X)
    every = np.arange(N)
    L = np.linalg.cholesky(K.block(every, every) + 1e-12 * np.eye(N))
    beta, d = cp.Variable(N), cp.Variable(P.shape[1])
    f = K.block(every, every) @ beta + P @ d
    primal = 0.5 * cp.sum_squares(L.T @ beta) + C @ cp.pos(1 - cp.multiply(y, f))
    best = cp.Problem(cp.Minimize(primal)).solve(solver="CLARABEL")
    problem = parametric_margin(y, C, P)
    solution = InteriorPoint(tol=1e-8).solve(K, problem)
    assert solution.status == "optimal"
    assert solution.values.dual <= best * (1 + 1e-6)
    assert solution.values.primal == pytest.approx(best, rel=1e-6)
    assert solution.values.gap <= 1e-8 * abs(best)
    machine = problem.machine(solution.b, solution.f)
    np.testing.assert_allclose(P.T @ machine.coef, 0.0, atol=1e-9)
    again = certified(problem, machine, tol=1e-8, criterion="kkt", n_iter=1, stopped="optimal")
    assert again.status == "optimal"
    slack = np.maximum(0.0, 1.0 - y * (solution.f + P @ machine.parametric))
    assert again.primal == pytest.approx(0.5 * machine.coef @ solution.f + C @ slack, rel=1e-9)


def test_a_column_of_ones_is_the_bias():
    X, y, C, _ = instance(9)
    K = gram(RBF(0.5), X)
    free = InteriorPoint(tol=1e-8).solve(K, parametric_margin(y, C, np.ones((N, 1))))
    bias = Decomposition(tol=1e-8).solve(K, soft_margin(y, C))
    assert free.values.dual == pytest.approx(bias.values.dual, rel=1e-8)
    np.testing.assert_allclose(free.values.multipliers, bias.values.multipliers, atol=1e-6)


def test_an_infeasible_point_proves_nothing():
    _, y, C, P = instance(1)
    problem = parametric_margin(y, C, P)
    values = problem.evaluate(0.5 * (problem.lo + problem.hi), np.zeros(N))
    assert not values.feasible
    assert values.gap == np.inf
    near = problem.nearest(0.5 * (problem.lo + problem.hi))
    assert problem.missed(near) <= 1e-9
    assert problem.evaluate(near, np.zeros(N)).feasible


def test_other_solvers_refuse_and_the_chooser_knows():
    X, y, C, P = instance(2)
    K, problem = gram(RBF(0.5), X), parametric_margin(y, C, P)
    with pytest.raises(UnsuitableSolverError, match="linear equalities"):
        Decomposition().solve(K, problem)
    assert isinstance(suited(K, problem), InteriorPoint)


def test_dependent_equalities_are_refused():
    _, y, C, P = instance(3)
    with pytest.raises(InfeasibleError, match="rank 3"):
        parametric_margin(y, C, np.column_stack([P, P[:, 0] + P[:, 1]]))
