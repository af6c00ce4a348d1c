# ruff: noqa: D102  what overrides a method is documented in the base class
"""The kernel values that a solver has computed, kept for whoever looks at the problem after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.threads import Workers


class RememberingGram(Gram):
    """Another Gram that keeps the whole block once it was asked for, as solvers do for small problems only.

    Parameters
    ----------
    gram : Gram
        The matrix.

    Attributes
    ----------
    whole : (n, n) ndarray or None
        All kernel values, if somebody asked for them; not to be written to.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.n, self.dtype, self.is_psd = gram.n, gram.dtype, gram.is_psd
        self.independent_subsets = gram.independent_subsets
        self.evaluations = gram.evaluations
        self.whole: Floats | None = None

    def diag(self) -> Float64:
        return self.gram.diag()

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        everything = out is None and _is_whole(idx, self.n) and _is_whole(jdx, self.n)
        if everything and self.whole is not None:
            return self.whole
        part = self.gram.block(idx, jdx, out)
        self.evaluations = self.gram.evaluations
        if everything:
            self.whole = part
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

    def features(self) -> Any:
        return self.gram.features()

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return self.gram.subset(idx, workers)


def _is_whole(idx: Index, n: int) -> bool:
    return idx.size == n and bool(np.array_equal(idx, np.arange(n)))
