"""A feasible point of a dual, its reduced costs, and points that come and go."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.solvers.updates.free_block import FreeBlock

EPS = float(np.finfo(np.float64).eps)
NOISE = 16.0 * EPS  # of a reduced cost, relative to the terms that it is made of


class MovablePoint:
    """Where a walk stands: the problem's vectors, the point, K beta and the free variables' matrix.

    Attributes
    ----------
    n, copies : int
        Points, and variables of each.
    p, r, lo, hi : (n copies,) float64
        The problem, in units of ``unit``.
    b, f : float64
        The point, and K beta there.
    place : (n copies,) float64
        -1 at the lower bound, 1 at the upper, 0 free.
    multiplier, total : float
        Of the fixed sum, where ``summed``.
    largest : float
        The largest entry of the diagonal.
    block : FreeBlock
        The factorised matrix of the free variables.
    """

    n: int
    copies: int
    p: Float64
    r: Float64
    lo: Float64
    hi: Float64
    b: Float64
    f: Float64
    place: Any
    unit: float
    multiplier: float
    total: float
    summed: bool
    shifted: bool
    largest: float
    block: FreeBlock

    # -- where it stands -------------------------------------------------------------------------------------

    def beta(self) -> Float64:
        """Return the coefficients of the points."""
        return self.b if self.copies == 1 else self.b.reshape(self.copies, self.n).sum(axis=0)

    def costs(self) -> Float64:
        """Return the reduced costs."""
        costs = (self.f if self.copies == 1 else np.tile(self.f, self.copies)) + self.p
        if self.shifted:
            costs += self.r * self.b
        costs += self.multiplier
        return np.asarray(costs)

    def point(self) -> tuple[Float64, Float64]:
        """Return b and K beta in the problem's own units."""
        return self.b / self.unit, self.f / self.unit

    def _noise(self) -> float:
        """Return what rounding leaves of a reduced cost that is zero."""
        size = float(np.abs(self.p).max(initial=0.0)) + float(np.abs(self.f).max(initial=0.0))
        spread = float(np.sqrt(np.add.reduce(self.b * self.b))) * self.largest
        return NOISE * (size + abs(self.multiplier) + spread) + 1e-300

    def error(self) -> float:
        """Return the largest violation of the optimality conditions, in units of rounding."""
        costs = self.costs()
        inside = self.lo < self.hi
        wrong = np.where(self.place == 0, np.abs(costs), np.maximum(costs * self.place, 0.0))
        worst = float(wrong[inside].max(initial=0.0))
        if self.summed:
            missed = abs(float(self.b.sum()) - self.total)
            worst = max(worst, missed * max(self.largest, EPS))
        return worst / self._noise()

    # -- points come and go ----------------------------------------------------------------------------------

    def add_point(self, row: Float64, p: Float64, r: Float64) -> int:
        """Add a point whose variables are held at zero; return its number.

        Parameters
        ----------
        row : (n + 1,) float64
            Kernel values with all points, itself the last.
        p, r : (copies,) float64
            Its part of the problem.
        """
        value = float(row[: self.n] @ self.beta())
        self.f = np.append(self.f, value)
        zero = np.zeros(self.copies)
        for name, new in (("p", p * self.unit), ("r", r), ("lo", zero), ("hi", zero), ("b", zero)):
            setattr(self, name, self._with(getattr(self, name), new))
        self.place = self._with(self.place, np.full(self.copies, -1.0))
        self.block.add_point(row, self.copies)
        self.largest = max(self.largest, abs(float(row[-1])))
        self.n += 1
        return self.n - 1

    def _with(self, values: Float64, new: Float64) -> Float64:
        table = values.reshape(self.copies, self.n)
        return np.concatenate([table, new.astype(values.dtype)[:, None]], axis=1).ravel()

    def drop_point(self, point: int) -> None:
        """Take out a point whose variables are zero; the last point takes its place."""
        variables = point + self.n * np.arange(self.copies)
        for v in variables:
            if self.place[v] == 0:
                self.block.remove(self.block.members.index(int(v)))
        self.block.drop_point(point, self.copies)
        last = self.n - 1
        self.f[point] = self.f[last]
        self.f = self.f[:last].copy()
        for name in ("p", "r", "lo", "hi", "b", "place"):
            table = getattr(self, name).reshape(self.copies, self.n)
            table[:, point] = table[:, last]
            setattr(self, name, np.ascontiguousarray(table[:, :last]).ravel())
        self.n = last
