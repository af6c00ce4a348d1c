"""Nyström factors of a kernel matrix with landmarks drawn a block at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer.arrays import Float64
from mercer.gram.base import Gram
from mercer.gram.incomplete_cholesky import Factor
from mercer.threads import Workers

BLOCK = 128  # landmarks drawn together
TILE = 2048


def sampled_cholesky(
    gram: Gram,
    rank: int,
    tol: float,
    seed: np.random.Generator,
    workers: Workers | None = None,
    stop: Callable[[], bool] | None = None,
) -> Factor:
    r"""Factor :math:`K \approx L L^T`, each landmark drawn as often as the ones so far fail to explain it.

    :math:`K - L L^T` stays positive semi-definite up to rounding. As good as choosing the worst explained
    point each time, and all of the work is in matrix products: O(n m^2) for m landmarks.

    Parameters
    ----------
    gram : Gram
        K, positive semi-definite; it must not use ``workers`` itself.
    rank : int
        Most landmarks.
    tol : float
        The share of the trace at which what is left is left.
    seed : Generator
        Draws the landmarks.
    workers : Workers, optional
        Threads; one when not given.
    stop : callable, optional
        Whether the landmarks so far must do, asked before each further block of them.

    Returns
    -------
    Factor
        Its first rows' triangle is not that of the pivots: it serves as an approximation, not for new points.

    References
    ----------
    .. [1] Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber (2025). Randomly pivoted Cholesky: practical
       approximation of a kernel matrix with few entry evaluations. *Communications on Pure and Applied
       Mathematics* 78(5), 995-1041.
    """
    workers = workers or Workers(1)
    n = gram.n
    left: Float64 = np.maximum(gram.diag(), 0.0).copy()
    total = float(left.sum())
    rank = min(rank, n)
    L = np.empty((n, rank))
    pivots: list[int] = []
    m = 0
    while m < rank and float(left.sum()) > tol * total:
        if m and stop is not None and stop():
            break
        drawn = seed.choice(n, size=min(BLOCK, rank - m), replace=True, p=left / left.sum())
        few = np.unique(drawn)
        columns = np.empty((n, few.size))

        def stripe(
            number: int, few: np.ndarray = few, columns: Float64 = columns, m: int = m
        ) -> None:  # bound now: the loop goes on
            rows = np.arange(number * TILE, min((number + 1) * TILE, n))
            columns[rows] = gram.block(rows, few)
            columns[rows] -= L[rows, :m] @ L[few, :m].T

        with workers.one_blas_thread():
            workers.each(-(-n // TILE), stripe)
        corner = columns[few]
        corner = 0.5 * (corner + corner.T)
        # Landmarks that explain each other leave a corner that is singular up to rounding.
        noise = few.size * np.finfo(gram.dtype).eps * float(gram.diag()[few].max())
        corner[np.diag_indices_from(corner)] += noise
        values = _triangle(corner, noise)
        L[:, m : m + few.size] = solve_triangular(values, columns.T, lower=True, check_finite=False).T
        added = L[:, m : m + few.size]
        left -= np.einsum("ij,ij->i", added, added)
        np.maximum(left, 0.0, out=left)
        left[few] = 0.0
        pivots.extend(few.tolist())
        m += few.size
    share = float(left.sum()) / total if total > 0 else 0.0
    return Factor(L[:, :m], np.array(pivots, dtype=np.intp), share)


def _triangle(corner: Float64, noise: float) -> Float64:
    """Return a Cholesky factor of the corner, its diagonal raised until there is one."""
    while True:
        try:
            return np.asarray(cholesky(corner, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            noise = max(10.0 * noise, np.finfo(np.float64).tiny)
            corner[np.diag_indices_from(corner)] += noise
