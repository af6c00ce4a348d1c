"""Incomplete Cholesky factors of a kernel matrix: Nyström's approximation with chosen landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mercer.gram.base import Float64, Gram, Index


@dataclass(frozen=True)
class Factor:
    r"""A factor of :math:`K \approx L L^T` of low rank, and how new points join it.

    Attributes
    ----------
    L : (n, m) array
        The factor: coordinates of the points in the span of the landmarks.
    pivots : (m,) array
        The landmarks.
    residual : float
        trace(K - L L') as a share of trace(K).
    """

    L: Float64
    pivots: Index
    residual: float

    def on_landmarks(self, B: Float64) -> Float64:
        """Return C with L(x) B = k(x, landmarks) C for every point x.

        Parameters
        ----------
        B : (m, p) array
            Coefficients of the coordinates.

        Returns
        -------
        (m, p) array
            Coefficients of kernel values.
        """
        return np.asarray(solve_triangular(self.L[self.pivots], B, trans="T", lower=True))


def pivoted_cholesky(gram: Gram, rank: int, tol: float) -> Factor:
    r"""Factor K by Cholesky's method, taking the point that the ones so far explain worst each time.

    After m steps :math:`K - L L^T` is positive semi-definite and vanishes in the rows of the m pivots: it is
    the Nyström approximation with these landmarks. Memory and kernel values are O(n m), time O(n m^2).

    Parameters
    ----------
    gram : Gram
        K, positive semi-definite.
    rank : int
        Most steps.
    tol : float
        The share of the trace at which what is left is left.

    Returns
    -------
    Factor

    References
    ----------
    .. [1] S. Fine and K. Scheinberg (2001). Efficient SVM training using low-rank kernel representations.
       *Journal of Machine Learning Research* 2, 243-264.
    """
    left = np.maximum(gram.diag(), 0.0).copy()
    total = float(left.sum())
    if total <= 0.0:
        raise ValueError("the kernel is 0 on all training points: there is nothing to factor")
    rank = min(rank, gram.n)
    floor = max(tol * total / gram.n, 1e-12 * float(left.max()))
    everything = np.arange(gram.n)
    rows: Float64 = np.empty((rank, gram.n))  # L', so that a step reads memory in order
    pivots: list[int] = []
    while len(pivots) < rank:
        m = len(pivots)
        p = int(left.argmax())
        if left[p] <= floor or float(left.sum()) <= tol * total:
            break
        row = gram.block(np.array([p]), everything)[0].astype(np.float64)
        if m:
            row -= rows[:m, p] @ rows[:m]
        row /= np.sqrt(left[p])
        row[pivots] = 0.0  # triangular in the pivots, as exact arithmetic would have it
        row[p] = np.sqrt(left[p])
        rows[m] = row
        left -= row * row
        np.maximum(left, 0.0, out=left)
        pivots.append(p)
        left[pivots] = 0.0
    kept = rows[: len(pivots)]
    return Factor(np.ascontiguousarray(kept.T), np.array(pivots, dtype=np.intp), float(left.sum()) / total)
