"""Families of duals along one parameter, whose solutions are piecewise linear in it.

With a = beta / C and lambda = 1 / C the penalised problems of the one dual are

    minimise    1/2 a'K a + sum_i phi_i(a_i; t)    subject to    sum a = level + tilt t

at t = lambda, where phi_i has slopes proportional to t between a few resting points and is infinite beyond
the last. The box no longer depends on the parameter, which is what makes the solution's pieces straight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mercer.problems.classification import soft_margin
from mercer.problems.dual import ROUNDING, Dual, Float64
from mercer.problems.regression import epsilon_tube

TIED = 1e-12  # relative difference of slopes that is none


@dataclass(frozen=True)
class Limit:
    """The solution as t goes to infinity: resting points, and the pieces along which the limit is not unique.

    Attributes
    ----------
    rest : (n,) int64
        The resting point of each variable; of a tied one the upper end of its piece.
    piece : (n,) int64
        The piece of a tied variable, -1 for the others.
    costs : (n, r) float64
        Marginal costs per t along each piece: zero along the tied ones.
    total : float
        What the tied variables sum to.
    """

    rest: NDArray[np.int64]
    piece: NDArray[np.int64]
    costs: Float64
    total: float


@dataclass(frozen=True)
class ParametricFamily:
    """Problems along a parameter t.

    Attributes
    ----------
    rests : (n, r + 1) float64
        Resting points of each variable, in order.
    slopes : (n, r) float64
        Slopes of phi / t between them, in order.
    bias : bool
        Whether the sum is fixed.
    level, tilt : float
        The sum is level + tilt t.
    dual : callable
        The problem at a value of the user's parameter, in the user's units.
    """

    rests: Float64
    slopes: Float64
    bias: bool
    level: float
    tilt: float
    dual: Callable[[float], Dual]

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.rests.shape[0])

    def verdict(self, t: Float64, a: Float64, products: Float64) -> tuple[Float64, Float64]:
        """Return the largest KKT violation and the bias, in the user's units, at each of many points.

        Parameters
        ----------
        t : (k,) float64
            Values of the parameter, positive.
        a, products : (k, n) float64
            The variables there, and K a.
        """
        scale = t[:, None]
        up = np.full(a.shape, -np.inf)  # the most negative marginal cost on the way up, with its sign turned
        down = np.full(a.shape, np.inf)
        for j in range(self.slopes.shape[1]):
            pull = -(products / scale + self.slopes[:, j])
            low, high = self.rests[:, j], self.rests[:, j + 1]
            np.copyto(up, pull, where=(a >= low) & (a < high))
            np.copyto(down, pull, where=(a > low) & (a <= high))
        top, bottom = up.max(axis=1, initial=-np.inf), down.min(axis=1, initial=np.inf)
        if not self.bias:
            return np.maximum(0.0, np.maximum(top, -bottom)), np.zeros(t.size)
        near = ROUNDING * (self.rests[:, -1] - self.rests[:, 0])
        free = np.ones(a.shape, dtype=bool)
        for rest in self.rests.T:
            free &= np.abs(a - rest) > near
        count = free.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(free, up, 0.0).sum(axis=1) / count
            middle = np.where(np.isinf(top), bottom, np.where(np.isinf(bottom), top, 0.5 * (top + bottom)))
        return np.maximum(0.0, top - bottom), np.where(count > 0, mean, middle)

    def limit(self) -> Limit:
        """Return the solution's limit as t grows: a linear problem, solved by sorting its slopes."""
        unit = float(np.abs(self.slopes).max(initial=0.0)) or 1.0
        multiplier = self._multiplier(unit) if self.bias else 0.0
        costs = self.slopes + multiplier
        costs[np.abs(costs) <= TIED * unit] = 0.0
        rest = (costs < 0).sum(axis=1)
        tied = (costs == 0).any(axis=1)
        piece = np.where(tied, rest, -1)
        rest = rest + tied
        fixed = self.rests[np.arange(self.n), rest][~tied].sum()
        return Limit(rest, piece, costs, float(self.level - fixed))

    def _multiplier(self, unit: float) -> float:
        """Return the bias per t at which the resting variables can have the right sum."""
        jumps = np.diff(self.rests, axis=1).ravel()
        where = -self.slopes.ravel()
        order = np.argsort(-where, kind="stable")
        where, jumps = where[order], jumps[order]
        sums = self.rests[:, 0].sum() + np.cumsum(jumps)
        total = float(np.abs(self.rests).sum()) or 1.0
        k = int(np.searchsorted(sums, self.level - TIED * total))
        k = min(k, where.size - 1)
        # All slopes of a tie are passed together; between two ties the sum may be right as it is.
        last = int(np.flatnonzero(where >= where[k] - TIED * unit)[-1])
        if abs(sums[last] - self.level) <= TIED * total:
            below = where[last + 1] if last + 1 < where.size else where[last] - 2.0 * unit
            return 0.5 * float(where[last] + below)
        return float(where[k])


def soft_margin_family(y: Float64, weight: Float64, *, fit_intercept: bool = True) -> ParametricFamily:
    r"""Return the problems  min 1/2 ||w||^2 + C sum_i w_i max(0, 1 - y_i f(x_i))  for all C.

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Positive sample weights.
    fit_intercept : bool
        Whether f has an unpenalised bias.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support vector machine,
    JMLR 5.
    """
    rests = np.column_stack([np.where(y > 0, 0.0, -weight), np.where(y > 0, weight, 0.0)])
    dual = partial(_margin_at, y, weight, fit_intercept)
    return ParametricFamily(rests, -y[:, None].copy(), fit_intercept, 0.0, 0.0, dual)


def _margin_at(y: Float64, weight: Float64, fit_intercept: bool, C: float) -> Dual:
    return soft_margin(y, C * weight, fit_intercept=fit_intercept)


def tube_family(
    y: Float64, weight: Float64, epsilon: float, *, fit_intercept: bool = True
) -> ParametricFamily:
    r"""Return the problems  min 1/2 ||w||^2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)  for all C.

    Parameters
    ----------
    y : (n,) float64
        Targets.
    weight : (n,) float64
        Positive sample weights.
    epsilon : float
        Half width of the tube.
    fit_intercept : bool
        Whether f has an unpenalised bias.

    References
    ----------
    Gunter and Zhu (2007), Efficient computation and model selection for the support vector regression, Neural
    Computation 19.
    """
    if epsilon > 0:
        rests = np.column_stack([-weight, np.zeros_like(weight), weight])
        slopes = np.column_stack([-y - epsilon, -y + epsilon])
    else:  # no kink at zero: a variable passes through it
        rests, slopes = np.column_stack([-weight, weight]), -y[:, None].copy()
    dual = partial(_tube_at, y, weight, epsilon, fit_intercept)
    return ParametricFamily(rests, slopes, fit_intercept, 0.0, 0.0, dual)


def _tube_at(y: Float64, weight: Float64, epsilon: float, fit_intercept: bool, C: float) -> Dual:
    return epsilon_tube(y, C * weight, epsilon, fit_intercept=fit_intercept)
