"""Kernel principal component analysis."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.projection._base import KernelProjection
from mercer.estimators.projection._preimages import PreimageProjection
from mercer.estimators.verdict import check_finite_model
from mercer.gram import Workers
from mercer.gram.centred import CentredGram
from mercer.kernels import ItemKernel, Kernel, as_kernel
from mercer.kernels.data import is_sparse
from mercer.kernels.sklearn_kernels import is_sklearn_kernel
from mercer.problems.components import Components, residual_squares
from mercer.solvers.linear_algebra.centred_components import leading_components
from mercer.solvers.linear_algebra.spectral import Eigenpairs
from mercer.values import keep_parameters

# As in scikit-learn: the share of the largest eigenvalue below which one is 0; and that of a negative one.
NOTHING = {False: 1e-12, True: 2e-7}  # by whether kernel values are single
NEGATIVE = {False: 1e-5, True: 5e-3}


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PreimageProjection):
    r"""Principal components in feature space: the orthonormal directions of largest variance.

    .. math::
        \max_{v_1, \dots, v_k} \sum_{j} \sum_{i=1}^n \langle \phi(x_i) - \mu, v_j \rangle^2
        \quad \text{over orthonormal } v_j, \qquad \mu = \frac1n \sum_i \phi(x_i)

    The solution is :math:`v_j = \sum_i (u_{ij} / \sqrt{\lambda_j}) \phi(x_i)` with the leading eigenpairs
    :math:`\tilde K u_j = \lambda_j u_j`, :math:`\|u_j\| = 1`, of the centred kernel matrix :math:`\tilde K =
    H K H`. Of all subspaces of dimension k it is the one nearest to the data.

    Parameters
    ----------
    n_components : int, optional
        Number of components, n_samples if it is more; None for all that are not zero.
    kernel : str, Kernel or callable, default="linear"
        A name, a :class:`mercer.kernels.Kernel`, a function of two items (rows) that returns a number, or
        "precomputed". "linear" is principal component analysis itself. A function of two data sets is
        ``mercer.kernels.FromFunction(function)``.
    gamma : float, "scale" or "auto", optional
        Parameter of the kernels given by name; None is 1 / n_features.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of the polynomial and the sigmoid kernel.
    kernel_params : dict, optional
        Keyword arguments of a kernel that is a function.
    alpha : float, default=1.0
        Ridge of the regression that ``fit_inverse_transform`` learns.
    fit_inverse_transform : bool, default=False
        Learn the map that ``inverse_transform`` needs; see ``preimages``.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "dense" forms the kernel matrix. The others need its products with vectors only, and compute its tiles
        as they go when it is larger than ``cache_size``: memory is then O(n_samples * n_components). "arpack"
        is Lanczos' method on single vectors; "randomized" a block Krylov method, started from the components
        of some of the points, that goes over the matrix a few times in all. "auto" is "dense" for up to 200
        points or more than a tenth of all components; "arpack" for up to 20 components of up to 4000 points
        whose matrix fits into ``cache_size``; else "randomized".
    tol : float, default=0
        Largest residual :math:`\|\tilde K u_j - \lambda_j u_j\|` relative to :math:`\lambda_1` at which the
        iterative solvers stop; 0 for what the precision of the kernel values allows (1e-12 in double, 1e-6
        in single).
    max_iter : int, optional
        Most restarts ("arpack") or products ("randomized").
    iterated_power : int or "auto", default="auto"
        For "randomized": a number of products to be content with, whatever ``tol`` says; "auto" goes on
        until ``tol`` is met.
    remove_zero_eig : bool, default=False
        Leave out components of no variance even when ``n_components`` is given; they are columns of zeros
        otherwise.
    random_state : int, RandomState instance or None, default=None
        Draws the iterative solvers' start.
    copy_X : bool, default=True
        Whether the training data are copied: changed later, they would change the model.
    preimages : {"ridge", "direct"}, default="ridge"
        How ``inverse_transform`` finds points. "ridge" is scikit-learn's way: a kernel ridge regression of
        the points on their projections, with the same kernel, learned if ``fit_inverse_transform``. "direct"
        needs no learning where there is a better way: the point itself for the linear kernel, a fixed-point
        iteration for the Gaussian one, the item with the nearest image for items that are no vectors;
        ``fit_inverse_transform`` learns a map for the other kernels, with a Gaussian kernel of its own.
    cache_size : float, default=200
        Memory for the kernel matrix, in MB.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values that are computed on the way. Those that fit into ``cache_size`` are
        double, and so are all sums.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda_j`, descending.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        :math:`u_j`. In each the entry of largest absolute value is positive.
    explained_variance_ : ndarray of shape (n_components,)
        :math:`\lambda_j / (n - 1)`.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the variance in feature space.
    reconstruction_error_ : float
        Mean of :math:`\|\phi(x_i) - P \phi(x_i)\|^2` over the training data.
    residual_ : float
        Largest :math:`\|\tilde K u_j - \lambda_j u_j\| / \lambda_1`: the proof that these are eigenpairs.
    n_iter_ : int
        Products with the kernel matrix (1 for "dense").
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    gamma_ : float
        The gamma that was used, for data that have features.
    X_fit_ : array, CSR or sequence
        The training data.
    X_transformed_fit_ : ndarray of shape (n, n_components)
        The projections that pre-images were learned from: of all training points, or of as many as
        ``cache_size`` has room for.
    dual_coef_ : ndarray of shape (n, n_features)
        The coefficients of that regression.
    n_features_in_ : int
        The number of features, for data that have any.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    KernelCCA : Directions of two views that agree.
    KernelFisherDiscriminant : Directions that tell classes apart.

    Notes
    -----
    Some texts divide the kernel matrix or the covariance by n, some by n - 1, some not at all; the directions
    are the same, and here projections have variance :math:`\lambda_j / (n - 1)` on the training data.

    References
    ----------
    .. [1] B. Scholkopf, A. Smola and K.-R. Muller (1998). Nonlinear component analysis as a kernel eigenvalue
       problem. *Neural Computation* 10(5), 1299-1319.
    .. [2] H. Hoffmann (2007). Kernel PCA for novelty detection. *Pattern Recognition* 40(3), 863-874.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> pca = KernelPCA(n_components=2, kernel="rbf", gamma="scale").fit(X)
    >>> pca.transform(X[:3]).shape
    (3, 2)
    >>> pca.explained_variance_ratio_.round(2)
    array([0.74, 0.15])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "gamma": [*KernelProjection._parameter_constraints["gamma"], None],
        "kernel_params": [dict, None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "copy_X": ["boolean"],
        "preimages": [StrOptions({"ridge", "direct"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "remove_zero_eig": ["boolean"],
        "fit_inverse_transform": ["boolean"],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        preimages: str = "ridge",
        cache_size: float = 200,
        precision: str = "auto",
    ) -> None:
        keep_parameters(self, locals())

    def _kernel(self) -> Kernel:
        kernel = self.kernel
        if isinstance(kernel, Kernel) or is_sklearn_kernel(kernel):
            # Beside a Kernel the other parameters must be left alone, and scikit-learn's defaults are others.
            gamma = "scale" if self.gamma is None else self.gamma
            return as_kernel(
                kernel, gamma=gamma, degree=self.degree, coef0=0.0 if self.coef0 == 1 else self.coef0
            )
        if callable(kernel) and not isinstance(kernel, type):
            return ItemKernel(partial(kernel, **self.kernel_params) if self.kernel_params else kernel)
        gamma = "auto" if self.gamma is None else self.gamma
        return as_kernel(kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)

    # -- fit ---------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        learned = self.fit_inverse_transform and self.preimages == "ridge"
        if learned and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X, workers = self._begin(X)
        if learned and is_sparse(X):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        if self.copy_X and not self._pairwise_kernel and (isinstance(X, np.ndarray) or is_sparse(X)):
            X = X.copy()
        n = self._length(X)
        k = n if self.n_components is None else min(n, int(self.n_components))
        keep = self._cache_bytes()
        kept = n * n * 8 <= keep
        items, column_means = _symmetric_once_centred(X) if self._pairwise_kernel else (X, None)
        matrix = self._matrix(self.kernel_, items, workers if kept else Workers(1), self._value_precision(n))
        centred = CentredGram(matrix, keep, workers)
        content = self.eigen_solver == "randomized" and self.iterated_power != "auto"
        found = leading_components(
            centred,
            k,
            solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.iterated_power + 1 if content and self.max_iter is None else self.max_iter,
            seed=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
        )
        single = not centred.kept and matrix.dtype == np.float32
        if self.n_components is not None:
            _refuse_negative(found.values, NEGATIVE[single])
        means = centred.means if column_means is None else column_means
        rounding = max(n * np.finfo(np.float64).eps, NOTHING[single])
        components = Components.of(found.values, found.vectors, means, centred.diag, rounding=rounding)
        if self.n_components is None or self.remove_zero_eig:
            components = components.leading(components.rank)
        self._store(X, components, found, centred)
        if not found.converged and not content:
            self._warn_of_limit()
        check_finite_model(self)
        return self

    def _store(self, X: Any, components: Components, found: Eigenpairs, centred: CentredGram) -> None:
        n, top = centred.n, max(float(found.values[0]), np.finfo(np.float64).tiny)
        self.X_fit_ = X
        self.eigenvalues_ = components.values
        self.eigenvectors_ = components.vectors
        self.explained_variance_ = components.values / (n - 1)
        self.explained_variance_ratio_ = components.ratio
        self.reconstruction_error_ = components.unexplained
        self.residual_ = float(found.residuals.max()) / top
        self.n_iter_ = max(1, found.n_products)
        self._n_features_out = components.values.size
        self._components = components
        self._squares = centred.diag
        self._coef = components.coef
        self._shift = components.means @ self._coef
        for name in ("gamma_", "X_transformed_fit_", "dual_coef_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if hasattr(self, "n_features_in_"):
            free = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
            self.gamma_ = getattr(self.kernel_, "gamma", free)
        direct = self.preimages == "direct"
        self._map = self._learned_map(X) if self.fit_inverse_transform and direct else None
        if self.fit_inverse_transform and not direct:
            self._learn_preimages(X)

    def _warn_of_limit(self) -> None:
        warnings.warn(
            f"KernelPCA stopped at max_iter={self.max_iter} with residual {self.residual_:.3g} relative "
            "to the leading eigenvalue. The components are usable; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and return the projections of the training data.

        Parameters
        ----------
        X : array, CSR or sequence
            Training data.
        y : None
            Ignored.
        **params
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self.fit(X)._components.projections

    # -- use ---------------------------------------------------------------------------------------------

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._check_X(X, kernel=self.kernel_, reset=False)

    def transform(self, X: Any) -> Any:
        r"""Project points on the components.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            :math:`\langle \phi(x) - \mu, v_j \rangle`.
        """
        X = self._checked(X)
        return self._products(X, self._landmarks(self.X_fit_, None), self._coef) - self._shift

    def reconstruction_error(self, X: Any, *, diag: ArrayLike | None = None) -> Float64:
        r"""Return how far points lie from the subspace of the components, squared.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            :math:`\|\phi(x) - P \phi(x)\|^2`; large for novelties.
        """
        X = self._checked(X)
        n = self._coef.shape[0]
        both = np.column_stack([self._coef, np.full(n, 1.0 / n)])
        out = self._products(X, self._landmarks(self.X_fit_, None), both)
        return residual_squares(
            self._diagonal(X, diag), out[:, -1], self._components.mean, out[:, :-1] - self._shift
        )


def _symmetric_once_centred(K: Any) -> tuple[Any, Float64 | None]:
    """Return a matrix that centring makes symmetric as what it then is, and the means of its columns.

    A symmetric matrix is returned as it came. Distances to a fixed point, added to rows or columns, are what
    centring takes away.
    """
    largest = float(np.abs(K).max(initial=0.0))
    if not np.isfinite(largest) or np.abs(K - K.T).max(initial=0.0) <= 1e-12 * largest:
        return K, None
    columns = np.asarray(K.mean(axis=0), dtype=np.float64)
    centred = K - columns - K.mean(axis=1)[:, None] + K.mean()
    if np.abs(centred - centred.T).max() > 1e-12 * largest:
        return K, None  # refused where it is looked at
    return 0.5 * (centred + centred.T), columns


def _refuse_negative(values: Float64, share: float) -> None:
    """Refuse components of negative variance: the kernel is not positive semi-definite."""
    most, least = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if least < -share * most and least < -1e-10:
        raise ValueError(
            f"There are significant negative eigenvalues ({-least / max(most, 1e-300):g} of the maximum "
            "positive): the kernel matrix is not positive semi-definite. Ask for fewer components, or for "
            "n_components=None, which stands for those of positive variance"
        )
