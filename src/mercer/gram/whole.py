# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix in memory that many problems are solved on, one after the other."""

from __future__ import annotations

import numpy as np

from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.gram.matrix import MatrixGram
from mercer.threads import Workers


class WholeGram(MatrixGram):
    """A symmetric matrix in memory that is handed out itself, not copied, when all of it is asked for.

    Parameters
    ----------
    K : (n, n) array
        The matrix, C-contiguous. Nobody may write to it.
    diag : (n,) float64
        Its diagonal in full precision.
    is_psd : bool or None
        Whether it is known to be positive semi-definite.
    """

    def __init__(self, K: Floats, diag: Float64, is_psd: bool | None = None) -> None:
        super().__init__(K, is_psd)
        self._diag = diag

    def diag(self) -> Float64:
        return self._diag

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        if out is None and idx.size == jdx.size == self.n and _counts(idx) and _counts(jdx):
            return self.K
        return super().block(idx, jdx, out)

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return WholeGram(self.K[np.ix_(idx, idx)], self._diag[idx], self.is_psd)


def _counts(idx: Index) -> bool:
    return bool(np.array_equal(idx, np.arange(idx.size)))
