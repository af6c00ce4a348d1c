# ruff: noqa: D102  what overrides a method is documented in the base class
"""The loss that a box-constrained dual belongs to."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.problems.losses.base import SLACK, BoxConjugate, Loss


class BoxLoss(Loss):
    r"""The loss :math:`L_i(f) = \max_{l_i \le a \le h_i} a (p_i - f) - r_i a^2 / 2` of point i.

    It has its own shape at every point: what it takes as targets are the numbers of the points.

    Parameters
    ----------
    p, r, lo, hi : (n,) float64
        Linear term, shift and box of the dual. Where r is 0 the box is bounded.
    """

    targets: ClassVar = "signs"

    def __init__(self, p: Float64, r: float, lo: Float64, hi: Float64) -> None:
        self.p, self.r, self.lo, self.hi = p, r, lo, hi

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self.r > 0

    def value(self, y: Float64, f: Float64) -> Float64:
        i = y.astype(np.intp)
        ahead = self.p[i] - f
        a = self._best(i, ahead)
        return np.asarray(a * ahead - 0.5 * self.r * a * a)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        i = y.astype(np.intp)
        return -self._best(i, self.p[i] - f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        i = y.astype(np.intp)
        if self.r == 0:
            return np.zeros(f.shape)
        a = (self.p[i] - f) / self.r
        return np.where((a > self.lo[i]) & (a < self.hi[i]), 1.0 / self.r, 0.0)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        i, a = y.astype(np.intp), -s
        inside = np.clip(a, self.lo[i], self.hi[i])
        size = np.maximum(1.0, np.where(np.isfinite(inside), np.abs(inside), 1.0))
        penalty = np.where(np.abs(a - inside) > SLACK * size, np.inf, 0.0)
        return np.asarray(penalty - self.p[i] * inside + 0.5 * self.r * inside * inside)

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        i, a = y.astype(np.intp), -s
        ahead = self.p[i] - f
        best = self._best(i, ahead)
        # (best - a) ahead - r/2 (best^2 - a^2): both factors have one sign where best is at a bound.
        gain = (best - a) * (ahead - 0.5 * self.r * (best + a))
        penalty = np.where(np.isinf(self.conjugate(y, s)), np.inf, 0.0)
        return np.asarray(penalty + np.maximum(gain, 0.0))

    def box_conjugate(self, y: Float64) -> BoxConjugate:
        i = y.astype(np.intp)
        return BoxConjugate(self.p[i], 0.0, self.r, self.lo[i], self.hi[i])

    def _best(self, i: np.ndarray, ahead: Float64) -> Float64:
        if self.r > 0:
            return np.asarray(np.clip(ahead / self.r, self.lo[i], self.hi[i]))
        return np.asarray(np.where(ahead > 0, self.hi[i], self.lo[i]))
