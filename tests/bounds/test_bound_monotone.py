"""Where the theory says that a bound falls or rises, it does."""

import numpy as np
import pytest

from mercer import bounds

pytestmark = pytest.mark.core
UP = np.linspace(0.0, 1.0, 7)


def slacks(n=200, size=0.1):
    return np.full(int(n), size)


# name: the bound as a function of n, margin (or gap, tolerance), delta and slack, where it has them.
BOUNDS = {
    "margin_slack": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.margin_slack_error(
        slacks(n, s), margin=m, trace=float(n), delta=delta
    ),
    "squared_slack": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.squared_margin_slack_error(
        slacks(n, s), margin=m, trace=float(n), delta=delta
    ),
    "hard_margin": lambda n=200, m=0.5, delta=0.05: bounds.hard_margin_error(
        margin=m, trace=float(n), n=n, delta=delta
    ),
    "fat": lambda n=10**6, m=0.5, delta=0.05: bounds.fat_shattering_error(
        margin=m, radius=1.0, n=n, delta=delta
    ),
    "squared_rate": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.squared_slack_rate(
        np.r_[s, np.zeros(int(n) - 1)], margin=m, radius=1.0, delta=delta
    )(1.0),
    "rate": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.slack_rate(
        np.r_[s, np.zeros(int(n) - 1)], margin=m, radius=1.0, delta=delta
    )(1.0),
    "vc": lambda n=200, delta=0.05: bounds.vc_error(h=5, n=n, delta=delta),
    "perceptron": lambda n=200, delta=0.05: bounds.perceptron_error(updates=5, n=n, delta=delta),
    "perceptron_margin": lambda n=200, m=0.5, delta=0.05: bounds.perceptron_margin_error(
        radius=1.0, margin=m, n=n, delta=delta
    ),
    "support": lambda n=200, delta=0.05: bounds.support_vector_error(n_support=9, n=n, delta=delta),
    "squared_error": lambda n=200, delta=0.05, s=0.1: bounds.squared_error(
        slacks(n, s), slacks(n), norm_bound=1.0, radius=1.0, trace=float(n), delta=delta
    ),
    "large_error": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.large_error_rate(
        slacks(n, s), tolerance=m, norm_bound=1.0, trace=float(n), delta=delta
    ),
    "outside_loss": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.outside_loss(
        slacks(n, 1 + s), squared_radius=1.0, gap=m, radius=1.0, delta=delta
    ),
    "false_positives": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.false_positive_rate(
        slack_sum=n * s, gap=m, radius=1.0, n=n, delta=delta
    ),
    "plane": lambda n=200, m=0.5, delta=0.05, s=0.1: bounds.plane_false_positive_rate(
        slacks(n, s), gap=m, norm_bound=1.0, trace=float(n), delta=delta
    ),
    "radius": lambda n=2000, delta=0.05, s=0.1: bounds.radius_for_rate(
        0.4, squared_radius=1.0, slack_sum=n * s, radius=1.0, n=n, delta=delta
    ),
    "pac_bayes": lambda n=200, m=0.5, delta=0.05: (
        bounds.pac_bayes_margin_error(slacks(n, m), delta=delta).value
    ),
    "held_out": lambda n=200, delta=0.05: bounds.held_out_error(errors=3, n=n, delta=delta),
}
NAMES = {name: f.__code__.co_varnames[: f.__code__.co_argcount] for name, f in BOUNDS.items()}


def having(argument):
    return [name for name in BOUNDS if argument in NAMES[name]]


@pytest.mark.parametrize("name", having("n"))
def test_more_points_promise_more(name):
    start = BOUNDS[name].__defaults__[0]
    values = [BOUNDS[name](n=start * 2**j) for j in range(6)]
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("name", having("m"))
def test_a_larger_margin_promises_more(name):
    values = [BOUNDS[name](m=m) for m in 0.3 + 0.6 * UP]
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("name", having("delta"))
def test_to_be_surer_is_to_promise_less(name):
    values = [BOUNDS[name](delta=d) for d in 10.0 ** (-4 + 3.5 * UP)]
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("name", having("s"))
def test_more_slack_promises_less(name):
    values = [BOUNDS[name](s=s) for s in 0.05 + 0.3 * UP]
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize(
    "bound",
    [
        lambda k: bounds.support_vector_error(n_support=k, n=500),
        lambda k: bounds.expected_error(n_support=k, n=500),
        lambda k: bounds.perceptron_error(updates=k, n=500),
        lambda k: bounds.vc_error(h=k, n=500),
        lambda k: bounds.held_out_error(errors=k, n=500),
        lambda k: bounds.hard_margin_error(margin=1.0, trace=k, n=500),
        lambda k: bounds.margin_vc_dimension(radius=k, norm=1.0),
        lambda k: bounds.perceptron_updates(radius=k, margin=1.0),
    ],
)
def test_a_richer_machine_promises_less(bound):
    assert (np.diff([bound(k) for k in (1, 2, 5, 10, 100)]) > 0).all()
