"""A kernel matrix that is given."""

from __future__ import annotations

import numpy as np

from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.gram.threads import Workers


class MatrixGram(Gram):
    """A symmetric matrix in memory."""

    def __init__(self, K: Floats, is_psd: bool | None = None) -> None:
        self.K = K
        self.n = K.shape[0]
        self.dtype = K.dtype
        self.is_psd = is_psd

    def diag(self) -> Float64:
        return np.diagonal(self.K).astype(np.float64)

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        part = self.K[np.ix_(idx, jdx)]
        if out is None:
            return part
        out[...] = part
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        # A few columns at a time: the gathered copy stays small, and is summed in float64.
        step = max(1, 4_000_000 // max(1, self.n))
        for s in range(0, idx.size, step):
            part = idx[s : s + step]
            out += coef[s : s + step] @ self.K[part].astype(np.float64, copy=False)

    def exact(self) -> Gram:
        return self

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return MatrixGram(self.K[np.ix_(idx, idx)], self.is_psd)
