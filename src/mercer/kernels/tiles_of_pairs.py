"""Kernel matrices computed tile by tile on all threads, the symmetric half only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mercer.kernels.data import Array, Data, size, take
from mercer.threads import Workers, resolve_threads

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

LEAST, MOST = 32, 256  # items on each side of a tile


def matrix_in_tiles(
    kernel: Kernel, X: Data, Z: Data | None, workers: Workers | None = None, out: Array | None = None
) -> Array:
    """Return k(X, Z) of a resolved kernel on prepared data.

    Parameters
    ----------
    kernel : Kernel
        Whose values are computed pair by pair.
    X, Z : Prepared
        The items; with None for Z half of the pairs of X are computed.
    workers : Workers, optional
        Threads; as many as there are cores if not given.
    out : array, optional
        What to write the matrix to.
    """
    workers = Workers(resolve_threads(None)) if workers is None else workers
    n, m = size(X), size(X) if Z is None else size(Z)
    values = np.empty((n, m)) if out is None else out
    step = min(MOST, max(LEAST, min(n, m) // (4 * workers.threads)))
    rows, columns = range(0, n, step), range(0, m, step)
    tiles = [(s, t) for s in rows for t in columns if Z is not None or t >= s]

    def fill(number: int) -> None:
        s, t = tiles[number]
        idx, jdx = np.arange(s, min(n, s + step)), np.arange(t, min(m, t + step))
        few = take(X, idx)
        same = Z is None and s == t
        tile = kernel.evaluate(few) if same else kernel.evaluate(few, take(X if Z is None else Z, jdx))
        values[s : s + idx.size, t : t + jdx.size] = tile
        if Z is None and not same:
            values[t : t + jdx.size, s : s + idx.size] = tile.T

    workers.each(len(tiles), fill)
    return values
