# ruff: noqa: D102  what overrides a method is documented in the base class
"""A loss with kinks made smooth without losing its minimum: the step of a proximal method."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.problems.losses.base import Loss
from mercer.problems.losses.roots import increasing_root

STEP = 1e-7  # within which a jump of the derivative counts as a kink, relative


class Envelope(Loss):
    r"""The envelope :math:`\min_z L(y, z) + s (f - z) + \tfrac{\rho}{2} (f - z)^2` of a loss.

    Its derivative, :math:`s + \rho (f - z)`, is continuous, and a slope of L at z. Where it equals s, the
    best z is f itself: once the slopes have settled, the envelope has the minimum of the loss.

    Parameters
    ----------
    loss : Loss
        L, of one function.
    slopes : (n,) float64
        s: the slopes of the step before.
    rho : float
        How closely the envelope follows.

    References
    ----------
    .. [1] R. T. Rockafellar (1976). Augmented Lagrangians and applications of the proximal point algorithm in
       convex programming. *Mathematics of Operations Research* 1, 97-116.
    """

    def __init__(self, loss: Loss, slopes: Float64, rho: float) -> None:
        self.loss, self.slopes, self.rho = loss, slopes, rho
        self._known: tuple[Float64, Float64] | None = None

    def nearest(self, y: Float64, f: Float64) -> Float64:
        """Return the best z for each f."""
        if self._known is not None and np.array_equal(self._known[0], f):
            return self._known[1]
        goal = f + self.slopes / self.rho
        rounding = np.finfo(np.float64).eps * np.abs(goal)
        z, _ = increasing_root(
            lambda z: z - goal + self.loss.derivative(y, z) / self.rho, goal, rounding=rounding
        )
        self._known = (np.array(f), z)
        return z

    def value(self, y: Float64, f: Float64) -> Float64:
        z = self.nearest(y, f)
        return np.asarray(self.loss.value(y, z) + (f - z) * (self.slopes + 0.5 * self.rho * (f - z)))

    def derivative(self, y: Float64, f: Float64) -> Float64:
        z = self.nearest(y, f)
        # The difference cancels where f is large; as a slope of L at z, it lies between those beside z.
        beside = 4.0 * np.finfo(np.float64).eps * np.maximum(np.abs(z), np.abs(f))
        low, high = self.loss.derivative(y, z - beside), self.loss.derivative(y, z + beside)
        return np.clip(self.slopes + self.rho * (f - z), low, high)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        z = self.nearest(y, f)
        h = STEP * np.maximum(1.0, np.abs(z))
        own = (self.loss.derivative(y, z + h) - self.loss.derivative(y, z - h)) / (2.0 * h)
        own = np.maximum(own, 0.0)
        return np.asarray(self.rho * own / (self.rho + own))  # at a kink, where z rests, it is rho

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        return np.asarray(self.loss.conjugate(y, s) + (s - self.slopes) ** 2 / (2.0 * self.rho))
