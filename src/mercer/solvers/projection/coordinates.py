"""Coordinates of the training points in feature space: all of them, or those in the span of landmarks."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.centred import CentredGram
from mercer.gram.incomplete_cholesky import Factor, pivoted_cholesky
from mercer.problems.coordinates import Coordinates

TILE = 2048  # rows that are rotated at a time


def exact_coordinates(gram: Gram) -> Coordinates:
    """Return all coordinates by an eigendecomposition of the centred kernel matrix, O(n^3).

    Parameters
    ----------
    gram : Gram
        The kernel matrix.

    Returns
    -------
    Coordinates
    """
    centred = CentredGram(gram)
    K = centred.dense()
    values, vectors = scipy.linalg.eigh(K, overwrite_a=True)
    keep = np.flatnonzero(values > gram.n * np.finfo(np.float64).eps * max(float(values[-1]), 0.0))[::-1]
    d, U = values[keep], vectors[:, keep]
    U = np.ascontiguousarray(U - U.mean(axis=0))
    basis = U / np.sqrt(d)
    return Coordinates(U, d, basis, centred.means @ basis, None, float(d.sum()))


def low_rank_coordinates(gram: Gram, rank: int, tol: float) -> Coordinates:
    """Return coordinates in the span of a few landmarks, by incomplete Cholesky, O(n m^2).

    Parameters
    ----------
    gram : Gram
        The kernel matrix.
    rank : int
        Most landmarks.
    tol : float
        Share of the trace that may be left out.

    Returns
    -------
    Coordinates
    """
    factor: Factor = pivoted_cholesky(gram, rank, tol)
    triangle = factor.L[factor.pivots]
    left = factor.residual * float(gram.diag().sum())
    mean = factor.L.mean(axis=0)
    centred = factor.L
    centred -= mean  # the factor is nobody else's, and by far the largest array here
    U, s, Vt = thin_svd(centred)
    keep = int((s > np.sqrt(gram.n) * np.finfo(np.float64).eps * s.max(initial=0.0)).sum())
    U, s, Vt = U[:, :keep], s[:keep], Vt[:keep]
    basis = np.asarray(scipy.linalg.solve_triangular(triangle, Vt.T, trans="T", lower=True))
    return Coordinates(U, s**2, basis, mean @ Vt.T, factor.pivots, float((s**2).sum()) + left)


def thin_svd(A: Float64) -> tuple[Float64, Float64, Float64]:
    """Return U, s and Vt of a tall matrix in the memory of A itself, which is overwritten.

    By way of its triangular factor, U = Q W with R = W s Vt. What LAPACK does on the whole matrix takes two
    more of its size.

    Parameters
    ----------
    A : (n, m) array
        n >= m >= 1; columns contiguous, else a copy is made.
    """
    Q: Float64
    Q, R = scipy.linalg.qr(A, overwrite_a=True, mode="economic", check_finite=False)  # type: ignore[assignment]
    W, s, Vt = np.linalg.svd(np.asarray(R, dtype=np.float64))
    for start in range(0, Q.shape[0], TILE):
        Q[start : start + TILE] = Q[start : start + TILE] @ W
    return Q, s, Vt
