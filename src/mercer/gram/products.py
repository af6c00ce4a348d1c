"""Products of a kernel matrix with many vectors at once, tile by tile: the matrix is never formed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram.base import Float64, Floats, Gram
from mercer.gram.matrix import MatrixGram

TILE_ROWS = 1024
TILE_COLUMNS = 2048


def symmetric_product(gram: Gram, V: Floats) -> Float64:
    """Return K V for a symmetric K, from its upper triangle, each tile of it computed once.

    Tiles are multiplied in the precision of the kernel values, sums over tiles are float64. Beside V and the
    result the memory is that of one tile, whatever the number of points.

    Parameters
    ----------
    gram : Gram
        K.
    V : (n, p) array
        The vectors.

    Returns
    -------
    (n, p) float64 array
    """
    out = np.zeros(V.shape)
    factor = np.ascontiguousarray(V, dtype=gram.dtype)
    room = np.empty(TILE_ROWS * TILE_COLUMNS, dtype=gram.dtype)
    for i in range(0, gram.n, TILE_ROWS):
        rows = np.arange(i, min(i + TILE_ROWS, gram.n))
        tile = _tile(gram, rows, rows, room)
        out[rows] += tile @ factor[rows]
        for j in range(i + TILE_ROWS, gram.n, TILE_COLUMNS):
            columns = np.arange(j, min(j + TILE_COLUMNS, gram.n))
            tile = _tile(gram, rows, columns, room)
            out[rows] += tile @ factor[columns]
            out[columns] += tile.T @ factor[rows]
    return out


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
    if isinstance(gram, MatrixGram) or K.dtype != np.float64:
        K = np.array(K, dtype=np.float64)
    return K
