"""Nyström's features of any kernel."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.projection._base import KernelProjection
from mercer.estimators.verdict import check_finite_diagonal, check_finite_model
from mercer.gram import gram
from mercer.gram.landmarks import by_leverage, greedy, inverse_root, spread_out, uniform
from mercer.kernels import KERNEL_NAMES, Kernel, Linear, as_kernel
from mercer.kernels.names import kernel_class
from mercer.values import keep_parameters

ALIASES = {"polynomial": "poly"}
DEFAULTS = {"gamma": "auto", "coef0": 1.0, "degree": 3}  # scikit-learn's, where None is given
DRAWN = {"uniform": uniform, "k-means++": spread_out, "leverage": by_leverage}


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelProjection):
    r"""Nyström approximation of any kernel by features of a few landmarks.

    .. math:: \phi(x) = K_{mm}^{-1/2} \, (k(x, x_{l_1}), \dots, k(x, x_{l_m}))

    Inner products of these features are the kernel between landmarks, and nearly so elsewhere; none is
    longer than in the kernel's own space. Parameters and attributes are those of
    :class:`sklearn.kernel_approximation.Nystroem`; any kernel of :mod:`mercer.kernels` and any data will do,
    and the landmarks may be chosen better than uniformly.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name (also "polynomial" and "cosine"), a :class:`mercer.kernels.Kernel`, or a function of two data
        sets that returns the kernel matrix.
    gamma : float, "scale", "auto" or None, default=None
        Of the kernels given by name; None is "auto", 1 / n_features.
    coef0, degree : float, default=None
        Of "poly" and "sigmoid"; None is 1 and 3.
    kernel_params : dict, default=None
        Further parameters of a kernel given by name.
    n_components : int, default=100
        Most landmarks. All rows, where they are fewer, make the features exact.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.
    landmarks : {"uniform", "k-means++", "leverage", "cholesky"} or points, default="uniform"
        How they are chosen: uniformly; by their distance from those before; by approximate ridge leverage
        scores; each time the row that is explained worst (greedy pivoted Cholesky, which needs the memory
        of the features and no luck). Or your own landmarks.
    tol : float, default=0.0
        The share of the trace of the kernel matrix at which "cholesky" stops before ``n_components``.

    Attributes
    ----------
    components_ : points of shape (n_components, n_features)
        The landmarks.
    component_indices_ : ndarray of shape (n_components,)
        Their rows in the training data; absent for your own.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse square root of their kernel matrix.
    trace_error_ : float
        The share of the trace of the training data's kernel matrix that is left, for "cholesky"; for other
        landmarks see ``trace_error``.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.

    See Also
    --------
    RandomFeatures : Features without landmarks.
    LinearSVC : A machine to put behind it.

    References
    ----------
    .. [1] C. K. I. Williams and M. Seeger (2001). Using the Nyström method to speed up kernel machines.
       *NeurIPS*, 682-688.
    .. [2] S. Fine and K. Scheinberg (2001). Efficient SVM training using low-rank kernel representations.
       *Journal of Machine Learning Research* 2, 243-264.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import LinearSVC, Nystroem
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(Nystroem(gamma=0.2, n_components=200, landmarks="cholesky"), LinearSVC())
    >>> bool(model.fit(X / 16, y).score(X / 16, y) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({*KERNEL_NAMES, *ALIASES, "cosine"}), Kernel, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left"), None],
        "coef0": [Interval(Real, None, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="left"), None],
        "kernel_params": [dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "landmarks": [StrOptions({*DRAWN, "cholesky"}), "array-like", "sparse matrix", list],
        "tol": [Interval(Real, 0.0, 1.0, closed="left")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: Any = "uniform",
        tol: float = 0.0,
        cache_size: float = 200,
    ) -> None:
        keep_parameters(self, locals())

    def _kernel(self) -> Kernel:
        given = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        given = {name: value for name, value in given.items() if value is not None}
        extra = self.kernel_params or {}
        if not isinstance(self.kernel, str):
            if given or extra:
                name = next(iter({**given, **extra}))
                raise ValueError(f"{name} does not apply to kernel={self.kernel!r}, which has its own")
            return as_kernel(self.kernel)
        if self.kernel == "cosine":
            return Linear().normalized()
        cls, known = kernel_class(ALIASES.get(self.kernel, self.kernel))
        chosen = {name: value for name, value in {**DEFAULTS, **given}.items() if name in known}
        return cls(**{**chosen, **extra})

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : array, CSR or sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        kernel.validate()
        self.kernel_ = kernel.resolve(X)
        n = self._length(X)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        for name in ("component_indices_", "trace_error_"):
            self.__dict__.pop(name, None)
        if isinstance(self.landmarks, str):
            rows = self._chosen(X, n)
            self.component_indices_ = rows
            self.components_ = self._landmarks(X, rows)
        elif kernel.pairwise:
            raise ValueError("kernel='precomputed' knows no points beside the rows: landmarks must be a name")
        else:
            points = kernel.check(self.landmarks, estimator=self, input_name="landmarks")
            kernel.check_pair(X, points)
            self.components_ = points
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in words
            corner = self._corner(X)
        self.normalization_ = inverse_root(corner)
        self._n_features_out = corner.shape[0]
        check_finite_model(self)
        return self

    def _moved(self, kernel: Kernel, X: Any, least: float) -> Self:
        """Return the map with the same landmarks for another kernel, without its least directions."""
        twin = copy.copy(self)
        twin.set_params(kernel=kernel)
        twin.kernel_ = kernel
        twin.normalization_ = inverse_root(twin._corner(X), least)
        twin.__dict__.pop("trace_error_", None)
        return twin

    def _chosen(self, X: Any, n: int) -> np.ndarray:
        """Return the rows of the landmarks."""
        m = min(int(self.n_components), n)
        rng = check_random_state(self.random_state)
        matrix = gram(
            self.kernel_, X, precision="double", cache_bytes=self._cache_bytes() // 2, workers=self._workers()
        )
        check_finite_diagonal(self.kernel_, matrix.diag())
        if self.landmarks == "cholesky":
            rows, self.trace_error_ = greedy(matrix, m, self.tol)
            return rows
        return DRAWN[self.landmarks](matrix, m, rng)

    def _corner(self, X: Any) -> np.ndarray:
        """Return the kernel matrix of the landmarks."""
        if self._pairwise_kernel:
            return np.asarray(X[np.ix_(self.components_, self.components_)], dtype=np.float64)
        return np.asarray(self.kernel_(self.components_), dtype=np.float64)

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            Features, in the precision of the data.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        features = self._products(X, self.components_, self.normalization_)
        return features.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else features

    def trace_error(self, X: Any) -> float:
        """Return the share of the points' squared lengths that the features lack: 0 if they are exact.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        float
            1 - trace(features features') / trace(K).
        """
        features = self.transform(X)
        if self._pairwise_kernel:
            raise ValueError("kernel='precomputed' does not know k(x, x) of new points")
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        whole = float(np.sum(self.kernel_.diag(X), dtype=np.float64))
        return 1.0 - float(np.einsum("ij,ij->", features, features, dtype=np.float64)) / whole

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
