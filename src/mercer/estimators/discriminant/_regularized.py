"""Regularized discriminant analysis: between linear and quadratic, toward spherical."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from mercer.arrays import Float64
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._checks import (
    check_choice,
    check_flag,
    check_grid,
    check_priors,
    check_real,
)
from mercer.estimators.discriminant._singular import require_full_rank, require_variation, warn_if_singular
from mercer.problems.discriminant.rules import log_priors
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.grid_search import SCORINGS, GridSearch
from mercer.solvers.discriminant.pooled_spectrum import PooledSpectrum
from mercer.values import keep_parameters


class RegularizedDiscriminantAnalysis(DiscriminantClassifier):
    r"""Gaussian classes with covariances shrunk toward a common one, and that toward a scalar one.

    With class covariances :math:`\Sigma_k`, their pooled covariance :math:`\Sigma` and
    :math:`\sigma^2 = \operatorname{tr}(\Sigma) / p`, each row goes to the class of largest

    .. math::
        \delta_k(x) &= -\tfrac12 \log |\Sigma_k(\alpha, \gamma)|
            - \tfrac12 (x - \mu_k)^T \Sigma_k(\alpha, \gamma)^{-1} (x - \mu_k) + \log \pi_k, \\
        \Sigma_k(\alpha, \gamma) &= \alpha \Sigma_k + (1 - \alpha) \Sigma(\gamma), \qquad
        \Sigma(\gamma) = \gamma \Sigma + (1 - \gamma) \sigma^2 I.

    :math:`\alpha = 1` is quadratic discriminant analysis; :math:`\alpha = 0, \gamma = 1` is linear
    discriminant analysis; :math:`\alpha = \gamma = 0` is the nearest centroid, modulo the priors.

    Parameters
    ----------
    alpha : float in [0, 1] or "cv", default=0.5
        The share of the class's own covariance. "cv" chooses it from ``alphas`` by cross-validation.
    gamma : float in [0, 1] or "cv", default=1.0
        The share of the pooled covariance in what it is shrunk to. Below 1 the features should have
        comparable scales. "cv" chooses it from ``gammas``.
    alphas, gammas : array-like, default=None
        The grids for "cv"; None for 0, 0.1, ..., 1 and 0, 0.25, ..., 1.
    cv : int, splitter or iterable, default=None
        The splits for "cv", as in scikit-learn; None for five stratified folds.
    scoring : {"accuracy", "neg_log_loss"}, default="accuracy"
        What cross-validation maximises. "neg_log_loss", of the posterior probabilities, is smoother.
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``; None takes the proportions in
        the training data.
    store_covariance : bool, default=False
        Whether to keep ``covariance_``.
    tol : float, default=1e-4
        With gamma = 1, directions with a pooled standard deviation of at most this, each feature being scaled
        to one, are left out, with a warning. A class whose standard deviation in one of the others is at most
        this (relative to that it is shrunk to) is refused; this can happen only for alpha at or next to 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    alpha_, gamma_ : float
        The values used.
    covariance_ : list of n_classes arrays of shape (n_features, n_features)
        The regularized covariances, if ``store_covariance``.
    cv_results_ : dict
        With "cv": ``alphas`` and ``gammas``, ``mean_test_score`` and ``std_test_score`` of shape (n_alphas,
        n_gammas), ``split_test_scores`` of shape (n_splits, n_alphas, n_gammas). Where a class has no density
        in a split (alpha = 1 and too few rows) the scores are nan.
    best_score_ : float
        With "cv": the mean score of the chosen pair.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    LinearDiscriminantAnalysis : One corner of the square.
    QuadraticDiscriminantAnalysis : The side alpha = 1.

    Notes
    -----
    In coordinates that sphere :math:`\Sigma(\gamma)` the regularized covariance of a class has the
    eigenvectors of the class's own and eigenvalues :math:`\alpha e + 1 - \alpha`. So a split of the
    cross-validation takes one decomposition of :math:`\Sigma` and one for each class and gamma, whatever the
    number of alphas.

    References
    ----------
    .. [1] J. H. Friedman (1989). Regularized discriminant analysis. *Journal of the American Statistical
       Association* 84(405), 165-175.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 4.3.1. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mercer.estimators.discriminant import RegularizedDiscriminantAnalysis
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RegularizedDiscriminantAnalysis(alpha="cv").fit(X, y)
    >>> model.cv_results_["mean_test_score"].shape
    (11, 1)
    """

    def __init__(
        self,
        *,
        alpha: float | str = 0.5,
        gamma: float | str = 1.0,
        alphas: Any = None,
        gammas: Any = None,
        cv: Any = None,
        scoring: str = "accuracy",
        priors: Any = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
    ) -> None:
        keep_parameters(self, locals())

    def _fit(self, X: Any, y: Any) -> None:
        tol = check_real("tol", self.tol, 0.0)
        store = check_flag("store_covariance", self.store_covariance)
        scoring = check_choice("scoring", self.scoring, SCORINGS)
        alphas = _grid("alpha", self.alpha, "alphas", self.alphas, np.linspace(0.0, 1.0, 11))
        gammas = _grid("gamma", self.gamma, "gammas", self.gammas, np.linspace(0.0, 1.0, 5))
        X, summary = self._summarise(X, y)
        priors = check_priors(self.priors, summary.proportions)

        self._forget("covariance_", "cv_results_", "best_score_")
        if isinstance(self.alpha, str) or isinstance(self.gamma, str):
            given = None if self.priors is None else priors
            self._search(X, summary, GridSearch(alphas, gammas, scoring, given, tol))
        else:
            self.alpha_, self.gamma_ = float(alphas[0]), float(gammas[0])

        pooled = PooledSpectrum(X, summary, tol)
        spectra = pooled.spectra(self.gamma_)
        require_variation(spectra.sphering)
        require_full_rank(spectra, summary, self.alpha_, tol)
        if self.gamma_ == 1.0:
            warn_if_singular(spectra.sphering, "The pooled covariance")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        self._spectra = spectra
        if store:
            self.covariance_ = pooled.covariances(self.alpha_, self.gamma_)

    def _search(self, X: Float64, summary: ClassSummary, search: GridSearch) -> None:
        splits = check_cv(self.cv, summary.codes, classifier=True).split(X, summary.codes)
        surface = search.run(X, summary.codes, splits)
        self.alpha_, self.gamma_, self.best_score_ = surface.best()
        self.cv_results_ = surface.results()

    def _discriminants(self, X: Float64) -> Float64:
        scores: Float64 = self._spectra.log_densities(X, np.array([self.alpha_]))[0] + log_priors(
            self.priors_
        )
        return scores


def _grid(name: str, value: Any, grid_name: str, grid: Any, default: Float64) -> Float64:
    """Return the values to try: the grid if ``value`` is "cv", else ``value`` alone."""
    if isinstance(value, str):
        check_choice(name, value, ("cv",))
        return default if grid is None else check_grid(grid_name, grid)
    if grid is not None:
        raise ValueError(f"{grid_name}={grid!r} is the grid of {name}='cv', but {name}={value!r}")
    return np.array([check_real(name, value, 0.0, 1.0)])
