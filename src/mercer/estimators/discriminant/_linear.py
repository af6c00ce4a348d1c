"""Linear discriminant analysis, of full and of reduced rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.discriminant._checks import check_choice, check_flag, check_real
from mercer.estimators.discriminant._covariances import (
    check_estimator,
    check_shrinkage,
    class_covariances,
    covariance,
)
from mercer.estimators.discriminant._linear_rule import LinearRule
from mercer.problems.discriminant.summary import ClassSummary
from mercer.problems.discriminant.variates import shares
from mercer.solvers.discriminant.given_covariances import fisher_directions, linear_rule
from mercer.solvers.discriminant.least_squares import best_cut, log_odds_direction
from mercer.values import keep_parameters


class LinearDiscriminantAnalysis(LinearRule):
    r"""Gaussian classes with a common covariance: linear boundaries.

    With class means :math:`\mu_k`, priors :math:`\pi_k` and the pooled covariance W, each row goes to the
    class of largest

    .. math:: \delta_k(x) = x^T W^{-1} \mu_k - \tfrac12 \mu_k^T W^{-1} \mu_k + \log \pi_k.

    The eigendecomposition :math:`W = U D U^T` spheres the data, :math:`x^* = D^{-1/2} U^T x`; the closest
    centroid wins, modulo the priors. The principal components of the sphered centroids are the canonical
    variates, the solutions of Fisher's problem :math:`\max_a a^T B a` subject to :math:`a^T W a = 1`. With
    ``reduced_rank`` the distances are measured in the leading ``n_components`` only, which is the
    maximum-likelihood rule under the restriction that the means lie in a subspace of that dimension.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        "svd" spheres by a singular value decomposition of the data and forms no covariance. "lsqr" solves
        least squares with the covariance and cannot transform; "eigen" solves Fisher's problem. The latter
        two take ``shrinkage`` and ``covariance_estimator``.
    shrinkage : "auto" or float, default=None
        Share s of the identity in each class's covariance, :math:`(1 - s) \Sigma_k + s (\operatorname{tr}
        \Sigma_k / p) I`; "auto" takes it from Ledoit and Wolf's lemma.
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``, scaled to sum to 1; None takes
        the proportions in the training data. Given priors also weight the centroids when the canonical
        variates are computed.
    n_components : int, default=None
        The number of canonical variates of ``transform``, at most min(n_classes - 1, n_features), which None
        stands for.
    store_covariance : bool, default=False
        Whether to keep ``covariance_`` with ``solver="svd"``; the others keep it always.
    tol : float, default=1e-4
        For ``solver="svd"``: directions with a standard deviation within the classes of at most this, each
        feature being scaled to one, are left out, with a warning; so are canonical variates whose spread of
        centroids is at most this times the largest.
    covariance_estimator : estimator, default=None
        What estimates each class's covariance: ``fit(X)`` and ``covariance_``, as in ``sklearn.covariance``.
    method : {"gaussian", "least_squares"}, default="gaussian"
        "gaussian" takes the cut-point from the Gaussian model. "least_squares" is for two classes: the
        direction comes from the regression of labels -1 and +1 (it is proportional to the Gaussian one,
        whatever the distribution), and the cut-point is the one with the smallest training error. With
        ``priors`` the errors of each class are weighted to match. It needs ``solver="svd"``.
    reduced_rank : bool, default=False
        Whether ``n_components`` governs the classification, too. It needs ``solver="svd"``.

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
        The pooled covariance W: maximum likelihood, 1/n, if ``store_covariance``, or with the other solvers
        the mean of the classes' estimates, weighted by the priors.
    scalings_ : ndarray of shape (n_features, at least n_components)
        The canonical directions. With "svd", ``transform(X)`` is ``(X - xbar_) @ scalings_[:,
        :n_components]``, and in each of them the centroid farthest from that of the first class lies on the
        positive side; with "eigen" it is ``X @ scalings_[:, :n_components]``; "lsqr" has none.
    centroids_ : ndarray of shape (n_classes, n_components)
        The class means in canonical coordinates ("svd").
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
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        method: str = "gaussian",
        reduced_rank: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    def _check_parameters(self) -> None:
        check_real("tol", self.tol, 0.0)
        method = check_choice("method", self.method, ("gaussian", "least_squares"))
        check_flag("store_covariance", self.store_covariance)
        reduced = check_flag("reduced_rank", self.reduced_rank)
        solver = check_choice("solver", self.solver, ("svd", "lsqr", "eigen"))
        shrinkage = check_shrinkage(self.shrinkage)
        check_estimator(self.covariance_estimator, shrinkage)
        if solver == "svd":
            if shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver: take 'lsqr' or 'eigen'")
            if self.covariance_estimator is not None:
                raise ValueError(
                    "covariance estimator is not supported with svd solver: take 'lsqr' or 'eigen'"
                )
        elif reduced or method == "least_squares":
            name = "reduced_rank=True" if reduced else "method='least_squares'"
            raise ValueError(f"{name} needs solver='svd', not solver={solver!r}")

    def _fit(self, X: Any, y: Any) -> None:
        self._check_parameters()
        single = getattr(X, "dtype", None) == np.float32
        X, summary = self._summarise(X, y)
        if summary.n_classes == len(X):
            raise ValueError("The number of samples must be more than the number of classes.")
        priors, asked = self._check_rule(summary, X.shape[1])
        if self.solver == "svd":
            self._fit_svd(X, summary, priors, asked)
        else:
            self._fit_given(X, summary, priors, asked)
        if single:
            self.coef_, self.intercept_ = self.coef_.astype(np.float32), self.intercept_.astype(np.float32)

    def _fit_svd(self, X: Float64, summary: ClassSummary, priors: Float64, asked: int) -> None:
        method = self.method
        if method == "least_squares" and summary.n_classes != 2:
            raise ValueError(f"method='least_squares' needs two classes, y has {summary.n_classes}")

        rows = summary.residual_rows(X)
        sphering = self._fit_rule(
            summary, rows, priors, asked, name="The within-class covariance", reduced=self.reduced_rank
        )
        if method == "least_squares":
            second = summary.codes == 1
            sphered = (X - self.xbar_) @ sphering.forward
            direction = log_odds_direction(sphered, second)
            weight = (priors / summary.sizes)[summary.codes]
            cut = best_cut(sphered @ direction, second, weight, prefer=-float(self._offset[0]))
            self._set_linear((sphering.forward @ direction)[None, :], np.array([-cut]))

    def _fit_given(self, X: Float64, summary: ClassSummary, priors: Float64, asked: int) -> None:
        """Keep the rule of the classes' estimated covariances, weighted by the priors."""
        how = (self.shrinkage, self.covariance_estimator)
        within = np.einsum("k,kij->ij", priors, np.array(class_covariances(X, summary, *how)))
        self._forget("scalings_", "centroids_", "explained_variance_ratio_")
        if self.solver == "eigen":
            values, directions = fisher_directions(within, covariance(X, *how))
            self.scalings_ = directions
            self.explained_variance_ratio_ = shares(values)[:asked]
            slopes = summary.means @ directions @ directions.T
        else:
            slopes = scipy.linalg.lstsq(within, summary.means.T)[0].T
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        self.covariance_ = within
        self.xbar_ = priors @ summary.means
        self._n_features_out = asked
        self._set_linear(*linear_rule(slopes, summary.means, self.xbar_, priors))

    def _variates(self, X: Float64) -> Float64:
        if self.solver == "eigen":
            return X @ self.scalings_[:, : self._n_features_out]
        return super()._variates(X)

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
            spread the class means; about ``xbar_`` with ``solver="svd"``.
        """
        check_is_fitted(self)
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')")
        return super().transform(X)
