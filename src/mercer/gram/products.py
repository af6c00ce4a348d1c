"""Products of a kernel matrix with many vectors at once, tile by tile: the matrix is never formed."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram.base import Float64, Floats, Gram
from mercer.gram.matrix import MatrixGram
from mercer.threads import Workers

TILE_ROWS = 512
TILE_COLUMNS = 2048


def symmetric_product(gram: Gram, V: Floats, workers: Workers) -> Float64:
    """Return K V for a symmetric K, from its upper triangle, each tile of it computed once.

    Tiles are multiplied in the precision of the kernel values, sums over tiles are float64. Beside V and a
    result for each thread the memory is that of one tile a thread, whatever the number of points.

    Parameters
    ----------
    gram : Gram
        K; it must not use ``workers`` itself.
    V : (n, p) array
        The vectors.
    workers : Workers
        The threads, each of which computes and multiplies tiles of its own.

    Returns
    -------
    (n, p) float64 array
    """
    factor = np.ascontiguousarray(V, dtype=gram.dtype)
    idle: deque[_Desk] = deque()
    desks: list[_Desk] = []

    def stripe(number: int) -> None:
        try:
            desk = idle.pop()
        except IndexError:
            desk = _Desk(gram, factor)
            desks.append(desk)
        desk.stripe(number * TILE_ROWS)
        idle.append(desk)

    with workers.one_blas_thread():
        workers.each(-(-gram.n // TILE_ROWS), stripe)
    out = desks[0].out
    for desk in desks[1:]:
        out += desk.out
    return out


class _Desk:
    """What a thread needs to itself: room for a tile, and a result that no other writes to."""

    def __init__(self, gram: Gram, factor: Floats) -> None:
        self.gram, self.factor = gram, factor
        self.out = np.zeros(factor.shape)
        self.room = np.empty(TILE_ROWS * TILE_COLUMNS, dtype=gram.dtype)

    def stripe(self, i: int) -> None:
        """Add the part of a stripe of rows that lies on and right of the diagonal, and its mirror image."""
        gram, factor, out = self.gram, self.factor, self.out
        rows = np.arange(i, min(i + TILE_ROWS, gram.n))
        out[rows] += _tile(gram, rows, rows, self.room) @ factor[rows]
        for j in range(i + TILE_ROWS, gram.n, TILE_COLUMNS):
            columns = np.arange(j, min(j + TILE_COLUMNS, gram.n))
            tile = _tile(gram, rows, columns, self.room)
            out[rows] += tile @ factor[columns]
            out[columns] += (factor[rows].T @ tile).T


def _tile(gram: Gram, rows: NDArray[Any], columns: NDArray[Any], room: Floats) -> Floats:
    shaped = room[: rows.size * columns.size].reshape(rows.size, columns.size)
    return gram.block(rows, columns, shaped)


def whole(gram: Gram) -> Float64:
    """Return all of K in float64; only rounding may tell K from its transpose afterwards.

    Parameters
    ----------
    gram : Gram
        K.

    Returns
    -------
    (n, n) float64 array
        Fresh: the caller may change it.
    """
    everything = np.arange(gram.n)
    K = gram.block(everything, everything)
    return np.array(K, dtype=np.float64, copy=True if isinstance(gram, MatrixGram) else None)
