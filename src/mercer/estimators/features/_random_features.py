"""Random features of shift-invariant and a few other kernels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.features._blocks import in_blocks
from mercer.estimators.validation import validated
from mercer.estimators.verdict import check_finite_model
from mercer.kernels import Kernel
from mercer.kernels.random_features import (
    arcs,
    as_spectral,
    chi_squared,
    frequencies,
    spectral_parts,
    waves,
)
from mercer.threads import Workers, resolve_threads
from mercer.values import keep_parameters

NAMES = ("rbf", "laplacian", "matern", "additive_chi2", "arc_cosine")


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random features whose inner products approximate a kernel.

    .. math::
        \phi(x) = \sqrt{2 / m} \, (\cos \omega_j^T x, \sin \omega_j^T x)_{j = 1, \dots, m/2}, \qquad
        \langle \phi(x), \phi(z) \rangle \approx k(x - z)

    with frequencies from the kernel's spectral distribution. Time and memory are those of a product with a
    matrix of ``n_components`` columns.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern", "additive_chi2", "arc_cosine"} or Kernel, default="rbf"
        The kernel, by name or as an object ``RBF``, ``Laplacian`` or ``Matern`` of :mod:`mercer.kernels`, or
        a multiple of one of these, with or without a constant added.
        "additive_chi2" is :math:`\sum_j 2 x_j z_j / (x_j + z_j)` of histograms, whose features are not
        random; "arc_cosine" that of a wide layer of threshold or rectified units.
    gamma : float, "scale" or "auto", default="scale"
        Of "rbf" and "laplacian".
    length_scale : float or array of shape (n_features,), default=1.0
        Of "matern".
    nu : {0.5, 1.5, 2.5, inf}, default=1.5
        Of "matern".
    order : {0, 1, 2}, default=1
        Of "arc_cosine": steps, rectified units, their squares.
    sample_steps : int, default=2
        Of "additive_chi2", which has (2 sample_steps - 1) features for each of the data.
    n_components : int, default=100
        Number of features, except for "additive_chi2".
    sampling : {"auto", "independent", "orthogonal", "quasi"}, default="auto"
        How frequencies are drawn. "auto" takes orthogonal ones, and quasi-random ones for "laplacian".
    random_state : int, RandomState or None, default=None
        Draws the frequencies.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, n_frequencies)
        The frequencies, one in each column: one for a cosine and a sine.
    offset_ : float
        The phase of the last feature, where their number is odd.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed; None where there is no such object.
    n_features_in_ : int
        Number of features of the data.

    See Also
    --------
    Nystroem : Features of any kernel, from landmarks.
    TensorSketch : Features of polynomial kernels.

    References
    ----------
    .. [1] A. Rahimi and B. Recht (2007). Random features for large-scale kernel machines. *NeurIPS*,
       1177-1184.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar (2016). Orthogonal random
       features. *NeurIPS*, 1975-1983.
    .. [3] H. Avron, V. Sindhwani, J. Yang and M. W. Mahoney (2016). Quasi-Monte Carlo feature maps for
       shift-invariant kernels. *Journal of Machine Learning Research* 17 (120).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFeatures
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> Z = RandomFeatures(RBF(gamma=0.1), n_components=2000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - RBF(gamma=0.1)(X)).max() < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(NAMES)), Kernel],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
        "length_scale": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "nu": [Interval(Real, 0, None, closed="neither")],
        "order": [Interval(Integral, 0, 2, closed="both")],
        "sample_steps": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "sampling": [StrOptions({"auto", "independent", "orthogonal", "quasi"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        length_scale: Any = 1.0,
        nu: float = 1.5,
        order: int = 1,
        sample_steps: int = 2,
        n_components: int = 100,
        sampling: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            Data. Only their number of features, and for ``gamma="scale"`` their variance, count.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        spectral = None
        if self.kernel not in ("additive_chi2", "arc_cosine"):
            # Before the data: what a kernel of other data takes would be refused as not numeric.
            spectral = as_spectral(self.kernel, self.gamma, self.length_scale, self.nu)
            spectral.validate()
        X = self._checked(X, reset=True)
        width, m = X.shape[1], int(self.n_components)
        rng = check_random_state(self.random_state)
        self.kernel_, self.offset_ = None, 0.0
        self.frequencies_ = np.empty((width, 0))
        self._n_features_out = m
        if self.kernel == "additive_chi2":
            self._n_features_out = (2 * int(self.sample_steps) - 1) * width
        elif self.kernel == "arc_cosine":
            self.frequencies_ = rng.standard_normal((width, m))
        elif spectral is not None:
            self.kernel_ = spectral.resolve(X)
            wave, _, level = self._parts()
            if level and m == 1:
                raise ValueError(f"n_components=1 is too few for kernel={self.kernel_!r}: at least 2")
            self.frequencies_ = frequencies(wave, width, -(-(m - bool(level)) // 2), self.sampling, rng)
            self.offset_ = float(rng.uniform(0.0, 2.0 * np.pi))
            self._refuse_overflow(X)
        check_finite_model(self)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of points.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            Features, in the precision of the data.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        width = int(self._n_features_out)
        F = self.frequencies_.astype(X.dtype, copy=False)
        workers = Workers(resolve_threads(self.n_jobs))
        _, scale, level = self._parts() if self.kernel_ is not None else (None, 1.0, 0.0)

        def block(rows: Any, out: np.ndarray) -> None:
            if self.kernel_ is not None:
                waves(rows, F, width - bool(level), self.offset_, out[:, : width - bool(level)])
                if scale != 1.0:
                    out *= out.dtype.type(np.sqrt(scale))
                if level:
                    out[:, -1] = np.sqrt(level)
            elif F.size:
                arcs(rows, F, int(self.order), out)
            else:
                chi_squared(rows, int(self.sample_steps), out)

        return in_blocks(X, width, workers, block)

    def _parts(self) -> tuple[Kernel, float, float]:
        """Return the kernel whose frequencies are drawn, its factor, and the constant beside it."""
        parts = None if self.kernel_ is None else spectral_parts(self.kernel_)
        assert parts is not None  # as_spectral has seen to it
        return parts

    def _refuse_overflow(self, X: Any) -> None:
        """Refuse phases that the precision of the data cannot hold."""
        largest = float(np.abs(X.data if hasattr(X, "indptr") else X).max(initial=0.0))
        with np.errstate(over="ignore"):
            phase = max(1.0, largest) * float(np.abs(self.frequencies_).sum(axis=0).max(initial=0.0))
        if not phase < float(np.finfo(X.dtype).max):
            raise ValueError(
                f"X reaches {largest:g}: with kernel={self.kernel_!r}, {X.dtype} cannot hold the phases; "
                "scale the features (StandardScaler), or choose a wider kernel"
            )

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = validated(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        if self.kernel == "additive_chi2":
            least = X.data.min(initial=0.0) if hasattr(X, "data") and hasattr(X, "indptr") else X.min()
            if least < 0:
                raise ValueError(
                    f"Negative values in data passed to {type(self).__name__}: kernel='additive_chi2' is for "
                    "histograms, X must be non-negative"
                )
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel == "additive_chi2"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
