r"""One margin for all classes: a simplex of multipliers for each row.

    minimise    1/2 sum_k ||w_k||^2 + sum_i C_i xi_i
    subject to  xi_i >= D_yk + S_yk (f_k(x_i) - f_y(x_i))   for all classes k other than y = y_i,   xi_i >= 0

D is what an error costs. Where S is one, the cost is the margin that is asked for (margin rescaling); where S
is D, it multiplies the slack of a margin of one (slack rescaling). With multipliers m_ik >= 0, the sum of a
row's at most C_i, the functions have the coefficients

    B_ik = -S_yk m_ik  for k other than y,    B_iy = sum_k S_yk m_ik

and the dual is  maximise  sum_ik D_yk m_ik - 1/2 sum_k B_k' K B_k. The rows' blocks do not depend on each
other but through K: a bias that costs nothing would couple them. One that is regularised, as large as tau^2
times the sums of the coefficients, is one more coordinate of the kernel, K + tau^2. The gap is

    sum_i [ sum_k m_ik (xi_i - loss_ik) + (C_i - sum_k m_ik) xi_i ] + 1/(2 tau^2) |b - tau^2 sum_i B_i|^2

none of whose terms is negative.
"""

from __future__ import annotations

import math

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Ints
from mercer.gram import Gram
from mercer.gram.shifted import ShiftedGram
from mercer.problems.problem import FEASIBLE, Machine, Problem, Values, total

EPS = 8 * float(np.finfo(np.float64).eps)  # of a value that is a short sum of numbers of its size


class JointMargin(Problem):
    r"""The margin of all classes together.

    A point is the table B of coefficients, (n, classes): it determines the multipliers.

    Parameters
    ----------
    y : (n,) int64
        The number of each row's class.
    C : (n,) float64
        Price of each row.
    costs : (classes, classes) float64
        D: what each class (row) costs where another one (column) is predicted; zero on the diagonal.
    slack_rescaling : bool
        Whether costs multiply slacks, or are margins.
    bias_scale : float
        tau: the size of the coordinate that stands for a regularised bias, 0 for none.

    References
    ----------
    .. [1] K. Crammer and Y. Singer (2001). On the algorithmic implementation of multiclass kernel-based
       vector machines. *Journal of Machine Learning Research* 2, 265-292.
    .. [2] I. Tsochantaridis, T. Joachims, T. Hofmann and Y. Altun (2005). Large margin methods for structured
       and interdependent output variables. *Journal of Machine Learning Research* 6, 1453-1484.
    """

    def __init__(
        self,
        y: Ints,
        C: Float64,
        costs: Float64,
        *,
        slack_rescaling: bool = False,
        bias_scale: float = 0.0,
    ) -> None:
        self.y = np.ascontiguousarray(y, dtype=np.int64)
        self.C = np.ascontiguousarray(C, dtype=np.float64)
        self.n, self.outputs = self.y.size, costs.shape[0]
        self.costs = np.ascontiguousarray(costs, dtype=np.float64)
        others = 1.0 - np.eye(self.outputs)
        self.scales = self.costs * others if slack_rescaling else others
        self.uniform = not slack_rescaling
        self.bias_scale = bias_scale

    def view(self, matrix: Gram) -> Gram:
        """Return the kernel matrix with the coordinate of the bias."""
        return ShiftedGram(matrix, self.bias_scale) if self.bias_scale else matrix

    @property
    def weights(self) -> Float64:
        """1 / S, infinite where there is no constraint."""
        there = self.scales > 0
        return np.where(there, 1.0 / np.where(there, self.scales, 1.0), np.inf)

    # -- points ----------------------------------------------------------------------------------------------

    def start(self) -> Float64:
        """Return zero."""
        return np.zeros((self.n, self.outputs))

    def multipliers(self, b: Float64) -> Float64:
        """Return m: the shares of each row's price that the other classes have."""
        scales = self.scales[self.y]
        return np.asarray(np.where(scales > 0, -b / np.where(scales > 0, scales, 1.0), 0.0))

    def nearest(self, b: Float64) -> Float64:
        """Return a feasible point near ``b``: multipliers below zero are zero, sums too large are scaled."""
        m = np.maximum(self.multipliers(b.reshape(self.n, self.outputs)), 0.0)
        sums = m.sum(axis=1)
        m *= np.where(sums > self.C, self.C / np.where(sums > 0, sums, 1.0), 1.0)[:, None]
        point = -m * self.scales[self.y]
        point[np.arange(self.n), self.y] = 0.0
        point[np.arange(self.n), self.y] = -point.sum(axis=1)
        return np.asarray(point)

    def beta(self, b: Float64) -> Float64:
        """Return the coefficients: the point itself."""
        return b

    def missed(self, b: Float64) -> float:
        """Return by how much b leaves the simplices, and its rows' sums differ from zero."""
        rows = np.arange(self.n)
        others = b.copy()
        others[rows, self.y] = 0.0
        outside = float(np.maximum(others, 0.0).sum()) + float(np.abs(others[self.scales[self.y] == 0]).sum())
        over = np.maximum(self.multipliers(b).sum(axis=1) - self.C, 0.0)
        return outside + float(over.sum()) + float(np.abs(b.sum(axis=1)).sum())

    # -- values ----------------------------------------------------------------------------------------------

    def judged(self, b: Float64, f: Float64) -> tuple[Float64, Float64, Float64]:
        """Return the slack, the gap and the violation of every row, given the functions at the rows."""
        slack, gap, violation = np.empty(self.n), np.empty(self.n), np.empty(self.n)
        f, b = np.ascontiguousarray(f), np.ascontiguousarray(b)
        _jit.simplex_blocks.judge(f, b, self.y, self.C, self.costs, self.scales, slack, gap, violation)
        return slack, gap, violation

    def objective(self, b: Float64, f: Float64) -> float:
        """Return minus the dual value, given f = (K + tau^2) b."""
        gain = float(np.einsum("ik,ik->", self.multipliers(b), self.costs[self.y]))
        return 0.5 * float(np.einsum("ik,ik->", b, f)) - gain

    def bias_of(self, b: Float64) -> Float64:
        """Return the bias that belongs to a point."""
        return np.asarray(self.bias_scale**2 * b.sum(axis=0))

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth, given f = (K + tau^2) b; ``multipliers`` is another bias to judge."""
        own = self.bias_of(b)
        bias = own if multipliers is None else multipliers
        shift = bias - own
        F = f + shift
        slack, gaps, violations = self.judged(b, F)
        price, tau = self.C, self.bias_scale
        # ||w||^2 with the bias's own coordinate is b'f; another bias changes that coordinate only.
        norm = float(np.einsum("ik,ik->", b, f))
        stray = float(shift @ shift) / tau**2 if tau else (math.inf if shift.any() else 0.0)
        if tau:
            norm += float((bias @ bias - own @ own) / tau**2)
        primal = 0.5 * norm + float(price @ slack)
        gap = float(gaps.sum()) + 0.5 * stray
        size = float(np.abs(b).sum())
        violation = max(float(violations.max(initial=0.0)), float(np.abs(shift).max(initial=0.0)))
        missed = self.missed(b)
        if not math.isfinite(gap) or not missed <= FEASIBLE * max(size, 1e-300):
            return Values.infeasible(primal, bias)
        largest = float(np.abs(F).max(initial=0.0)) + float(self.costs.max(initial=0.0))
        # The gap moves with f by the difference between the multipliers and the slack's slopes.
        reach = np.where(violations > 0, 2.0 * price * float(self.scales.max(initial=1.0)), 0.0)
        reach = reach + np.abs(b).sum(axis=1)
        rounding = total(reach, noise) + EPS * (abs(primal) + size * largest) + missed * largest
        terms = 0.5 * float(np.abs(b * f).sum()) + float(price @ slack)
        return Values(primal, primal - gap, gap, violation, bias, rounding, terms)

    # -- the way back ----------------------------------------------------------------------------------------

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the functions of all classes."""
        bias = self.bias_of(b)
        return Machine(b, bias, f - bias)

    def recover(self, coef: Float64) -> Float64:
        """Return the point of given coefficients."""
        return coef.reshape(self.n, self.outputs).copy()

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what shipped machines are worth, given f = K coef."""
        b = self.recover(machine.coef)
        bias = np.atleast_1d(np.asarray(machine.intercept, dtype=np.float64))
        return self.evaluate(b, f.reshape(self.n, -1) + self.bias_of(b), bias, noise)


def joint_slacks(F: Float64, y: Ints, costs: Float64, *, slack_rescaling: bool = False) -> Float64:
    """Return what each row loses to its strongest rival, given the functions of all classes.

    Parameters
    ----------
    F : (n, classes) float64
        The functions.
    y : (n,) int
        The number of each row's class.
    costs : (classes, classes) float64
        What each error costs.
    slack_rescaling : bool
        Whether costs multiply slacks, or are margins.
    """
    lead = F - np.take_along_axis(F, y[:, None], axis=1)
    loss = costs[y] * (1.0 + lead) if slack_rescaling else costs[y] + lead
    np.put_along_axis(loss, y[:, None], 0.0, axis=1)
    return np.asarray(np.maximum(loss.max(axis=1), 0.0))
