# ruff: noqa: D102  what overrides a method is documented in the base class
"""Piecewise-linear losses as duals: one copy of the points for each kink."""

from __future__ import annotations

import numpy as np

from mercer.problems.dual import Dual, Float64
from mercer.problems.losses import Loss, Pieces


class PiecewiseLinear(Dual):
    r"""The dual of  min 1/2 ||w||^2 + sum_i C_i L(y_i, f(x_i))  for a loss that is piecewise linear in f.

    A convex function with kinks :math:`t_1 < \dots < t_m` and slopes :math:`s_0 < \dots < s_m` is its least
    value plus one hinge for each kink:

    .. math:: \sum_{k} u_k \max(0, f - t_k) + v_k \max(0, t_k - f), \quad
        u_k = s_k^+ - s_{k-1}^+, \; v_k = s_{k-1}^- - s_k^-

    The copy of kink k has the box :math:`[-C_i u_k, C_i v_k]` and the linear term :math:`-t_k`. The hinge has
    one kink, the tube of support vector regression two, the quantile loss one.

    Parameters
    ----------
    loss : Loss
        With ``pieces``.
    y : (n,) float64
        Targets.
    C : (n,) float64
        Price of each point. A point of price zero is held at zero.
    fit_intercept : bool
        Whether f has an unpenalised bias.
    unit : float
        Scale of the targets, in which the user's tolerance is measured.
    """

    def __init__(
        self, loss: Loss, y: Float64, C: Float64, *, fit_intercept: bool = True, unit: float = 1.0
    ) -> None:
        pieces = loss.pieces(y)
        if pieces is None:
            raise TypeError(f"{loss!r} is not piecewise linear")
        kinks, slopes = pieces
        _check(loss, pieces, y.size)
        rise, fall = np.maximum(slopes, 0.0), np.maximum(-slopes, 0.0)
        self.slopes, self.price = slopes, C
        copies = kinks.shape[0]
        bias = np.zeros(kinks.size, dtype=np.int64)
        super().__init__(
            -kinks.ravel(),
            (-C * np.diff(rise, axis=0)).ravel(),
            (-C * np.diff(fall, axis=0)).ravel(),
            group=bias if fit_intercept else None,
            sums=np.zeros(1) if fit_intercept else None,
            copies=copies,
        )
        # What the hinges leave out: the least value of each point's loss.
        hinges = np.zeros(y.size)
        for k in range(copies):
            away = kinks[0] - kinks[k]
            hinges += np.diff(rise, axis=0)[k] * np.maximum(away, 0.0)
            hinges -= np.diff(fall, axis=0)[k] * np.maximum(-away, 0.0)
        self.constant = float(C @ (loss.value(y, kinks[0]) - hinges))
        self.unit = unit

    def objective(self, b: Float64, f: Float64) -> float:
        return super().objective(b, f) - self.constant

    def tolerance(self, tol: float, objective: float) -> float:
        return tol * self.unit

    def recover(self, coef: Float64) -> Float64:
        # The cheapest way to share a coefficient out: slopes are used up one after the other, from zero on.
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(self.price > 0, -coef / self.price, 0.0)
        below, above = self.slopes[:-1], self.slopes[1:]
        share = np.clip(slope, below, above) - np.clip(0.0, below, above)
        return np.asarray(-self.price * share).ravel()


def _check(loss: Loss, pieces: Pieces, n: int) -> None:
    kinks, slopes = pieces
    if kinks.ndim != 2 or kinks.shape[1] != n or slopes.shape != (kinks.shape[0] + 1, n):
        raise ValueError(
            f"{loss!r}: pieces must be kinks (m, n) and slopes (m + 1, n) for n = {n}, they have shapes "
            f"{kinks.shape} and {slopes.shape}"
        )
    if (np.diff(slopes, axis=0) < 0).any() or (np.diff(kinks, axis=0) < 0).any():
        raise ValueError(f"{loss!r}: kinks and slopes must ascend, or the loss is not convex")
    if (slopes[0] > 0).any() or (slopes[-1] < 0).any():
        raise ValueError(f"{loss!r} is not bounded below: its slopes must enclose 0")


def piecewise_linear(loss: Loss, y: Float64, C: Float64, *, fit_intercept: bool = True) -> PiecewiseLinear:
    """Return the dual of a piecewise-linear loss, its tolerance in units of small targets.

    Labels have the unit 1; for numbers it is half their range with a bias, their largest size without, at
    most 1.
    """
    there = y[C > 0]
    size = float(np.abs(there).max(initial=0.0))
    spread = 0.5 * float(np.ptp(there)) if fit_intercept and there.size else size
    unit = 1.0 if loss.targets == "signs" else min(1.0, max(spread, 1e-12 * size))
    return PiecewiseLinear(loss, y, C, fit_intercept=fit_intercept, unit=unit if unit > 0 else 1.0)
