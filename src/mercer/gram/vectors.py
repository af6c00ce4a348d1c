# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernel matrices of fused vector kernels, recomputed tile by tile faster than memory could deliver them.

Three layouts, chosen once:

- *columns*: few dense features. Differences are taken feature by feature, so squared distances do not cancel.
- *rows*: many dense features. Inner products come from a matrix product of a tile.
- *sparse*: mostly zeros (given as CSR or found so). Each row meets a dense panel of the few other points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import Gram, MatrixGram
from mercer.gram.features import Features
from mercer.gram.reused_rows import ReusedRows
from mercer.gram.wide_panels import TILE_ROWS, add_rows, add_sparse, fill_rows, fill_sparse
from mercer.kernels import Fused, Kernel, Linear
from mercer.kernels.data import safe_centre
from mercer.kernels.fused import RBF
from mercer.kernels.statistics import sparse_norms
from mercer.threads import Workers

MOST_COLUMNS = 24  # dense features up to which differences beat a matrix product
SPARSE_DENSITY = 0.25  # share of non-zeros up to which sparse rows beat a matrix product
PANEL = 256  # few points at a time
SMALL = 1 << 17  # kernel values below which threads cost more than they save
MIRROR = 12  # multiplications per kernel value from which copying half of a symmetric block is cheaper
FEW = 1024  # points whose inner products are had at once, by one product of matrices
DEAR = 100  # multiplications per kernel value from which rows asked for again are kept


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
        with np.errstate(over="ignore"):  # beyond single precision: refused by what comes out of it
            numbers = [one(number) for number in (fused.a, fused.b, fused.c)]
        self.line: tuple[Any, ...] = (self.squared, int(fused.code), *numbers)
        if fused.code == RBF:
            self.line = (numbers[0],)
        self.sparse = sp.issparse(X)
        self.columns = not self.sparse and self.d <= MOST_COLUMNS
        self.centre = centre if self.squared and not self.sparse else None
        self.X = X
        self.norms: Floats = np.zeros(0, dtype=self.dtype)
        self.kept: Any = None
        if self.sparse:
            self.kept = X if X.dtype == self.dtype else X.astype(self.dtype)
            if self.squared:
                self.norms = sparse_norms(X).astype(self.dtype)
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
        n = stop - start
        out = np.empty((self.d, n) if self.columns else (n, self.d), dtype=self.dtype)
        target = out.T if self.columns else out
        for s in range(0, n, TILE_ROWS):
            tile = self.X[start + s : min(start + s + TILE_ROWS, stop)]
            if self.centre is None:
                target[s : s + TILE_ROWS] = tile
            else:  # in float64, without a copy of the rows in it
                np.subtract(
                    tile, self.centre, out=target[s : s + TILE_ROWS], dtype=np.float64, casting="same_kind"
                )
        return out

    def _centred(self, rows: Floats) -> Floats:
        return rows if self.centre is None else rows.astype(np.float64) - self.centre

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
            Z = np.ascontiguousarray(self._centred(self.X[idx]), dtype=self.dtype)
        return Z, self.norms[idx] if self.norms.size else self.norms


# -- panels of kernel values, and products with them, on several threads -------------------------------------


def fill_panel(
    source: Layout, many: Layout, idx: Index, out: Floats, workers: Workers, *, triangle: bool = False
) -> None:
    """out[i, j] = k(source point idx[i], many point j); ``triangle``: it is symmetric, compute half."""
    threads = workers if out.size > SMALL else Workers(1)
    fill = fill_sparse if many.sparse else _fill_columns if many.columns else fill_rows
    for s in range(0, idx.size, PANEL):
        Z, z_norms = source.few(idx[s : s + PANEL])
        part = out[s : s + PANEL]
        fill(many, Z, z_norms, part, min(s + PANEL, many.n) if triangle else many.n, threads)
        if triangle and s > 0:
            threads.ranges(s, partial(_mirror, out, part, s))


def _fill_columns(many: Layout, Z: Floats, z_norms: Floats, part: Floats, n: int, threads: Workers) -> None:
    line = many.line

    def work(start: int, stop: int) -> None:
        XT, first = many.tile(start, stop)
        if first == start:
            _jit.panels.dense_panel(XT, start, stop, Z, line, part)
        else:
            fresh = np.empty((part.shape[0], stop - start), dtype=many.dtype)
            _jit.panels.dense_panel(XT, 0, stop - start, Z, line, fresh)
            part[:, start:stop] = fresh

    threads.ranges(n, work, align=512)


def _mirror(out: Floats, part: Floats, s: int, start: int, stop: int) -> None:
    """Copy a panel of rows from s on, below the diagonal, to its place above: some columns of it."""
    out[start:stop, s : s + part.shape[0]] = part[:, start:stop].T


def add_panel_products(
    source: Layout, many: Layout, idx: Index, coef: Float64, out: Float64, workers: Workers
) -> None:
    """out[j] += sum_i coef[i] k(source point idx[i], many point j)."""
    for s in range(0, idx.size, PANEL):
        _add_panel(source, many, idx[s : s + PANEL], coef[s : s + PANEL], out, workers)


def _add_panel(
    source: Layout, many: Layout, idx: Index, coef: Float64, out: Float64, workers: Workers
) -> None:
    Z, z_norms = source.few(idx)
    threads = workers if idx.size * many.n > SMALL else Workers(1)
    if many.columns:
        _add_columns(many, Z, coef, out, threads)
    else:
        add = add_sparse if many.sparse else add_rows
        add(many, Z, z_norms, coef, out, threads)


def _add_columns(many: Layout, Z: Floats, coef: Float64, out: Float64, threads: Workers) -> None:
    def work(start: int, stop: int) -> None:
        step = stop - start if many.kept is not None else TILE_ROWS
        for t in range(start, stop, step):
            e = min(t + step, stop)
            XT, first = many.tile(t, e)
            target = out[t:] if first == 0 else out
            _jit.panels.dense_product(XT, first, first + e - t, Z, many.line, coef, target)

    threads.ranges(many.n, work, align=512)


# -- the matrix ----------------------------------------------------------------------------------------------


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
            centre = safe_centre(X, dtype)
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
        self._reused = ReusedRows(self.n, self.dtype, cache_bytes) if dear else None

    def diag(self) -> Float64:
        return self._diag

    @cached_property
    def factor(self) -> Features | None:
        """K = Z Z', where the kernel is the inner product of the data themselves."""
        return Features(self._data(), self.workers) if isinstance(self.kernel, Linear) else None

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self.factor is not None:  # no kernel value at all: Z (Z' v)
            out += self.factor.times(self.factor.combined(idx, coef))
            return
        if self._reused is not None:
            idx, coef = self._add_reused(idx, coef, out)
        self.evaluations += idx.size * self.n
        add_panel_products(self.layout, self.layout, idx, coef, out, self.workers)

    def add_products(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self.factor is None:
            super().add_products(idx, coef, out)
            return
        for m in range(coef.shape[1]):
            out[:, m] += self.factor.times(self.factor.combined(idx, np.ascontiguousarray(coef[:, m])))

    def _add_reused(self, idx: Index, coef: Float64, out: Float64) -> tuple[Index, Float64]:
        """Add what kept rows can give; return what is left."""
        reused: ReusedRows = self._reused  # type: ignore[assignment]
        for fresh in reused.admit(idx):
            rows = reused.insert(fresh)
            self.evaluations += rows.size
            fill_panel(self.layout, self.layout, fresh, rows, self.workers)
        return reused.add_products(idx, coef, out, self.workers)

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
        if isinstance(self.kernel, Linear) and self.is_exact and self.n <= FEW:
            # The very product that a user who gives the matrix would compute: ties are broken alike.
            X = self._data()
            if not sp.issparse(X):
                self.evaluations += self.n * self.n
                return MatrixGram(np.dot(X, X.T), origin=self)
        if self.layout.cost < DEAR or self.n * self.n * self.dtype.itemsize > budget:
            return self
        return MatrixGram(self.rows(np.arange(self.n)), origin=self)

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
