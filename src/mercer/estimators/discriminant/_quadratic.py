"""Quadratic discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._checks import check_flag, check_priors, check_real
from mercer.estimators.discriminant._singular import require_full_rank, require_variation, warn_if_singular
from mercer.problems.discriminant.rules import log_priors
from mercer.solvers.discriminant.pooled_spectrum import PooledSpectrum, principal_axes


class QuadraticDiscriminantAnalysis(DiscriminantClassifier):
    r"""Gaussian classes, each with its own covariance: quadratic boundaries.

    With class means :math:`\mu_k`, covariances :math:`\Sigma_k` and priors :math:`\pi_k`, each row goes to
    the class of largest

    .. math::
        \delta_k(x) = -\tfrac12 \log |\Sigma_k|
            - \tfrac12 (x - \mu_k)^T \Sigma_k^{-1} (x - \mu_k) + \log \pi_k.

    An eigendecomposition of each :math:`\Sigma_k`, in coordinates that sphere the pooled covariance, gives
    both the distance and the determinant.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``; None takes the proportions in
        the training data.
    store_covariance : bool, default=False
        Whether to keep ``covariance_``.
    tol : float, default=1e-4
        Directions with a pooled standard deviation of at most this, each feature being scaled to one, are
        left out, with a warning. A class whose standard deviation in one of the others is at most this
        (relative to the pooled one) is refused.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    covariance_ : list of n_classes arrays of shape (n_features, n_features)
        The class covariances (maximum likelihood, 1/n_k), if ``store_covariance``.
    rotations_ : list of n_classes arrays of shape (n_features, rank)
        The principal axes of each class.
    scalings_ : list of n_classes arrays of shape (rank,)
        The variances along them, in descending order.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    LinearDiscriminantAnalysis : One covariance for all classes.
    RegularizedDiscriminantAnalysis : Everything between the two, for classes with few rows.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 4.3. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.discriminant import QuadraticDiscriminantAnalysis
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array([1, 1, 1, 2, 2, 2])
    >>> QuadraticDiscriminantAnalysis().fit(X, y).predict([[-0.8, -1]]).tolist()
    [1]
    """

    def __init__(self, *, priors: Any = None, store_covariance: bool = False, tol: float = 1e-4) -> None:
        self.priors = priors
        self.store_covariance = store_covariance
        self.tol = tol

    def _fit(self, X: Any, y: Any) -> None:
        tol = check_real("tol", self.tol, 0.0)
        store = check_flag("store_covariance", self.store_covariance)
        X, summary = self._summarise(X, y)
        priors = check_priors(self.priors, summary.proportions)

        pooled = PooledSpectrum(X, summary, tol)
        spectra = pooled.spectra(1.0)
        require_variation(spectra.sphering)
        require_full_rank(spectra, summary, 1.0, tol)
        warn_if_singular(spectra.sphering, "The pooled covariance")
        self._forget("covariance_")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        self._spectra = spectra
        covariances = pooled.covariances(1.0, 1.0)
        axes = [principal_axes(covariance, spectra.sphering.rank) for covariance in covariances]
        self.scalings_ = [variances for variances, _ in axes]
        self.rotations_ = [vectors for _, vectors in axes]
        if store:
            self.covariance_ = covariances

    def _discriminants(self, X: Float64) -> Float64:
        scores: Float64 = self._spectra.log_densities(X, np.ones(1))[0] + log_priors(self.priors_)
        return scores
