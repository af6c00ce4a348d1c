"""A loss with a wrong derivative, or that is not convex, is told so; one that is right, never."""

import numpy as np
import pytest

from loss_examples import LIBRARY, OWN, PUBLIC
from mercer import losses
from mercer.problems.losses.check import (
    concave_message,
    find_concave_triple,
    find_wrong_derivative,
    refuse_wrong_loss,
    wrong_derivative_message,
)

pytestmark = pytest.mark.core


def names(loss):
    return type(loss).__name__


class NaiveLogistic(losses.MarginLoss):
    """Right, but computed so that it loses its digits on both sides."""

    def value(self, y, f):
        with np.errstate(over="ignore"):
            return np.log(1.0 + np.exp(-y * f))

    def derivative(self, y, f):
        with np.errstate(over="ignore"):
            return -y / (1.0 + np.exp(y * f))


class SingleLogistic(losses.MarginLoss):
    """Right, in single precision inside."""

    def value(self, y, f):
        return np.logaddexp(np.float32(0.0), (-y * f).astype(np.float32)).astype(np.float64)

    def derivative(self, y, f):
        with np.errstate(over="ignore"):
            return (-y / (1.0 + np.exp((y * f).astype(np.float32)))).astype(np.float64)


class Poisson(losses.Loss):
    """Right for counts only."""

    targets = "numbers"

    def value(self, y, f):
        with np.errstate(over="ignore"):
            return np.where(y < 0, np.nan, np.exp(f) - y * f)

    def derivative(self, y, f):
        with np.errstate(over="ignore"):
            return np.exp(f) - y


class Cancelling(losses.Loss):
    """Squares by expansion: right, but far from the origin nothing but rounding is left."""

    targets = "numbers"

    def value(self, y, f):
        return y * y - 2.0 * y * f + f * f

    def derivative(self, y, f):
        return 2.0 * f - 2.0 * y


class ManyKinks(losses.Loss):
    """A sum of absolute values; its derivative takes the one side of each kink, then the other."""

    targets = "numbers"
    smooth = False
    side = 0.0

    def value(self, y, f):
        return sum(np.abs(f - y - k) for k in range(-3, 4))

    def derivative(self, y, f):
        return sum(np.where(f - y - k == 0, self.side, np.sign(f - y - k)) for k in range(-3, 4))


class OtherSide(ManyKinks):
    side = -1.0


RIGHT = [*LIBRARY, *OWN, NaiveLogistic(), SingleLogistic(), Poisson(), Cancelling(), ManyKinks(), OtherSide()]
RNG = np.random.default_rng(0)
NUMBERS = {
    "plain": RNG.normal(size=50),
    "huge": 1e200 * RNG.normal(size=50),
    "large": 1e9 * RNG.normal(size=50),
    "tiny": 1e-200 * RNG.normal(size=50),
    "small": 1e-9 * RNG.normal(size=50),
    "far away": 1e9 + RNG.normal(size=50),
    "constant": np.full(50, 0.3),
    "zero": np.zeros(50),
    "one": np.array([2.0]),
    "integers": np.arange(50) % 3,
    "single": RNG.normal(size=50).astype(np.float32),
    "wild": RNG.normal(size=50) * 10.0 ** RNG.integers(-100, 100, size=50),
}


def targets_of(loss):
    if loss.targets == "signs":
        return {"both": np.array([1.0, -1.0] * 20), "one": np.ones(5), "integers": np.array([1, -1, 1])}
    if loss.targets == "classes":
        return {"three": np.arange(30) % 3, "one": np.zeros(4), "many": np.arange(40.0)}
    if isinstance(loss, Poisson):
        return {"counts": RNG.poisson(4.0, size=50), "zeros": np.zeros(5), "large": RNG.poisson(1e6, size=50)}
    return NUMBERS


@pytest.mark.parametrize("loss", RIGHT, ids=names)
def test_no_false_alarm(loss):
    for name, y in targets_of(loss).items():
        for seed in range(4):
            assert find_wrong_derivative(loss, y, np.random.default_rng(seed)) is None, name
            assert find_concave_triple(loss, y, np.random.default_rng(seed)) is None, name


def wrong(loss, change):
    """Return a loss with its derivative changed, in a class of its own."""

    class Wrong(type(loss)):
        __module__ = "elsewhere"

        def derivative(self, y, f):
            return change(super().derivative(y, f), y, f)

    return Wrong(**loss.get_params(deep=False))


CHANGES = {
    "opposite sign": lambda d, y, f: -d,
    "a factor": lambda d, y, f: 2.0 * d,
    "a small factor": lambda d, y, f: 1.001 * d,
    "a constant": lambda d, y, f: d + 0.01,
    "nothing": lambda d, y, f: 0.0 * d,
    "not a number": lambda d, y, f: np.nan * d,
}


@pytest.mark.parametrize("loss", PUBLIC, ids=names)
@pytest.mark.parametrize("change", CHANGES)
def test_wrong_derivatives_are_found(loss, change):
    bad = wrong(loss, CHANGES[change])
    y = next(iter(targets_of(loss).values()))
    found = find_wrong_derivative(bad, y, np.random.default_rng(0))
    assert found is not None
    at = np.array([found.y]), np.array([found.f])
    declared = bad.derivative(*at)[0]
    true = loss.derivative(*at)[0]
    if found.direction is not None:
        declared, true = declared @ np.array(found.direction), true @ np.array(found.direction)
    np.testing.assert_allclose(found.declared, declared)
    if not np.isnan(declared):
        assert (declared - found.measured) * (declared - true) > 0  # the measured slope is on the right side
    assert find_concave_triple(bad, y, np.random.default_rng(0)) is None  # the values are what they were


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_wrong_derivative_shows_at_any_scale(scale):
    y = scale * RNG.normal(size=30)
    bad = wrong(losses.SquaredError(), CHANGES["a factor"])
    assert find_wrong_derivative(bad, y, np.random.default_rng(0)) is not None


class Ramp(losses.MarginLoss):
    """The hinge, cut off: not convex."""

    def value(self, y, f):
        return np.clip(1.0 - y * f, 0.0, 2.0)

    def derivative(self, y, f):
        return np.where(np.abs(y * f) < 1.0, -y, 0.0)


class Tukey(losses.Loss):
    """Redescending: convex near 0 only."""

    targets = "numbers"

    def value(self, y, f):
        r = y - f
        return r * r / (1.0 + r * r)

    def derivative(self, y, f):
        r = y - f
        return -2.0 * r / (1.0 + r * r) ** 2


class Downward(losses.Loss):
    targets = "classes"

    def value(self, y, f):
        return -(f**2).sum(axis=-1)

    def derivative(self, y, f):
        return -2.0 * f


@pytest.mark.parametrize("loss", [Ramp(), Tukey(), Downward()], ids=names)
def test_losses_that_are_not_convex_are_found(loss):
    y = next(iter(targets_of(loss).values()))
    found = find_concave_triple(loss, y, np.random.default_rng(0))
    assert found is not None
    left, middle, right = (np.array(f) for f in found.f)
    weight = np.linalg.norm(right - middle) / np.linalg.norm(right - left)
    values = [float(loss.value(np.array([found.y]), f[None])[0]) for f in (left, middle, right)]
    np.testing.assert_allclose(values, found.values, rtol=1e-9)
    np.testing.assert_allclose(weight * values[0] + (1 - weight) * values[2], found.chord, rtol=1e-6)
    assert values[1] > found.chord
    message = concave_message(loss, found)
    assert "is not convex" in message
    with pytest.raises(ValueError, match="is not convex in f"):
        refuse_wrong_loss(loss, y, np.random.default_rng(0))


def test_the_refusal_shows_the_counterexample():
    y = NUMBERS["plain"]
    for change, word in (("a factor", "at most|at least"), ("opposite sign", "Correct derivative")):
        bad = wrong(losses.Huber(), CHANGES[change])
        with pytest.raises(ValueError, match=word) as error:
            refuse_wrong_loss(bad, y, np.random.default_rng(0))
        assert "derivative gives" in str(error.value)
        assert "Wrong(threshold=1.345)" in str(error.value)
    bad = wrong(losses.MultinomialDeviance(), CHANGES["a factor"])
    found = find_wrong_derivative(bad, np.arange(3.0), np.random.default_rng(0))
    assert "along (" in wrong_derivative_message(bad, found)
    for loss in OWN:
        refuse_wrong_loss(loss, next(iter(targets_of(loss).values())), np.random.default_rng(0))


def test_losses_of_the_library_are_not_looked_at():
    class Counting(losses.Huber):
        __module__ = "mercer.somewhere"

        def value(self, y, f):
            raise AssertionError("looked at")

    refuse_wrong_loss(Counting(), NUMBERS["plain"], np.random.default_rng(0))
