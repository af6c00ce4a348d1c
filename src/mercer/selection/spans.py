r"""Spans of support vectors: how far a point lies from what the other free vectors can express.

For a free vector p (0 < alpha_p < C) the span is the distance between phi(x_p) and the set of combinations
of the other free vectors whose coefficients sum to 1,

.. math::
    S_p^2 = \min_\lambda \Big\| \phi(x_p) - \sum_{i \ne p} \lambda_i \phi(x_i) \Big\|^2,
    \quad \sum_i \lambda_i = 1,

for the *bound* with coefficients that also keep all duals in their box, :math:`0 \le \alpha_i + y_i y_p
\alpha_p \lambda_i \le C`; without a bias the sum is free.

References
----------
Vapnik and Chapelle (2000), Bounds on error expectation for support vector machines, Neural Computation 12.
Chapelle, Vapnik, Bousquet and Mukherjee (2002), Choosing multiple parameters for support vector machines,
Machine Learning 46. Chang and Lin (2005), Leave-one-out bounds for support vector regression model selection,
Neural Computation 17.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.arrays import Float64, Index
from mercer.gram.base import MatrixGram
from mercer.problems import Dual, InfeasibleError
from mercer.solvers import Decomposition

RIDGE = 1e-12  # relative to the largest entry: duplicates have span zero, not a singular system


def spans(K: Any, r: Float64, free: Index, others: Index, bias: bool) -> tuple[Float64, Float64]:
    """Return the squared spans of the free points, and of other points against all free ones.

    Parameters
    ----------
    K : (n, n) ndarray
        Kernel matrix.
    r : (n,) float64
        What the squared losses add to its diagonal.
    free : (m,) intp
        The free points.
    others : (k,) intp
        Points that are not free.
    bias : bool
        Whether the coefficients must sum to 1.

    Returns
    -------
    (m,) float64, (k,) float64
        Infinite where there is nothing to combine.
    """
    of_free, of_others = np.full(free.size, np.inf), np.full(others.size, np.inf)
    diagonal = np.diagonal(K)[others].astype(np.float64) + r[others]
    if free.size == 0:
        return of_free, (of_others if bias else diagonal)
    Q = np.asarray(K[np.ix_(free, free)], dtype=np.float64)
    Q[np.diag_indices(free.size)] += r[free]
    inverse = _inverse(Q)
    cross = np.asarray(K[np.ix_(free, others)], dtype=np.float64)
    solved = inverse @ cross
    of_others = diagonal - np.einsum("ij,ij->j", cross, solved)
    shown = np.diagonal(inverse).copy()
    if bias:  # the bordered system, by its Schur complement
        ones = inverse.sum(axis=1)
        total = float(ones.sum())
        shown -= ones * ones / total
        of_others += (1.0 - solved.sum(axis=0)) ** 2 / total
    with np.errstate(divide="ignore"):
        of_free = 1.0 / np.maximum(shown, 0.0)
    if bias and free.size == 1:
        of_free[:] = np.inf
    return of_free, np.maximum(of_others, 0.0)


def _inverse(Q: Float64) -> Float64:
    ridge = RIDGE * max(float(np.abs(Q).max()), 1e-300)
    while True:
        try:
            factor = cho_factor(Q + ridge * np.eye(Q.shape[0]), check_finite=False)
        except LinAlgError:  # rounding made it indefinite: a little more is needed
            ridge *= 10.0
            continue
        return np.asarray(cho_solve(factor, np.eye(Q.shape[0]), check_finite=False))


def constrained_span(K: Float64, beta: Float64, lo: Float64, hi: Float64, p: int, tol: float = 1e-4) -> float:
    """Return an upper bound, close to exact, on the squared span of free point p within the box.

    Parameters
    ----------
    K : (m, m) float64
        Kernel matrix of the free points.
    beta, lo, hi : (m,) float64
        Their signed duals and boxes.
    p : int
        Which of them.
    tol : float
        Tolerance of the quadratic program, relative to K_pp. Any feasible point gives an upper bound.
    """
    rest = np.delete(np.arange(beta.size), p)
    if rest.size == 0:
        return np.inf
    ends = np.stack([lo[rest] - beta[rest], hi[rest] - beta[rest]]) / beta[p]
    part = np.ascontiguousarray(K[np.ix_(rest, rest)])
    problem = Dual(
        -K[rest, p], ends.min(axis=0), ends.max(axis=0),
        group=np.zeros(rest.size, dtype=np.int64), sums=np.ones(1),
    )  # fmt: skip
    try:
        found = Decomposition(tol=tol * max(float(K[p, p]), 1e-300)).solve(MatrixGram(part, True), problem)
    except InfeasibleError:
        return np.inf
    return float(max(0.0, K[p, p] + 2.0 * problem.objective(found.b, found.f)))
