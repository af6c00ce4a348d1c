# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix that is given."""

from __future__ import annotations

import numpy as np

from mercer import _jit
from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.threads import Workers


class MatrixGram(Gram):
    """A symmetric matrix in memory, or some of its points: a subset shares the matrix and copies nothing.

    Parameters
    ----------
    K : (m, m) array
        The matrix; its entries are what they are, so its own precision is the exact one.
    is_psd : bool or None
        Whether it is known to be positive semi-definite.
    idx : (n,) intp, optional
        The points that this Gram is about; all when not given.
    """

    def __init__(self, K: Floats, is_psd: bool | None = None, idx: Index | None = None) -> None:
        self.K = K
        self.idx = idx
        self.n = K.shape[0] if idx is None else idx.size
        self.dtype = K.dtype
        self.is_psd = is_psd

    def _points(self, idx: Index) -> Index:
        return np.asarray(idx if self.idx is None else self.idx[idx], dtype=np.intp)

    def diag(self) -> Float64:
        diagonal = np.diagonal(self.K)
        return (diagonal if self.idx is None else diagonal[self.idx]).astype(np.float64)

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        part = self.K[np.ix_(self._points(idx), self._points(jdx))]
        if out is None:
            return part
        out[...] = part
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self.idx is None:
            _jit.row_products.fold_rows(self.K, np.asarray(idx, dtype=np.intp), coef, 0, self.n, out)
            return
        # A few columns at a time: the gathered copy stays small, and is summed in float64.
        step = max(1, 4_000_000 // max(1, self.n))
        for s in range(0, idx.size, step):
            rows = self.K[np.ix_(self._points(idx[s : s + step]), self.idx)]
            out += coef[s : s + step] @ rows.astype(np.float64, copy=False)

    def exact(self) -> Gram:
        return self

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return MatrixGram(self.K, self.is_psd, self._points(idx))
