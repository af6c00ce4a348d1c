"""Quadratic discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._checks import check_choice, check_flag, check_priors, check_real
from mercer.estimators.discriminant._covariances import check_estimator, check_shrinkage, class_covariances
from mercer.estimators.discriminant._singular import require_full_rank, require_variation, warn_if_singular
from mercer.problems.discriminant.rules import log_priors
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.given_covariances import spectra_of
from mercer.solvers.discriminant.pooled_spectrum import PooledSpectrum, principal_axes
from mercer.values import keep_parameters


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
    solver : {"svd", "eigen"}, default="svd"
        "svd" takes the covariances from the data; "eigen" forms them, and takes ``shrinkage`` and
        ``covariance_estimator``.
    shrinkage : "auto" or float, default=None
        Share s of the identity in each class's covariance, :math:`(1 - s) \Sigma_k + s (\operatorname{tr}
        \Sigma_k / p) I`; "auto" takes it from Ledoit and Wolf's lemma.
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``, scaled to sum to 1; None takes
        the proportions in the training data.
    reg_param : float, default=0.0
        For ``solver="svd"``: each class's covariance becomes :math:`(1 - r) \Sigma_k + r I`.
    store_covariance : bool, default=False
        Whether to keep ``covariance_``.
    tol : float, default=1e-4
        Directions with a pooled standard deviation of at most this, each feature being scaled to one, are
        left out, with a warning. A class whose standard deviation in one of the others is at most this
        (relative to the pooled one) is refused.
    covariance_estimator : estimator, default=None
        What estimates each class's covariance: ``fit(X)`` and ``covariance_``, as in ``sklearn.covariance``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    covariance_ : list of n_classes arrays of shape (n_features, n_features)
        The class covariances, if ``store_covariance``: maximum likelihood, 1/n_k, or as shrinkage,
        ``reg_param`` or the estimator make them.
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

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _check_parameters(self) -> None:
        solver = check_choice("solver", self.solver, ("svd", "eigen"))
        check_real("reg_param", self.reg_param, 0.0, 1.0)
        shrinkage = check_shrinkage(self.shrinkage)
        check_estimator(self.covariance_estimator, shrinkage)
        if solver == "svd" and shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver: take solver='eigen'")
        if solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead."
            )

    def _spectra_of(self, X: Float64, summary: ClassSummary, tol: float) -> tuple[Any, list[Float64] | None]:
        """Return the class covariances, decomposed and as they are; None: as the decomposition has them."""
        shaped = self.shrinkage is not None or self.covariance_estimator is not None
        reg = float(self.reg_param) if self.solver == "svd" else 0.0
        if not shaped and reg == 0.0:
            pooled = PooledSpectrum(X, summary, tol)
            spectra = pooled.spectra(1.0)
            whole = spectra.sphering.rank == X.shape[1]
            return spectra, None if whole else pooled.covariances(1.0, 1.0)
        given = class_covariances(X, summary, self.shrinkage, self.covariance_estimator)
        given = [(1.0 - reg) * one + reg * np.eye(len(one)) for one in given]
        return spectra_of(given, summary, tol), given

    def _fit(self, X: Any, y: Any) -> None:
        tol = check_real("tol", self.tol, 0.0)
        store = check_flag("store_covariance", self.store_covariance)
        self._check_parameters()
        X, summary = self._summarise(X, y)
        priors = check_priors(self.priors, summary.proportions)
        if summary.sizes.min() == 1:
            lonely = summary.name(int(summary.sizes.argmin()))
            raise ValueError(f"y has only 1 sample in class {lonely}, covariance is ill defined.")

        spectra, covariances = self._spectra_of(X, summary, tol)
        require_variation(spectra.sphering)
        require_full_rank(spectra, summary, 1.0, tol)
        warn_if_singular(spectra.sphering, "The pooled covariance")
        self._forget("covariance_")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        self._spectra = spectra
        self._forget("scalings_", "rotations_")
        if covariances is not None:
            self._keep_axes(covariances)
        if store:
            self.covariance_ = spectra.covariances() if covariances is None else covariances

    def _keep_axes(self, covariances: list[Float64]) -> None:
        axes = [principal_axes(one, self._spectra.sphering.rank) for one in covariances]
        self.__dict__["scalings_"] = [variances for variances, _ in axes]
        self.__dict__["rotations_"] = [vectors for _, vectors in axes]

    # No prediction needs the axes in the features' units: they are computed when somebody asks.

    def _axes(self, name: str) -> list[Float64]:
        if name not in self.__dict__:
            if not hasattr(self, "_spectra"):
                raise AttributeError(f"{name} is available after fit")
            self._keep_axes(self._spectra.covariances())
        axes: list[Float64] = self.__dict__[name]
        return axes

    @property
    def scalings_(self) -> list[Float64]:
        """The variances of each class along its principal axes."""
        return self._axes("scalings_")

    @scalings_.setter
    def scalings_(self, value: list[Float64]) -> None:
        self.__dict__["scalings_"] = value

    @property
    def rotations_(self) -> list[Float64]:
        """The principal axes of each class."""
        return self._axes("rotations_")

    @rotations_.setter
    def rotations_(self, value: list[Float64]) -> None:
        self.__dict__["rotations_"] = value

    def _discriminants(self, X: Float64) -> Float64:
        scores: Float64 = self._spectra.log_densities(X, np.ones(1))[0] + log_priors(self.priors_)
        return scores
