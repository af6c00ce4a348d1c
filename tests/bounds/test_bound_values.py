"""Each statement at numbers that can be worked out with pencil and paper.

With delta = 2/e^2 and n = 100 the term 3 sqrt(ln(2/delta) / (2n)) is 3 sqrt(2/200) = 0.3.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr
from scipy.stats import binom

from mercer import bounds

pytestmark = pytest.mark.core
DELTA = 2 * math.exp(-2)
HUNDRED = {"trace": 100.0, "delta": DELTA}  # sqrt(tr K) = 10


def test_margin_bounds():
    assert bounds.hard_margin_error(margin=1.0, n=100, **HUNDRED) == pytest.approx(0.4 + 0.3)
    assert bounds.hard_margin_error(margin=0.5, n=100, **HUNDRED) == pytest.approx(0.8 + 0.3)
    assert bounds.margin_slack_error(np.full(100, 0.1), margin=1.0, **HUNDRED) == pytest.approx(
        0.1 + 0.4 + 0.3
    )
    assert bounds.margin_slack_error(np.full(100, 0.1), margin=0.5, **HUNDRED) == pytest.approx(
        0.2 + 0.8 + 0.3
    )
    squared = bounds.squared_margin_slack_error(np.full(100, 0.25), margin=0.5, **HUNDRED)
    assert squared == pytest.approx(0.25 + 1.6 + 0.3)


def test_soft_margin_bounds_by_the_dual_value():
    """(1 - sqrt(-W)/gamma) / (C n) = (1 - 0.5) / 2."""
    soft = bounds.soft_margin_error(C=0.02, dual=-0.25, margin=1.0, n=100, **HUNDRED)
    assert soft == pytest.approx(0.25 + 0.4 + 0.3)
    nu = bounds.nu_margin_error(nu=0.5, dual=-0.25, margin=1.0, n=100, **HUNDRED)
    assert nu == pytest.approx(0.5 - 0.25 + 0.4 + 0.3)


@pytest.mark.parametrize(
    ("mu", "value"),
    [
        (1.0, 4 * math.sqrt(200) / 100 + 0.3),  # the hard margin in the larger space wins
        (100.0, 100.0**2 * 0.01 / 100 + 0.8 + 0.3),  # mu^2 ||alpha||^2 / n = 1, against 4 sqrt(10100) / 100
    ],
)
def test_two_norm_margin_bound(mu, value):
    found = bounds.two_norm_margin_error(
        np.full(100, 0.01), mu=mu, dual=-1.0, trace=100.0, delta=4 * math.exp(-2)
    )
    assert found == pytest.approx(value)


def test_fat_shattering_bound():
    """With n = 2^17, R = gamma: d = 64, log2(8 e n 2R / (d gamma)) = 15 + log2 e, log2(32 n 4) = 24."""
    found = bounds.fat_shattering_error(margin=3.0, radius=3.0, n=2**17, delta=0.25)
    assert found == pytest.approx(2 / 2**17 * (64 * (15 + math.log2(math.e)) * 24 + 4))
    printed = bounds.fat_shattering_error(margin=1.0, radius=1.0, n=2**17, delta=0.25, output_range=1.0)
    assert printed == pytest.approx(2 / 2**17 * (64 * (14 + math.log2(math.e)) * 22 + 4))
    assert bounds.fat_shattering_error(margin=1.0, radius=1.0, n=64) == math.inf


def test_fat_shattering_bound_does_not_depend_on_the_unit_of_length():
    one = bounds.fat_shattering_error(margin=0.8, radius=1.0, n=10**6)
    assert bounds.fat_shattering_error(margin=800.0, radius=1000.0, n=10**6) == pytest.approx(one)


@pytest.mark.parametrize("c", [1.0, 2.5])
def test_rates_are_functions_of_the_constant_that_the_source_leaves_open(c):
    slacks, log = np.zeros(100), math.log(100)
    slacks[:2] = 2.0  # sum of squares 8, sum 4
    given = {"margin": 0.5, "radius": 1.0, "delta": math.exp(-1)}
    assert bounds.squared_slack_rate(slacks, **given)(c) == pytest.approx(c / 100 * (9 * 4 * log**2 + 1))
    assert bounds.slack_rate(slacks, **given)(c) == pytest.approx(c / 100 * (4 * log**2 + 8 * log + 1))


def test_vc_bounds():
    assert bounds.margin_vc_dimension(radius=2.0, norm=1.5) == 10
    assert bounds.margin_vc_dimension(radius=2.0, norm=1.5, dimension=3) == 4
    found = bounds.vc_error(h=10, n=1000, delta=4 * math.exp(-2))
    assert found == pytest.approx(4 * (10 * (math.log(200) + 1) + 2) / 1000)
    assert bounds.vc_error(h=21, n=10) == math.inf


def test_perceptron_bounds():
    assert bounds.perceptron_updates(radius=2.0, margin=0.5) == 16
    assert bounds.perceptron_updates(radius=2.0, margin=0.5, bias=-1.0) == 40
    assert bounds.perceptron_error(updates=5, n=100, delta=0.5) == pytest.approx(6 * math.log(100) / 95)
    assert bounds.perceptron_error(updates=51, n=100) == math.inf
    margin = bounds.perceptron_margin_error(radius=math.sqrt(5), margin=1.0, n=100, delta=0.5)
    assert margin == pytest.approx(0.02 * 6 * math.log(100))
    assert bounds.perceptron_margin_error(radius=8.0, margin=1.0, n=100) == math.inf


def test_support_vector_bounds():
    found = bounds.support_vector_error(n_support=10, n=100, delta=math.exp(-1))
    assert found == pytest.approx((10 * (1 + math.log(10)) + math.log(100) + 1) / 90)
    assert bounds.support_vector_error(n_support=7, n=7) == math.inf
    assert bounds.expected_error(n_support=10, n=100) == pytest.approx(0.1)


def test_regression_bounds():
    found = bounds.squared_error(np.full(100, 0.1), np.full(100, 0.5), norm_bound=1.0, radius=1.0, **HUNDRED)
    assert found == pytest.approx(0.01 + 0.16 * (10 + 5) + 12 * 0.1)
    scaled = bounds.squared_error(np.full(100, 0.2), np.full(100, 1.0), norm_bound=1.0, radius=2.0, **HUNDRED)
    assert scaled == pytest.approx(0.04 + 0.32 * (10 + 10) + 48 * 0.1)
    large = bounds.large_error_rate(np.full(100, -0.3), tolerance=0.6, epsilon=0.1, norm_bound=0.5, **HUNDRED)
    assert large == pytest.approx((0.2 + 0.2) / 0.5 + 0.3)


def test_novelty_bounds():
    squares = np.repeat([1.0, 1.5, 5.0], [50, 25, 25])  # losses 0, 0.5 and 1
    found = bounds.outside_loss(squares, squared_radius=1.0, gap=1.0, radius=1.0, delta=DELTA)
    assert found == pytest.approx(0.375 + 0.6 + 0.3)
    rate = bounds.false_positive_rate(slack_sum=10.0, gap=2.0, radius=1.0, n=100, delta=DELTA)
    assert rate == pytest.approx(0.05 + 0.3 + 0.3)
    plane = bounds.plane_false_positive_rate(np.full(100, 0.1), gap=0.5, norm_bound=1.0, **HUNDRED)
    assert plane == pytest.approx((0.1 + 0.4) / 0.5 + 0.3)


def test_radius_for_a_wished_rate():
    """At q = 0.8 the share left is p = 0.5, so gamma = (0.1 + 0.6) / 0.5 = 1.4."""
    ball = {"squared_radius": 1.0, "slack_sum": 10.0, "radius": 1.0, "n": 100, "delta": DELTA}
    radius = bounds.radius_for_rate(0.8, **ball)
    assert radius == pytest.approx(math.sqrt(2.4))
    again = bounds.false_positive_rate(slack_sum=10.0, gap=radius**2 - 1, radius=1.0, n=100, delta=DELTA)
    assert again == pytest.approx(0.8)
    one = bounds.radius_for_rate(0.8, gaps=[8.0, 1.0, 1.5], **{**ball, "delta": 3 * DELTA})  # delta / 3 each
    assert one == pytest.approx(math.sqrt(2.5))
    with pytest.raises(ValueError, match="cannot be guaranteed"):
        bounds.radius_for_rate(0.29, **ball)
    with pytest.raises(ValueError, match="no gap up to 1"):
        bounds.radius_for_rate(0.8, gaps=[1.0], **ball)


def test_a_choice_among_k_values_costs_delta_over_k():
    tried = []

    def bound(value, delta):
        tried.append((value, delta))
        return abs(value - 2.0)

    assert bounds.best_of_grid(bound, [1.0, 2.5, 4.0], 0.03) == (0.5, 2.5, 3)
    assert tried == [(1.0, pytest.approx(0.01)), (2.5, pytest.approx(0.01)), (4.0, pytest.approx(0.01))]


def test_the_grids_depend_on_no_data():
    grid = bounds.margin_grid(n=1024, radius=2.0)  # from R to 4 R / sqrt(n) = R / 8 in steps of sqrt(2)
    assert grid[0] == 2.0
    assert grid[-1] == pytest.approx(0.25)
    assert len(grid) == 7
    gaps = bounds.gap_grid(n=900, radius=1.0)
    assert gaps[0] == 4.0
    assert gaps[-1] <= 6 / 30 < gaps[-2]
    assert len(bounds.powers_of_two()) == 41


def test_rademacher_complexity():
    assert bounds.trace_complexity(norm=3.0, trace=25.0, n=10) == pytest.approx(3.0)
    exact = bounds.sampled_complexity(np.eye(16), norm=2.0, draws=50)  # every sign gives sqrt(16)
    assert exact.mean == pytest.approx(2 * 2 * 4 / 16)
    assert exact.error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("q", [0.0, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("budget", [0.001, 0.1, 1.0])
def test_kl_inverse(q, budget):
    p = bounds.kl_inverse(q, budget)
    kl = (q * math.log(q / p) if q else 0.0) + (1 - q) * math.log((1 - q) / (1 - p))
    assert p >= q
    assert kl == pytest.approx(budget, rel=1e-6)
    assert bounds.kl_inverse(q, 0.0) == q
    assert bounds.kl_inverse(1.0, budget) == 1.0


def test_pac_bayes_bound_is_the_best_over_the_length_of_the_mean():
    margins = np.linspace(0.1, 0.9, 300)

    def bound(log_mu):
        mu = math.exp(log_mu)
        budget = (mu**2 / 2 + math.log(2 * math.sqrt(300) / 0.1)) / 300
        return 2 * bounds.kl_inverse(ndtr(-mu * margins).mean(), budget)

    best = minimize_scalar(bound, bounds=(-2, 4), method="bounded").fun
    found = bounds.pac_bayes_margin_error(margins, delta=0.1)
    assert best <= found.value * (1 + 1e-6)
    assert found.value == pytest.approx(best, rel=1e-3)
    assert found.value == 2 * found.gibbs == pytest.approx(bound(math.log(found.scale)))


def test_held_out_bound_inverts_the_binomial_tail():
    assert bounds.held_out_error(errors=0, n=50, delta=0.05) == pytest.approx(1 - 0.05 ** (1 / 50))
    for k in (1, 7, 49):
        assert binom.cdf(k, 50, bounds.held_out_error(errors=k, n=50, delta=0.1)) == pytest.approx(0.1)
    assert bounds.held_out_error(errors=50, n=50) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.hard_margin_error(margin=0.0, trace=1.0, n=10), "margin=0.0"),
        (lambda: bounds.hard_margin_error(margin=1.0, trace=1.0, n=10, delta=1.0), "delta=1.0"),
        (lambda: bounds.margin_slack_error([0.1, -0.1], margin=1.0, trace=1.0), "slacks"),
        (lambda: bounds.soft_margin_error(C=0.01, dual=-1.0, margin=2.0, trace=1.0, n=10), "at least 1/n"),
        (lambda: bounds.soft_margin_error(C=1.0, dual=0.0, margin=2.0, trace=1.0, n=10), "less than 0"),
        (lambda: bounds.soft_margin_error(C=1.0, dual=-9.0, margin=2.0, trace=1.0, n=10), "negative"),
        (lambda: bounds.nu_margin_error(nu=1.5, dual=-1.0, margin=2.0, trace=1.0, n=10), "nu=1.5"),
        (lambda: bounds.two_norm_margin_error([0.5, 0.4], mu=1.0, dual=-1.0, trace=1.0), "sum to 1"),
        (lambda: bounds.squared_error([0.1], [3.0], norm_bound=1.0, radius=1.0, trace=1.0), "larger"),
        (
            lambda: bounds.large_error_rate([0.1], tolerance=0.1, epsilon=0.1, norm_bound=1, trace=1),
            "epsilon=0.1",
        ),
        (lambda: bounds.support_vector_error(n_support=11, n=10), "more than n=10"),
        (lambda: bounds.held_out_error(errors=11, n=10), "more than n=10"),
        (lambda: bounds.pac_bayes_margin_error(np.full(9, 1.5)), r"\[-1, 1\]"),
        (lambda: bounds.pac_bayes_margin_error(np.full(3, 0.5)), "at least 8"),
        (lambda: bounds.best_of_grid(lambda v, d: v, []), "at least one"),
        (lambda: bounds.sampled_complexity(np.ones((2, 3))), "square"),
        (lambda: bounds.kl_inverse(1.2, 0.1), r"\[0, 1\]"),
        (lambda: bounds.radius_for_rate(1.0, squared_radius=1, slack_sum=0, radius=1, n=10), "rate=1.0"),
    ],
)
def test_numbers_that_no_theorem_is_about_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
