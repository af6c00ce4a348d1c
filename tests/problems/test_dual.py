"""The dual by itself: values at any feasible point, the bias, feasibility."""

from fractions import Fraction

import numpy as np
import pytest

from mercer.problems import HardMargin, HardMarginThroughOrigin, InfeasibleError, soft_margin, squared_hinge
from svc_bank import kkt_violation

pytestmark = pytest.mark.core


def instance(seed, n=20):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return A @ A.T, y, rng.uniform(0.2, 3.0, n), rng


def balanced(b, y):
    """Return b, of the signs y, with its sum made zero by scaling one class."""
    plus, minus = b[y > 0].sum(), -b[y < 0].sum()
    return np.where(y > 0, b * min(1.0, minus / plus), b * min(1.0, plus / minus))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("make", [soft_margin, squared_hinge])
def test_values_at_any_feasible_point(make, intercept, seed):
    K, y, C, rng = instance(seed)
    dual = make(y, C, fit_intercept=intercept)
    b = y * C * np.clip(rng.uniform(-0.3, 1.3, y.size), 0.0, 1.0)
    b = balanced(b, y) if intercept else b
    f = K @ b
    values = dual.evaluate(b, f)
    bias = values.multipliers[0] if intercept else 0.0
    slack = np.maximum(0.0, 1.0 - y * (f + bias))
    squared = make is squared_hinge
    primal = 0.5 * b @ K @ b + (C @ slack**2 if squared else C @ slack)
    Q = K + np.diag(0.5 / C) if squared else K
    assert values.dual == pytest.approx(y @ b - 0.5 * b @ Q @ b, rel=1e-12)
    assert values.primal == pytest.approx(primal, rel=1e-12)
    assert values.gap == pytest.approx(values.primal - values.dual, rel=1e-9)
    upper = np.full(y.size, np.inf) if squared else C
    assert values.violation == pytest.approx(kkt_violation(Q, y, upper, b, intercept=intercept), rel=1e-12)
    if not squared:
        assert values.gap <= values.violation * C.sum()
    # The shipped machine is judged the same way, at its own bias.
    machine = dual.machine(b, f)
    assert machine.intercept == bias
    again = dual.certify(machine, f)
    assert (again.primal, again.dual, again.gap) == pytest.approx((values.primal, values.dual, values.gap))


@pytest.mark.parametrize("seed", range(5))
def test_weak_duality(seed):
    K, y, C, rng = instance(seed)
    dual = soft_margin(y, C)
    values = [dual.evaluate(b, K @ b) for b in (balanced(y * C * rng.random(y.size), y) for _ in range(20))]
    assert max(v.dual for v in values) <= min(v.primal for v in values)


@pytest.mark.parametrize("size", [1e-6, 1e-9, 1e-12])
def test_the_gap_does_not_cancel(size):
    """Near the optimum primal minus dual is rounding noise; the sum of non-negative terms is not.

    Two points at 0 and 1 on a line, and two on their bounds: the optimum is known, and so is the gap at a
    known distance from it, in exact fractions.
    """
    x = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 2)]
    y = [Fraction(-1), Fraction(1), Fraction(1), Fraction(-1)]
    C = Fraction(10**6)
    multipliers = [Fraction(2), Fraction(2), C, C]  # optimal: w = 2, b = -1, the last two on the wrong side
    off = Fraction(size)
    multipliers = [multipliers[0] + off, multipliers[1] + off, *multipliers[2:]]
    b = [sign * alpha for sign, alpha in zip(y, multipliers, strict=True)]
    w = sum(beta * point for beta, point in zip(b, x, strict=True))
    f = [w * point for point in x]
    bias = -sum((f[i] - y[i]) for i in (0, 1)) / 2  # the mean over the free points
    terms = []
    for i in range(4):
        u = 1 - y[i] * (f[i] + bias)
        terms.append((C - multipliers[i]) * max(u, 0) + multipliers[i] * max(-u, 0))
    exact = float(sum(terms))
    as_floats = [np.array([float(v) for v in column]) for column in (b, f, y)]
    values = soft_margin(as_floats[2], np.full(4, float(C))).evaluate(as_floats[0], as_floats[1])
    assert exact > 0
    assert values.gap == pytest.approx(exact, rel=1e-3)
    if size <= 1e-12:  # the difference of the two values has no digit of it left
        assert abs((values.primal - values.dual) - exact) > 0.1 * exact


def test_bias_is_the_mean_over_free_points_else_the_middle():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    dual = soft_margin(y, np.ones(4))
    g = np.array([-0.7, 0.2, -0.4, 0.9])
    assert dual.multipliers(np.array([0.5, -0.5, 1.0, -1.0]), g) == pytest.approx([0.25])
    # No free point: points 0 and 3 may grow, 1 and 2 may shrink.
    at_bounds = np.array([0.0, 0.0, 1.0, -1.0])
    grow, shrink = [-g[0], -g[3]], [-g[1], -g[2]]
    assert dual.multipliers(at_bounds, g) == pytest.approx([0.5 * (max(grow) + min(shrink))])
    for t, value in ((0, 1e-17), (2, 1.0 - 1e-16), (3, -1.0 + 2e-16)):  # one rounding away is not free
        near = at_bounds.copy()
        near[t] = value
        np.testing.assert_array_equal(dual.multipliers(near, g), dual.multipliers(at_bounds, g))
        np.testing.assert_array_equal(dual.settled(near), at_bounds)


def test_starts_are_made_feasible():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    dual = soft_margin(y, np.array([1.0, 2.0, 3.0, 4.0]))
    for b in (np.array([9.0, -9.0, 9.0, 9.0]), np.array([0.5, 0.0, 0.0, -3.0]), np.full(4, -1.0)):
        near = dual.nearest(b)
        assert (dual.lo <= near).all()
        assert (near <= dual.hi).all()
        assert near.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(dual.start(), np.zeros(4))


# -- hard margin -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [HardMargin, HardMarginThroughOrigin])
@pytest.mark.parametrize("seed", range(5))
def test_hard_margin_values_at_any_hull_point(kind, seed):
    """Any point of the hulls gives a bound; primal is that of its machine made feasible by scaling."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(16) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(16, 3)) + 6.0 * y[:, None]
    K = X @ X.T
    weight = np.ones(16)
    weight[3] = 0.0
    problem = kind(y, weight, float(np.diagonal(K).max()))
    a = rng.random(16) * weight
    if kind is HardMargin:
        b = np.where(y > 0, a / a[y > 0].sum(), -a / a[y < 0].sum())
        f = K @ b
    else:
        b = a / a.sum()
        f = y * (K @ (y * b))
    values = problem.evaluate(b, f)
    machine = problem.machine(b, f)
    there = weight > 0
    margins = (y * (K @ machine.coef + machine.intercept))[there]
    squared_norm = machine.coef @ K @ machine.coef
    assert margins.min() > 0
    assert values.primal == pytest.approx(0.5 * squared_norm / margins.min() ** 2, rel=1e-10)
    assert values.dual == pytest.approx(np.abs(machine.coef).sum() - 0.5 * squared_norm, rel=1e-10)
    assert values.gap == pytest.approx(values.primal - values.dual, rel=1e-9)
    assert values.gap > 0
    np.testing.assert_allclose(machine.values, K @ machine.coef + machine.intercept, rtol=1e-12)
    intercept = kind is HardMargin
    upper = np.where(there, np.inf, 0.0)
    violation = kkt_violation(K, y, upper, machine.coef, intercept=intercept)
    assert values.violation == pytest.approx(violation, rel=1e-9)
    again = problem.certify(machine, K @ machine.coef)
    for name in ("primal", "dual", "gap", "violation"):
        assert getattr(again, name) == pytest.approx(getattr(values, name), rel=1e-9), name
    np.testing.assert_allclose(problem.recover(machine.coef), b, rtol=1e-12)


@pytest.mark.parametrize("kind", [HardMargin, HardMarginThroughOrigin])
def test_hulls_that_meet_are_hopeless(kind):
    y = np.array([1.0, -1.0])
    problem = kind(y, np.ones(2), 1.0)
    b = problem.start()
    f = np.zeros(2)  # both points are the same
    assert problem.hopeless(b, f)
    assert problem.evaluate(b, f).gap == np.inf
    with pytest.raises(InfeasibleError, match="cannot be separated"):
        problem.machine(b, f)
