"""The features of Mercer's theorem, estimated from a sample."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.projection._base import KernelProjection, check_n_components
from mercer.estimators.verdict import check_finite_model
from mercer.gram import Gram, Workers
from mercer.gram.tiled import TiledProduct
from mercer.problems.eigenfunctions import mercer_expansion
from mercer.solvers.linear_algebra.spectral import Eigenpairs, dense_eigenpairs, leading_eigenpairs
from mercer.values import keep_parameters

SMALL = 1500  # rows whose matrix is decomposed however little memory there is
DENSE_MATRICES = 5  # of n by n numbers, at the peak: K, its symmetric part, LAPACK's, vectors, coefficients
BLOCKS = 12  # of n by k numbers, at the peak of the iterations
RESIDUAL = 1e-10  # of an eigenpair found by products, relative to the largest eigenvalue


class MercerFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelProjection):
    r"""The features :math:`\sqrt{\lambda_j} \phi_j(x)` of Mercer's theorem: inner products give the kernel.

    .. math::
        k(x, z) = \sum_j \lambda_j \phi_j(x) \phi_j(z), \qquad \int k(x, z) \phi_j(z) \, dP(z) = \lambda_j
        \phi_j(x), \quad \int \phi_j^2 \, dP = 1

    With the training points in place of P, :math:`\lambda_j` are the eigenvalues of K / n, and with unit
    eigenvectors u_j of K the eigenfunctions are :math:`\phi_j(x) = \sum_i u_{ij} k(x_i, x) / (\sqrt n \,
    \lambda_j)`. All features together reproduce the kernel matrix of the training points; the first few
    are the best approximation of their rank. Unlike :class:`KernelPCA` nothing is centred.

    Parameters
    ----------
    n_components : int, optional
        Number of features, at most n_samples; None for all that are not zero.
    gamma, degree, coef0
        Parameters of the kernels given by name, as in :class:`mercer.SVC`.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda_j`, falling.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        u_j, of unit length.
    X_fit_ : array, CSR or sequence
        The training data.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.

    See Also
    --------
    KernelPCA : The same around the mean of the data.

    References
    ----------
    .. [1] N. Cristianini and J. Shawe-Taylor (2003). Support vector and kernel methods. In: M. Berthold and
       D. Hand (editors), *Intelligent Data Analysis*, Theorem 5.1.
    .. [2] C. Williams and M. Seeger (2001). Using the Nystrom method to speed up kernel machines. NIPS 13.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MercerFeatures
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> Z = MercerFeatures(kernel=RBF(0.5)).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, RBF(0.5)(X), atol=1e-6))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }
    _parameter_constraints.pop("random_state")

    def __init__(
        self,
        *,
        n_components: int | None = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the eigenfunctions.

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
        matrix = self._matrix(self.kernel_, X, workers, self._value_precision(n))
        found = self._eigenpairs(matrix, k, workers)
        expansion = mercer_expansion(found.values, found.vectors)
        self.X_fit_ = X
        self.eigenvalues_, self.eigenvectors_ = expansion.values, expansion.vectors
        self._coef = expansion.coef
        self._n_features_out = expansion.values.size
        check_finite_model(self)
        return self

    def _eigenpairs(self, matrix: Gram, k: int, workers: Workers) -> Eigenpairs:
        """Return the leading eigenpairs, of the matrix where memory allows, else by products with it."""
        n = matrix.n
        if n <= SMALL or DENSE_MATRICES * 8 * n * n <= self._cache_bytes():
            every = np.arange(n)
            K = np.asarray(matrix.block(every, every), dtype=np.float64)
            return dense_eigenpairs(0.5 * (K + K.T), k)
        if BLOCKS * 8 * n * k > self._cache_bytes():
            raise ValueError(
                f"cache_size={self.cache_size!r} MB is too small for {k} eigenfunctions of {n} rows: choose "
                f"n_components of at most {self._cache_bytes() // (BLOCKS * 8 * n)}, raise cache_size to "
                f"{BLOCKS * 8 * n * k // 1_000_000 + 1}, or use Nystroem"
            )
        return leading_eigenpairs(
            TiledProduct(matrix, workers), n, k, method="randomized", tol=RESIDUAL, max_iter=None,
            seed=np.random.default_rng(0),
        )  # fmt: skip

    def transform(self, X: Any) -> Any:
        r"""Return the features of points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            :math:`\sqrt{\lambda_j} \phi_j(x)`.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return self._products(X, self._landmarks(self.X_fit_, None), self._coef)

    def eigenfunctions(self, X: Any) -> Float64:
        r"""Return the eigenfunctions at points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            :math:`\phi_j(x)`, of mean square 1 over the training points.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        features = self._products(X, self._landmarks(self.X_fit_, None), self._coef)
        return np.asarray(features / np.sqrt(self.eigenvalues_))
