"""Coordinates of the training points in feature space: all of them, or those in the span of landmarks."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer.gram import Gram
from mercer.gram.centred import CentredGram
from mercer.gram.incomplete_cholesky import Factor, pivoted_cholesky
from mercer.problems.coordinates import Coordinates


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
    mean = factor.L.mean(axis=0)
    U, s, Vt = np.linalg.svd(factor.L - mean, full_matrices=False)  # NumPy's takes empty matrices
    keep = s > np.sqrt(gram.n) * np.finfo(np.float64).eps * s.max(initial=0.0)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    basis = factor.on_landmarks(Vt.T)
    left = factor.residual * float(gram.diag().sum())
    return Coordinates(U, s**2, basis, mean @ Vt.T, factor.pivots, float((s**2).sum()) + left)
