"""Kernel principal component analysis."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.projection._base import Float64, KernelProjection, check_n_components
from mercer.gram import Workers
from mercer.gram.centred import CentredGram
from mercer.kernels import RBF, Linear
from mercer.problems.components import Components, residual_squares
from mercer.problems.preimage import LearnedMap, expansion, gaussian_preimages, nearest_images
from mercer.solvers.linear_algebra.centred_components import leading_components
from mercer.solvers.linear_algebra.spectral import Eigenpairs

MAP_ROWS = 2000  # training points from which a pre-image map is learned


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelProjection):
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
        Number of components, at most n_samples; None for all that are not zero.
    kernel : str, Kernel or callable, default="linear"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed". "linear" is principal component analysis itself.
    gamma, degree, coef0
        Parameters of the kernels given by name, as in :class:`mercer.SVC`.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "dense" forms the kernel matrix. The others need its products with vectors only, and compute its tiles
        as they go when it is larger than ``cache_size``: memory is then O(n_samples * n_components). "arpack"
        is Lanczos' method on single vectors; "randomized" a block Krylov method, started from the components
        of some of the points, that goes over the matrix a few times in all. "auto" is "dense" for up to 500
        points or more than a tenth of all components, else "randomized".
    tol : float, default=0
        Largest residual :math:`\|\tilde K u_j - \lambda_j u_j\|` relative to :math:`\lambda_1` at which the
        iterative solvers stop; 0 for what the precision of the kernel values allows (1e-12 in double, 1e-6
        in single).
    max_iter : int, optional
        Most restarts ("arpack") or products ("randomized").
    remove_zero_eig : bool, default=False
        Leave out components of no variance even when ``n_components`` is given; they are columns of zeros
        otherwise.
    fit_inverse_transform : bool, default=False
        Learn the map that ``inverse_transform`` needs for kernels other than "rbf" and "linear".
    alpha : float, default=1.0
        Ridge of that map.
    cache_size : float, default=200
        Memory for the kernel matrix, in MB.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values that are computed on the way. Those that fit into ``cache_size`` are
        double, and so are all sums.
    random_state : int, RandomState instance or None, default=None
        Draws the iterative solvers' start.

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
    X_fit_ : array, CSR or sequence
        The training data.
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
    >>> pca = KernelPCA(n_components=2, kernel="rbf").fit(X)
    >>> pca.transform(X[:3]).shape
    (3, 2)
    >>> pca.explained_variance_ratio_.round(2)
    array([0.74, 0.15])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "remove_zero_eig": ["boolean"],
        "fit_inverse_transform": ["boolean"],
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        remove_zero_eig: bool = False,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.remove_zero_eig = remove_zero_eig
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.precision = precision
        self.random_state = random_state

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
        X, workers = self._begin(X)
        n = self._length(X)
        k = check_n_components(self.n_components, n, "the number of rows")
        keep = self._cache_bytes()
        kept = n * n * 8 <= keep
        matrix = self._matrix(self.kernel_, X, workers if kept else Workers(1), self._value_precision(n))
        centred = CentredGram(matrix, keep, workers)
        found = leading_components(
            centred,
            k,
            solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
        )
        single = not centred.kept and matrix.dtype == np.float32
        rounding = max(n * np.finfo(np.float64).eps, float(np.finfo(np.float32).eps) if single else 0.0)
        components = Components.of(
            found.values, found.vectors, centred.means, centred.diag, rounding=rounding
        )
        if self.n_components is None or self.remove_zero_eig:
            components = components.leading(max(1, components.rank))
        self._store(X, components, found, centred)
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
        self._map = self._learned_map(X) if self.fit_inverse_transform else None
        if not found.converged:
            warnings.warn(
                f"KernelPCA stopped at max_iter={self.max_iter} with residual {self.residual_:.3g} relative "
                "to the leading eigenvalue. The components are usable; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the projections of the training data.

        Parameters
        ----------
        X : array, CSR or sequence
            Training data.
        y : None
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

    def inverse_transform(self, X: Any) -> Any:
        r"""Return points whose images lie near :math:`\mu + \sum_j z_j v_j`.

        For the linear kernel that point itself; for the Gaussian kernel the end of a fixed-point iteration;
        for other kernels on vectors what a kernel ridge regression learned, if ``fit_inverse_transform``; for
        other items the training item with the nearest image.

        Parameters
        ----------
        X : array of shape (n, n_components)
            Projections z.

        Returns
        -------
        ndarray of shape (n, n_features), or a sequence of items
        """
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64, input_name="X", estimator=self)
        if Z.shape[1] != self._n_features_out:
            raise ValueError(f"X has {Z.shape[1]} columns; there are {self._n_features_out} components")
        if self._map is not None:
            return self._map(Z)
        if self._pairwise_kernel:
            raise ValueError("kernel='precomputed' has no training points that pre-images could be made of")
        if isinstance(self.kernel_, Linear):
            return expansion(self._coef, Z) @ self.X_fit_
        nearest = nearest_images(self._squares, self._components.projections, Z)
        start = self.kernel_.take(self.X_fit_, nearest)
        if isinstance(self.kernel_, RBF):
            start = start.toarray() if hasattr(start, "toarray") else start
            return gaussian_preimages(self.X_fit_, self.kernel_.gamma, self._coef, Z, start)
        if self.kernel_.is_vector:
            raise NotFittedError(
                f"pre-images of kernel={self.kernel_!r} are learned in fit: set fit_inverse_transform=True"
            )
        return start

    def _learned_map(self, X: Any) -> LearnedMap | None:
        if self._pairwise_kernel or not self.kernel_.is_vector:
            raise ValueError(
                f"fit_inverse_transform=True needs data that are vectors, which kernel={self.kernel_!r} does "
                "not promise"
            )
        if isinstance(self.kernel_, RBF | Linear):  # these have better ones
            return None
        n = self._length(X)
        idx = np.unique(np.linspace(0, n - 1, min(n, MAP_ROWS)).astype(np.intp))
        rows = self.kernel_.take(X, idx)
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
        return LearnedMap.of(self._components.projections[idx], rows, self.alpha)
