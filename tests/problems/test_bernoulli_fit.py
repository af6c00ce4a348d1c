"""The problem behind links and sigmoids: its slopes are those of its value, its optimum is one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mercer.problems.bernoulli_fit import BernoulliFit, platt_targets
from mercer.solvers.calibration.projected_newton import projected_newton

pytestmark = pytest.mark.core


def some_problem(seed, bounded):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(40, 3))
    positive = rng.random(40) < 0.4
    root = rng.normal(size=(3, 3))
    least = np.array([0.3, -0.2, 0.1]) if bounded else np.full(3, -np.inf)
    target = platt_targets(positive, positive.sum(), (~positive).sum())
    return BernoulliFit(design, target, rng.uniform(0.5, 2.0, 40), root.T @ root, least)


@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_those_of_the_value(seed):
    problem = some_problem(seed, bounded=False)
    c = np.random.default_rng(seed + 10).normal(size=3)
    gradient, hessian = problem.slopes(c)
    h = 1e-6
    units = h * np.eye(3)
    assert_allclose(
        gradient, [(problem.value(c + u) - problem.value(c - u)) / (2 * h) for u in units], rtol=1e-5
    )
    assert_allclose(
        hessian,
        [(problem.slopes(c + u)[0] - problem.slopes(c - u)[0]) / (2 * h) for u in units],
        rtol=1e-5,
        atol=1e-7,
    )


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_newton_finds_the_optimum(seed, bounded):
    problem = some_problem(seed, bounded)
    c = projected_newton(problem, np.maximum(problem.least, 1.0))
    assert (c >= problem.least).all()
    gradient, _ = problem.slopes(c)
    at_bound = c <= problem.least
    assert_allclose(gradient[~at_bound], 0.0, atol=1e-7)
    assert (gradient[at_bound] >= 0.0).all()
    bounds = [(low, None) for low in problem.least]
    other = minimize(problem.value, np.maximum(problem.least, 1.0), bounds=bounds, method="L-BFGS-B")
    assert problem.value(c) <= other.fun + 1e-9


def test_targets_lie_between_the_classes():
    targets = platt_targets(np.array([True, False]), 8.0, 3.0)
    assert_allclose(targets, [0.9, 0.2])
