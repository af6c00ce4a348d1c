# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix with a constant added to every entry: one more coordinate, the same for all points."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import DerivedGram, Gram
from mercer.threads import Workers


class ShiftedGram(DerivedGram):
    """The matrix K + tau^2: the kernel matrix of the points (phi(x_i), tau).

    Parameters
    ----------
    gram : Gram
        K.
    tau : float
        The extra coordinate.
    """

    def __init__(self, gram: Gram, tau: float) -> None:
        super().__init__(gram)
        self.tau = tau

    def diag(self) -> Float64:
        return self.gram.diag() + self.tau**2

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        # Not in place: some Grams hand out what they keep.
        part: Any = self.gram.block(idx, jdx) + self.gram.dtype.type(self.tau**2)
        if out is None:
            return part  # type: ignore[no-any-return]
        out[...] = part
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        self.gram.add_product(idx, coef, out)
        out += self.tau**2 * float(coef.sum())

    def matvec(self, v: Float64) -> Float64:
        return self.gram.matvec(v) + self.tau**2 * float(np.sum(v))

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else ShiftedGram(exact, self.tau)

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return ShiftedGram(self.gram.subset(idx, workers), self.tau)
