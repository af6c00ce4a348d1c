"""Rows that a solver changes in round after round, kept; rows that it changes once, not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mercer import _jit
from mercer.arrays import Float64, Floats, Index
from mercer.threads import Workers

BATCH = 64  # rows kept, and put out, together
RECENT = 4  # batches used in the last few calls are never put out


class ReusedRows:
    """A cache that admits a row only when it is asked for the second time.

    A support vector on its way to the bound changes once; keeping its row would cost memory traffic for
    nothing. Free vectors change a little in every round: their rows are worth the memory.

    Parameters
    ----------
    n : int
        Number of points.
    dtype : dtype
        Precision.
    budget : int
        Bytes; a hard bound.
    """

    def __init__(self, n: int, dtype: np.dtype[np.generic], budget: int) -> None:
        self.n, self.dtype = n, dtype
        self.capacity = int(budget // max(1, n * dtype.itemsize))  # rows
        self.seen = np.zeros(n, dtype=bool)
        self.batch = np.full(n, -1, dtype=np.int64)  # row -> batch
        self.local = np.zeros(n, dtype=np.int64)  # row -> place in its batch
        self.batches: dict[int, tuple[Index, Floats]] = {}
        self.used: dict[int, int] = {}
        self.held = 0
        self.clock = 0
        self.number = 0

    def known(self, idx: Index) -> NDArray[np.bool_]:
        """Return which rows are kept."""
        return self.batch[idx] >= 0

    def admit(self, idx: Index) -> Iterator[Index]:
        """Yield batches of rows to be computed and kept, for this request."""
        self.clock += 1
        for k in np.unique(self.batch[idx]):
            if k >= 0:
                self.used[int(k)] = self.clock
        again = idx[self.seen[idx] & (self.batch[idx] < 0)]
        self.seen[idx] = True
        for s in range(0, again.size, BATCH):
            part = again[s : s + BATCH]
            self._make_room(part.size)
            if self.held + part.size > self.capacity:
                return
            yield part

    def _make_room(self, rows: int) -> None:
        while self.held + rows > self.capacity and self.batches:
            oldest = min(self.batches, key=self.used.__getitem__)
            if self.used[oldest] > self.clock - RECENT:
                return
            owners, _ = self.batches.pop(oldest)
            self.batch[owners] = -1
            self.held -= owners.size

    def insert(self, rows: Index) -> Floats:
        """Return the storage for a batch, to be filled by the caller."""
        store = np.empty((rows.size, self.n), dtype=self.dtype)
        self.batches[self.number] = (rows, store)
        self.used[self.number] = self.clock
        self.batch[rows] = self.number
        self.local[rows] = np.arange(rows.size)
        self.held += rows.size
        self.number += 1
        return store

    def add_products(
        self, idx: Index, coef: Float64, out: Float64, workers: Workers
    ) -> tuple[Index, Float64]:
        """Add the products of coefficients with the rows that are kept to ``out``; return what is left."""
        kept = self.known(idx)
        if not kept.any():
            return idx, coef
        pieces = self._pieces(idx[kept], coef[kept])

        def fold(start: int, stop: int) -> None:
            for rows, local, weights in pieces:
                _jit.row_products.fold_rows(rows, local, weights, start, stop, out)

        workers.ranges(self.n, fold, align=512)
        return idx[~kept], np.ascontiguousarray(coef[~kept])

    def _pieces(self, idx: Index, coef: Float64) -> list[tuple[Floats, Index, Float64]]:
        """Return (storage, places, coefficients) batch by batch."""
        order = np.argsort(self.batch[idx], kind="stable")
        idx, coef = idx[order], coef[order]
        cuts = np.flatnonzero(np.diff(self.batch[idx])) + 1
        return [
            (self.batches[int(self.batch[part[0]])][1], self.local[part], weights)
            for part, weights in zip(np.split(idx, cuts), np.split(coef, cuts), strict=True)
        ]
