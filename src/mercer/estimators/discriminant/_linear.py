"""Linear discriminant analysis, of full and of reduced rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.estimators.discriminant._checks import check_choice, check_flag, check_real
from mercer.estimators.discriminant._linear_rule import LinearRule
from mercer.solvers.discriminant.least_squares import best_cut, log_odds_direction


class LinearDiscriminantAnalysis(LinearRule):
    r"""Gaussian classes with a common covariance: linear boundaries.

    With class means :math:`\mu_k`, priors :math:`\pi_k` and the pooled covariance W, each row goes to the
    class of largest

    .. math:: \delta_k(x) = x^T W^{-1} \mu_k - \tfrac12 \mu_k^T W^{-1} \mu_k + \log \pi_k.

    The eigendecomposition :math:`W = U D U^T` spheres the data, :math:`x^* = D^{-1/2} U^T x`; the closest
    centroid wins, modulo the priors. The principal components of the sphered centroids are the canonical
    variates, the solutions of Fisher's problem :math:`\max_a a^T B a` subject to :math:`a^T W a = 1`. With
    ``n_components`` below min(n_classes - 1, n_features) the distances are measured in the leading ones only,
    which is the maximum-likelihood rule under the restriction that the means lie in a subspace of that
    dimension.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``; None takes the proportions in
        the training data. Given priors also weight the centroids when the canonical variates are computed.
    n_components : int, default=None
        The number of canonical variates, at most min(n_classes - 1, n_features), which None stands for. It
        governs both ``transform`` and the classification.
    method : {"gaussian", "least_squares"}, default="gaussian"
        "gaussian" takes the cut-point from the Gaussian model. "least_squares" is for two classes: the
        direction comes from the regression of labels -1 and +1 (it is proportional to the Gaussian one,
        whatever the distribution), and the cut-point is the one with the smallest training error. With
        ``priors`` the errors of each class are weighted to match.
    store_covariance : bool, default=False
        Whether to keep ``covariance_``.
    tol : float, default=1e-4
        Directions with a standard deviation within the classes of at most this, each feature being scaled to
        one, are left out, with a warning; so are canonical variates whose spread of centroids is at most this
        times the largest.

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
        The pooled covariance W (maximum likelihood, 1/n), if ``store_covariance``.
    scalings_ : ndarray of shape (n_features, n_components)
        The canonical directions: ``transform(X)`` is ``(X - xbar_) @ scalings_``. In each of them the
        centroid farthest from that of the first class lies on the positive side.
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
    QuadraticDiscriminantAnalysis : A covariance for each class.
    RegularizedDiscriminantAnalysis : Everything between the two.

    Notes
    -----
    Covariances are maximum-likelihood estimates. When there are directions in which no class varies, W has no
    inverse; which pseudo-inverse stands in depends on the units of the features (each is scaled to deviation
    one).

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 4.3. Springer.
    .. [2] R. A. Fisher (1936). The use of multiple measurements in taxonomic problems. *Annals of Eugenics*
       7(2), 179-188.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.discriminant import LinearDiscriminantAnalysis
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array(["left", "left", "left", "right", "right", "right"])
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[-0.8, -1]]).tolist()
    ['left']
    >>> model.transform(X).shape
    (6, 1)
    """

    def __init__(
        self,
        *,
        priors: Any = None,
        n_components: int | None = None,
        method: str = "gaussian",
        store_covariance: bool = False,
        tol: float = 1e-4,
    ) -> None:
        self.priors = priors
        self.n_components = n_components
        self.method = method
        self.store_covariance = store_covariance
        self.tol = tol

    def _fit(self, X: Any, y: Any) -> None:
        check_real("tol", self.tol, 0.0)
        method = check_choice("method", self.method, ("gaussian", "least_squares"))
        check_flag("store_covariance", self.store_covariance)
        X, summary = self._summarise(X, y)
        priors, asked = self._check_rule(summary, X.shape[1])
        if method == "least_squares" and summary.n_classes != 2:
            raise ValueError(f"method='least_squares' needs two classes, y has {summary.n_classes}")

        rows = summary.residual_rows(X)
        sphering = self._fit_rule(summary, rows, priors, asked, name="The within-class covariance")
        if method == "least_squares":
            second = summary.codes == 1
            sphered = (X - self.xbar_) @ sphering.forward
            direction = log_odds_direction(sphered, second)
            weight = (priors / summary.sizes)[summary.codes]
            cut = best_cut(sphered @ direction, second, weight, prefer=-float(self._offset[0]))
            self._set_linear((sphering.forward @ direction)[None, :], np.array([-cut]))
