"""Canonical variates: coordinates in which the classes' common covariance is the identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64


@dataclass(frozen=True)
class CanonicalVariates:
    r"""The solution of :math:`\max_a a^T B a` subject to :math:`a^T W a = 1`, one direction after another.

    Attributes
    ----------
    center : ndarray of shape (p,)
        The point that is mapped to the origin.
    scalings : ndarray of shape (p, L)
        The directions: a row x becomes (x - center) @ scalings, in which W is the identity.
    centroids : ndarray of shape (K, L)
        The class means in these coordinates.
    variances : ndarray
        The between-class variances, all of them, in descending order.
    """

    center: Float64
    scalings: Float64
    centroids: Float64
    variances: Float64

    def leading(self, k: int) -> CanonicalVariates:
        """Return the first k directions; the variances stay, for the share of what is left out."""
        return CanonicalVariates(self.center, self.scalings[:, :k], self.centroids[:, :k], self.variances)

    @property
    def ratio(self) -> Float64:
        """The share of the between-class variance that each direction carries."""
        return shares(self.variances)[: self.scalings.shape[1]]


def shares(variances: Float64) -> Float64:
    """Each variance as a share of their sum; zeros if nothing varies."""
    total = variances.sum()
    return variances / total if total > 0.0 else np.zeros_like(variances)


def orientation(centroids: Float64) -> Float64:
    """Signs, one for each coordinate, that put the centroid farthest from the first one on the positive side.

    A rule in terms of centroids does not depend on the units or axes of the data; with two classes the
    coordinate grows toward the second.
    """
    offset = centroids - centroids[0]
    extreme = offset[np.abs(offset).argmax(axis=0), np.arange(offset.shape[1])]
    return np.where(extreme < 0.0, -1.0, 1.0)


def significant(spread: Float64, tol: float) -> int:
    """Count the entries of ``spread`` (standard deviations, descending) above ``tol`` times the first.

    A direction in which the class means do not differ is noise.
    """
    return int((spread > tol * spread[0]).sum()) if spread.size else 0
