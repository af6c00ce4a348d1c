"""The kernel matrices of all kernels of a family on the same data, and how they move with its parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.gram.base import Gram, whole
from mercer.gram.build import gram
from mercer.kernels import Kernel, Precomputed, Scaled
from mercer.kernels.data import size
from mercer.kernels.tuning import Tuning
from mercer.threads import Workers

TILE_VALUES = 1 << 19  # kernel values looked at together; there are some five arrays of this size at a time


class Family(ABC):
    """Covariance functions with a vector of parameters, on given data, in float64.

    Parameters
    ----------
    X : array, CSR or sequence
        Data as ``kernel.check`` returns them.
    workers : Workers
        Threads.

    Attributes
    ----------
    theta : (p,) array
        Where to start; the logarithms of the parameters.
    bounds : (p, 2) array
        Of theta.
    labels : list of str
        A name for each entry of theta.
    """

    theta: Float64
    bounds: Float64
    labels: list[str]

    def __init__(self, X: Any, workers: Workers) -> None:
        self.workers = workers
        self.X = X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
        self.n = size(X)

    @abstractmethod
    def at(self, theta: Float64) -> Member:
        """Return the member with these parameters."""


class Member(ABC):
    r"""One covariance function, :math:`k(x, z) + w(x) [x \text{ is } z]`, on the data of its family.

    Attributes
    ----------
    family : Family
        Brings the data.
    theta : (p,) array
        Its parameters.
    kernel : Kernel
        k, between two sets of points.
    white : float or (n,) array
        w at the data: variances that belong to the points themselves.
    """

    family: Family
    theta: Float64
    kernel: Kernel
    white: float | Float64 = 0.0

    @property
    def shown(self) -> Any:
        """The covariance function as its user wrote it."""
        return self.kernel

    def gram(self, precision: Any = "double", workers: Workers | None = None) -> Gram:
        """Return the Gram of k."""
        threads = self.family.workers if workers is None else workers
        return gram(self.kernel, self.family.X, precision=precision, workers=threads, cache_bytes=0)

    def matrix(self) -> Float64:
        """Return the matrix of k, which the caller may change."""
        kernel = self.kernel
        if kernel.is_vector and kernel.fused() is None:  # one matrix product for all beats many small ones
            K = np.asarray(kernel.fresh(self.family.X), dtype=np.float64)
        else:
            K = whole(self.gram())
        if not isinstance(kernel, Precomputed) and not np.isfinite(K.sum()):
            raise ValueError(
                f"kernel={kernel!r} is not finite for some pairs of rows of X: scale the features"
            )
        return K

    @abstractmethod
    def slopes(self, G: Float64, total: float, diagonal: Float64) -> Float64:
        """Return sum_ij G_ij dS_ij / d theta, S the matrix of k with w on its diagonal.

        Parameters
        ----------
        G : (n, n) array
            Weights; what belongs above the diagonal may stand below it.
        total : float
            The sum of G_ij K_ij: the slope by a factor of k.
        diagonal : (n,) array
            The diagonal of G.
        """

    @abstractmethod
    def thin_slopes(self, U: Float64, V: Float64) -> Float64:
        """Return the same for G = U V' without forming anything of n by n."""

    def prior_variances(self, X: Any) -> Float64:
        """Return the variances at new points, before any data are seen."""
        return np.asarray(self.kernel.evaluate_diag(double(X)), dtype=np.float64) + self._new_white

    def prior_covariance(self, X: Any) -> Float64:
        """Return the covariances of new points, before any data are seen."""
        K = np.array(self.kernel.evaluate(double(X)), dtype=np.float64)
        K.ravel()[:: K.shape[0] + 1] += self._new_white
        return K

    def cross(self, X: Any) -> Float64:
        """Return the covariances of new points with the data."""
        return np.asarray(self.kernel.evaluate(double(X), self.family.X), dtype=np.float64)

    @property
    def _new_white(self) -> float:
        """The variance w of a new point."""
        return 0.0


class KernelFamily(Family):
    """The kernels that a `Tuning` runs through.

    Parameters
    ----------
    tuning : Tuning
        The kernels.
    X, workers
        As of :class:`Family`.
    """

    def __init__(self, tuning: Tuning, X: Any, workers: Workers) -> None:
        super().__init__(X, workers)
        self.tuning = tuning
        self.theta, self.bounds, self.labels = tuning.theta, tuning.bounds, tuning.labels

    def at(self, theta: Float64) -> TunedMember:
        """Return the member with these parameters."""
        return TunedMember(self, self.tuning, theta)

    def kernel(self, theta: Float64) -> Kernel:
        """Return the kernel at these parameters."""
        return self.tuning.at(theta, self.X)


class TunedMember(Member):
    """A kernel of ours."""

    def __init__(self, family: Family, tuning: Tuning, theta: Float64) -> None:
        self.family, self.tuning, self.theta = family, tuning, theta
        self.kernel = tuning.at(theta, family.X)

    def slopes(self, G: Float64, total: float, diagonal: Float64) -> Float64:
        """Return sum_ij G_ij dK_ij / d theta, given that sum for K: the slope by a factor of K."""
        kernel, X, names = self.kernel, self.family.X, self.tuning.names
        if not names:
            return np.zeros(0)
        if not isinstance(kernel, Scaled):
            return self.tuning.packed(kernel.slopes(X, None, G))
        scale = float(kernel.scale)
        inner = kernel.kernel.slopes(X, None, G) if names != ["scale"] else {}
        slopes = {f"kernel__{name}": scale * slope for name, slope in inner.items()}
        return self.tuning.packed({**slopes, "scale": np.asarray(total)})

    def thin_slopes(self, U: Float64, V: Float64) -> Float64:
        """Return sum_ij (U V')_ij dK_ij / d theta without forming anything of n by n."""
        total, n, X = np.zeros(self.tuning.size), self.family.n, self.family.X
        if not self.tuning.names:
            return total
        step = max(1, TILE_VALUES // n)
        for start in range(0, n, step):
            rows = np.arange(start, min(n, start + step))
            G = U[rows] @ V.T
            total += self.tuning.packed(self.kernel.slopes(self.kernel.take(X, rows), X, G))
        return total

    # -- sums over other pairs than those of the data, by the parameters of our kernel --------------------

    def own_zeros(self) -> Float64:
        """Return slopes of nothing."""
        return np.zeros(self.tuning.size)

    def own_slopes(self, X: Any, Z: Any, G: Float64) -> Float64:
        """Return sum_ij G_ij dk(x_i, z_j) / d theta for any points."""
        if not self.tuning.names:
            return self.own_zeros()
        return self.tuning.packed(self.kernel.slopes(double(X), double(Z), G))

    def own_slopes_diag(self, X: Any, g: Float64) -> Float64:
        """Return sum_i g_i dk(x_i, x_i) / d theta."""
        if not self.tuning.names:
            return self.own_zeros()
        return self.tuning.packed(self.kernel.slopes_diag(double(X), g))

    def as_given(self, slopes: Float64, diagonal: float) -> Float64:
        """Return slopes by the parameters of the kernel that was given.

        Parameters
        ----------
        slopes : array
            By the parameters of our kernel.
        diagonal : float
            By the variance of white noise.
        """
        return slopes


def double(X: Any) -> Any:
    """Return data in float64."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
