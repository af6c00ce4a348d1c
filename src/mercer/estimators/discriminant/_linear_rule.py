"""What linear discriminants share: canonical variates, and the linear functions made from them."""

from __future__ import annotations

from typing import Any

from mercer.arrays import Float64
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._canonical import (
    CanonicalTransformer,
    check_n_components,
    count_components,
)
from mercer.estimators.discriminant._checks import check_priors
from mercer.estimators.discriminant._singular import require_variation, warn_if_singular
from mercer.problems.discriminant.rules import linear_functions, per_class
from mercer.problems.discriminant.spectra import Sphering
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.sphering import sphere
from mercer.solvers.discriminant.variates import canonical_variates


class LinearRule(CanonicalTransformer, DiscriminantClassifier):
    r"""Closest centroid in the canonical coordinates :math:`z`, modulo the priors.

    The term :math:`z^T z` is common to all classes, so
    :math:`\delta_k(x) = z^T m_k - \tfrac12 m_k^T m_k + \log \pi_k`, which is linear in x.
    """

    priors: Any
    n_components: int | None
    tol: float
    store_covariance: bool
    priors_: Float64
    means_: Float64
    covariance_: Float64
    xbar_: Float64
    scalings_: Float64
    centroids_: Float64
    coef_: Float64
    intercept_: Float64
    explained_variance_ratio_: Float64

    def _check_rule(self, summary: ClassSummary, n_features: int) -> tuple[Float64, int]:
        """Return the priors and the number of components that the parameters ask for."""
        priors = check_priors(self.priors, summary.proportions)
        most = min(summary.n_classes - 1, n_features)
        return priors, check_n_components(self.n_components, most, "min(n_classes - 1, n_features)")

    def _fit_rule(
        self,
        summary: ClassSummary,
        rows: Float64,
        priors: Float64,
        n_components: int,
        *,
        name: str,
        reduced: bool = True,
    ) -> Sphering:
        """Keep the rule for the common covariance ``rows.T @ rows``; return how it was sphered.

        ``reduced`` says whether the classification, too, is made in the leading ``n_components`` variates.
        """
        sphering = sphere(rows, self.tol)
        require_variation(sphering)
        warn_if_singular(sphering, name, stacklevel=5)
        canonical = canonical_variates(sphering, summary.means, priors)
        kept = count_components(
            canonical.variances, n_components, self.tol, explicit=self.n_components is not None, stacklevel=5
        )
        most = count_components(canonical.variances, len(canonical.variances), self.tol, explicit=False)
        rule = canonical.leading(kept if reduced else most)
        self._forget("covariance_", "scalings_", "centroids_", "explained_variance_ratio_")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        if self.store_covariance:
            self.covariance_ = rows.T @ rows
        self.xbar_ = canonical.center
        self.scalings_ = rule.scalings
        self.centroids_ = rule.centroids[:, :kept]
        self.explained_variance_ratio_ = canonical.leading(kept).ratio
        self._n_features_out = kept
        self._set_linear(*linear_functions(rule.centroids, rule.scalings, priors))
        return sphering

    def _set_linear(self, slopes: Float64, offsets: Float64) -> None:
        """Keep (x - xbar) @ slope + offset: far from the origin an intercept would cancel."""
        self.coef_ = slopes
        self._offset = offsets
        self.intercept_ = offsets - slopes @ self.xbar_

    def _infinite(self) -> tuple[str, ...]:
        # A class of prior zero has the logarithm minus infinity in its intercept.
        return ("intercept_", "_offset") if (self.priors_ == 0.0).any() else ()

    def _variates(self, X: Float64) -> Float64:
        return (X - self.xbar_) @ self.scalings_[:, : self._n_features_out]

    def _discriminants(self, X: Float64) -> Float64:
        return per_class((X - self.xbar_) @ self.coef_.T + self._offset, len(self.classes_))
