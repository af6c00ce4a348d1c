"""Canonical correlations between two views in feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.problems.coordinates import Coordinates


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
