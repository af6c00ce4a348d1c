# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernel matrices of any kernel: rows are computed once and kept while memory lasts."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import Gram
from mercer.kernels import Kernel
from mercer.kernels.data import size
from mercer.kernels.tiles_of_pairs import matrix_in_tiles
from mercer.threads import Workers

BATCH = 64  # rows computed, and stored, together
TILE_COLUMNS = 1024  # columns per task


class RowCache:
    """Rows of a matrix with n columns, the least recently used leaving first.

    Parameters
    ----------
    n : int
        Length of a row.
    dtype : dtype
        Precision.
    budget : int
        Bytes; a hard bound, perhaps below one row. Memory is taken as rows come, never ahead.
    """

    def __init__(self, n: int, dtype: Any, budget: int) -> None:
        self.n = n
        self.dtype = np.dtype(dtype)
        self.capacity = int(min(n, budget // max(1, n * self.dtype.itemsize)))
        self.clear()

    def clear(self) -> None:
        """Forget all rows and give their memory back."""
        self.slot = np.full(self.n, -1, dtype=np.int64)  # row -> slot
        self.owner = np.empty(0, dtype=np.int64)  # slot -> row
        self.stamp = np.empty(0, dtype=np.int64)
        self.chunks: list[Floats] = []
        self.chunk_rows = int(max(1, min(BATCH, self.capacity)))
        self.used = 0
        self.clock = 0

    @property
    def nbytes(self) -> int:
        """Bytes that the kept rows take."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def take_slots(self, rows: Index, pinned: Index) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Give each of ``rows`` a slot, putting out the oldest rows but never those in ``pinned``.

        ``rows`` are not kept yet; together with the kept ones of ``pinned`` they are at most ``capacity``.
        """
        self.clock += 1
        slots = np.empty(rows.size, dtype=np.int64)
        fresh = min(rows.size, self.capacity - self.used)
        for t in range(fresh):
            if self.used == len(self.chunks) * self.chunk_rows:
                size = min(self.chunk_rows, self.capacity - self.used)
                self.chunks.append(np.empty((size, self.n), dtype=self.dtype))
                self.owner = np.append(self.owner, np.full(size, -1))
                self.stamp = np.append(self.stamp, np.zeros(size, dtype=np.int64))
            slots[t] = self.used
            self.used += 1
        if fresh < rows.size:
            age = self.stamp[: self.used].copy()
            age[slots[:fresh]] = np.iinfo(np.int64).max
            held = self.slot[pinned]
            age[held[held >= 0]] = np.iinfo(np.int64).max
            need = rows.size - fresh
            out = np.argpartition(age, need - 1)[:need]
            leaving = self.owner[out]
            self.slot[leaving[leaving >= 0]] = -1
            slots[fresh:] = out
        self.owner[slots] = rows
        self.slot[rows] = slots
        self.stamp[slots] = self.clock
        return slots

    def drop(self, rows: Index) -> None:
        """Forget rows; their slots are the next to be used again."""
        slots = self.slot[rows]
        self.slot[rows] = -1
        self.owner[slots] = -1
        self.stamp[slots] = -1

    def touch(self, rows: Index) -> None:
        """Mark rows as just used."""
        self.clock += 1
        self.stamp[self.slot[rows]] = self.clock

    def row(self, slot: int) -> Floats:
        """Return the storage of a slot."""
        row: Floats = self.chunks[slot // self.chunk_rows][slot % self.chunk_rows]
        return row

    def by_chunk(self, slots: Index) -> list[tuple[Floats, Index, Index]]:
        """Return (chunk, position in ``slots``, row in the chunk) for each chunk that is needed."""
        number = slots // self.chunk_rows
        return [
            (self.chunks[k], where := np.flatnonzero(number == k), slots[where] % self.chunk_rows)
            for k in np.unique(number)
        ]


class GenericGram(Gram):
    """K of any kernel, evaluated in tiles on several threads, with a row cache.

    `add_product` keeps the rows it computes: solvers come back to them. `matvec`, which is asked for the last
    word, uses the kept rows and computes the others on the way.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array, CSR or sequence
        The points, as ``kernel.check`` returns them.
    dtype : dtype
        Precision in which values are kept.
    workers : Workers
        The threads.
    cache_bytes : int
        Bound of the row cache; its float64 twin shares it.
    """

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, workers: Workers, cache_bytes: int) -> None:
        self.kernel = kernel
        self.X = kernel.prepare(X)
        self.n = size(X)
        self.dtype = np.dtype(dtype)
        self._wide = self.dtype == np.float64
        self.workers = workers
        self.is_psd = kernel.is_psd
        self.independent_subsets = False  # they share the rows, and the threads, of the whole
        self.evaluations = 0
        self.cache_bytes = cache_bytes
        self.cache = RowCache(self.n, self.dtype, cache_bytes)
        self._lock = threading.RLock()
        self._diag: Float64 | None = None
        self._magnitude: Float64 | None = None
        self._twin: GenericGram | None = None  # the same matrix in the other precision

    def diag(self) -> Float64:
        if self._diag is None:
            self._diag = self._of_each(self.kernel.evaluate_diag)
        return self._diag

    def magnitude(self) -> Float64:
        if self._magnitude is None:
            self._magnitude = self._of_each(self.kernel.magnitude)
        return self._magnitude

    def _of_each(self, number: Callable[[Any], Any]) -> Float64:
        """Return a number of each point, found for some of them at a time."""
        starts = range(0, self.n, TILE_COLUMNS)
        tiles = (self._take(np.arange(s, min(s + TILE_COLUMNS, self.n))) for s in starts)
        return np.concatenate([number(tile) for tile in tiles], dtype=np.float64)

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        idx, jdx = np.asarray(idx, dtype=np.intp), np.asarray(jdx, dtype=np.intp)
        if out is None:
            out = np.empty((idx.size, jdx.size), dtype=self.dtype)
        with self._lock:
            known = self.cache.slot[idx] >= 0
            for t in np.flatnonzero(known):
                out[t] = self.cache.row(int(self.cache.slot[idx[t]]))[jdx]
        missing = np.flatnonzero(~known)
        if missing.size == idx.size and self.kernel.by_pairs and np.array_equal(idx, jdx):
            self.evaluations += idx.size * (idx.size + 1) // 2
            checked(self.kernel, matrix_in_tiles(self.kernel, self._take(idx), None, self.workers, out))
        elif missing.size:
            self._evaluate(idx[missing], jdx, [out[t] for t in missing])
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self.cache.capacity == 0:
            self._add_unkept(idx, coef, out)
            return
        step = min(BATCH, self.cache.capacity)
        for s in range(0, idx.size, step):
            part = idx[s : s + step]
            with self._lock:
                self.keep_rows(part)
                self._add_kept(part, coef[s : s + step], out)

    def matvec(self, v: Float64) -> Float64:
        idx = np.flatnonzero(v)
        out = np.zeros(self.n)
        with self._lock:
            known = self.cache.slot[idx] >= 0
            if known.any():
                self._add_kept(idx[known], v[idx[known]], out)
        rest = idx[~known]
        if rest.size:
            self._add_unkept(rest, v[rest], out)
        return out

    def _add_kept(self, idx: Index, coef: Float64, out: Float64) -> None:
        self.cache.touch(idx)
        for chunk, where, local in self.cache.by_chunk(self.cache.slot[idx]):
            weights = np.ascontiguousarray(coef[where])
            self.workers.ranges(self.n, _Fold(chunk, local, weights, out), align=512)

    def _add_unkept(self, idx: Index, coef: Float64, out: Float64) -> None:
        """Add K[:, idx] @ coef to ``out`` tile by tile."""
        self.evaluations += idx.size * self.n

        def work(start: int, stop: int) -> None:
            for s in range(0, idx.size, BATCH):
                few = self._take(idx[s : s + BATCH])
                for t in range(start, stop, TILE_COLUMNS):
                    e = min(t + TILE_COLUMNS, stop)
                    tile = self._tile(few, np.arange(t, e))
                    out[t:e] += coef[s : s + BATCH] @ tile.astype(np.float64, copy=False)

        self.workers.ranges(self.n, work)

    def keep_rows(self, idx: Index) -> None:
        """Compute and keep those rows of ``idx`` (no more than fit) that are not kept yet."""
        if self._twin is not None and self._twin.cache.used:
            self._twin.cache.clear()  # both precisions share one budget
        missing = np.unique(idx[self.cache.slot[idx] < 0])
        for s in range(0, missing.size, BATCH):
            part = missing[s : s + BATCH]
            slots = self.cache.take_slots(part, idx)
            try:
                self._evaluate(part, np.arange(self.n), [self.cache.row(int(slot)) for slot in slots])
            except BaseException:  # a user's kernel may raise, Ctrl-C may come: the rows hold nothing yet
                self.cache.drop(part)
                raise

    def _evaluate(self, idx: Index, jdx: Index, rows: list[Floats]) -> None:
        """Fill ``rows`` with K[idx][:, jdx] by the kernel itself."""
        self.evaluations += idx.size * jdx.size

        def work(start: int, stop: int) -> None:
            for s in range(0, idx.size, BATCH):
                few = self._take(idx[s : s + BATCH])
                for t in range(start, stop, TILE_COLUMNS):
                    e = min(t + TILE_COLUMNS, stop)
                    tile = self._tile(few, jdx[t:e])
                    for row, values in zip(rows[s : s + BATCH], tile, strict=True):
                        row[t:e] = values

        self.workers.ranges(jdx.size, work)

    def _take(self, idx: Index) -> Any:
        """Return some points in the precision asked for: a kernel computes in that of its data."""
        part = self.kernel.take(self.X, idx)
        return part.astype(np.float64) if getattr(part, "dtype", None) == np.float32 and self._wide else part

    def _tile(self, few: Any, jdx: Index) -> Floats:
        return checked(self.kernel, self.kernel.evaluate(few, self._take(jdx)))

    def exact(self) -> Gram:
        if self.dtype == np.float64:
            return self
        with self._lock:
            if self._twin is None:
                self._twin = GenericGram(self.kernel, self.X, np.float64, self.workers, self.cache_bytes)
                self._twin._twin, self._twin._lock = self, self._lock
        return self._twin

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return SubGram(self, np.asarray(idx, dtype=np.intp))


def checked(kernel: Kernel, values: Floats) -> Floats:
    """Return kernel values, or say that some are no numbers."""
    if not math.isfinite(float(values.sum(dtype=np.float64))):
        raise ValueError(f"kernel={kernel!r} returned NaN or infinity for some pairs of rows of X")
    return values


class _Fold:
    """One stripe of a product with cached rows."""

    def __init__(self, chunk: Floats, local: Index, coef: Float64, out: Float64) -> None:
        self.chunk, self.local, self.coef, self.out = chunk, local, coef, out

    def __call__(self, start: int, stop: int) -> None:
        _jit.row_products.fold_rows(self.chunk, self.local, self.coef, start, stop, self.out)


class SubGram(Gram):
    """Some points of a Gram, served from the rows that the whole keeps: pairs of classes share them."""

    def __init__(self, parent: GenericGram, idx: Index) -> None:
        self.parent, self.idx = parent, idx
        self.n = idx.size
        self.dtype = parent.dtype
        self.is_psd = parent.is_psd
        self.independent_subsets = False

    def diag(self) -> Float64:
        return self.parent.diag()[self.idx]

    def magnitude(self) -> Float64:
        return self.parent.magnitude()[self.idx]

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        parent = self.parent
        if parent.cache.capacity >= parent.n:  # the other pairs will ask for the rest of these rows
            with parent._lock:
                parent.keep_rows(self.idx[idx])
        return parent.block(self.idx[idx], self.idx[jdx], out)

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        whole = np.zeros(self.parent.n)
        self.parent.add_product(self.idx[idx], coef, whole)
        out += whole[self.idx]

    def matvec(self, v: Float64) -> Float64:
        whole = np.zeros(self.parent.n)
        whole[self.idx] = v
        return self.parent.matvec(whole)[self.idx]

    def exact(self) -> Gram:
        exact = self.parent.exact()
        return self if exact is self.parent else exact.subset(self.idx)

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return SubGram(self.parent, self.idx[idx])
