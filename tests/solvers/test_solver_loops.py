"""The compiled sweeps against their naive twins, and the quadrants of regression."""

import naive_solvers
import numpy as np
import pytest
from solver_bank import CASES

from mercer import _jit
from mercer.problems.regression import epsilon_tube
from mercer.solvers import SMO

pytestmark = pytest.mark.core

some = pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.name.startswith("weights_with_zeros, rbf") and "no bias" in c.kind],
    ids=lambda case: case.kind,
)


@some
@pytest.mark.parametrize("flat", [False, True])
def test_a_sweep_of_ascent(case, flat):
    p = case.problem
    rng = np.random.default_rng(0)
    rate = 1.3 / (np.tile(np.diagonal(case.K), p.copies) + p.r)
    if flat and np.isfinite(p.hi - p.lo).all():
        rate[rng.integers(0, p.size, 5)] = np.inf
    b = np.clip(rng.normal(size=p.size), p.lo, p.hi)
    f = case.K @ p.beta(b)
    order = rng.permutation(p.size)
    expected, steps = naive_solvers.ascent(case.K, order, b, p.p, p.r, p.lo, p.hi, rate, 25)
    done = _jit.ascent.sweep(case.K, order % p.n, order, b, f, p.p, p.r, p.lo, p.hi, rate, 25)
    assert done == steps > 0
    np.testing.assert_allclose(b, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(f, case.K @ p.beta(b), atol=1e-9)


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.name.startswith("clouds, rbf") and "no bias" not in c.kind],
    ids=lambda case: case.kind,
)
@pytest.mark.parametrize("everything", [True, False])
def test_a_sweep_of_platt(case, everything):
    p = case.problem
    exclusive = p.copies == 2 and p.sums.size == 1
    naive = naive_solvers.Platt(case.K, p.p, p.r, p.lo, p.hi, p.group, 1e-12)
    b, bias, state = p.start(), np.zeros(p.sums.size), 7
    f = case.K @ p.beta(b)
    arguments = (p.p, p.r, p.lo, p.hi, p.group)
    for step in range(60):
        # Step by step: pairs that were just made equal leave ties, which the last bit of K beta decides.
        options = (exclusive, everything or step < 10, 1e-3)
        expected, expected_bias = b.copy(), bias.copy()
        steps, after = naive.sweep(expected, f.copy(), expected_bias, *options, 1, state)
        done, state = _jit.platt_sweeps.sweep(case.K, b, f, *arguments, bias, *options, 1e-12, 1, state)
        assert (done, state) == (steps, after)
        np.testing.assert_allclose(b, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(bias, expected_bias, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(f, case.K @ p.beta(b), atol=1e-9)
    if p.group is not None:
        sums = np.bincount(p.group, weights=b, minlength=p.sums.size)
        np.testing.assert_allclose(sums, p.sums, atol=1e-9)


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_the_quadrants_of_two_points(signs):
    """Two regression points from each quadrant: the pair ends at the best point of a fine grid."""
    K = np.array([[2.0, 0.3], [0.3, 1.0]])
    epsilon, C, y = 0.2, 1.5, np.array([1.0, -0.7])
    p = epsilon_tube(y, np.full(2, C), epsilon)
    start = 0.4 * np.array(signs, dtype=float)
    third = -start.sum()  # another point, far away, takes what the sum demands
    K = np.block([[K, np.zeros((2, 1))], [np.zeros((1, 2)), 1.0]])
    p = epsilon_tube(np.append(y, third), np.append(np.full(2, C), abs(third) or 1e-3), epsilon)
    b = p.recover(np.append(start, third))
    f = K @ p.beta(b)
    bias = np.zeros(1)
    group = np.zeros(6, dtype=np.int64)
    for _ in range(40):  # point 0 only: its partner is point 1, or the third one, which has no room to grow
        _jit.platt_sweeps.sweep(K, b, f, p.p, p.r, p.lo, p.hi, group, bias, True, True, 1e-9, 1e-12, 100, 1)
        assert not ((b[:3] != 0) & (b[3:] != 0)).any(), "a point is in one quadrant at a time"
    beta = p.beta(b)
    assert beta.sum() == pytest.approx(0.0, abs=1e-12)

    def value(beta):
        return 0.5 * beta @ K @ beta - np.append(y, third) @ beta + epsilon * np.abs(beta).sum()

    reached = value(beta)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        other = np.clip(beta + 0.3 * rng.normal(size=3), -p.hi[:3], p.hi[:3])
        other[1] -= other.sum()
        if abs(other[1]) <= C:
            assert value(other) >= reached - 1e-9


def test_smo_is_exact_for_two_points():
    """The closed form of Theorem 7.12: two points of different classes."""
    from mercer.gram import MatrixGram
    from mercer.problems import soft_margin

    K = np.array([[2.0, 0.5], [0.5, 1.0]])
    solution = SMO(tol=1e-12).solve(MatrixGram(K, True), soft_margin(np.array([1.0, -1.0]), np.full(2, 10.0)))
    alpha = 2.0 / (K[0, 0] + K[1, 1] - 2 * K[0, 1])
    np.testing.assert_allclose(solution.b, [alpha, -alpha], rtol=1e-12)
    assert solution.n_iter == 1
