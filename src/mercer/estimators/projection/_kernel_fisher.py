"""Kernel Fisher discriminant analysis."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.discriminant._base import DiscriminantClassifier
from mercer.estimators.discriminant._canonical import CanonicalTransformer, count_components
from mercer.estimators.discriminant._checks import check_priors
from mercer.estimators.projection._base import KernelProjection, check_n_components
from mercer.estimators.verdict import check_finite_model
from mercer.problems.discriminant.rules import nearest_centroid
from mercer.problems.discriminant.scoring import score_variates
from mercer.problems.discriminant.summary import class_means
from mercer.problems.discriminant.variates import shares
from mercer.solvers.discriminant.scoring import contrast_scores, optimal_scores
from mercer.solvers.projection.ridge_directions import ridge_directions
from mercer.values import keep_parameters


class KernelFisherDiscriminant(CanonicalTransformer, DiscriminantClassifier, KernelProjection):
    r"""Fisher's discriminant in feature space, for two and more classes.

    .. math:: \max_w \frac{w^T B w}{w^T (W + \kappa I) w}, \qquad
        B = \sum_k \frac{n_k}{n} (\mu_k - \mu)(\mu_k - \mu)^T, \quad
        W = \frac1n \sum_i (\phi(x_i) - \mu_{y_i}) (\phi(x_i) - \mu_{y_i})^T,

    one direction after another, at most one less than there are classes. W has rank below n in a space of
    perhaps infinite dimension: without the ridge the ratio is infinite along every direction in which the
    training points of a class coincide. The solution comes from a ridge regression of optimal class scores.
    In these directions, scaled so that :math:`W + \kappa I` becomes the identity, the nearest class mean
    wins, modulo the priors.

    Parameters
    ----------
    n_components : int, optional
        Number of directions, at most n_classes - 1, which None stands for. It governs both ``transform`` and
        the classification.
    ridge : float, default=1e-3
        :math:`\kappa` in units of the variance in feature space, the mean of :math:`\|\phi(x_i) - \mu\|^2`.
    priors : array-like of shape (n_classes,), optional
        Prior probabilities of the classes, in the order of ``classes_``; None takes their shares.
    kernel, gamma, degree, coef0
        The kernel, as in :class:`mercer.SVC`.
    tol : float, default=1e-4
        Directions whose spread of class means is at most this times the largest are left out.
    method : {"auto", "exact", "cholesky"}, default="auto"
        "exact" decomposes the kernel matrix, O(n^3). "cholesky" takes an incomplete Cholesky factor with
        pivoting: O(n max_rank^2) time, O(n max_rank) memory. "auto" is exact up to 2000 points.
    max_rank : int, default=500
        Most landmarks of "cholesky".
    rank_tol : float, default=1e-6
        Share of the trace at which "cholesky" needs no more of them.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values that do not fit into ``cache_size``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    priors_ : ndarray of shape (n_classes,)
        The priors.
    dual_coef_ : ndarray of shape (n_landmarks, n_components)
        Directions as combinations of the images of all training points, or of the landmarks. In each the
        class mean farthest from that of the first class lies on the positive side.
    landmarks_ : ndarray or None
        Indices of the landmarks; None where all points are.
    centroids_ : ndarray of shape (n_classes, n_components)
        The class means along the directions.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of each direction in the between-class variance.
    squared_correlations_ : ndarray of shape (n_components,)
        :math:`r^2`; the maximum of Fisher's ratio is :math:`r^2 / (1 - r^2)`.
    ridge_ : float
        :math:`\kappa`, absolute.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    n_features_in_ : int
        The number of features, for data that have any.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    mercer.LinearDiscriminantAnalysis : The linear one.
    mercer.FlexibleDiscriminantAnalysis : The same with any regression.

    References
    ----------
    .. [1] S. Mika, G. Ratsch, J. Weston, B. Scholkopf and K.-R. Muller (1999). Fisher discriminant analysis
       with kernels. *Neural Networks for Signal Processing IX*, 41-48. IEEE.
    .. [2] G. Baudat and F. Anouar (2000). Generalized discriminant analysis using a kernel approach. *Neural
       Computation* 12(10), 2385-2404.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer import KernelFisherDiscriminant
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> KernelFisherDiscriminant().fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "priors": ["array-like", None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "method": [StrOptions({"auto", "exact", "cholesky"})],
        "max_rank": [Interval(Integral, 1, None, closed="left")],
        "rank_tol": [Interval(Real, 0, 1, closed="left")],
    }
    _parameter_constraints.pop("random_state")

    def __init__(
        self,
        *,
        n_components: int | None = None,
        ridge: float = 1e-3,
        priors: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-4,
        method: str = "auto",
        max_rank: int = 500,
        rank_tol: float = 1e-6,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions and the class means along them.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
        """
        X, workers = self._begin(X)
        classes, codes = self._labels(X, y)
        proportions = np.bincount(codes) / codes.size
        priors = check_priors(self.priors, proportions)
        asked = check_n_components(self.n_components, classes.size - 1, "n_classes - 1")
        n = self._length(X)
        matrix = self._matrix(self.kernel_, X, workers, self._value_precision(n))
        view = self._coordinates(matrix, self.method, self.max_rank, self.rank_tol)
        if view.d.size == 0:
            raise ValueError("all rows of X are the same to the kernel: there is nothing to classify")

        contrasts = contrast_scores(proportions)
        self.ridge_ = self.ridge * view.variance
        directions = ridge_directions(view, contrasts[codes], self.ridge_)
        fits = view.projections(directions)
        optimal = optimal_scores(contrasts, codes, fits).short_of_perfect()
        kept = count_components(optimal.variances, asked, self.tol, explicit=self.n_components is not None)
        # The points are centred in feature space, so the fits have mean zero.
        variates = score_variates(
            optimal.leading(kept), class_means(fits, codes), np.zeros(contrasts.shape[1])
        )

        coef, shift = view.coefficients(directions @ variates.from_fits)
        self.classes_, self.priors_ = classes, priors
        self.dual_coef_, self._shift = coef, shift
        self.landmarks_ = view.landmarks
        self._kept_x = self._landmarks(X, view.landmarks)
        self.centroids_ = variates.centroids
        self.squared_correlations_ = optimal.correlations[:kept]
        self.explained_variance_ratio_ = shares(optimal.variances)[:kept]
        self._n_features_out = kept
        check_finite_model(self)
        return self

    def _labels(self, X: Any, y: Any) -> tuple[Any, Any]:
        if y is None:
            raise ValueError("KernelFisherDiscriminant requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self._check_lengths(X, y)
        classes, codes = np.unique(y, return_inverse=True)
        if classes.size < 2:
            raise ValueError(f"y has one class, {classes[0]}: a discriminant needs at least two classes")
        return classes, codes

    def _checked(self, X: Any) -> Any:
        return self._check_X(X, kernel=self.kernel_, reset=False)

    def _variates(self, X: Any) -> Float64:
        return self._products(X, self._kept_x, self.dual_coef_) - self._shift

    def transform(self, X: Any) -> Any:
        r"""Project points on the discriminant directions.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            Coordinates in which :math:`W + \kappa I` is the identity, ordered by how far they spread the
            class means.
        """
        check_is_fitted(self)
        return self._variates(self._checked(X))

    def _discriminants(self, X: Any) -> Float64:
        return nearest_centroid(self._variates(X), self.centroids_, self.priors_)
