# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix that was worth computing whole, shared by all pairs of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.gram.matrix import MatrixGram
from mercer.threads import Workers


class KeptGram(MatrixGram):
    """All values of a Gram in memory; float64 passes go back to the original.

    Parameters
    ----------
    K : (n, n) ndarray
        The values.
    origin : Gram
        Where they came from.
    idx : (n,) intp, optional
        The points that this Gram, and its origin, are about; all when not given.
    """

    def __init__(self, K: Floats, origin: Gram, idx: Index | None = None) -> None:
        super().__init__(K, origin.is_psd, idx)
        self.origin = origin

    def diag(self) -> Float64:
        return self.origin.diag()

    def exact(self) -> Gram:
        return self if self.dtype == np.float64 else self.origin.exact()

    @property
    def is_exact(self) -> bool:
        return bool(self.dtype == np.float64)

    def exact_block(self, idx: Index, jdx: Index) -> Float64:
        return self.origin.exact_block(idx, jdx)

    def features(self) -> Any:
        return self.origin.features()

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return KeptGram(self.K, self.origin.subset(idx, workers), self._points(idx))
