"""Products of a kernel matrix with many vectors, time after time: as many of its tiles are kept as fit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import Gram
from mercer.gram.features import Features
from mercer.threads import Workers

TILE = 1024


class OutOfTime(Exception):  # noqa: N818  it is no error
    """A product was given up: whoever asked for it had no more time."""


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
    stop : callable, optional
        Whether to give up, asked between tiles; `OutOfTime` is raised then.
    """

    def __init__(
        self, gram: Gram, workers: Workers, keep_bytes: int = 0, stop: Callable[[], bool] | None = None
    ) -> None:
        self.gram, self.workers, self.n, self.stop = gram, workers, gram.n, stop
        starts = range(0, gram.n, TILE)
        self.tiles = [(i, j) for i in starts for j in starts if j >= i]
        size = TILE * TILE * gram.dtype.itemsize
        self.room = min(len(self.tiles), max(0, keep_bytes) // size)  # so many of the first are kept
        self._kept: dict[int, Floats] = {}
        Z = gram.features()
        self.factor = Features(Z, workers) if Z is not None and 2 * Z.shape[1] < gram.n else None

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
        return self._product(V, self.stop)

    def uninterrupted(self, V: Float64) -> Float64:
        """Return K V, whatever time it is."""
        return self._product(V, None)

    def _product(self, V: Float64, stop: Callable[[], bool] | None) -> Float64:
        if self.factor is not None:  # K = Z Z', and no tile is needed
            return self.factor.products(V)
        factor = np.ascontiguousarray(V, dtype=self.gram.dtype)
        idle: deque[Float64] = deque()
        results: list[Float64] = []
        given_up: list[bool] = []

        def work(number: int) -> None:
            if given_up or (stop is not None and stop()):
                given_up.append(True)
                return
            try:
                out = idle.pop()
            except IndexError:
                out = np.zeros(V.shape)
                results.append(out)
            self._add(number, factor, out)
            idle.append(out)

        with self.workers.one_blas_thread():
            self.workers.each(len(self.tiles), work)
        if given_up:
            raise OutOfTime
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
