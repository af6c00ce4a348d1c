"""Many duals with one bias each, at once: the pairs of many classes, each with a few rows."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64, Index, Ints
from mercer.problems.dual import ROUNDING, SUM_ROUNDING, Dual
from mercer.problems.problem import FEASIBLE, Machine, Values


class SolvedDual(Dual):
    """A dual that is solved already: its bias and values are known, and nothing else is asked of it."""

    def __init__(self, values: Values) -> None:
        self.known = values
        self.scale = 1.0

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function that the point stands for."""
        assert self.known is not None
        return Machine(b, float(self.known.multipliers[0]), f)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return the known values: the machine is shipped as it was found."""
        assert self.known is not None
        return self.known


class Stacked:
    r"""Duals of many small sets of points, each with one sum that is zero.

    .. math::
        \min_\beta \; \tfrac12 \beta' K_t \beta + p'\beta \quad \text{subject to} \quad
        lo \le \beta \le hi, \quad \sum_i \beta_i = 0, \qquad t = 1, 2, \dots

    :math:`K_t` is a part of one matrix. The variables of all problems stand one after the other, so that what
    a point of each is worth takes a few passes over all of them instead of a few calls for each.

    Parameters
    ----------
    rows : list of (m_t,) int
        The points of each problem.
    whole : Dual
        Linear term and box of all of them.
    """

    def __init__(self, rows: list[Index], whole: Dual) -> None:
        sizes = np.array([part.size for part in rows], dtype=np.int64)
        self.rows: Ints = np.concatenate(rows).astype(np.int64)
        self.ends: Ints = np.concatenate([[0], np.cumsum(sizes)])
        self.p, self.lo, self.hi = whole.p, whole.lo, whole.hi

    def __len__(self) -> int:
        return self.ends.size - 1

    def sums(self, x: Float64) -> Float64:
        """Return the sum of x over each problem."""
        return np.asarray(np.add.reduceat(x, self.ends[:-1]))

    def evaluate(self, b: Float64, f: Float64, noise: Float64) -> list[Values | None]:
        """Return what a point of each problem is worth, given f = K beta; None where no variable is free.

        The formulas are those of :class:`Dual`; without a free variable its bias is a matter of bounds.

        Parameters
        ----------
        b, f : (m,) float64
            Points of all problems, and K beta.
        noise : (problems,) float64
            A bound on the error of f.
        """
        starts = self.ends[:-1]
        counts = np.diff(self.ends)
        size = self.sums(np.abs(b))
        near = ROUNDING * (self.hi - self.lo) + np.repeat(SUM_ROUNDING * size, counts)
        from_lo, from_hi = b - self.lo, self.hi - b
        free = np.minimum(from_lo, from_hi) > near
        g = f + self.p
        number = self.sums(free.astype(np.float64))
        bias = -self.sums(np.where(free, g, 0.0)) / np.maximum(number, 1.0)
        cost = g + np.repeat(bias, counts)
        settled = np.where(free, b, np.where(from_lo <= from_hi, self.lo, self.hi))
        above, below = settled - self.lo, self.hi - settled
        gaps = self.sums(above * np.maximum(cost, 0.0)) - self.sums(below * np.minimum(cost, 0.0))
        dual = -(0.5 * self.sums(b * f) + self.sums(self.p * b))
        top = np.maximum.reduceat(np.where(settled > self.lo, g, -np.inf), starts)
        bottom = np.minimum.reduceat(np.where(settled < self.hi, g, np.inf), starts)
        violations = np.maximum(top - bottom, 0.0)
        outside = self.sums(np.maximum(np.maximum(self.lo - b, b - self.hi), 0.0))
        missed = outside + np.abs(self.sums(b))
        feasible = missed <= FEASIBLE * size
        largest = np.maximum.reduceat(np.abs(cost), starts)
        each = np.repeat(noise, counts)
        reach = np.maximum(np.where(cost > -each, above, 0.0), np.where(cost < each, below, 0.0))
        rounding = noise * (self.sums(reach) + 0.5 * size) + 2.0 * missed * largest
        terms = 0.5 * self.sums(np.abs(b * f)) + self.sums(np.abs(self.p * b))
        columns = (dual + gaps, dual, gaps, violations, rounding, terms)
        known = zip(*(column.tolist() for column in columns), strict=True)
        return [
            Values(primal, low, gap, violation, bias[t : t + 1], noisy, size)
            if number[t] and feasible[t]
            else None
            for t, (primal, low, gap, violation, noisy, size) in enumerate(known)
        ]
