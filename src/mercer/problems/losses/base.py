"""What a loss is: a convex function of the fitted value, for each target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from mercer.arrays import Float64
from mercer.problems.losses.roots import increasing_root
from mercer.values import Value

SLACK = 1e-9  # by how much, relative to its bounds, a dual variable may miss the conjugate's domain
STEP = 6e-6  # of a central difference: the cube root of the rounding, relative


class Pieces(NamedTuple):
    """A piecewise-linear convex function of f for each of n targets.

    ``kinks`` (m, n) in ascending order; ``slopes`` (m + 1, n): before the first kink, between them, after the
    last.
    """

    kinks: Float64
    slopes: Float64


class BoxConjugate(NamedTuple):
    r"""A conjugate that is quadratic on an interval: :math:`L^*(y, -a) = -p a + e |a| + r a^2 / 2`.

    For each of n targets :math:`l \le a \le h`, up to a constant of the target. ``e`` and ``r`` are numbers,
    ``p``, ``lo`` and ``hi`` (n,) arrays; the interval holds 0.
    """

    p: Float64
    e: float
    r: float
    lo: Float64
    hi: Float64

    def of_rows(self, rows: slice) -> BoxConjugate:
        """Return the form of some targets."""
        return BoxConjugate(self.p[rows], self.e, self.r, self.lo[rows], self.hi[rows])


class Loss(Value, ABC):
    r"""A convex loss L(y, f).

    A subclass gives :meth:`value` and :meth:`derivative`; the rest follows numerically. What it gives in
    closed form besides is faster and exact: the curvature drives Newton's method, the conjugate

    .. math:: L^*(y, s) = \sup_f \; s f - L(y, f)

    proves how good a fit is: by Fenchel's inequality :math:`L(y, f) + L^*(y, s) - s f \ge 0`, and the duality
    gap is the sum of these terms at the points of a fit.

    Attributes
    ----------
    targets : {"signs", "numbers", "any", "classes"}
        What y is: +1 or -1, real numbers, either, or numbers of classes (f then has a column for each class).
    smooth : bool
        Whether the derivative is continuous in f. Where it is not, :meth:`derivative` may return any
        subgradient at a jump. A class that lists its ``pieces`` has kinks, whether it says so or not.
    """

    name: ClassVar[str | None] = None  # by which estimators know it; never inherited
    targets: ClassVar[Literal["signs", "numbers", "any", "classes"]] = "any"
    smooth: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "pieces" in vars(cls) and "smooth" not in vars(cls):
            cls.smooth = False

    @abstractmethod
    def value(self, y: Float64, f: Float64) -> Float64:
        """Return L(y, f), elementwise."""

    @abstractmethod
    def derivative(self, y: Float64, f: Float64) -> Float64:
        """Return dL / df: it never falls as f grows."""

    def curvature(self, y: Float64, f: Float64) -> Float64:
        """Return the second derivative in f, one of its one-sided values where it jumps."""
        h = STEP * np.maximum(1.0, np.abs(f))
        slope = (self.derivative(y, f + h) - self.derivative(y, f - h)) / (2.0 * h)
        return np.maximum(slope, 0.0)

    def jet(self, y: Float64, f: Float64) -> tuple[Float64, Float64, Float64]:
        """Return value, derivative and curvature, which may have work in common."""
        return self.value(y, f), self.derivative(y, f), self.curvature(y, f)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        """Return sup_f s f - L(y, f), infinite where s is no slope of the loss."""

        def distance(f: Float64) -> Float64:
            return np.asarray(self.derivative(y, f) - s)

        # An extreme slope of a loss with straight tails is attained, to rounding, and bracketed on one side.
        left, left_found = increasing_root(distance, np.zeros(np.shape(s)), side="left")
        right, right_found = increasing_root(distance, np.zeros(np.shape(s)), side="right")
        f = np.where(left_found & (~right_found | (np.abs(left) <= np.abs(right))), left, right)
        there = np.asarray(s * f - self.value(y, f))
        beyond = np.abs(distance(f)) > SLACK * np.maximum(1.0, np.abs(s))
        return np.where(~left_found & ~right_found & beyond, np.inf, there)

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        """Return L(y, f) + L*(y, s) - s f, which is never negative and 0 exactly when s is a slope at f."""
        return np.maximum(self.value(y, f) + self.conjugate(y, s) - s * f, 0.0)

    def pieces(self, y: Float64) -> Pieces | None:
        """Return the kinks and slopes of a piecewise-linear loss; None for any other."""
        return None

    def box_conjugate(self, y: Float64) -> BoxConjugate | None:
        """Return the conjugate where it is quadratic on an interval, None where it is not.

        It is what coordinate descent works on, one variable at a time in closed form.
        """
        pieces = self.pieces(y)
        if pieces is None:
            return None
        kinks, slopes = pieces
        e = 0.5 * (kinks[-1] - kinks[0])
        tube = kinks.shape[0] == 2 and not slopes[1].any() and float(np.ptp(e)) <= SLACK * float(e.max())
        if kinks.shape[0] != 1 and not tube:
            return None
        return BoxConjugate(0.5 * (kinks[0] + kinks[-1]), float(e[0]), 0.0, -slopes[-1], -slopes[0])

    def best_constant(self, y: Float64, weight: Float64 | None = None) -> float:
        """Return the number f that minimises the weighted sum of L(y_i, f).

        Of a large sample of Y given x it is what the loss aims at there: the population minimiser. Where all
        of an interval is optimal, its middle.

        Parameters
        ----------
        y : (n,) float64
            Targets.
        weight : (n,) float64, optional
            Non-negative weights, not all zero.
        """
        weight = np.ones(y.shape) if weight is None else weight
        return best_shift(self, y, np.zeros(y.shape), weight)

    def validate(self) -> None:
        """Refuse parameters that make no convex loss, by name."""

    def probability(self, f: Float64) -> Float64 | None:
        """Return P(Y = +1) where f is the population minimiser; None where f does not determine it."""
        return None


def box_conjugate_of(loss: Loss, y: Float64) -> BoxConjugate | None:
    """Return the quadratic conjugate of a loss; None where it has none, or was given another value since.

    Who derives from a loss and changes its value need not know of this form: it is then not used.
    """

    def depth(name: str) -> int:
        return next(i for i, cls in enumerate(type(loss).__mro__) if name in vars(cls))

    said = depth("box_conjugate")
    if type(loss).__mro__[said] is Loss:
        said = depth("pieces")
    return loss.box_conjugate(y) if said <= min(depth("value"), depth("derivative")) else None


def best_shift(loss: Loss, y: Float64, g: Float64, weight: Float64, start: float = 0.0) -> float:
    """Return the b that minimises the sum of weight_i L(y_i, g_i + b): a root of an increasing function."""
    kept = weight > 0
    if not kept.all():
        y, g, weight = y[kept], g[kept], weight[kept]

    def slope(b: Float64) -> Float64:
        return np.array([float(weight @ loss.derivative(y, g + b[0]))])

    unit = float(np.abs(g).max(initial=0.0))
    unit = unit if np.isfinite(unit) else 1.0
    low, low_found = increasing_root(slope, np.array([start]), side="left", unit=unit)
    if not low_found[0]:
        raise ValueError(
            f"{loss!r} has no best bias on these data: its sum over the targets, which reach "
            f"{float(np.abs(y).max(initial=0.0)):.3g}, keeps falling on one side. Divide y by its standard "
            "deviation, or choose a loss on the scale of y"
        )
    high, high_found = increasing_root(slope, low, side="right", unit=unit)
    return float(0.5 * (low[0] + high[0])) if high_found[0] and high[0] > low[0] else float(low[0])
