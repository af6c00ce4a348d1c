"""Canonical pairs of directions by a singular value decomposition."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, svds

from mercer.arrays import Float64
from mercer.problems.canonical_correlations import CanonicalPair, shrinkage
from mercer.problems.coordinates import Coordinates

DENSE_SIDE = 400  # size up to which a full singular value decomposition costs nothing


def canonical_pair(
    first: Coordinates, second: Coordinates, ridges: tuple[float, float], k: int
) -> CanonicalPair:
    """Solve for the k leading pairs of directions.

    Parameters
    ----------
    first, second : Coordinates
        Of the views, rows paired.
    ridges : pair of float
        Positive, one for each view.
    k : int
        How many.

    Returns
    -------
    CanonicalPair
    """
    M = shrinkage(first, ridges[0])[:, None] * (first.U.T @ second.U) * shrinkage(second, ridges[1])
    left, values, right = leading_singular(M, k)
    n = first.U.shape[0]
    return CanonicalPair(
        values,
        left / np.sqrt(first.d / n + ridges[0])[:, None],
        right / np.sqrt(second.d / n + ridges[1])[:, None],
    )


def leading_singular(M: Float64, k: int) -> tuple[Float64, Float64, Float64]:
    """Return left vectors, values and right vectors of the k largest singular values, in columns.

    Parameters
    ----------
    M : (p, q) array
        The matrix.
    k : int
        How many; at most min(p, q).

    Returns
    -------
    (p, k), (k,) and (q, k) arrays
    """
    if min(M.shape) > max(DENSE_SIDE, 4 * k):
        try:
            left, values, right = svds(M, k, v0=np.ones(min(M.shape)))
        except ArpackError:  # a cluster of equal values, as where the ridge is too small: the full one knows
            pass
        else:
            order = np.argsort(values)[::-1]
            return left[:, order], np.asarray(values[order], dtype=np.float64), right[order].T
    left, values, right = np.linalg.svd(M, full_matrices=False)  # NumPy's takes empty matrices
    return left[:, :k], np.asarray(values[:k], dtype=np.float64), right[:k].T
