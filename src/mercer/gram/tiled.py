"""Products of a kernel matrix with many vectors, time after time: as many of its tiles are kept as fit."""

from __future__ import annotations

from collections import deque

import numpy as np

from mercer.gram.base import Float64, Floats, Gram, Index
from mercer.threads import Workers

TILE = 1024


class TiledProduct:
    """K V for a symmetric K, again and again, from the tiles of its upper triangle.

    Tiles are kept while memory lasts and the others computed anew for each product; each serves both of its
    mirror images. They are multiplied in the precision of the kernel values; sums over tiles are float64.

    Parameters
    ----------
    gram : Gram
        K; it must not use ``workers`` itself.
    workers : Workers
        The threads, each of which computes and multiplies tiles of its own.
    keep_bytes : int
        Memory for tiles.
    """

    def __init__(self, gram: Gram, workers: Workers, keep_bytes: int = 0) -> None:
        self.gram, self.workers, self.n = gram, workers, gram.n
        starts = range(0, gram.n, TILE)
        self.tiles = [(i, j) for i in starts for j in starts if j >= i]
        size = TILE * TILE * gram.dtype.itemsize
        self.room = min(len(self.tiles), max(0, keep_bytes) // size)  # so many of the first are kept
        self._kept: dict[int, Floats] = {}

    def __call__(self, V: Float64) -> Float64:
        """Return K V.

        Parameters
        ----------
        V : (n, p) array
            The vectors.

        Returns
        -------
        (n, p) float64 array
        """
        factor = np.ascontiguousarray(V, dtype=self.gram.dtype)
        idle: deque[Float64] = deque()
        results: list[Float64] = []

        def work(number: int) -> None:
            try:
                out = idle.pop()
            except IndexError:
                out = np.zeros(V.shape)
                results.append(out)
            self._add(number, factor, out)
            idle.append(out)

        with self.workers.one_blas_thread():
            self.workers.each(len(self.tiles), work)
        total = results[0]
        for other in results[1:]:
            total += other
        return total

    def _add(self, number: int, factor: Floats, out: Float64) -> None:
        i, j = self.tiles[number]
        rows, columns = slice(i, min(i + TILE, self.n)), slice(j, min(j + TILE, self.n))
        tile = self._kept.get(number)
        if tile is None:
            tile = self.gram.block(_index(rows), _index(columns))
            if number < self.room:
                self._kept[number] = tile
        out[rows] += tile @ factor[columns]
        if i != j:
            out[columns] += tile.T @ factor[rows]


def _index(part: slice) -> Index:
    return np.arange(part.start, part.stop)
