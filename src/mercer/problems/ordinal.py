r"""Ordered classes: one function, and a threshold between each class and the next.

    minimise    1/2 ||w||^2 + sum_ij C_i L(s_ij (f_i - theta_j))     over w and theta_1 <= ... <= theta_(k-1)

s_ij is +1 where the class of row i lies above threshold j, else -1. With implicit constraints the sum has
every threshold, and the best thresholds ascend by themselves; with explicit ones only the two next to the
row's class, and the order must be asked for. Copy j of the points belongs to threshold j, whose multiplier in
the dual is -theta_j. The order, where it binds, lets the sums t_j of the copies differ from zero:

    t_1 + ... + t_j = -mu_j <= 0,    t_1 + ... + t_(k-1) = 0,

mu_j the multiplier of theta_j <= theta_(j+1). It adds mu_j (theta_(j+1) - theta_j) to the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Float64, Ints
from mercer.problems.dual import Dual
from mercer.problems.problem import Machine, Values

ROUNDING = 1e-13  # share of all multipliers below which one of the order is none


@dataclass(frozen=True)
class ThresholdMachine(Machine):
    """A function with thresholds: ``intercept`` is minus these, ``table`` (k-1, n) has their multipliers."""

    table: Float64


class Thresholds(Dual):
    r"""The dual of one function with thresholds between ordered classes.

    Parameters
    ----------
    classes : (n,) int
        The number of each row's class.
    n_classes : int
        How many there are.
    C : (n,) float64
        Price of each row.
    implicit : bool
        Whether every threshold sees every row, or only the two next to its class.
    squared : bool
        Whether the hinge is squared.

    References
    ----------
    .. [1] W. Chu and S. S. Keerthi (2007). Support vector ordinal regression. *Neural Computation* 19,
       792-815.
    .. [2] A. Shashua and A. Levin (2002). Ranking with large margin principle: two approaches. *Advances in
       Neural Information Processing Systems* 15.
    """

    def __init__(
        self, classes: Ints, n_classes: int, C: Float64, *, implicit: bool = True, squared: bool = False
    ) -> None:
        thresholds = np.arange(n_classes - 1)[:, None]
        sign = np.where(classes > thresholds, 1.0, -1.0)
        price = np.broadcast_to(C, sign.shape)
        there = price > 0
        if not implicit:
            there = there & ((classes == thresholds) | (classes == thresholds + 1))
        reach = np.where(there, np.inf if squared else price, 0.0)
        super().__init__(
            -sign.ravel(),
            np.where(sign > 0, 0.0, -reach).ravel(),
            np.where(sign > 0, reach, 0.0).ravel(),
            r=np.where(there, 0.5 / np.where(there, price, 1.0), 1.0).ravel() if squared else None,
            group=np.repeat(np.arange(n_classes - 1), C.size),
            sums=np.zeros(n_classes - 1),
            copies=n_classes - 1,
        )
        self.sums_vary = not implicit and n_classes > 2

    # -- the order -------------------------------------------------------------------------------------------

    def pulls(self, b: Float64) -> Float64:
        """Return mu: how hard each threshold is held below the next."""
        sums = b.reshape(self.copies, self.n).sum(axis=1)
        return np.asarray(-np.cumsum(sums)[:-1])

    def joined(self, b: Float64) -> Ints:
        """Return the number of each threshold's block: those that the order holds together."""
        held = self.pulls(b) > ROUNDING * float(np.abs(b).sum())
        return np.concatenate([[0], np.cumsum(~held)]).astype(np.int64)

    def merged(self, blocks: Ints) -> Dual:
        """Return the problem in which the thresholds of a block are one."""
        group = np.repeat(blocks, self.n)
        shift = self.r if self.has_shift else None
        sums = np.zeros(int(blocks[-1]) + 1)
        return Dual(self.p, self.lo, self.hi, r=shift, group=group, sums=sums, copies=self.copies)

    def missed(self, b: Float64) -> float:
        """Return by how much b leaves the box, the sums and the order's multipliers their cone."""
        if not self.sums_vary:
            return super().missed(b)
        outside = float(np.maximum(np.maximum(self.lo - b, b - self.hi), 0.0).sum())
        return outside + abs(float(b.sum())) + float(np.maximum(-self.pulls(b), 0.0).sum())

    def violation(self, b: Float64, g: Float64) -> float:
        """Return the most that any allowed exchange gains per unit, those between thresholds included."""
        if not self.sums_vary:
            return super().violation(b, g)
        tops, bottoms = self.merged(self.joined(b)).extremes(b, g)
        # What one threshold gives may go to any later one.
        return max(0.0, float((tops - np.minimum.accumulate(bottoms)).max()))

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return minus the thresholds, which ascend: the mean over free variables, else within the bounds."""
        blocks = self.joined(b) if self.sums_vary else np.arange(self.copies)
        whole = self.merged(blocks)
        best = whole.multipliers(b, g)
        tops, bottoms = whole.extremes(whole.settled(b), g)
        low, high = np.maximum.accumulate(tops[::-1])[::-1], np.minimum.accumulate(bottoms)
        near = whole._near(b)
        free = (b - self.lo > near) & (self.hi - b > near)
        fixed = np.bincount(whole.group[free], minlength=best.size) > 0  # type: ignore[index]
        known = np.isfinite(low) & np.isfinite(high) & ~fixed
        best[known] = 0.5 * (low + high)[known]
        return np.asarray(np.minimum.accumulate(best)[blocks])

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth; the order's multipliers add to the gap where thresholds differ."""
        if multipliers is None:
            multipliers = self.multipliers(b, self.gradient(b, f))
        values = super().evaluate(b, f, multipliers, noise)
        if not self.sums_vary or not values.feasible:
            return values
        order = float(np.maximum(self.pulls(b), 0.0) @ -np.diff(multipliers))
        return replace(values, primal=values.primal + order, gap=values.gap + order)

    # -- the way back ----------------------------------------------------------------------------------------

    def machine(self, b: Float64, f: Float64) -> ThresholdMachine:
        """Return the function, its thresholds and their multipliers."""
        table = b.reshape(self.copies, self.n)
        return ThresholdMachine(self.beta(b), self.multipliers(b, self.gradient(b, f)), f, table)

    def recover(self, coef: Float64) -> Float64:
        """Return the point of a table of multipliers (n, k-1): the coefficients alone do not determine it."""
        return np.ascontiguousarray(coef.T).ravel()

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = K coef."""
        assert isinstance(machine, ThresholdMachine)
        return self.evaluate(machine.table.ravel(), f, np.asarray(machine.intercept), noise)
