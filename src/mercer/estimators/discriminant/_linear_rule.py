"""What linear discriminants share: canonical variates, and the linear functions made from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.estimators.discriminant._base import DiscriminantClassifier, log_priors
from mercer.estimators.discriminant._canonical import (
    CanonicalTransformer,
    CanonicalVariates,
    canonical_variates,
    check_n_components,
)
from mercer.estimators.discriminant._checks import Floats, check_priors
from mercer.estimators.discriminant._sphering import Sphering
from mercer.estimators.discriminant._summary import ClassSummary


class LinearRule(CanonicalTransformer, DiscriminantClassifier):
    r"""Closest centroid in the canonical coordinates :math:`z`, modulo the priors.

    The term :math:`z^T z` is common to all classes, so
    :math:`\delta_k(x) = z^T m_k - \tfrac12 m_k^T m_k + \log \pi_k`, which is linear in x.
    """

    priors: Any
    n_components: int | None
    tol: float
    store_covariance: bool
    priors_: Floats
    means_: Floats
    covariance_: Floats
    xbar_: Floats
    scalings_: Floats
    centroids_: Floats
    coef_: Floats
    intercept_: Floats
    explained_variance_ratio_: Floats

    def _check_rule(self, summary: ClassSummary, n_features: int) -> tuple[Floats, int]:
        """Return the priors and the number of components that the parameters ask for."""
        priors = check_priors(self.priors, summary.proportions)
        most = min(summary.n_classes - 1, n_features)
        return priors, check_n_components(self.n_components, most, "min(n_classes - 1, n_features)")

    def _fit_rule(
        self, summary: ClassSummary, rows: Floats, priors: Floats, n_components: int, *, name: str
    ) -> Sphering:
        """Keep the rule for the common covariance ``rows.T @ rows``; return how it was sphered."""
        sphering = Sphering.of_rows(rows, self.tol)
        sphering.require_variation()
        sphering.warn_if_singular(name)
        explicit = self.n_components is not None
        canonical = canonical_variates(
            sphering, summary.means, priors, n_components, self.tol, explicit=explicit
        )
        self._forget("covariance_")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        if self.store_covariance:
            self.covariance_ = rows.T @ rows
        self._set_rule(canonical, priors)
        return sphering

    def _set_rule(self, canonical: CanonicalVariates, priors: Floats) -> None:
        self.xbar_ = canonical.center
        self.scalings_ = canonical.scalings
        self.centroids_ = canonical.centroids
        self.explained_variance_ratio_ = canonical.ratio
        self._n_features_out = canonical.scalings.shape[1]
        slopes = canonical.centroids @ canonical.scalings.T
        offsets = log_priors(priors) - 0.5 * np.einsum("ij,ij->i", canonical.centroids, canonical.centroids)
        if len(priors) == 2:
            slopes, offsets = slopes[1:] - slopes[:1], offsets[1:] - offsets[:1]
        self._set_linear(slopes, offsets)

    def _set_linear(self, slopes: Floats, offsets: Floats) -> None:
        """Keep (x - xbar) @ slope + offset: far from the origin an intercept would cancel."""
        self.coef_ = slopes
        self._offset = offsets
        self.intercept_ = offsets - slopes @ self.xbar_

    def _variates(self, X: Floats) -> Floats:
        return (X - self.xbar_) @ self.scalings_

    def _discriminants(self, X: Floats) -> Floats:
        scores: Floats = (X - self.xbar_) @ self.coef_.T + self._offset
        if len(self.classes_) == 2:
            return np.hstack([np.zeros_like(scores), scores])
        return scores
