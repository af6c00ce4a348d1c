"""The kernel matrices of all kernels of a family on the same data, and how they move with its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.base import Float64, Gram
from mercer.gram.build import gram
from mercer.gram.products import whole
from mercer.kernels import Kernel, Precomputed, Scaled
from mercer.kernels.data import size
from mercer.kernels.tuning import Tuning
from mercer.threads import Workers

TILE_VALUES = 1 << 22  # kernel values looked at together


class KernelFamily:
    """K of the kernels that a `Tuning` runs through, in float64.

    Parameters
    ----------
    tuning : Tuning
        The kernels.
    X : array, CSR or sequence
        Data as ``kernel.check`` returns them.
    workers : Workers
        Threads.
    """

    def __init__(self, tuning: Tuning, X: Any, workers: Workers) -> None:
        self.tuning, self.workers = tuning, workers
        self.X = X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
        self.n = size(X)

    def kernel(self, theta: Float64) -> Kernel:
        """Return the kernel at these parameters."""
        return self.tuning.at(theta, self.X)

    def gram(self, kernel: Kernel, precision: Any = "double", workers: Workers | None = None) -> Gram:
        """Return its Gram."""
        threads = self.workers if workers is None else workers
        return gram(kernel, self.X, precision=precision, workers=threads, cache_bytes=0)

    def matrix(self, kernel: Kernel) -> Float64:
        """Return K, which the caller may change."""
        if kernel.is_vector and kernel.fused() is None:  # one matrix product for all beats many small ones
            K = np.asarray(kernel.fresh(self.X), dtype=np.float64)
        else:
            K = whole(self.gram(kernel))
        if not isinstance(kernel, Precomputed) and not np.isfinite(K.sum()):
            raise ValueError(
                f"kernel={kernel!r} is not finite for some pairs of rows of X: scale the features"
            )
        return K

    def slopes(self, kernel: Kernel, G: Float64, total: float) -> Float64:
        """Return sum_ij G_ij dK_ij / d theta, given that sum for K: the slope by a factor of K."""
        if not self.tuning.names:
            return np.zeros(0)
        if not isinstance(kernel, Scaled):
            return self.tuning.packed(kernel.slopes(self.X, None, G))
        scale = float(kernel.scale)
        inner = kernel.kernel.slopes(self.X, None, G) if self.tuning.names != ["scale"] else {}
        slopes = {f"kernel__{name}": scale * slope for name, slope in inner.items()}
        return self.tuning.packed({**slopes, "scale": np.asarray(total)})

    def thin_slopes(self, kernel: Kernel, U: Float64, V: Float64) -> Float64:
        """Return sum_ij (U V')_ij dK_ij / d theta without forming anything of n by n.

        Parameters
        ----------
        kernel : Kernel
            Of the family.
        U, V : (n, p) array
            Factors of the weights.

        Returns
        -------
        array of the size of theta
        """
        total = np.zeros(self.tuning.size)
        if not self.tuning.names:
            return total
        step = max(1, TILE_VALUES // self.n)
        for start in range(0, self.n, step):
            rows = np.arange(start, min(self.n, start + step))
            G = U[rows] @ V.T
            total += self.tuning.packed(kernel.slopes(kernel.take(self.X, rows), self.X, G))
        return total
