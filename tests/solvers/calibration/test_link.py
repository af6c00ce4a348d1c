"""The link from decisions to probabilities: optimal, monotone, one half at zero."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from mercer.problems.calibration import FLOOR, KINK, PIECES, link_logits
from mercer.solvers.calibration.link import fit_link


def logits(f, link):
    knots, slopes = link
    return link_logits(np.asarray(f, dtype=float)[:, None], knots[None], slopes[None])[:, 0]


def sample(n, seed, *, shift=0.0, slope=2.0, scale=1.0):
    """Return decisions, classes drawn from a logistic model of them, and weights."""
    rng = np.random.default_rng(seed)
    f = rng.normal(loc=shift, size=n)
    positive = rng.random(n) < expit(slope * f)
    return scale * f, positive, rng.uniform(0.2, 3.0, size=n)


def side_objective(f, positive, weight, side, knots, slopes):
    """Return the penalised deviance of one side, written out anew."""
    one, zero = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (one + 1) / (one + 2), 1 / (zero + 2))
    there = f > 0 if side else f < 0
    u, w = np.abs(f[there]), weight[there]
    t = target[there] if side else 1 - target[there]
    ends = np.append(knots[1:], np.inf)
    z = sum(s * (np.minimum(u, e) - k).clip(0) for s, k, e in zip(slopes, knots, ends, strict=True))
    beyond = u > knots[-1]
    widths = np.append(np.diff(knots), np.average(u[beyond] - knots[-1], weights=w[beyond]))
    real = np.flatnonzero(widths > 0)
    penalty = sum(((slopes[b] - slopes[a]) * min(widths[a], widths[b])) ** 2 for a, b in pairwise(real))
    return w @ (np.logaddexp(0, z) - t * z) + 0.5 * KINK * penalty


@pytest.mark.parametrize("seed", range(6))
def test_the_link_is_the_numerical_optimum(seed):
    shift, slope = [(0.0, 2.0), (-1.5, 1.0), (1.0, 6.0)][seed % 3]
    f, positive, weight = sample(300, seed, shift=shift, slope=slope, scale=[1.0, 50.0][seed % 2])
    knots, slopes = fit_link(f, positive, weight)
    for side in (0, 1):
        there = f > 0 if side else f < 0
        floor = FLOOR / np.average(np.abs(f[there]), weights=weight[there])
        found = side_objective(f, positive, weight, side, knots[side], slopes[side])

        def value(s, side=side, floor=floor):
            return side_objective(f, positive, weight, side, knots[side], floor + np.exp(s))

        best = min(
            minimize(value, np.log(start / np.abs(f).mean()) * np.ones(PIECES), method="L-BFGS-B").fun
            for start in (0.3, 1.0, 3.0)
        )
        assert (slopes[side] >= floor * (1 - 1e-9)).all()
        assert found <= best + 1e-6 * abs(best)


def test_a_true_logistic_slope_is_found():
    f, positive, _ = sample(60_000, 0, slope=2.0)
    z = logits([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], fit_link(f, positive, np.ones(f.size)))
    np.testing.assert_allclose(z, [-4.0, -2.0, -1.0, 1.0, 2.0, 4.0], rtol=0.12)


@given(
    st.integers(2, 60),
    st.integers(0, 10_000),
    st.floats(-3, 3),
    st.floats(0, 8),
    st.sampled_from([1e-9, 1e-3, 1.0, 1e6]),
)
def test_one_half_at_zero_and_strictly_increasing(n, seed, shift, slope, scale):
    f, positive, weight = sample(n, seed, shift=shift, slope=slope, scale=scale)
    link = fit_link(f, positive, weight)
    assert np.isfinite(link).all()
    assert logits([0.0], link) == 0.0
    grid = scale * np.linspace(-3, 3, 61)
    z = logits(grid, link)
    assert (np.sign(z) == np.sign(grid)).all()
    inside = np.abs(z) < 29
    assert (np.diff(z[inside]) > 0).all()


def test_probabilities_do_not_depend_on_the_scale_of_the_decisions():
    f, positive, weight = sample(200, 3)
    one, other = fit_link(f, positive, weight), fit_link(1000.0 * f, positive, weight)
    np.testing.assert_allclose(logits(f, one), logits(1000.0 * f, other), rtol=1e-6)


def test_swapping_the_classes_mirrors_the_link():
    f, positive, weight = sample(200, 4, shift=-0.5)
    z, mirrored = logits(f, fit_link(f, positive, weight)), logits(-f, fit_link(-f, ~positive, weight))
    np.testing.assert_allclose(z, -mirrored, rtol=1e-6)


def test_a_weight_of_two_is_the_value_twice():
    f, positive, _ = sample(150, 5)
    twice = np.arange(f.size) % 3 == 0
    weighted = fit_link(f, positive, np.where(twice, 2.0, 1.0))
    rows = np.concatenate([np.arange(f.size), np.flatnonzero(twice)])
    repeated = fit_link(f[rows], positive[rows], np.ones(rows.size))
    np.testing.assert_allclose(logits(f, weighted), logits(f, repeated), rtol=1e-6)
    dropped = fit_link(f, positive, np.where(twice, 0.0, 1.0))
    np.testing.assert_allclose(
        logits(f, dropped),
        logits(f, fit_link(f[~twice], positive[~twice], np.ones((~twice).sum()))),
        rtol=1e-6,
    )


def test_separable_decisions_give_finite_slopes_that_grow_with_the_sample():
    certain = []
    for n in (10, 100, 1000):
        f = np.concatenate([np.linspace(-2, -1, n), np.linspace(1, 2, n)])
        link = fit_link(f, f > 0, np.ones(f.size))
        certain.append(expit(logits([1.5], link))[0])
    assert 0.8 < certain[0] < certain[1] < certain[2] < 1.0


def test_a_side_that_was_never_seen_takes_the_average_slope_of_the_other():
    f, positive, weight = sample(300, 6, shift=-4.0, slope=0.7)
    there = f < 0
    link = fit_link(f[there], positive[there], weight[there])
    mean = np.average(-f[there], weights=weight[there])
    np.testing.assert_allclose(logits([mean], link), -logits([-mean], link), rtol=1e-9)
    assert (np.diff(logits(np.linspace(0, 3, 20), link)) > 0).all()


def test_nothing_seen_at_all_still_gives_a_link():
    none = np.zeros(0)
    z = logits([-1.0, 0.0, 1.0], fit_link(none, none > 0, none))
    assert z[0] < 0 == z[1] < z[2]


def test_decisions_that_crowd_far_from_zero_are_told_apart():
    """Two slopes through zero could not: here the odds change between -1.02 and -0.98 only."""
    rng = np.random.default_rng(7)
    f = -1.0 + 0.02 * rng.normal(size=4000)
    truth = np.minimum(0.4, expit(100 * (f + 0.99)))
    positive = rng.random(f.size) < truth
    z = logits(f, fit_link(f, positive, np.ones(f.size)))
    spread = np.std(z)
    assert spread > 0.5
    deviance = np.mean(np.logaddexp(0, z) - positive * z)
    best_of_two_slopes = min(
        np.mean(np.logaddexp(0, s * f) - positive * s * f) for s in np.linspace(0, 5, 101)
    )
    assert deviance < 0.9 * best_of_two_slopes
