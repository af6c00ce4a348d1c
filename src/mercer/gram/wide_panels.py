"""Panels of kernel values of points with many features: sparse rows, and tiles of dense ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Floats
from mercer.threads import Workers

if TYPE_CHECKING:
    from mercer.gram.vectors import Layout

TILE_ROWS = 2048  # rows of X per matrix product or converted tile


def fill_sparse(many: Layout, Z: Floats, z_norms: Floats, part: Floats, n: int, threads: Workers) -> None:
    """part[i, j] = k(z_i, many point j) for j < n."""
    X, line = many.kept, many.line
    panel = np.empty((n, Z.shape[1]), dtype=many.dtype)

    def work(start: int, stop: int) -> None:
        _jit.panels.sparse_panel(
            X.indptr, X.indices, X.data, many.norms, start, stop, Z, z_norms, line, panel
        )
        part[:, start:stop] = panel[start:stop].T

    threads.ranges(n, work)


def fill_rows(many: Layout, Z: Floats, z_norms: Floats, part: Floats, n: int, threads: Workers) -> None:
    """part[i, j] = k(z_i, many point j) for j < n."""

    def work(start: int, stop: int) -> None:
        for t in range(start, stop, TILE_ROWS):
            e = min(t + TILE_ROWS, stop)
            part[:, t:e] = _tile(many, Z, z_norms, t, e)

    with threads.one_blas_thread():  # n_jobs counts every thread, those of the matrix product too
        threads.ranges(n, work)


def add_sparse(
    many: Layout, Z: Floats, z_norms: Floats, coef: Float64, out: Float64, threads: Workers
) -> None:
    """out[j] += sum_i coef[i] k(z_i, many point j)."""
    X = many.kept

    def work(start: int, stop: int) -> None:
        _jit.panels.sparse_product(
            X.indptr, X.indices, X.data, many.norms, start, stop, Z, z_norms, many.line, coef, out
        )

    threads.ranges(many.n, work)


def add_rows(many: Layout, Z: Floats, z_norms: Floats, coef: Float64, out: Float64, threads: Workers) -> None:
    """out[j] += sum_i coef[i] k(z_i, many point j)."""

    def work(start: int, stop: int) -> None:
        for t in range(start, stop, TILE_ROWS):
            _jit.panels.fold_tile(_tile(many, Z, z_norms, t, min(t + TILE_ROWS, stop)), coef, out, t)

    with threads.one_blas_thread():
        threads.ranges(many.n, work)


def _tile(many: Layout, Z: Floats, z_norms: Floats, start: int, stop: int) -> Floats:
    X = many.rows(start, stop)
    tile: Floats = np.matmul(Z, X.T)
    _jit.panels.finish_tile(tile, Z, z_norms, X, many.norms[start:stop], many.line)
    return tile
