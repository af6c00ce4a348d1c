"""Canonical variates: the directions in which sphered class means are spread most."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.estimators.discriminant._checks import Floats, check_count
from mercer.estimators.discriminant._sphering import Sphering


def orientation(centroids: Floats) -> Floats:
    """Signs, one for each coordinate, that put the centroid farthest from the first one on the positive side.

    A rule in terms of centroids does not depend on the units or axes of the data; with two classes the
    coordinate grows toward the second.
    """
    offset = centroids - centroids[0]
    extreme = offset[np.abs(offset).argmax(axis=0), np.arange(offset.shape[1])]
    return np.where(extreme < 0.0, -1.0, 1.0)


def check_n_components(n_components: Any, high: int, why: str) -> int:
    """Return the number of canonical variates asked for, ``high`` when it is None."""
    return high if n_components is None else check_count("n_components", n_components, 1, high, why=why)


def count_significant(spread: Floats, asked: int, tol: float, *, explicit: bool) -> int:
    """Count the leading entries of ``spread`` (standard deviations, descending) to keep: at most ``asked``.

    A direction in which the class means do not differ is noise: it is left out, with a warning when the user
    asked for that many (``explicit``).
    """
    significant = int((spread > tol * spread[0]).sum()) if spread.size else 0
    if explicit and significant < asked:
        warnings.warn(
            f"n_components={asked}, but the class means span {significant} dimension(s) only: the others are "
            "left out",
            LinAlgWarning,
            stacklevel=4,
        )
    return min(asked, significant)


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

    center: Floats
    scalings: Floats
    centroids: Floats
    variances: Floats

    @property
    def ratio(self) -> Floats:
        """The share of the between-class variance that each direction carries."""
        total = self.variances.sum()
        share = self.variances / total if total > 0.0 else np.zeros_like(self.variances)
        return share[: self.scalings.shape[1]]


def canonical_variates(
    sphering: Sphering, means: Floats, weights: Floats, n_components: int, tol: float, *, explicit: bool
) -> CanonicalVariates:
    """Principal components of the sphered ``means``, weighted by ``weights`` that sum to one."""
    center = weights @ means
    sphered = (means - center) @ sphering.forward
    _, spread, axes = np.linalg.svd(np.sqrt(weights)[:, None] * sphered, full_matrices=False)
    kept = count_significant(spread, n_components, tol, explicit=explicit)
    directions = axes[:kept].T
    directions = directions * orientation(sphered @ directions)
    return CanonicalVariates(center, sphering.forward @ directions, sphered @ directions, spread**2)


class CanonicalTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The transformer side of a discriminant: ``transform`` gives the canonical variates."""

    _n_features_out: int

    def _variates(self, X: Floats) -> Floats:
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """Project data on the canonical variates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Coordinates in which the covariance within the classes is the identity, ordered by how far they
            spread the class means.
        """
        check_is_fitted(self)
        return self._variates(validate_data(self, X, reset=False, dtype=np.float64))
