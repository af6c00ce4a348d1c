"""What projections in feature space share: kernel, data, threads, products with new points."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Float64
from mercer.estimators.diagonal import computed_diagonal, given_diagonal
from mercer.estimators.machine import KernelMachine
from mercer.estimators.verdict import INDEFINITE, IndefiniteKernelWarning, check_finite_diagonal
from mercer.gram import Gram, Segment, Workers, cross_products, gram
from mercer.gram.spectrum import spectrum
from mercer.kernels import Kernel, Precomputed
from mercer.problems.coordinates import Coordinates
from mercer.solvers.projection.coordinates import exact_coordinates, low_rank_coordinates

LARGEST = 1e145  # of kernel values: their products are summed
EXACT_N = 2000  # points up to which all eigenvectors are had in seconds


class KernelProjection(KernelMachine):
    """Base of the estimators that look for directions in feature space."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, Kernel, callable],
        "degree": [Interval(Real, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "precision": [StrOptions({"auto", "single", "double"})],
        "random_state": ["random_state"],
    }

    shape_fit_: tuple[int, ...]
    kernel_: Kernel

    def _begin(self, X: Any) -> tuple[Any, Workers]:
        """Check the training data and resolve the kernel on them."""
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        n = self._length(X)
        if n < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows: X has n_samples = 1, a point without spread"
            )
        self.kernel_ = kernel.resolve(X)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        return X, self._workers()

    def _matrix(self, kernel: Kernel, X: Any, workers: Workers, precision: Any, name: str = "X") -> Gram:
        """Return the kernel matrix; refuse values that are no numbers, asymmetry, and name indefiniteness."""
        matrix = gram(kernel, X, precision=precision, cache_bytes=self._cache_bytes() // 4, workers=workers)
        check_finite_diagonal(kernel, matrix.diag(), name=name)
        largest = float(matrix.diag().max())
        if largest > LARGEST:
            raise ValueError(
                f"kernel={kernel!r} reaches {largest:.3g} on the rows of {name}: products of such values are "
                f"beyond float64; values up to {LARGEST:g} are allowed. Scale the features (StandardScaler)"
            )
        if not kernel.is_psd:
            self._look_at_spectrum(kernel, matrix, name)
        return matrix

    def _look_at_spectrum(self, kernel: Kernel, matrix: Gram, name: str) -> None:
        ends = spectrum(matrix)
        if ends.asymmetry:
            raise ValueError(
                f"the kernel matrix of {name} is not symmetric: K_ij and K_ji differ by up to "
                f"{ends.asymmetry:.3g}. A projection needs inner products"
            )
        if ends.smallest < -INDEFINITE * max(ends.largest, 1e-300):
            warnings.warn(
                f"the kernel matrix of {name} is not positive semi-definite: its smallest eigenvalue is "
                f"about {ends.smallest:.3g} (largest {ends.largest:.3g}). Only its positive part is used.",
                IndefiniteKernelWarning,
                stacklevel=4,
            )

    def _value_precision(self, n: int) -> Literal["auto", "single", "double"]:
        """Return the precision of kernel values: what is computed once and kept may as well be double."""
        if self.precision == "auto" and n * n * 8 <= self._cache_bytes():
            return "double"
        chosen: Literal["auto", "single", "double"] = self.precision
        return chosen

    def _coordinates(self, matrix: Gram, method: str, max_rank: int, rank_tol: float) -> Coordinates:
        """Return coordinates of the training points in feature space, exact or of low rank."""
        if method == "exact" or (method == "auto" and matrix.n <= EXACT_N):
            return exact_coordinates(matrix)
        return low_rank_coordinates(matrix, max_rank, rank_tol)

    def _landmarks(self, X: Any, idx: NDArray[Any] | None) -> Any:
        """Return what new points are compared with: items, or their columns in a given matrix."""
        if isinstance(self.kernel_, Precomputed):
            return np.arange(self._length(X)) if idx is None else idx
        return X if idx is None else self.kernel_.take(X, idx)

    def _products(self, X: Any, landmarks: Any, coef: Float64, kernel: Kernel | None = None) -> Float64:
        """Return K(X, landmarks) coef for checked data."""
        outputs = np.arange(coef.shape[1])
        segment = Segment(0, coef.shape[0], np.ascontiguousarray(coef), outputs)
        kernel = self.kernel_ if kernel is None else kernel
        return cross_products(kernel, X, landmarks, [segment], outputs.size, self._workers())

    def _diagonal(self, X: Any, diag: ArrayLike | None) -> Float64:
        """Return k(x, x) of checked points in float64."""
        n = self._length(X)
        if self._pairwise_kernel:
            if diag is None:
                raise ValueError(
                    "distances in feature space need k(x, x) of the new points: pass it as diag= beside the "
                    "rows of the precomputed kernel matrix"
                )
            return given_diagonal(diag, n)
        return computed_diagonal(self.kernel_, X, n, diag)


def check_n_components(n_components: Any, most: int, why: str, name: str = "n_components") -> int:
    """Return the number of components, all when it is None; refuse more than there can be."""
    if n_components is None:
        return most
    if not 1 <= n_components <= most:
        raise ValueError(f"{name}={n_components} must be an integer from 1 to {most} ({why})")
    return int(n_components)
