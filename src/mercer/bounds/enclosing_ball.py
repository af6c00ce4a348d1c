"""The radius of the smallest ball around points in feature space, to a known accuracy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram

ROOM = 16  # rows for which there is memory from the start


class EnclosingRadius(NamedTuple):
    """Numbers between which the radius of the smallest enclosing ball lies."""

    lower: float
    upper: float


def enclosing_radius(matrix: Gram, *, tol: float = 0.01, max_rows: int = 200) -> EnclosingRadius:
    r"""Bracket the radius of the smallest ball around all points of a kernel matrix.

    .. math::
        r^2 = \max_{\alpha \ge 0, \sum \alpha = 1} \sum_i \alpha_i K_{ii} - \alpha' K \alpha

    The ball of a few points, a core-set, is found exactly; the point farthest from its centre joins them, at
    the cost of one row of the matrix, until no point lies much farther out. The value at any alpha is at most
    :math:`r^2`, and the distance of the farthest point from any centre at least r.

    Parameters
    ----------
    matrix : Gram
        Kernel matrix, positive semi-definite.
    tol : float
        Relative width of the bracket at which to stop.
    max_rows : int
        Most rows to look at.

    Returns
    -------
    EnclosingRadius
        Lower and upper bound on r. This is a property of the sample, not the R of a theorem.

    References
    ----------
    Badoiu and Clarkson (2008), Optimal core-sets for balls, Computational Geometry 40.
    """
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    core = [int(np.argmax(diagonal))]
    rows = np.zeros((min(ROOM, max_rows), matrix.n))
    _fill(matrix, core[0], rows[0])
    alpha = np.ones(1)
    lower, upper = 0.0, math.sqrt(max(float(diagonal.max()), 0.0))  # the origin is a centre, too
    while True:
        k = len(core)
        product = alpha @ rows[:k]
        mean, norm = float(alpha @ diagonal[core]), float(alpha @ product[core])
        squares = diagonal - 2.0 * product
        i = int(np.argmax(squares))
        upper = min(upper, math.sqrt(max(float(squares[i]) + norm, 0.0)))
        lower = max(lower, math.sqrt(max(mean - norm, 0.0)))
        if upper <= lower * (1.0 + tol) or upper == 0.0 or k == max_rows or i in core:
            return EnclosingRadius(lower, max(upper, lower))
        if k == len(rows):
            rows = np.concatenate([rows, np.zeros((min(k, max_rows - k), matrix.n))])
        _fill(matrix, i, rows[k])
        core.append(i)
        alpha = _centre(rows[: k + 1, core], diagonal[core], np.append(alpha, 0.0))


def _centre(K: Float64, d: Float64, alpha: Float64) -> Float64:
    """Return the alpha that maximises alpha'd - alpha'K alpha, of sum 1 and not negative: an active set.

    From a feasible start. Any feasible alpha gives a valid bracket, so that rounding may end it early.
    """
    k, ridge = d.size, 1e-12 * float(d.max())
    free = alpha > 0.0
    free[-1] = True
    for _ in range(3 * k + 10):
        P = np.flatnonzero(free)
        system = np.ones((P.size + 1, P.size + 1))
        system[:-1, :-1] = 2.0 * K[np.ix_(P, P)]
        system[np.arange(P.size), np.arange(P.size)] += ridge
        system[-1, -1] = 0.0
        target = np.linalg.solve(system, np.append(d[P], 1.0))[:-1]
        if (target > 0.0).all():
            alpha[P] = target
            slope = d - 2.0 * (K @ alpha)
            slope[P] = -math.inf if P.size == k else slope[P].min()
            best = int(np.argmax(slope))
            if free[best]:
                break
            free[best] = True
            continue
        down = target <= 0.0
        held = alpha[P]
        step = float((held[down] / np.maximum(held[down] - target[down], 1e-300)).min())
        alpha[P] = np.maximum(held + min(step, 1.0) * (target - held), 0.0)
        out = P[down & (alpha[P] <= 1e-14)]
        if out.size == 0:
            break
        alpha[out] = 0.0
        free[out] = False
    return np.asarray(alpha / alpha.sum())


def _fill(matrix: Gram, i: int, row: Float64) -> None:
    matrix.add_product(np.array([i], dtype=np.intp), np.ones(1), row)
