"""Many soft margins at once: the pairs of many classes, each with a few rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.problems.dual import ROUNDING, Float64, Machine, Values

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Biased:
    """A problem that is solved already: of its machine, the bias is known."""

    bias: float

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function that the point stands for."""
        return Machine(b, self.bias, f + self.bias)


class SoftMargins:
    r"""The duals of :func:`soft_margin`, with a bias, of many small sets of points.

    .. math::
        \min_\beta \; \tfrac12 \beta' K_t \beta - y'\beta \quad \text{subject to} \quad
        0 \le y_i \beta_i \le C_i, \quad \sum_i \beta_i = 0, \qquad t = 1, 2, \dots

    :math:`K_t` is a part of one matrix. The variables of all problems stand one after the other, so that what
    a point of each is worth takes a few passes over all of them instead of a few calls for each.

    Parameters
    ----------
    rows : list of (m_t,) int
        The points of each problem.
    y : (m,) float64
        Labels +1 and -1, of all problems.
    C : (m,) float64
        The prices.
    """

    def __init__(self, rows: list[NDArray[np.intp]], y: Float64, C: Float64) -> None:
        sizes = np.array([part.size for part in rows], dtype=np.int64)
        self.rows: Ints = np.concatenate(rows).astype(np.int64)
        self.ends: Ints = np.concatenate([[0], np.cumsum(sizes)])
        self.p = -y
        self.lo, self.hi = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)

    def __len__(self) -> int:
        return self.ends.size - 1

    def evaluate(self, b: Float64, f: Float64) -> list[Values | None]:
        """Return what a point of each problem is worth, given f = K beta; None where no variable is free.

        The formulas are those of :class:`Dual`; without a free variable its bias is a matter of bounds.
        """
        starts = self.ends[:-1]

        def sums(x: Float64) -> Float64:
            total: Float64 = np.add.reduceat(x, starts)
            return total

        near = ROUNDING * (self.hi - self.lo)
        at_lo, at_hi = b - self.lo <= near, self.hi - b <= near
        free = ~(at_lo | at_hi)
        g = f + self.p
        number = sums(free.astype(np.float64))
        bias = -sums(np.where(free, g, 0.0)) / np.maximum(number, 1.0)
        cost = g + np.repeat(bias, np.diff(self.ends))
        settled = np.where(at_lo, self.lo, np.where(at_hi, self.hi, b))
        gap = sums((settled - self.lo) * np.maximum(cost, 0.0)) + sums(
            (settled - self.hi) * np.minimum(cost, 0.0)
        )
        dual = -(0.5 * sums(b * f) + sums(self.p * b))
        top = np.maximum.reduceat(np.where(b > self.lo, g, -np.inf), starts)
        bottom = np.minimum.reduceat(np.where(b < self.hi, g, np.inf), starts)
        violation = np.maximum(top - bottom, 0.0)
        columns = ((dual + gap).tolist(), dual.tolist(), gap.tolist(), violation.tolist())
        return [
            Values(*values, bias[t : t + 1]) if number[t] else None
            for t, values in enumerate(zip(*columns, strict=True))
        ]
