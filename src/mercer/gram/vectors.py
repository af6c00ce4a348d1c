# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernel matrices of fused vector kernels, recomputed tile by tile faster than memory could deliver them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.gram.kept import KeptGram
from mercer.gram.layout import TILE_ROWS, Layout
from mercer.gram.panels import PANEL, add_panel_product, fill_panel
from mercer.gram.row_cache import RowCache
from mercer.kernels import Kernel, Linear
from mercer.threads import Workers

MIRROR = 12  # multiplications per kernel value from which copying half of a symmetric block is cheaper
DEAR = 100  # multiplications per kernel value from which rows asked for again are kept


class VectorGram(Gram):
    """K of a kernel that is one elementwise line over squared distances or inner products.

    Parameters
    ----------
    kernel : Kernel
        Resolved, with ``kernel.fused()`` not None.
    X : ndarray or CSR
        The points, as ``kernel.check`` returns them.
    dtype : dtype
        Precision of the values.
    workers : Workers
        The threads.
    keep : bool
        Hold a converted copy of the data.
    cache_bytes : int
        Memory for rows that products ask for again and again.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        dtype: Any,
        workers: Workers,
        *,
        keep: bool = True,
        cache_bytes: int = 0,
    ) -> None:
        fused = kernel.fused()
        if fused is None:
            raise TypeError(f"{kernel!r} is not a fused vector kernel")
        centre = None
        if not sp.issparse(X) and fused.statistic == "sqdist":
            centre = X.mean(axis=0, dtype=np.float64)
        layout = Layout(X, fused, dtype, keep=keep, centre=centre)
        diag = np.empty(X.shape[0])
        for s in range(0, X.shape[0], TILE_ROWS):  # float32 data, too, has its diagonal in float64
            diag[s : s + TILE_ROWS] = kernel.evaluate_diag(
                X[s : s + TILE_ROWS].astype(np.float64, copy=False)
            )
        self._set(kernel, lambda: X, layout, diag, workers, cache_bytes)

    def _set(
        self,
        kernel: Kernel,
        data: Callable[[], Any],
        layout: Layout,
        diag: Float64,
        workers: Workers,
        cache_bytes: int,
    ) -> None:
        self.kernel, self.layout, self.workers = kernel, layout, workers
        self.n, self.dtype, self.is_psd = layout.n, layout.dtype, kernel.is_psd
        self.evaluations = 0
        self._data, self._diag = data, diag
        self._exact: VectorGram | None = None
        # Cheap values are recomputed faster than memory for keeping them could be had from the system.
        dear = cache_bytes > 0 and layout.cost >= DEAR
        self._hot = RowCache(self.n, self.dtype, cache_bytes) if dear else None

    def diag(self) -> Float64:
        return self._diag

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self._hot is not None:
            idx, coef = self._add_hot(self._hot, idx, coef, out)
        self.evaluations += idx.size * self.n
        for s in range(0, idx.size, PANEL):
            add_panel_product(
                self.layout, self.layout, idx[s : s + PANEL], coef[s : s + PANEL], out, self.workers
            )

    def _add_hot(self, hot: RowCache, idx: Index, coef: Float64, out: Float64) -> tuple[Index, Float64]:
        """Add what kept rows can give; return what is left."""
        for fresh in hot.admit(idx):
            rows = hot.insert(fresh)
            self.evaluations += rows.size
            fill_panel(self.layout, self.layout, fresh, rows, self.workers)
        kept = hot.known(idx)
        if not kept.any():
            return idx, coef
        pieces = hot.pieces(idx[kept], coef[kept])

        def fold(start: int, stop: int) -> None:
            for rows, local, weights in pieces:
                _jit.row_products.fold_rows(rows, local, weights, start, stop, out)

        self.workers.ranges(self.n, fold, align=512)
        return idx[~kept], np.ascontiguousarray(coef[~kept])

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        idx, jdx = np.asarray(idx, dtype=np.intp), np.asarray(jdx, dtype=np.intp)
        if out is None:
            out = np.empty((idx.size, jdx.size), dtype=self.dtype)
        self.evaluations += out.size
        whole = jdx.size == self.n and bool(np.array_equal(jdx, np.arange(self.n)))
        many = self.layout if whole else self.layout.take(jdx)
        symmetric = idx.size == jdx.size and bool(np.array_equal(idx, jdx))
        fill_panel(
            self.layout, many, idx, out, self.workers, triangle=symmetric and self.layout.cost >= MIRROR
        )
        if not self.layout.columns and self.layout.squared:
            _mend_diagonal(out, idx, jdx, self.diag())
        return out

    def shared(self, budget: int) -> Gram:
        if self.layout.cost < DEAR or self.n * self.n * self.dtype.itemsize > budget:
            return self
        everything = np.arange(self.n)
        return KeptGram(self.block(everything, everything), self)

    def exact(self) -> Gram:
        if self.dtype == np.float64:
            return self
        if self._exact is None:
            self._exact = VectorGram(self.kernel, self._data(), np.float64, self.workers, keep=False)
        return self._exact

    @property
    def is_exact(self) -> bool:
        return bool(self.dtype == np.float64)

    def features(self) -> Any:
        return self._data() if isinstance(self.kernel, Linear) else None

    def exact_block(self, idx: Index, jdx: Index) -> Float64:
        # By the kernel itself: a trial of a few values should not wait for the loops to be compiled in
        # float64.
        X = self._data()
        return np.asarray(self.kernel.evaluate(X[idx].astype(np.float64), X[jdx].astype(np.float64)))

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        part = object.__new__(VectorGram)
        part._set(
            self.kernel,
            lambda: self._data()[idx],  # only a float64 pass needs the original rows
            self.layout.take(idx),
            self._diag[idx],
            workers or self.workers,
            0,
        )
        return part


def _mend_diagonal(out: Floats, idx: Index, jdx: Index, diag: Float64) -> None:
    # |x|^2 + |x|^2 - 2<x,x> is rounding noise where it should be 0; solvers divide by curvatures made of it.
    if idx.size == jdx.size and np.array_equal(idx, jdx):
        np.fill_diagonal(out, diag[idx])
        return
    _, where_i, where_j = np.intersect1d(idx, jdx, return_indices=True)
    out[where_i, where_j] = diag[idx[where_i]]
