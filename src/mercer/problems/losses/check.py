r"""A cheap look at a user's loss: whether the derivative is that of the value, and the value convex.

For a convex loss, any slope d at f and any h > 0,

.. math:: \frac{L(f) - L(f - h)}{h} \le d \le \frac{L(f + h) - L(f)}{h},

at kinks too. A derivative that breaks one of these by more than rounding is wrong, or the loss is not convex;
a value above a chord shows that it is not. Finding nothing proves nothing.

How roughly a loss rounds is measured: values at neighbouring points would lie on a line if they were exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.arrays import Float64
from mercer.problems.losses.base import Loss

POINTS = 64  # at which a loss is looked at
STEPS = (1e-5, 1e-3, 1e-1, 1.0)  # in units of the point's own scale
TAPS = (1e-9, 1e-7, 1e-6, 1e-5)  # distances of neighbours whose values tell the rounding, relative
UNITS = 64 * 2.3e-16  # rounding of a value that is computed well, relative to what it is computed from
COARSE = 1e-6  # where numbers lie farther apart than this, a loss is not looked at
BLUR = 1e-6  # of slopes, relative, that is nobody's mistake


@dataclass(frozen=True)
class WrongDerivative:
    """A point at which a loss does not have the slope that it says.

    Attributes
    ----------
    y : float
        The target.
    f : float or tuple of float
        The fitted value, or values if the loss has a function for each class.
    declared : float
        The derivative that the loss gives, along ``direction``.
    measured : float
        The nearest slope that its values allow.
    direction : tuple of float or None
        None for a loss of one function.
    """

    y: float
    f: float | tuple[float, ...]
    declared: float
    measured: float
    direction: tuple[float, ...] | None = None


@dataclass(frozen=True)
class ConcaveTriple:
    """Three fitted values on a line of which the middle one costs more than the chord through the others.

    Attributes
    ----------
    y : float
        The target.
    f : tuple
        The three fitted values, in their order.
    values : tuple of float
        The loss there.
    chord : float
        What the loss in the middle may be at most.
    """

    y: float
    f: tuple[Any, Any, Any]
    values: tuple[float, float, float]
    chord: float


class _Lines:
    """A loss along a line through each of some points: L(y, f + t d)."""

    def __init__(self, loss: Loss, y: Float64, rng: np.random.Generator) -> None:
        self.loss, self.vector = loss, loss.targets == "classes"
        y = y[np.isfinite(y)]
        self.y = rng.choice(y, size=POINTS)
        own = float(np.abs(y - np.median(y)).max()) or float(np.abs(y).max())
        unit = loss.targets in ("signs", "classes") or own == 0.0
        self.scale = np.ones(POINTS) if unit else np.where(rng.random(POINTS) < 0.5, own, 1.0)
        # Exactly at the target (a kink of many losses), near, around, and far away.
        far = rng.choice([0.0, 1e-3, 0.3, 1.0, 1.0, 3.0, 10.0, 30.0], size=POINTS)
        if self.vector:
            k = max(2, int(y.max()) + 1)
            self.f = (far * self.scale)[:, None] * rng.standard_normal((POINTS, k))
            self.direction: Float64 | None = rng.standard_normal((POINTS, k))
        else:
            at = np.where(rng.random(POINTS) < 0.7, self.y, 0.0)
            self.f = at + far * self.scale * rng.standard_normal(POINTS)
            self.direction = None
        with np.errstate(all="ignore"):
            self.here = self.value(np.zeros(POINTS))
            self.noise = self._noise()

    def at(self, t: Float64) -> Float64:
        """Return the points at the parameters t."""
        return np.asarray(self.f + t if self.direction is None else self.f + t[:, None] * self.direction)

    def value(self, t: Float64) -> Float64:
        return np.asarray(self.loss.value(self.y, self.at(t)), dtype=np.float64)

    def slope(self, t: Float64) -> Float64:
        found = np.asarray(self.loss.derivative(self.y, self.at(t)), dtype=np.float64)
        return found if self.direction is None else np.asarray((found * self.direction).sum(axis=1))

    def moved(self, step: Float64) -> Float64:
        """Return how far a step goes: f + step is rounded (of several functions, the parameter is)."""
        return (self.f + step) - self.f if self.direction is None else step

    def _noise(self) -> Float64:
        """Return how far values may be off."""
        place, steep = np.abs(self.f), np.abs(self.loss.derivative(self.y, self.f))
        if self.vector:
            place, steep = place.max(axis=1), steep.sum(axis=1)
        rough = np.zeros(POINTS)
        for share in TAPS:
            right = self.moved(share * np.maximum(self.scale, place))
            left = self.moved(-right)
            bend = np.abs(self.value(left) - 2.0 * self.here + self.value(right))
            rough = np.fmax(rough, np.where(left == -right, bend, 0.0))
        usual = np.abs(self.here[np.isfinite(self.here)])
        # Terms that cancel in a value are as large as values elsewhere, as f moves them, or of size 1.
        size = 1.0 + np.abs(self.here) + (float(np.median(usual)) if usual.size else 0.0)
        size += np.where(np.isfinite(steep), steep, 0.0) * (place + np.abs(self.y))
        # A point at which neighbours happen to agree is no more exact than most others.
        told = np.isfinite(rough) & np.isfinite(size)
        common = float(np.quantile((rough / size)[told], 0.75)) if told.any() else 0.0
        noise = 4.0 * np.fmax(rough, common * size) + UNITS * size
        return np.where(np.spacing(place) > COARSE, np.inf, noise)

    def step_noise(self, there: Float64) -> Float64:
        """Return how far the difference between values there and here may be off."""
        return np.asarray(2.0 * self.noise + UNITS * np.abs(there))

    def place(self, i: int, t: float = 0.0) -> Any:
        """Return a point in plain numbers."""
        if self.direction is None:
            return float(self.f[i] + t)
        return tuple(map(float, self.f[i] + t * self.direction[i]))


def find_wrong_derivative(loss: Loss, y: ArrayLike, rng: np.random.Generator) -> WrongDerivative | None:
    """Look for a point at which a loss gives a derivative that its values contradict.

    Parameters
    ----------
    loss : Loss
        Validated.
    y : array of shape (n,)
        Targets that occur (of classes: their numbers).
    rng : numpy.random.Generator
        Which points are looked at.

    Returns
    -------
    WrongDerivative or None
        None proves nothing.
    """
    lines = _Lines(loss, np.asarray(y, dtype=np.float64), rng)
    with np.errstate(all="ignore"):
        declared = lines.slope(np.zeros(POINTS))
        for share in STEPS:
            for side in (1.0, -1.0):
                step = lines.moved(side * share * lines.scale)
                there = lines.value(step)
                chord = (there - lines.here) / step
                room = lines.step_noise(there) / np.abs(step) + BLUR * (np.abs(chord) + np.abs(declared))
                wrong = (side * (declared - chord) > room) & np.isfinite(declared)
                if np.isnan(declared).mean() > 0.5:  # not only far out, where something may overflow
                    wrong = np.isnan(declared) & np.isfinite(chord)
                if wrong.any():
                    i = int(np.flatnonzero(wrong)[0])
                    way = None if lines.direction is None else tuple(map(float, lines.direction[i]))
                    at = (float(lines.y[i]), lines.place(i), float(declared[i]), float(chord[i]), way)
                    return WrongDerivative(*at)
    return None


def find_concave_triple(loss: Loss, y: ArrayLike, rng: np.random.Generator) -> ConcaveTriple | None:
    """Look for three points on a line at which a loss is not convex.

    Parameters
    ----------
    loss : Loss
        Validated.
    y : array of shape (n,)
        Targets that occur (of classes: their numbers).
    rng : numpy.random.Generator
        Which points are looked at.

    Returns
    -------
    ConcaveTriple or None
        None proves nothing.
    """
    lines = _Lines(loss, np.asarray(y, dtype=np.float64), rng)
    with np.errstate(all="ignore"):
        for left, right in _spans(rng):
            a, b = lines.moved(-left * lines.scale), lines.moved(right * lines.scale)
            low, high = lines.value(a), lines.value(b)
            weight = b / (b - a)  # of the left end
            chord = weight * low + (1.0 - weight) * high
            room = lines.step_noise(low) + lines.step_noise(high) + BLUR * np.abs(lines.here - chord)
            room += UNITS * (np.abs(low) + np.abs(high))
            wrong = lines.here - chord > room
            if wrong.any():
                i = int(np.flatnonzero(wrong)[0])
                places = (lines.place(i, a[i]), lines.place(i), lines.place(i, b[i]))
                values = (float(low[i]), float(lines.here[i]), float(high[i]))
                return ConcaveTriple(float(lines.y[i]), places, values, float(chord[i]))
    return None


def _spans(rng: np.random.Generator) -> Iterator[tuple[Float64, Float64]]:
    for share in STEPS[1:]:
        left, right = share * 10.0 ** rng.uniform(0.0, 1.5, size=(2, POINTS))
        yield left, right


def wrong_derivative_message(loss: Loss, found: WrongDerivative) -> str:
    """Return in words that a loss has not the derivative it says, with the counterexample.

    Parameters
    ----------
    loss : Loss
        What is refused.
    found : WrongDerivative
        Where it shows.

    Returns
    -------
    str
    """
    along = "" if found.direction is None else f" along {_plain(found.direction)}"
    limit = "at most" if found.declared > found.measured else "at least"
    return (
        f"{loss!r}: derivative gives {found.declared:.6g} at y = {found.y:.6g}, f = {_plain(found.f)}"
        f"{along}; by the values around, it must be {limit} {found.measured:.6g}. Correct derivative() or "
        "value(): the loss must be convex in f, and derivative its slope."
    )


def concave_message(loss: Loss, found: ConcaveTriple) -> str:
    """Return in words that a loss is not convex, with the counterexample.

    Parameters
    ----------
    loss : Loss
        What is refused.
    found : ConcaveTriple
        Where it shows.

    Returns
    -------
    str
    """
    points = ", ".join(f"L({_plain(f)}) = {v:.6g}" for f, v in zip(found.f, found.values, strict=True))
    return (
        f"{loss!r} is not convex in f: for y = {found.y:.6g}, {points}, but the middle one may be "
        f"{found.chord:.6g} at most, by the chord through the others. No minimum of such a loss is proved."
    )


def _plain(f: float | tuple[float, ...]) -> str:
    return f"{f:.6g}" if isinstance(f, float) else "(" + ", ".join(f"{v:.4g}" for v in f) + ")"


def refuse_wrong_loss(loss: Loss, y: ArrayLike, rng: np.random.Generator) -> None:
    """Raise ValueError, with a counterexample, if a user's loss is seen not to be what it says.

    Losses of the library are not looked at: what they say of themselves is proved elsewhere.

    Parameters
    ----------
    loss : Loss
        Validated.
    y : array of shape (n,)
        Targets that occur (of classes: their numbers).
    rng : numpy.random.Generator
        Which points are looked at.
    """
    if not loss.is_of_user:
        return
    concave = find_concave_triple(loss, y, rng)
    if concave is not None:
        raise ValueError(concave_message(loss, concave))
    wrong = find_wrong_derivative(loss, y, rng)
    if wrong is not None:
        raise ValueError(wrong_derivative_message(loss, wrong))
