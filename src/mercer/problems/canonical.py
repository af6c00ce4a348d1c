"""Canonical correlations between two views in feature space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, svds

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems.coordinates import Coordinates

DENSE_SIDE = 400  # size up to which a full singular value decomposition costs nothing

Reduce = Callable[[Gram], Coordinates]


@dataclass(frozen=True)
class CanonicalPair:
    r"""Directions of two views of largest regularised correlation.

    With coordinates :math:`Z_v = U_v D_v^{1/2}` of view v, covariances :math:`C_{vw} = Z_v^T Z_w / n` and
    ridges :math:`\kappa_v`,

    .. math:: \max_{w_1, w_2} w_1^T C_{12} w_2 \quad \text{subject to} \quad
        w_v^T (C_{vv} + \kappa_v I) w_v = 1

    is solved by :math:`w_v = (D_v / n + \kappa_v I)^{-1/2} a_v` with the singular vectors :math:`a_v` of

    .. math:: R_1 U_1^T U_2 R_2, \qquad R_v = \bigl(D_v (D_v + n \kappa_v I)^{-1}\bigr)^{1/2}.

    Attributes
    ----------
    values : (k,) array
        The singular values: regularised correlations.
    first, second : (r_v, k) arrays
        Directions in the coordinates of the views.
    """

    values: Float64
    first: Float64
    second: Float64


def shrinkage(view: Coordinates, ridge: float) -> Float64:
    """Return the diagonal of R: the square roots of the ridge regression's shrinkage factors."""
    root: Float64 = np.sqrt(view.d / (view.d + view.U.shape[0] * ridge))
    return root


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


def column_correlations(A: Float64, B: Float64) -> Float64:
    """Return the correlation of each column of A with that of B; 0 for a column that does not vary.

    Parameters
    ----------
    A, B : (n, k) arrays
        Paired rows.

    Returns
    -------
    (k,) array
    """
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    products = np.einsum("ij,ij->j", A, B)
    tiny = np.finfo(np.float64).tiny
    return np.where(norms > tiny, np.clip(products / np.maximum(norms, tiny), -1.0, 1.0), 0.0)


def similarities(A: Float64, B: Float64, weights: Float64) -> Float64:
    """Return the cosines between rows of A and B under non-negative weights of the columns.

    Parameters
    ----------
    A, B : (p, k) and (q, k) arrays
        Scores of the two views.
    weights : (k,) array
        How far the columns of the two views agree.

    Returns
    -------
    (p, q) array
    """
    root = np.sqrt(weights)
    A, B = A * root, B * root
    tiny = np.finfo(np.float64).tiny
    A = A / np.maximum(np.linalg.norm(A, axis=1), tiny)[:, None]
    B = B / np.maximum(np.linalg.norm(B, axis=1), tiny)[:, None]
    return np.asarray(A @ B.T)


def held_out_correlations(
    grams: tuple[Gram, Gram],
    reduce: Reduce,
    ridges: NDArray[np.float64],
    splits: list[tuple[Index, Index]],
    k: int,
) -> Float64:
    """Return correlations on held-out pairs for each split and ridge, (splits, ridges, k).

    Each split takes one decomposition of each view, whatever the number of ridges.

    Parameters
    ----------
    grams : pair of Gram
        Of the views.
    reduce : callable
        Gram -> Coordinates.
    ridges : (g,) array
        In units of each view's variance.
    splits : list of (train, test)
        Indices.
    k : int
        Number of components.

    Returns
    -------
    (s, g, k) array
        0 for components that a split is too small for.
    """
    out = np.zeros((len(splits), ridges.size, k))
    for s, (train, test) in enumerate(splits):
        views = [reduce(gram.subset(train)) for gram in grams]
        values = [
            np.asarray(
                gram.block(test, train if v.landmarks is None else train[v.landmarks]), dtype=np.float64
            )
            for gram, v in zip(grams, views, strict=True)
        ]
        most = min(k, *(v.d.size for v in views))
        for g, ridge in enumerate(ridges):
            kappa = (ridge * views[0].variance, ridge * views[1].variance)
            pair = canonical_pair(views[0], views[1], kappa, most)
            scores = [
                K @ v.coefficients(w)[0]  # the shift does not matter to a correlation
                for K, v, w in zip(values, views, (pair.first, pair.second), strict=True)
            ]
            out[s, g, :most] = column_correlations(scores[0], scores[1])
    return out


def permuted_sums(
    first: Coordinates,
    second: Coordinates,
    ridges: NDArray[np.float64],
    k: int,
    permutations: list[Index],
) -> Float64:
    """Return the sums of the k leading regularised correlations after each permutation, (p, ridges).

    Parameters
    ----------
    first, second : Coordinates
        Of the views.
    ridges : (g,) array
        In units of each view's variance.
    k : int
        Number of components.
    permutations : list of index arrays
        Of the second view's rows.

    Returns
    -------
    (p, g) array
    """
    out = np.empty((len(permutations), ridges.size))
    for p, order in enumerate(permutations):
        cross = first.U.T @ second.U[order]
        for g, ridge in enumerate(ridges):
            R1 = shrinkage(first, ridge * first.variance)
            R2 = shrinkage(second, ridge * second.variance)
            out[p, g] = leading_singular(R1[:, None] * cross * R2, k)[1].sum()
    return out
