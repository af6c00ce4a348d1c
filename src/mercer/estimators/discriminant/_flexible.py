"""Flexible discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import clone, is_classifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from mercer.arrays import Float64
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._canonical import (
    CanonicalTransformer,
    check_n_components,
    count_components,
)
from mercer.estimators.discriminant._checks import check_priors, check_real
from mercer.estimators.ridge import KernelRidge
from mercer.problems.discriminant.rules import nearest_centroid
from mercer.problems.discriminant.scoring import PERFECT, OptimalScores, score_variates
from mercer.problems.discriminant.summary import class_means
from mercer.problems.discriminant.variates import shares
from mercer.solvers.discriminant.scoring import contrast_scores, optimal_scores


def default_regressor() -> Any:
    """Return the regression used when none is given."""
    return KernelRidge(kernel="rbf")


class FlexibleDiscriminantAnalysis(CanonicalTransformer, DiscriminantClassifier):
    r"""Discriminant analysis by optimal scoring with any regression method: nonlinear boundaries.

    Scores :math:`\theta_l` of the classes and regression functions :math:`\eta_l` solve

    .. math::
        \min \; \frac1N \sum_{l=1}^{L} \sum_{i=1}^{N} \bigl(\theta_l(g_i) - \eta_l(x_i)\bigr)^2 +
        \text{penalty}(\eta_l)

    over scores that are uncorrelated, of mean zero and variance one. With squared multiple correlations
    :math:`r_l^2` and class means :math:`\bar\eta_l^k` of the fits, each row goes to the class of smallest

    .. math:: \sum_l \frac{(\eta_l(x) - \bar\eta_l^k)^2}{r_l^2 (1 - r_l^2)} - 2 \log \pi_k.

    When the regression is linear least squares this is linear discriminant analysis: the distance is
    Mahalanobis's. A kernel ridge regression bends the boundaries.

    Parameters
    ----------
    regressor : estimator, default=None
        A regressor of scikit-learn's interface; it is cloned. One that takes a single output is fitted once
        for each score. None is a kernel ridge regression with a Gaussian kernel.
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``; None takes the proportions in
        the training data.
    n_components : int, default=None
        The number of canonical variates, at most n_classes - 1, which None stands for. It governs both
        ``transform`` and the classification.
    tol : float, default=1e-4
        Canonical variates whose spread of centroids is at most this times the largest are left out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    regressor_ : estimator
        The fitted regression of n_classes - 1 initial scores.
    scores_ : ndarray of shape (n_classes, n_components)
        The optimal scores :math:`\theta_l(k)`.
    squared_correlations_ : ndarray of shape (n_components,)
        :math:`r_l^2`.
    centroids_ : ndarray of shape (n_classes, n_components)
        The class means in canonical coordinates.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of each canonical variate in the between-class variance, :math:`r_l^2 / (1 - r_l^2)`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    PenalizedDiscriminantAnalysis : The same with a linear regression and a quadratic penalty.

    Notes
    -----
    A regression that reproduces the labels of the training data leaves no variance within the classes; its
    correlations are taken as :math:`1 - 10^{-10}`, with a warning, and the posterior probabilities are then
    of little use: regularize it.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and A. Buja (1994). Flexible discriminant analysis by optimal scoring.
       *Journal of the American Statistical Association* 89(428), 1255-1270.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 12.5. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.estimators.discriminant import FlexibleDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> FlexibleDiscriminantAnalysis().fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        *,
        regressor: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        tol: float = 1e-4,
    ) -> None:
        self.regressor = regressor
        self.priors = priors
        self.n_components = n_components
        self.tol = tol

    def _fit(self, X: Any, y: Any) -> None:
        tol = check_real("tol", self.tol, 0.0)
        regressor = _check_regressor(self.regressor)
        X, summary = self._summarise(X, y)
        priors = check_priors(self.priors, summary.proportions)
        asked = check_n_components(self.n_components, summary.n_classes - 1, "n_classes - 1")

        contrasts = contrast_scores(summary.proportions)
        targets = contrasts[summary.codes]
        if targets.shape[1] > 1 and not get_tags(regressor).target_tags.multi_output:
            regressor = MultiOutputRegressor(regressor)
        self.regressor_ = regressor.fit(X, targets if targets.shape[1] > 1 else targets.ravel())
        fits = self._fitted_scores(X)
        optimal = optimal_scores(contrasts, summary.codes, fits)
        _warn_if_perfect(optimal)
        optimal = optimal.short_of_perfect()
        kept = count_components(optimal.variances, asked, tol, explicit=self.n_components is not None)
        means = class_means(fits, summary.codes)
        variates = score_variates(optimal.leading(kept), means, summary.proportions @ means)

        self.classes_ = summary.classes
        self.priors_ = priors
        self.scores_ = variates.scores
        self.squared_correlations_ = optimal.correlations[:kept]
        self.centroids_ = variates.centroids
        self.explained_variance_ratio_ = shares(optimal.variances)[:kept]
        self._center = variates.center
        self._to_variates = variates.from_fits
        self._n_features_out = kept

    def _fitted_scores(self, X: Float64) -> Float64:
        return np.asarray(self.regressor_.predict(X), dtype=np.float64).reshape(len(X), -1)

    def _variates(self, X: Float64) -> Float64:
        variates: Float64 = (self._fitted_scores(X) - self._center) @ self._to_variates
        return variates

    def _discriminants(self, X: Float64) -> Float64:
        return nearest_centroid(self._variates(X), self.centroids_, self.priors_)


def _check_regressor(regressor: Any) -> Any:
    if regressor is None:
        return default_regressor()
    if isinstance(regressor, type) or not all(
        hasattr(regressor, name) for name in ("fit", "predict", "get_params")
    ):
        raise TypeError(f"regressor={regressor!r} must be None or a regressor with fit and predict")
    if is_classifier(regressor):
        raise TypeError(f"regressor={regressor!r} is a classifier; it must be a regressor")
    return clone(regressor)


def _warn_if_perfect(optimal: OptimalScores) -> None:
    if optimal.correlations[0] > PERFECT:
        warnings.warn(
            "The regressor reproduces the training labels: no variance is left within the classes, and the "
            "posterior probabilities are of little use. Regularize it",
            LinAlgWarning,
            stacklevel=4,
        )
