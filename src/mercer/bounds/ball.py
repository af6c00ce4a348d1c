"""The radius of the smallest ball around points in feature space, to a known accuracy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mercer.gram import Gram


class EnclosingRadius(NamedTuple):
    """Numbers between which the radius of the smallest enclosing ball lies."""

    lower: float
    upper: float


def enclosing_radius(matrix: Gram, *, tol: float = 0.01, max_rows: int = 200) -> EnclosingRadius:
    r"""Bracket the radius of the smallest ball around all points of a kernel matrix.

    .. math::
        r^2 = \max_{\alpha \ge 0, \sum \alpha = 1} \sum_i \alpha_i K_{ii} - \alpha' K \alpha

    Frank-Wolfe steps towards the farthest point, with exact line search: one row of the matrix each. The
    value at any alpha is at most r^2, and the distance of the farthest point from any centre at least r.

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
    start = int(np.argmax(diagonal))
    first = _row(matrix, start)
    farthest = int(np.argmax(diagonal - 2.0 * first))
    other = first if farthest == start else _row(matrix, farthest)
    # Half way between two points that are far apart.
    product = 0.5 * (first + other)
    norm = 0.25 * (diagonal[start] + diagonal[farthest] + 2.0 * first[farthest])
    mean = 0.5 * (diagonal[start] + diagonal[farthest])
    lower, upper = 0.0, math.inf
    for _ in range(max_rows):
        squares = diagonal - 2.0 * product + norm
        i = int(np.argmax(squares))
        upper = min(upper, math.sqrt(max(float(squares[i]), 0.0)))
        lower = max(lower, math.sqrt(max(mean - norm, 0.0)))
        if upper <= lower * (1.0 + tol) or upper == 0.0:
            break
        # Value along (1 - t) alpha + t e_i is concave in t: its slope at 0 is squares_i - (mean - norm).
        t = min(1.0, 0.5 * (float(squares[i]) - (mean - norm)) / float(squares[i]))
        norm = (1 - t) ** 2 * norm + 2 * t * (1 - t) * float(product[i]) + t * t * float(diagonal[i])
        mean = (1 - t) * mean + t * float(diagonal[i])
        product = (1 - t) * product + t * _row(matrix, i)
    return EnclosingRadius(lower, max(upper, lower))


def _row(matrix: Gram, i: int) -> np.ndarray:
    out = np.zeros(matrix.n)
    matrix.add_product(np.array([i], dtype=np.intp), np.ones(1), out)
    return out
