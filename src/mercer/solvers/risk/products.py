"""Products with a kernel matrix that is kept in memory if it fits, and computed on the way if not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.matrix import MatrixGram
from mercer.gram.products import whole

Float64 = NDArray[np.float64]
Index = NDArray[np.intp]


class Products:
    """K times a few vectors, in float64.

    Parameters
    ----------
    gram : Gram
        K.
    memory : int
        Bytes that K may take.
    """

    def __init__(self, gram: Gram, memory: int) -> None:
        self.gram, self.n = gram, gram.n
        self.memory = memory
        self.K: Float64 | None = None
        if isinstance(gram, MatrixGram) and gram.idx is None and gram.K.dtype == np.float64:
            self.K = np.asarray(gram.K, dtype=np.float64)
        elif 8 * self.n**2 <= memory:
            self.K = whole(gram.exact())
        if self.K is not None and not np.isfinite(float(self.K.sum())):
            raise ValueError(
                "the kernel matrix holds NaN or infinity: scale the features, or choose a kernel that does "
                "not overflow on them"
            )

    def times(self, V: Float64) -> Float64:
        """Return K V, exact to float64 rounding."""
        if self.K is not None:
            return np.asarray(self.K @ V)
        exact = self.gram.exact()
        return np.stack([exact.matvec(np.ascontiguousarray(column)) for column in V.T], axis=1)

    def rough(self, V: Float64) -> Float64:
        """Return K V in the precision of the Gram, for steps that need not be exact."""
        if self.K is not None:
            return np.asarray(self.K @ V)
        return np.stack([self.gram.matvec(np.ascontiguousarray(column)) for column in V.T], axis=1)

    def block(self, idx: Index, jdx: Index) -> Float64:
        """Return K[idx][:, jdx] in float64; the caller may change it."""
        if self.K is not None:
            return np.array(self.K[np.ix_(idx, jdx)])
        return np.array(self.gram.exact().block(idx, jdx), dtype=np.float64)
