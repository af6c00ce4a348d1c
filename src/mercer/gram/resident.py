# ruff: noqa: D102  what overrides a method is documented in the base class
"""Small kernel matrices that stay in memory for several solves."""

from __future__ import annotations

import numpy as np

from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.gram.threads import Workers


class ResidentGram(Gram):
    """All of a small kernel matrix. The whole is served without a copy, and products are left to BLAS.

    Products are summed in the matrix's own precision: this serves solves to a loose tolerance.

    Parameters
    ----------
    K : (n, n) array
        The matrix; not to be written to.
    is_psd : bool or None
        Whether it is known to be positive semi-definite.
    """

    def __init__(self, K: Floats, is_psd: bool | None = None) -> None:
        self.K = K
        self.n = K.shape[0]
        self.dtype = K.dtype
        self.is_psd = is_psd

    def diag(self) -> Float64:
        return np.diagonal(self.K).astype(np.float64)

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        if out is None and _is_whole(idx, self.n) and _is_whole(jdx, self.n):
            return self.K
        part = self.K.take(idx, axis=0).take(jdx, axis=1)
        if out is None:
            return part
        out[...] = part
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        v = np.zeros(self.n, dtype=self.dtype)
        v[idx] = coef
        out += self.K @ v

    def exact(self) -> Gram:
        return self

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return ResidentGram(self.K[np.ix_(idx, idx)], self.is_psd)


class RememberingGram(Gram):
    """Another Gram that keeps the whole block once it was asked for, and serves other blocks from it.

    A solver asks for the whole block of a small problem only; whoever looks at the problem after it has the
    kernel values for nothing.

    Parameters
    ----------
    gram : Gram
        The matrix.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.n, self.dtype, self.is_psd = gram.n, gram.dtype, gram.is_psd
        self.independent_subsets = gram.independent_subsets
        self.evaluations = gram.evaluations
        self.whole: ResidentGram | None = None

    def diag(self) -> Float64:
        return self.gram.diag()

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        if self.whole is not None:
            return self.whole.block(idx, jdx, out)
        part = self.gram.block(idx, jdx, out)
        self.evaluations = self.gram.evaluations
        if out is None and _is_whole(idx, self.n) and _is_whole(jdx, self.n):
            self.whole = ResidentGram(part, self.is_psd)
        return part

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        self.gram.add_product(idx, coef, out)
        self.evaluations = self.gram.evaluations

    def matvec(self, v: Float64) -> Float64:
        product = self.gram.matvec(v)
        self.evaluations = self.gram.evaluations
        return product

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else exact

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return self.gram.subset(idx, workers)


def _is_whole(idx: Index, n: int) -> bool:
    return idx.size == n and bool(np.array_equal(idx, np.arange(n)))
