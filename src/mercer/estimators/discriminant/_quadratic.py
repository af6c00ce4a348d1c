"""Quadratic discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.estimators.discriminant._base import DiscriminantClassifier, log_priors
from mercer.estimators.discriminant._checks import Floats, check_flag, check_priors, check_real
from mercer.estimators.discriminant._class_spectra import ClassSpectra, PooledSpectrum
from mercer.estimators.discriminant._summary import ClassSummary


def require_full_rank(spectra: ClassSpectra, summary: ClassSummary, alpha: float, tol: float) -> None:
    """Refuse a class whose Gaussian has no density in the space that the pooled covariance spans."""
    for k, rank in enumerate(spectra.ranks(alpha, tol)):
        if rank < spectra.sphering.rank:
            raise ValueError(
                f"The covariance of class {summary.name(k)} ({summary.sizes[k]} row(s)) has rank {rank}, "
                f"the pooled one rank {spectra.sphering.rank}: it has no inverse and no density. Give the "
                "class more rows, use fewer features, or shrink the covariances with "
                "RegularizedDiscriminantAnalysis and an alpha below 1"
            )


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

    def fit(self, X: Any, y: Any) -> QuadraticDiscriminantAnalysis:
        """Fit the mean and the covariance of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self : QuadraticDiscriminantAnalysis
            The fitted estimator.
        """
        tol = check_real("tol", self.tol, 0.0)
        store = check_flag("store_covariance", self.store_covariance)
        X, summary = self._summarise(X, y)
        priors = check_priors(self.priors, summary.proportions)

        pooled = PooledSpectrum(X, summary, tol)
        spectra = pooled.spectra(1.0)
        spectra.sphering.require_variation()
        require_full_rank(spectra, summary, 1.0, tol)
        spectra.sphering.warn_if_singular("The pooled covariance")
        self._forget("covariance_")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        self._spectra = spectra
        blocks = [summary.class_rows(pooled.rows, k) for k in range(summary.n_classes)]
        covariances = [block.T @ block for block in blocks]
        axes = [np.linalg.eigh(covariance) for covariance in covariances]
        largest_first = slice(None, -spectra.sphering.rank - 1, -1)
        self.scalings_ = [variances[largest_first] for variances, _ in axes]
        self.rotations_ = [vectors[:, largest_first] for _, vectors in axes]
        if store:
            self.covariance_ = covariances
        return self

    def _discriminants(self, X: Floats) -> Floats:
        scores: Floats = self._spectra.log_densities(X, np.ones(1))[0] + log_priors(self.priors_)
        return scores
