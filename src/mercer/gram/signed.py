# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix whose points are reflected through the origin."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import DerivedGram, Gram
from mercer.threads import Workers


class SignedGram(DerivedGram):
    """The matrix K_ij y_i y_j: the kernel matrix of the points y_i phi(x_i).

    Parameters
    ----------
    gram : Gram
        K.
    sign : (n,) float64
        y, +1 or -1.
    """

    def __init__(self, gram: Gram, sign: Float64) -> None:
        super().__init__(gram)
        self.sign = sign

    def diag(self) -> Float64:
        return self.gram.diag()

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        part = self.gram.block(idx, jdx, out)
        rows, columns = self.sign[idx].astype(part.dtype), self.sign[jdx].astype(part.dtype)
        part = np.multiply(part, rows[:, None], out=out)  # not in place: some Grams hand out what they keep
        part *= columns[None, :]
        return part

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        product = np.zeros(self.n)
        self.gram.add_product(idx, self.sign[idx] * coef, product)
        product *= self.sign
        out += product

    def matvec(self, v: Float64) -> Float64:
        return self.sign * self.gram.matvec(self.sign * v)

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else SignedGram(exact, self.sign)

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return SignedGram(self.gram.subset(idx, workers), self.sign[idx])
