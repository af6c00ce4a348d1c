"""Bounds on simulated training sets: the true risk exceeds them no more often than delta says.

Most statements hold for all functions of a class at once, so whole families of functions are tried on every
training set, not only the one that a machine would choose: a failure for any of them counts.
"""

import numpy as np
import pytest
from bound_trials import DIRECTIONS, assert_rarely_fails, bars, risks
from scipy.special import ndtr
from scipy.stats import binom

from mercer import bounds

TRIALS = 150


def test_margin_and_slack_for_all_directions():
    rng, delta, n = np.random.default_rng(0), 0.2, 900
    truth = risks(noise=0.05)
    fails, values = [], []
    for _ in range(TRIALS):
        X, y = bars(rng, n, noise=0.05)
        trace, margins = float((X**2).sum()), y[:, None] * (X @ DIRECTIONS)
        found = []
        for margin, statement in ((0.4, bounds.margin_slack_error), (0.6, bounds.squared_margin_slack_error)):
            slacks = np.maximum(0.0, margin - margins)
            found.append([statement(s, margin=margin, trace=trace, delta=delta / 2) for s in slacks.T])
        fails.append((truth > np.array(found)).any())
        values.append(np.min(found))
    assert_rarely_fails(fails, delta, bounds=values)


def test_hard_margin_for_all_directions_that_separate():
    """The worst direction among those with the margin on the training points."""
    rng, delta, n, margin = np.random.default_rng(1), 0.2, 400, 0.25
    truth = risks()
    bound, fails, values = 0.0, [], []
    for _ in range(TRIALS):
        X, y = bars(rng, n)
        wide = (y[:, None] * (X @ DIRECTIONS)).min(axis=0) >= margin
        bound = bounds.hard_margin_error(margin=margin, trace=float((X**2).sum()), n=n, delta=delta)
        fails.append((truth[wide] > bound).any())
        values.append(bound)
        assert wide.any()
    assert_rarely_fails(fails, delta, bounds=values)


def test_the_deviation_beneath_the_margin_bounds():
    """Sharper than any error bound: sup over directions of E[loss] - mean loss <= complexity + deviation.

    The mean of the same supremum is bounded by the complexity alone.
    """
    rng, delta, n, margin = np.random.default_rng(2), 0.2, 100, 0.5
    Z, t = bars(rng, 100_000, noise=0.2)
    expected = np.clip(1.0 - t[:, None] * (Z @ DIRECTIONS) / margin, 0.0, 1.0).mean(axis=0)
    gaps, limits, complexities = [], [], []
    for _ in range(400):
        X, y = bars(rng, n, noise=0.2)
        loss = np.clip(1.0 - y[:, None] * (X @ DIRECTIONS) / margin, 0.0, 1.0).mean(axis=0)
        complexity = bounds.trace_complexity(norm=1.0 / margin, trace=float((X**2).sum()), n=n)
        gaps.append((expected - loss).max())
        complexities.append(complexity)
        limits.append(complexity + bounds.hard_margin_error(margin=1.0, trace=0.0, n=n, delta=delta))
    assert_rarely_fails(np.array(gaps) > np.array(limits), delta, bounds=limits)
    assert np.mean(gaps) < np.mean(complexities)
    assert np.mean(gaps) > 0.1 * np.mean(complexities)  # the inequality is within reach of being wrong


@pytest.mark.parametrize("rank", [1, 3, 40])
def test_the_trace_bounds_the_rademacher_complexity(rank):
    Z = np.random.default_rng(rank).standard_normal((60, rank))
    K = Z @ Z.T
    sampled = bounds.sampled_complexity(K, norm=2.0, draws=4000)
    limit = bounds.trace_complexity(norm=2.0, trace=float(np.trace(K)), n=60)
    assert sampled.mean - 4 * sampled.error < limit
    assert sampled.mean > 0.7 * limit  # E|sigma'z| >= ||z|| / sqrt(2) (Khinchin)


def test_fat_shattering_bound_for_all_directions_that_separate():
    """It needs 64 (R/gamma)^2 < n and much more to be below 1."""
    rng, delta, n, margin, radius = np.random.default_rng(3), 0.2, 150_000, 0.69, 0.8
    bound = bounds.fat_shattering_error(margin=margin, radius=radius, n=n, delta=delta)
    fails = []
    # A narrow pair of bars, so that a margin of nearly the radius can be had.
    Z = np.stack([rng.uniform(0.7, 0.75, 200_000), rng.uniform(-0.25, 0.25, 200_000)], axis=1)
    few = DIRECTIONS[:, 40:81]
    truth = (Z @ few <= 0).mean(axis=0)
    for _ in range(10):
        X = np.stack([rng.uniform(0.7, 0.75, n), rng.uniform(-0.25, 0.25, n)], axis=1)
        wide = (X @ few).min(axis=0) >= margin
        fails.append((truth[wide] > bound).any())
        assert wide.any()
    assert_rarely_fails(fails, delta, bounds=[bound])


def test_vc_bound_for_the_worst_threshold_that_is_consistent():
    """Thresholds on a line have VC dimension 1; the worst one is at an end of the gap between the classes."""
    rng, delta, n = np.random.default_rng(4), 0.2, 60
    X = rng.random((4000, n))
    below = np.where(X < 0.5, X, 0.0).max(axis=1)
    above = np.where(X >= 0.5, X, 1.0).min(axis=1)
    risk = np.maximum(0.5 - below, above - 0.5)
    bound = bounds.vc_error(h=1, n=n, delta=delta)
    assert_rarely_fails(risk > bound, delta, bounds=[bound])


@pytest.mark.parametrize("biased", [False, True])
def test_perceptrons(biased):
    """Updates stay below Novikoff's number on every training set, and the error bounds fail rarely."""
    rng, delta, trials, n = np.random.default_rng(5), 0.2, 400, 300
    gap = 0.15 if biased else 0.35
    X, y = bars(rng, (trials, n), gap=gap)
    if biased:
        X[..., 0] += 0.1
    radius = np.sqrt((X**2).sum(axis=2).max(axis=1))
    w, b, updates = np.zeros((trials, 2)), np.zeros(trials), np.zeros(trials, dtype=int)
    for _ in range(200):
        before = updates.copy()
        for i in range(n):
            wrong = y[:, i] * ((w * X[:, i]).sum(axis=1) + b) <= 0
            w[wrong] += y[wrong, i, None] * X[wrong, i]
            if biased:
                b[wrong] += y[wrong, i] * radius[wrong] ** 2
            updates += wrong
        if (updates == before).all():
            break
    assert (updates == before).all(), "every perceptron has converged"
    # The separating direction is known: (1, 0), with the bias -0.1 when the bars are shifted by 0.1.
    shift = 0.1 if biased else 0.0
    margin = (y * (X[..., 0] - shift)).min(axis=1)
    most = [
        bounds.perceptron_updates(radius=r, margin=m, bias=-shift if biased else None)
        for r, m in zip(radius, margin, strict=True)
    ]
    assert (updates <= most).all()

    Z, t = bars(rng, 4000, gap=gap)
    Z[:, 0] += shift
    risk = (t * (w @ Z.T + b[:, None]) <= 0).mean(axis=1)
    by_updates = np.array([bounds.perceptron_error(updates=k, n=n, delta=delta) for k in updates])
    small = by_updates < 1
    assert small.mean() > 0.9
    assert_rarely_fails((risk > by_updates)[small], delta, bounds=by_updates[small])
    if not biased:
        by_margin = [
            bounds.perceptron_margin_error(radius=r, margin=m, n=n, delta=delta)
            for r, m in zip(radius, margin, strict=True)
        ]
        assert (by_updates <= np.array(by_margin) + 1e-12).all()  # the corollary is the weaker one
        assert_rarely_fails(risk > by_margin, delta, bounds=by_margin)


def test_support_vector_bounds_of_the_hard_margin_on_a_line():
    """Its two support vectors are the inner ends of the classes, its threshold their middle."""
    rng, delta, n = np.random.default_rng(6), 0.2, 60
    X = rng.random((4000, n))
    below = np.where(X < 0.5, X, 0.0).max(axis=1)
    above = np.where(X >= 0.5, X, 1.0).min(axis=1)
    risk = np.abs(0.5 * (below + above) - 0.5)
    bound = bounds.support_vector_error(n_support=2, n=n, delta=delta)
    assert_rarely_fails(risk > bound, delta, bounds=[bound])
    # On average over training sets: the machine on n - 1 points errs less than 2 / n.
    X = X[:, :-1]
    middle = 0.5 * (np.where(X < 0.5, X, 0.0).max(axis=1) + np.where(X >= 0.5, X, 1.0).min(axis=1))
    assert np.abs(middle - 0.5).mean() <= bounds.expected_error(n_support=2, n=n)


def test_squared_error_for_all_slopes():
    rng, delta, n = np.random.default_rng(7), 0.2, 6000
    slopes = np.linspace(-1, 1, 21)
    truth = 0.04 / 3 + (0.7 - slopes) ** 2 / 3
    fails, values = [], []
    for _ in range(100):
        x = rng.uniform(-1, 1, n)
        y = 0.7 * x + rng.uniform(-0.2, 0.2, n)  # within [-B R, B R] = [-1, 1]
        found = [
            bounds.squared_error(y - w * x, y, norm_bound=1.0, radius=1.0, trace=float(x @ x), delta=delta)
            for w in slopes
        ]
        fails.append((truth > found).any())
        values.append(np.min(found))
    assert_rarely_fails(fails, delta, bounds=values)  # always answering 0 may err by 1


def test_large_errors_for_all_slopes():
    rng, delta, n, tolerance = np.random.default_rng(8), 0.2, 2000, 0.5
    slopes = np.linspace(-1, 1, 21)
    Z = rng.uniform(-1, 1, 200_000)
    t = 0.7 * Z + rng.uniform(-0.2, 0.2, Z.size)
    truth = np.array([(np.abs(t - w * Z) > tolerance).mean() for w in slopes])
    fails, values = [], []
    for _ in range(TRIALS):
        x = rng.uniform(-1, 1, n)
        y = 0.7 * x + rng.uniform(-0.2, 0.2, n)
        found = [
            bounds.large_error_rate(
                y - w * x, tolerance=tolerance, epsilon=0.1, norm_bound=1.0, trace=float(x @ x), delta=delta
            )
            for w in slopes
        ]
        fails.append((truth > found).any())
        values.append(np.min(found))
    assert_rarely_fails(fails, delta, bounds=values)


def disc(rng, n):
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.random(n))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def test_balls_in_the_unit_disc():
    """Balls with r^2 + ||c||^2 <= 1: the loss, the rate of false alarms and the radius for a rate."""
    rng, delta, n, gap = np.random.default_rng(9), 0.2, 4000, 0.4
    centres = np.array([[0.0, 0.0], [0.2, 0.1], [-0.4, 0.3]])
    radii = np.array([0.5, 0.7, 0.85])
    Z = disc(rng, 200_000)
    far = ((Z[:, None] - centres) ** 2).sum(axis=2)
    fails, values, rate_fails = [], [], []
    for _ in range(60):
        squares = ((disc(rng, n)[:, None] - centres) ** 2).sum(axis=2)
        failed = rate_failed = False
        for c, centre in enumerate(centres):
            for r in radii:
                assert r**2 + centre @ centre <= 1
                loss = np.clip((far[:, c] - r**2) / gap, 0, 1).mean()
                beyond = (far[:, c] > r**2 + gap).mean()
                slack = float(np.maximum(squares[:, c] - r**2, 0).sum())
                by_loss = bounds.outside_loss(
                    squares[:, c], squared_radius=r**2, gap=gap, radius=1.0, delta=delta
                )
                by_slack = bounds.false_positive_rate(slack_sum=slack, gap=gap, radius=1.0, n=n, delta=delta)
                assert by_loss <= by_slack + 1e-12
                failed |= loss > by_loss or beyond > by_slack
                values.append(by_loss)
                wished = bounds.radius_for_rate(
                    0.6, squared_radius=r**2, slack_sum=slack, radius=1.0, n=n, delta=delta,
                    gaps=bounds.gap_grid(n=n, radius=1.0),
                )  # fmt: skip
                rate_failed |= (far[:, c] > wished**2).mean() > 0.6
        fails.append(failed)
        rate_fails.append(rate_failed)
    assert_rarely_fails(fails, delta, bounds=values)
    assert_rarely_fails(rate_fails, delta, bounds=[0.6])


def test_the_constant_6_of_the_balls():
    """The complexity beneath it: sup over ||c|| <= R and |s| <= R^2 of (2/n) sum sigma (s - 2 <c, x>)."""
    rng, n = np.random.default_rng(10), 300
    X = disc(rng, n)
    signs = rng.choice([-1.0, 1.0], size=(2000, n))
    supremum = 2 / n * (np.abs(signs.sum(axis=1)) + 2 * np.linalg.norm(signs @ X, axis=1))
    assert supremum.mean() < 6 / np.sqrt(n)
    assert supremum.mean() > 3 / np.sqrt(n)  # within a factor of two: 6 is not idle


def test_planes_for_one_class():
    rng, delta, n = np.random.default_rng(11), 0.2, 5000
    truth_of = disc(rng, 200_000)[:, 0] * 0.5 + 0.5
    fails, values = [], []
    for _ in range(TRIALS):
        x = disc(rng, n)[:, 0] * 0.5 + 0.5
        for rho in (0.2, 0.4):
            for gap in (0.15, 0.3):
                # w = 1 and rho as the second coordinate of size 1: the norm is sqrt(1 + rho^2).
                bound = bounds.plane_false_positive_rate(
                    np.maximum(rho - x, 0), gap=gap, norm_bound=np.hypot(1, 0.4),
                    trace=float(x @ x) + n, delta=delta,
                )  # fmt: skip
                fails.append((truth_of < rho - gap).mean() > bound)
                values.append(bound)
    assert_rarely_fails(np.reshape(fails, (TRIALS, -1)).any(axis=1), delta, bounds=values)


def test_pac_bayes_for_all_directions():
    """The error of the random weights is bounded without the factor 2 that their centre costs."""
    rng, delta, n = np.random.default_rng(12), 0.2, 120
    Z, t = bars(rng, 40_000, noise=0.1)
    lengths = np.linalg.norm(Z, axis=1)
    some = DIRECTIONS[:, 48:73:4]  # around (1, 0), where the bound is below 1
    margins = t[:, None] * (Z @ some) / lengths[:, None]
    truth = (margins <= 0).mean(axis=0)
    fails, values = [], []
    for _ in range(TRIALS):
        X, y = bars(rng, n, noise=0.1)
        found = [
            bounds.pac_bayes_margin_error(m, delta=delta)
            for m in (y[:, None] * (X @ some) / np.linalg.norm(X, axis=1)[:, None]).T
        ]
        random = [ndtr(-f.scale * margins[::20, i]).mean() for i, f in enumerate(found)]
        fails.append(
            (truth > [f.value for f in found]).any() or (np.array(random) > [f.gibbs for f in found]).any()
        )
        values.append(min(f.value for f in found))
    assert_rarely_fails(fails, delta, bounds=values)


@pytest.mark.parametrize("p", [0.003, 0.02, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_held_out_bound_fails_with_probability_delta_exactly_counted(p, delta):
    """No simulation: the probability of all counts whose bound lies below p."""
    n = 80
    low = [k for k in range(n + 1) if bounds.held_out_error(errors=k, n=n, delta=delta) < p]
    probability = binom.pmf(low, n, p).sum()
    assert probability <= delta + 1e-12
    if low:  # and it cannot be improved: one count more would break it
        assert probability + binom.pmf(max(low) + 1, n, p) > delta
