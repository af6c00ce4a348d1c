"""Penalized discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.estimators.discriminant._checks import check_flag, check_real
from mercer.estimators.discriminant._linear_rule import LinearRule
from mercer.estimators.discriminant._penalties import penalty_rows
from mercer.estimators.discriminant._ranges import LARGEST
from mercer.values import keep_parameters


class PenalizedDiscriminantAnalysis(LinearRule):
    r"""Linear discriminant analysis with a penalty on the coefficients, for many correlated features.

    With a penalty matrix :math:`\Omega` and weight :math:`\lambda` (``alpha``), each row goes to the class of
    smallest

    .. math:: (x - \mu_k)^T (W + \lambda \Omega)^{-1} (x - \mu_k) - 2 \log \pi_k,

    and the canonical variates solve :math:`\max_a a^T B a` subject to :math:`a^T (W + \lambda \Omega) a = 1`.
    Directions that are rough in the sense of :math:`\Omega` count for less. This equals flexible discriminant
    analysis with the regression
    :math:`\min_\beta \frac1N \|\theta - X \beta\|^2 + \lambda \beta^T \Omega \beta`.

    Parameters
    ----------
    penalty : {"ridge", "smooth"} or array-like of shape (n_features, n_features), default="ridge"
        :math:`\Omega`, symmetric and positive semi-definite. "ridge" is the identity; "smooth" takes second
        differences of neighbouring features, for signals sampled on a regular grid. ``difference_penalty``
        makes the matrix for images.
    alpha : float, default=1.0
        The weight :math:`\lambda` of the penalty; 0 gives linear discriminant analysis.
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``; None takes the proportions in
        the training data. Given priors also weight the centroids when the canonical variates are computed.
    n_components : int, default=None
        The number of canonical variates, at most min(n_classes - 1, n_features), which None stands for. It
        governs both ``transform`` and the classification.
    store_covariance : bool, default=False
        Whether to keep ``covariance_``.
    tol : float, default=1e-4
        As in LinearDiscriminantAnalysis, for the penalised covariance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    xbar_ : ndarray of shape (n_features,)
        The mean of the class means, weighted by the priors.
    covariance_ : ndarray of shape (n_features, n_features)
        The penalised covariance :math:`W + \lambda \Omega`, if ``store_covariance``.
    scalings_ : ndarray of shape (n_features, n_components)
        The canonical directions: ``transform(X)`` is ``(X - xbar_) @ scalings_``.
    centroids_ : ndarray of shape (n_classes, n_components)
        The class means in canonical coordinates.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of the between-class variance in each canonical variate.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The coefficients of the discriminant functions; with two classes, of the log-odds of the second.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Their intercepts.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    FlexibleDiscriminantAnalysis : Any regression in place of the penalised linear one.
    difference_penalty : Penalties for signals and images.

    References
    ----------
    .. [1] T. Hastie, A. Buja and R. Tibshirani (1995). Penalized discriminant analysis. *Annals of
       Statistics* 23(1), 73-102.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 12.6. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.estimators.discriminant import PenalizedDiscriminantAnalysis, difference_penalty
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PenalizedDiscriminantAnalysis(penalty=difference_penalty((8, 8)), alpha=0.1).fit(X, y)
    >>> model.scalings_.shape
    (64, 9)
    """

    def __init__(
        self,
        *,
        penalty: Any = "ridge",
        alpha: float = 1.0,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
    ) -> None:
        keep_parameters(self, locals())

    def _fit(self, X: Any, y: Any) -> None:
        check_real("tol", self.tol, 0.0)
        alpha = check_real("alpha", self.alpha, 0.0)
        check_flag("store_covariance", self.store_covariance)
        X, summary = self._summarise(X, y)
        roughness = penalty_rows(self.penalty, X.shape[1])
        priors, asked = self._check_rule(summary, X.shape[1])

        largest = float(np.abs(roughness).max(initial=0.0))
        if np.sqrt(alpha) * largest > LARGEST:
            raise ValueError(
                f"alpha={self.alpha!r} times penalty, whose entries reach {largest**2:.3g}, is beyond "
                f"float64: make alpha smaller; products up to {LARGEST**2:g} are allowed"
            )
        # Stacking the factors of both terms spheres their sum without forming it.
        rows = np.vstack([summary.residual_rows(X), np.sqrt(alpha) * roughness])
        self._fit_rule(summary, rows, priors, asked, name="The penalised within-class covariance")
