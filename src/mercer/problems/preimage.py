"""Points of input space whose images are near a given point of feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from mercer.arrays import Float64, Index


def expansion(coef: Float64, Z: Float64) -> Float64:
    r"""Return :math:`\gamma` (p, n) with :math:`P \phi = \mu + \sum_j z_j v_j = \sum_i \gamma_i \phi(x_i)`.

    Parameters
    ----------
    coef : (n, k) array
        A, with :math:`v_j = \sum_i A_{ij} \phi(x_i)`.
    Z : (p, k) array
        Coordinates.

    Returns
    -------
    (p, n) array
    """
    gamma: Float64 = Z @ coef.T
    gamma += 1.0 / coef.shape[0]
    return gamma


def nearest_images(squares: Float64, projections: Float64, Z: Float64) -> Index:
    r"""Return, for each row of coordinates, the training point whose image is nearest to what they stand for.

    :math:`\|\phi(x_i) - P\phi\|^2 = \|\phi(x_i) - \mu\|^2 - 2 \langle z_i, z \rangle + \|z\|^2`.

    Parameters
    ----------
    squares : (n,) array
        :math:`\|\phi(x_i) - \mu\|^2`.
    projections : (n, k) array
        :math:`z_i`, coordinates of the training points.
    Z : (p, k) array
        Coordinates.

    Returns
    -------
    (p,) array
        Indices.
    """
    out = np.empty(Z.shape[0], dtype=np.intp)
    step = max(1, (1 << 22) // max(1, squares.size))
    for s in range(0, Z.shape[0], step):
        out[s : s + step] = (squares - 2.0 * (Z[s : s + step] @ projections.T)).argmin(axis=1)
    return out


@dataclass(frozen=True)
class LearnedMap:
    r"""A kernel ridge regression from coordinates to points: the pre-image map of kernels without a formula.

    .. math:: \min_g \sum_i \|x_i - \bar x - g(z_i)\|^2 + \alpha \|g\|^2

    over functions g of the Gaussian kernel's space, its width the median distance of coordinates.

    Attributes
    ----------
    Z : (m, k) array
        Coordinates that it was learned from.
    dual : (m, d) array
        Coefficients.
    mean : (d,) array
        Mean of the points.
    width : float
        The kernel is exp(-width ||z - z'||^2).
    """

    Z: Float64
    dual: Float64
    mean: Float64
    width: float

    def __call__(self, Z: Float64) -> Float64:
        """Return the points that coordinates come from."""
        out: Float64 = np.exp(-self.width * cdist(Z, self.Z, "sqeuclidean")) @ self.dual + self.mean
        return out
