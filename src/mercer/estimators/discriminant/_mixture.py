"""Mixture discriminant analysis."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer.arrays import Float64, Index
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._canonical import (
    CanonicalTransformer,
    check_n_components,
    count_components,
)
from mercer.estimators.discriminant._checks import check_count, check_flag, check_priors, check_real
from mercer.estimators.discriminant._singular import require_variation, warn_if_singular
from mercer.problems.discriminant.mixture import MixtureProblem
from mercer.problems.discriminant.rules import mixture_scores
from mercer.problems.discriminant.summary import ClassSummary
from mercer.problems.discriminant.variates import orientation, shares
from mercer.solvers.discriminant.mixture_em import Fit
from mercer.solvers.discriminant.mixture_starts import best_of_starts
from mercer.solvers.discriminant.sphering import sphere
from mercer.values import keep_parameters


class MixtureDiscriminantAnalysis(CanonicalTransformer, DiscriminantClassifier):
    r"""Classes that are Gaussian mixtures with one covariance for all: several prototypes for each class.

    With subclasses r of class k, their shares :math:`\pi_{kr}` and means :math:`\mu_{kr}`, and the common
    covariance :math:`\Sigma`, each row goes to the class of largest

    .. math:: \delta_k(x) = \log \pi_k + \log \sum_{r=1}^{R_k} \pi_{kr} \, \phi(x; \mu_{kr}, \Sigma),

    where the parameters maximise
    :math:`\sum_i \log \sum_r \pi_{g_i r} \, \phi(x_i; \mu_{g_i r}, \Sigma)`. With
    ``n_components`` they do so among means that lie in a subspace of that dimension. The EM algorithm
    alternates between memberships of the rows and a weighted linear discriminant analysis of the subclasses.

    Parameters
    ----------
    n_subclasses : int or array-like of shape (n_classes,), default=3
        The number of Gaussians in each class. A single number is lowered for a class with fewer distinct
        rows.
    n_components : int, default=None
        The rank of the means and the number of canonical variates, at most min(sum of subclasses - 1,
        n_features), which None stands for.
    priors : array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, in the order of ``classes_``; None takes the proportions in
        the training data.
    n_init : int, default=5
        The number of starts; that of largest likelihood is kept. Each start takes its memberships from
        k-means clusters of the sphered rows of each class.
    max_iter : int, default=100
        The largest number of iterations of each start.
    tol : float, default=1e-3
        A start ends when an iteration raises the log-likelihood by less than this per row.
    covariance_floor : float, default=1e-6
        The smallest variance of the common covariance, that within the classes being one.
    rank_tol : float, default=1e-4
        As ``tol`` of LinearDiscriminantAnalysis.
    store_covariance : bool, default=False
        Whether to keep ``covariance_``.
    random_state : int, RandomState instance or None, default=None
        The seed of the starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    xbar_ : ndarray of shape (n_features,)
        The mean of the training data.
    n_subclasses_ : ndarray of shape (n_classes,)
        The number of subclasses of each class.
    subclass_owner_ : ndarray of shape (n_total,)
        The index into ``classes_`` of each subclass.
    subclass_means_ : ndarray of shape (n_total, n_features)
        Their means.
    subclass_weights_ : ndarray of shape (n_total,)
        Their shares of their class.
    covariance_ : ndarray of shape (n_features, n_features)
        The common covariance (maximum likelihood), if ``store_covariance``.
    scalings_ : ndarray of shape (n_features, n_components)
        The canonical directions: ``transform(X)`` is ``(X - xbar_) @ scalings_``.
    centroids_ : ndarray of shape (n_total, n_components)
        The subclass means in canonical coordinates.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of the variance between subclasses in each canonical variate.
    log_likelihood_ : float
        The logarithm of the likelihood of the rows given their classes.
    log_likelihood_history_ : ndarray of shape (n_iter,)
        Its value at each iteration of the start that was kept; it never falls.
    n_iter_ : int
        The number of iterations of that start.
    converged_ : bool
        Whether it ended before ``max_iter``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    LinearDiscriminantAnalysis : The same with one subclass in each class.

    Notes
    -----
    The likelihood has local maxima and the EM algorithm finds one of them. It is unbounded when so many
    subclasses share the rows that nothing varies within them; ``covariance_floor`` then bounds it, with a
    warning.

    References
    ----------
    .. [1] T. Hastie and R. Tibshirani (1996). Discriminant analysis by Gaussian mixtures. *Journal of the
       Royal Statistical Society, Series B* 58(1), 155-176.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 12.7. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.estimators.discriminant import MixtureDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MixtureDiscriminantAnalysis(n_subclasses=2, random_state=0).fit(X, y)
    >>> model.subclass_means_.shape
    (6, 4)
    """

    def __init__(
        self,
        *,
        n_subclasses: Any = 3,
        n_components: int | None = None,
        priors: Any = None,
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-3,
        covariance_floor: float = 1e-6,
        rank_tol: float = 1e-4,
        store_covariance: bool = False,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _fit(self, X: Any, y: Any) -> None:
        tol = check_real("tol", self.tol, 0.0)
        rank_tol = check_real("rank_tol", self.rank_tol, 0.0)
        floor = check_real("covariance_floor", self.covariance_floor, 0.0, 1.0, closed=False)
        n_init = check_count("n_init", self.n_init)
        max_iter = check_count("max_iter", self.max_iter)
        store = check_flag("store_covariance", self.store_covariance)
        X, summary = self._summarise(X, y)
        priors = check_priors(self.priors, summary.proportions)
        counts = _check_subclasses(self.n_subclasses, X, summary)
        most = min(int(counts.sum()) - 1, X.shape[1])
        asked = check_n_components(self.n_components, most, "min(sum of subclasses - 1, n_features)")
        if isinstance(self.random_state, Real) and not isinstance(self.random_state, Integral):
            raise ValueError(f"random_state={self.random_state!r} must be an integer, a RandomState or None")
        random = check_random_state(self.random_state)

        sphering = sphere(summary.residual_rows(X), rank_tol)
        require_variation(sphering)
        warn_if_singular(sphering, "The within-class covariance")
        owner = np.repeat(np.arange(summary.n_classes), counts)
        rank = min(asked, sphering.rank)
        Z = (X - summary.center) @ sphering.forward
        problem = MixtureProblem(Z, summary.codes, owner, rank, floor)
        best = best_of_starts(problem, counts, n_init, tol, max_iter, random)
        _warn(best, max_iter, floor)

        self._forget("covariance_")
        self.classes_ = summary.classes
        self.priors_ = priors
        self.means_ = summary.means
        self.xbar_ = summary.center
        self.n_subclasses_ = counts
        self.subclass_owner_ = owner
        self.log_likelihood_history_ = np.array(best.history) - 0.5 * len(X) * sphering.log_det
        self.log_likelihood_ = float(self.log_likelihood_history_[-1])
        self.n_iter_ = len(best.history)
        self.converged_ = best.converged
        mixture = best.mixture
        kept = count_components(
            mixture.variances[:rank], asked, rank_tol, explicit=self.n_components is not None
        )
        signs = orientation(mixture.centroids[:, :kept])
        self.subclass_weights_ = mixture.weights
        self.subclass_means_ = mixture.means(sphering, summary.center)
        self.scalings_ = sphering.forward @ mixture.forward[:, :kept] * signs
        self.centroids_ = mixture.centroids[:, :kept] * signs
        self.explained_variance_ratio_ = shares(mixture.variances)[:kept]
        self._n_features_out = kept
        if store:
            self.covariance_ = mixture.covariance(sphering)

    def _variates(self, X: Float64) -> Float64:
        return (X - self.xbar_) @ self.scalings_

    def _discriminants(self, X: Float64) -> Float64:
        return mixture_scores(
            self._variates(X), self.centroids_, self.subclass_weights_, self.subclass_owner_, self.priors_
        )


def _check_subclasses(n_subclasses: Any, X: Float64, summary: ClassSummary) -> Index:
    """Return the number of subclasses of each class, none above the number of distinct rows of the class."""
    distinct = [len(np.unique(X[summary.codes == k], axis=0)) for k in range(summary.n_classes)]
    if np.ndim(n_subclasses) == 0:
        number = check_count("n_subclasses", n_subclasses)
        return np.array([min(number, limit) for limit in distinct])
    if len(n_subclasses) != summary.n_classes:
        raise ValueError(
            f"n_subclasses={n_subclasses!r} must be one integer, or {summary.n_classes}: one for each class"
        )
    return np.array(
        [
            check_count("n_subclasses", number, 1, limit, why=f"the distinct rows of class {summary.name(k)}")
            for k, (number, limit) in enumerate(zip(n_subclasses, distinct, strict=True))
        ]
    )


def _warn(best: Fit, max_iter: int, floor: float) -> None:
    if best.mixture.floored:
        warnings.warn(
            "The common covariance of the subclasses collapses: its variances were kept at "
            f"covariance_floor={floor:g}. There are too many subclasses for the rows",
            LinAlgWarning,
            stacklevel=4,
        )
    if not best.converged:
        warnings.warn(
            f"The EM algorithm stopped at max_iter={max_iter} while the log-likelihood still rose. "
            "Raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=4,
        )
