"""Kernel matrices of fused vector kernels, recomputed tile by tile faster than memory could deliver them.

Three layouts of the data, chosen once:

- *columns*: few dense features. Differences are taken feature by feature, so squared distances do not cancel.
- *rows*: many dense features. Inner products come from a matrix product of a tile.
- *sparse*: mostly zeros (given as CSR or found so). Each row meets a dense panel of the few other points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.gram.hot import HotRows
from mercer.gram.kept import KeptGram
from mercer.gram.threads import Workers
from mercer.kernels import Fused, Kernel

MOST_COLUMNS = 24  # dense features up to which differences beat a matrix product
SPARSE_DENSITY = 0.25  # share of non-zeros up to which sparse rows beat a matrix product
PANEL = 256  # few points at a time
TILE_ROWS = 2048  # rows of X per matrix product or converted tile
MIRROR = 12  # multiplications per kernel value from which copying half of a symmetric block is cheaper
DEAR = 100  # multiplications per kernel value from which rows asked for again are kept
SMALL = 1 << 17  # kernel values below which threads cost more than they save


class Layout:
    """The data in the order and precision in which kernel values are computed.

    Parameters
    ----------
    X : ndarray or CSR
        The points.
    fused : Fused
        The elementwise line and its statistic.
    dtype : dtype
        Precision of the kernel values.
    keep : bool
        Hold a converted copy; otherwise convert tiles on the way (for the occasional pass in float64).
    centre : ndarray or None
        Subtracted from each row for squared distances, so that far-away data loses no digits.
    """

    def __init__(
        self, X: Any, fused: Fused, dtype: Any, *, keep: bool = True, centre: Float64 | None = None
    ) -> None:
        self.fused = fused
        self.dtype = np.dtype(dtype)
        self.n, self.d = X.shape
        self.squared = fused.statistic == "sqdist"
        one = self.dtype.type
        self.constants = (int(fused.code), one(fused.a), one(fused.b), one(fused.c))
        self.sparse = sp.issparse(X)
        self.columns = not self.sparse and self.d <= MOST_COLUMNS
        self.centre = centre if self.squared and not self.sparse else None
        self.X = X
        self.norms: Floats = np.zeros(0, dtype=self.dtype)
        self.kept: Any = None
        if self.sparse:
            self.kept = X if X.dtype == self.dtype else X.astype(self.dtype)
            if self.squared:
                self.norms = _sparse_norms(X).astype(self.dtype)
        elif keep:
            self.kept = self._convert(0, self.n)
        if self.squared and not self.sparse and not self.columns:
            self.norms = np.empty(self.n, dtype=self.dtype)
            for s in range(0, self.n, TILE_ROWS):
                tile = self.rows(s, min(s + TILE_ROWS, self.n)).astype(np.float64, copy=False)
                self.norms[s : s + TILE_ROWS] = np.einsum("ij,ij->i", tile, tile)

    @property
    def cost(self) -> float:
        """Return the multiplications that a kernel value takes."""
        return self.kept.nnz / max(1, self.n) if self.sparse else float(self.d)

    def _convert(self, start: int, stop: int) -> Floats:
        tile = self.X[start:stop]
        if self.centre is not None:
            tile = tile - self.centre
        if self.columns:
            return np.ascontiguousarray(tile.T, dtype=self.dtype)
        return np.ascontiguousarray(tile, dtype=self.dtype)

    def tile(self, start: int, stop: int) -> tuple[Floats, int]:
        """Return the features-by-points array that holds the range, and where the range begins in it."""
        if self.kept is not None:
            return self.kept, start
        return self._convert(start, stop), 0

    def rows(self, start: int, stop: int) -> Floats:
        """Return the points-by-features rows of the range (layout *rows*)."""
        if self.kept is not None:
            part: Floats = self.kept[start:stop]
            return part
        return self._convert(start, stop)

    def take(self, idx: Index) -> Layout:
        """Return the layout of some of the points, in the precision already converted to."""
        part = object.__new__(Layout)
        part.__dict__.update(self.__dict__)
        part.n = idx.size
        part.norms = self.norms[idx] if self.norms.size else self.norms
        if self.kept is None:
            part.X = self.X[idx]
            part.kept = part._convert(0, part.n)
        else:
            part.kept = np.ascontiguousarray(self.kept[:, idx]) if self.columns else self.kept[idx]
            part.X = None
        return part

    def few(self, idx: Index) -> tuple[Floats, Floats]:
        """Return a few points, dense, in the order the panels want, and their squared norms."""
        if self.sparse:
            panel = np.ascontiguousarray(self.kept[idx].toarray().T)
            return panel, self.norms[idx] if self.squared else self.norms
        if self.kept is not None:
            Z = np.ascontiguousarray(self.kept[:, idx].T if self.columns else self.kept[idx])
        else:
            Z = self.X[idx]
            if self.centre is not None:
                Z = Z - self.centre
            Z = np.ascontiguousarray(Z, dtype=self.dtype)
        return Z, self.norms[idx] if self.norms.size else self.norms


def _sparse_norms(X: Any) -> Float64:
    squares = np.asarray(X.data, dtype=np.float64) ** 2
    sums = np.zeros(X.shape[0] + 1)
    np.cumsum(np.add.reduceat(np.append(squares, 0.0), np.minimum(X.indptr[:-1], squares.size)), out=sums[1:])
    return np.where(np.diff(X.indptr) > 0, np.diff(sums), 0.0)


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
            centre = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        layout = Layout(X, fused, dtype, keep=keep, centre=centre)
        diag = np.empty(X.shape[0])
        for s in range(0, X.shape[0], TILE_ROWS):  # float32 data, too, has its diagonal in float64
            diag[s : s + TILE_ROWS] = kernel.evaluate_diag(X[s : s + TILE_ROWS].astype(np.float64, copy=False))
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
        self._hot = HotRows(self.n, self.dtype, cache_bytes) if dear else None

    def diag(self) -> Float64:
        return self._diag

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self._hot is not None:
            idx, coef = self._add_hot(self._hot, idx, coef, out)
        self.evaluations += idx.size * self.n
        for s in range(0, idx.size, PANEL):
            add_panel_product(self.layout, self.layout, idx[s : s + PANEL], coef[s : s + PANEL], out, self.workers)

    def _add_hot(self, hot: HotRows, idx: Index, coef: Float64, out: Float64) -> tuple[Index, Float64]:
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
                _jit.rowcache.fold_rows(rows, local, weights, start, stop, out)

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
        fill_panel(self.layout, many, idx, out, self.workers, triangle=symmetric and self.layout.cost >= MIRROR)
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

    def exact_block(self, idx: Index, jdx: Index) -> Float64:
        # By the kernel itself: a trial of a few values should not wait for the loops to be compiled in float64.
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


def fill_panel(
    source: Layout, many: Layout, idx: Index, out: Floats, workers: Workers, *, triangle: bool = False
) -> None:
    """out[i, j] = k(source point idx[i], many point j); ``triangle``: out is symmetric, compute half of it."""
    code, a, b, c = many.constants
    panels = _jit.panels
    threads = workers if out.size > SMALL else Workers(1)
    for s in range(0, idx.size, PANEL):
        Z, z_norms = source.few(idx[s : s + PANEL])
        part = out[s : s + PANEL]
        columns_wanted = min(s + PANEL, many.n) if triangle else many.n
        if many.sparse:
            X = many.kept
            panel = np.empty((columns_wanted, Z.shape[1]), dtype=many.dtype)

            def sparse(start: int, stop: int) -> None:
                panels.sparse_panel(
                    X.indptr, X.indices, X.data, many.norms, start, stop, Z, z_norms, many.squared, code, a, b, c,
                    panel,
                )  # fmt: skip
                part[:, start:stop] = panel[start:stop].T

            threads.ranges(columns_wanted, sparse)
        elif many.columns:

            def columns(start: int, stop: int) -> None:
                XT, j0 = many.tile(start, stop)
                if j0 == start:
                    panels.dense_panel(XT, start, stop, Z, many.squared, code, a, b, c, part)
                else:
                    fresh = np.empty((part.shape[0], stop - start), dtype=many.dtype)
                    panels.dense_panel(XT, 0, stop - start, Z, many.squared, code, a, b, c, fresh)
                    part[:, start:stop] = fresh

            threads.ranges(columns_wanted, columns, align=512)
        else:

            def rows(start: int, stop: int) -> None:
                for t in range(start, stop, TILE_ROWS):
                    e = min(t + TILE_ROWS, stop)
                    tile = np.matmul(Z, many.rows(t, e).T)
                    panels.finish_tile(tile, z_norms, many.norms[t:e], many.squared, code, a, b, c)
                    part[:, t:e] = tile

            threads.ranges(columns_wanted, rows)
        if triangle and s > 0:
            threads.ranges(s, _Mirror(out, part, s))


class _Mirror:
    """Copy a panel below the diagonal to its place above it."""

    def __init__(self, out: Floats, part: Floats, s: int) -> None:
        self.target = out[:s, s : s + part.shape[0]]
        self.source = part[:, :s]

    def __call__(self, start: int, stop: int) -> None:
        self.target[start:stop] = self.source[:, start:stop].T


def add_panel_product(
    source: Layout, many: Layout, idx: Index, coef: Float64, out: Float64, workers: Workers
) -> None:
    """out[j] += sum_i coef[i] k(source point idx[i], many point j)."""
    code, a, b, c = many.constants
    panels = _jit.panels
    Z, z_norms = source.few(idx)
    threads = workers if idx.size * many.n > SMALL else Workers(1)
    if many.sparse:
        X = many.kept

        def sparse(start: int, stop: int) -> None:
            panels.sparse_product(
                X.indptr, X.indices, X.data, many.norms, start, stop, Z, z_norms, many.squared, code, a, b, c, coef,
                out,
            )  # fmt: skip

        threads.ranges(many.n, sparse)
    elif many.columns:

        def columns(start: int, stop: int) -> None:
            step = stop - start if many.kept is not None else TILE_ROWS
            for t in range(start, stop, step):
                e = min(t + step, stop)
                XT, j0 = many.tile(t, e)
                panels.dense_product(
                    XT, j0, j0 + e - t, Z, many.squared, code, a, b, c, coef, out[t - j0 :] if j0 == 0 else out
                )

        threads.ranges(many.n, columns, align=512)
    else:

        def rows(start: int, stop: int) -> None:
            for t in range(start, stop, TILE_ROWS):
                e = min(t + TILE_ROWS, stop)
                tile = np.matmul(Z, many.rows(t, e).T)
                panels.finish_tile(tile, z_norms, many.norms[t:e], many.squared, code, a, b, c)
                panels.fold_tile(tile, coef, out, t)

        threads.ranges(many.n, rows)
