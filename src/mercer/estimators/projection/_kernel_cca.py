"""Kernel canonical correlation analysis."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.projection._base import KernelProjection, check_n_components
from mercer.estimators.projection._ridge_choice import check_ridge, check_ridges, pair_splits
from mercer.estimators.projection._second_view import SecondView
from mercer.estimators.verdict import check_finite_model
from mercer.problems.canonical_correlations import column_correlations, similarities
from mercer.problems.coordinates import Coordinates
from mercer.solvers.linear_algebra.spectral import fixed_signs
from mercer.solvers.projection.canonical_pair import canonical_pair
from mercer.solvers.projection.ridge_choice import RidgeChoice
from mercer.values import keep_parameters


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SecondView, KernelProjection):
    r"""Canonical correlations of two paired views in their feature spaces, regularised.

    .. math::
        \max_{w_x, w_y} \; w_x^T C_{xy} w_y \quad \text{subject to} \quad
        w_x^T (C_{xx} + \kappa_x I) w_x = w_y^T (C_{yy} + \kappa_y I) w_y = 1,

    one pair of directions after another, C the covariances of :math:`\phi_x(x_i)` and :math:`\phi_y(y_i)`
    about their means. With :math:`w_x = \sum_i \alpha_i \phi_x(x_i)`, :math:`w_y = \sum_i \beta_i
    \phi_y(y_i)` and centred kernel matrices it is the generalised eigenproblem

    .. math::
        \begin{pmatrix} 0 & K_x K_y \\ K_y K_x & 0 \end{pmatrix}
        \begin{pmatrix} \alpha \\ \beta \end{pmatrix} = \rho
        \begin{pmatrix} K_x (K_x + n \kappa_x I) & 0 \\ 0 & K_y (K_y + n \kappa_y I) \end{pmatrix}
        \begin{pmatrix} \alpha \\ \beta \end{pmatrix}.

    Without a ridge this says nothing. When the centred kernel matrices have rank n - 1, as those of Gaussian
    kernels on distinct points always do, every vector of scores that sums to zero is :math:`K_x \alpha` for
    some :math:`\alpha` and :math:`K_y \beta` for some :math:`\beta`: all correlations on the training pairs
    are 1, also when the pairs are shuffled, and none holds for new ones. The ridge charges the length of the
    directions, so that only what is cheap in both views counts; it must be positive.

    Parameters
    ----------
    n_components : int, default=1
        Number of pairs of directions.
    ridge : float, pair of float, "cv" or "permutation", default=0.01
        :math:`\kappa` of both views, or of each, in units of the view's variance in feature space, the mean
        of :math:`\|\phi(x_i) - \mu\|^2`: multiplying a kernel by a constant changes nothing. "cv" takes the
        value of ``ridges`` with the largest mean correlation on held-out pairs; "permutation" the one for
        which the regularised correlations exceed those of shuffled pairs most, in standard deviations.
    ridges : array-like, optional
        Values to choose from; None for 1e-4, 1e-3, ..., 10.
    cv : int, splitter or iterable, default=None
        Splits for "cv", as in scikit-learn; None for five folds of shuffled pairs.
    n_permutations : int, default=20
        For "permutation".
    kernel, gamma, degree, coef0
        Kernel of the first view, as in :class:`mercer.SVC`. "linear" for both is ridge CCA itself.
    kernel_y, gamma_y, degree_y, coef0_y
        Kernel of the second view; None takes what the first one has.
    method : {"auto", "exact", "cholesky"}, default="auto"
        "exact" decomposes the kernel matrices, O(n^3). "cholesky" takes incomplete Cholesky factors with
        pivoting, which is Nyström's method with chosen landmarks: O(n max_rank^2) time, O(n max_rank) memory.
        "auto" is exact up to 2000 pairs.
    max_rank : int, default=500
        Most landmarks of "cholesky".
    rank_tol : float, default=1e-6
        Share of the trace at which "cholesky" needs no more of them.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values that do not fit into ``cache_size``.
    random_state : int, RandomState instance or None, default=None
        Draws folds and permutations.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        Correlations of the scores on the training pairs.
    regularized_correlations_ : ndarray of shape (n_components,)
        :math:`\rho`, descending.
    ridge_ : tuple of float
        :math:`(\kappa_x, \kappa_y)`, absolute.
    dual_coef_x_, dual_coef_y_ : ndarray of shape (n_landmarks, n_components)
        :math:`\alpha` and :math:`\beta`, on all training points or on the landmarks. Signs are such that of
        the first view's scores of the training pairs the largest in absolute value is positive.
    landmarks_x_, landmarks_y_ : ndarray or None
        Indices of the landmarks; None where all points are.
    ridge_results_ : dict
        With "cv": ``ridges``, ``split_correlations`` of shape (n_splits, n_ridges, n_components) and
        ``mean_test_score``. With "permutation": ``ridges``, ``sums``, ``permuted_sums`` of shape
        (n_permutations, n_ridges), ``z`` and ``p_value``.
    kernel_, kernel_y_ : Kernel
        The kernels with their data-dependent parameters fixed.
    n_features_in_ : int
        The number of features of the first view, if it has any.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    KernelPCA : Directions of one view.

    References
    ----------
    .. [1] D. R. Hardoon, S. Szedmak and J. Shawe-Taylor (2004). Canonical correlation analysis: an overview
       with application to learning methods. *Neural Computation* 16(12), 2639-2664.
    .. [2] F. R. Bach and M. I. Jordan (2002). Kernel independent component analysis. *Journal of Machine
       Learning Research* 3, 1-48.
    .. [3] D. M. Witten and R. J. Tibshirani (2009). Extensions of sparse canonical correlation analysis with
       applications to genomic data. *Statistical Applications in Genetics and Molecular Biology* 8(1).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelCCA
    >>> t = np.linspace(0.0, 1.0, 200)
    >>> X, Y = np.c_[t, np.cos(40 * t)], np.c_[(t - 0.5) ** 2, np.sin(90 * t)]
    >>> cca = KernelCCA(n_components=1, ridge=0.01, gamma=2.0).fit(X[::2], Y[::2])
    >>> bool(cca.correlations(X[1::2], Y[1::2])[0] > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        **SecondView._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "ridge": [StrOptions({"cv", "permutation"}), Interval(Real, 0, None, closed="neither"), tuple, list],
        "ridges": ["array-like", None],
        "cv": ["cv_object"],
        "n_permutations": [Interval(Integral, 2, None, closed="left")],
        "method": [StrOptions({"auto", "exact", "cholesky"})],
        "max_rank": [Interval(Integral, 1, None, closed="left")],
        "rank_tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        *,
        n_components: int = 1,
        ridge: Any = 0.01,
        ridges: Any = None,
        cv: Any = None,
        n_permutations: int = 20,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_y: Any = None,
        gamma_y: Any = None,
        degree_y: float | None = None,
        coef0_y: float | None = None,
        method: str = "auto",
        max_rank: int = 500,
        rank_tol: float = 1e-6,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    # -- fit ---------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Find the pairs of directions.

        Parameters
        ----------
        X : array, CSR or sequence
            First view: whatever ``kernel`` takes; the kernel matrix for "precomputed".
        y : array, CSR or sequence
            Second view, of as many rows: row i belongs to row i of ``X``. Numbers in one dimension are one
            feature.

        Returns
        -------
        self
        """
        relative = check_ridge(self.ridge)
        grid = check_ridges(self.ridges)
        X, workers = self._begin(X)
        y = self._begin_second(X, y)
        n = self._length(X)
        grams = (
            self._matrix(self.kernel_, X, workers, self._value_precision(n)),
            self._matrix(self.kernel_y_, y, workers, self._value_precision(n), "y"),
        )
        views = tuple(map(self._reduce, grams))
        self._require_variation(views)
        k = check_n_components(self.n_components, min(v.d.size for v in views), "the rank of a view")
        if relative is None:
            seed = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
            choice = RidgeChoice(grams, views, self._reduce, grid, k)
            best, self.ridge_results_ = (
                choice.cross_validate(pair_splits(self.cv, n, seed))
                if self.ridge == "cv"
                else choice.permute([seed.permutation(n) for _ in range(self.n_permutations)])
            )
            relative = (best, best)
        else:
            self.__dict__.pop("ridge_results_", None)
        self.ridge_ = (relative[0] * views[0].variance, relative[1] * views[1].variance)
        pair = canonical_pair(views[0], views[1], self.ridge_, k)
        self._store(X, y, views, pair.values, (pair.first, pair.second))
        check_finite_model(self)
        return self

    def _reduce(self, matrix: Any) -> Coordinates:
        return self._coordinates(matrix, self.method, self.max_rank, self.rank_tol)

    def _require_variation(self, views: tuple[Coordinates, ...]) -> None:
        for name, view in zip(("X", "y"), views, strict=True):
            if view.d.size == 0:
                raise ValueError(
                    f"all rows of {name} are identical to its kernel: there is nothing to correlate"
                )

    def _store(
        self, X: Any, y: Any, views: tuple[Coordinates, ...], values: Float64, pair: tuple[Float64, Float64]
    ) -> None:
        coef_x, shift_x = views[0].coefficients(pair[0])
        coef_y, shift_y = views[1].coefficients(pair[1])
        first, second = (view.projections(w) for view, w in zip(views, pair, strict=True))
        signs = fixed_signs(first)
        self.dual_coef_x_, self.dual_coef_y_ = coef_x * signs, coef_y * signs
        self._shifts = (shift_x * signs, shift_y * signs)
        self.landmarks_x_, self.landmarks_y_ = views[0].landmarks, views[1].landmarks
        self._kept_x = self._landmarks(X, views[0].landmarks)
        self._kept_y = self._second_landmarks(y, views[1].landmarks)
        self.regularized_correlations_ = values
        self.correlations_ = column_correlations(first, second)
        self._n_features_out = values.size

    # -- use ---------------------------------------------------------------------------------------------

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the scores of the first view, and of the second if it is given.

        Parameters
        ----------
        X : array, CSR or sequence
            Items of the first view.
        y : array, CSR or sequence, optional
            Items of the second view, not necessarily as many.

        Returns
        -------
        ndarray of shape (n, n_components), or a pair of them
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        scores = self._products(X, self._kept_x, self.dual_coef_x_) - self._shifts[0]
        return scores if y is None else (scores, self.transform_y(y))

    def transform_y(self, y: Any) -> Float64:
        """Return the scores of the second view.

        Parameters
        ----------
        y : array, CSR or sequence
            Items of the second view.

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        check_is_fitted(self)
        y = self._check_second(y, reset=False)
        return self._products(y, self._kept_y, self.dual_coef_y_, self.kernel_y_) - self._shifts[1]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the scores of the first view of the training pairs.

        Parameters
        ----------
        X, y
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        return self.fit(X, y).transform(X)

    def correlations(self, X: Any, y: Any) -> Float64:
        """Return the correlations of the scores of pairs, held-out ones for instance.

        Parameters
        ----------
        X, y : array, CSR or sequence
            Paired items, at least two.

        Returns
        -------
        ndarray of shape (n_components,)
        """
        first, second = self._scores(X), self.transform_y(y)
        if len(first) != len(second):
            raise ValueError(
                f"X has {len(first)} rows and y has {len(second)}: both views need the same number of rows"
            )
        return column_correlations(first, second)

    def score(self, X: Any, y: Any) -> float:
        """Return the mean of ``correlations(X, y)``.

        Parameters
        ----------
        X, y : array, CSR or sequence
            Paired items.

        Returns
        -------
        float
        """
        return float(self.correlations(X, y).mean())

    def retrieve(self, X: Any, y: Any, *, n_best: int | None = None, queries: str = "X") -> Any:
        """Return, for each query of one view, the items of the other view that fit best.

        Fit is the cosine between scores, each component weighted by its regularised correlation.

        Parameters
        ----------
        X, y : array, CSR or sequence
            Items of the first and of the second view, not necessarily as many.
        n_best : int, optional
            How many; None for all, in order.
        queries : {"X", "y"}, default="X"
            Which of them are the queries; the others are looked for.

        Returns
        -------
        ndarray of shape (n_queries, n_best)
            Indices, the best one first.
        """
        if queries not in ("X", "y"):
            raise ValueError(f"queries={queries!r} must be 'X' or 'y'")
        S = similarities(self._scores(X), self.transform_y(y), self.regularized_correlations_)
        S = S if queries == "X" else S.T
        most = check_n_components(n_best, S.shape[1], "the number of items to choose from", "n_best")
        return np.argsort(-S, axis=1, kind="stable")[:, :most]

    def _scores(self, X: Any) -> Float64:
        """Return the first view's scores as an array, whatever ``set_output`` says."""
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return self._products(X, self._kept_x, self.dual_coef_x_) - self._shifts[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
