"""Panels of kernel values, and products with them, for each layout of the data, on several threads."""

from __future__ import annotations

import numpy as np

from mercer import _jit
from mercer.gram.base import Float64, Floats, Index
from mercer.gram.layout import TILE_ROWS, Layout
from mercer.threads import Workers

PANEL = 256  # few points at a time
SMALL = 1 << 17  # kernel values below which threads cost more than they save


def fill_panel(
    source: Layout, many: Layout, idx: Index, out: Floats, workers: Workers, *, triangle: bool = False
) -> None:
    """out[i, j] = k(source point idx[i], many point j); ``triangle``: it is symmetric, compute half."""
    threads = workers if out.size > SMALL else Workers(1)
    fill = _fill_sparse if many.sparse else _fill_columns if many.columns else _fill_rows
    for s in range(0, idx.size, PANEL):
        Z, z_norms = source.few(idx[s : s + PANEL])
        part = out[s : s + PANEL]
        fill(many, Z, z_norms, part, min(s + PANEL, many.n) if triangle else many.n, threads)
        if triangle and s > 0:
            threads.ranges(s, _Mirror(out, part, s))


def _fill_sparse(many: Layout, Z: Floats, z_norms: Floats, part: Floats, n: int, threads: Workers) -> None:
    X, line = many.kept, many.line
    panel = np.empty((n, Z.shape[1]), dtype=many.dtype)

    def work(start: int, stop: int) -> None:
        _jit.panels.sparse_panel(
            X.indptr, X.indices, X.data, many.norms, start, stop, Z, z_norms, line, panel
        )
        part[:, start:stop] = panel[start:stop].T

    threads.ranges(n, work)


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


def _fill_rows(many: Layout, Z: Floats, z_norms: Floats, part: Floats, n: int, threads: Workers) -> None:
    line = many.line

    def work(start: int, stop: int) -> None:
        for t in range(start, stop, TILE_ROWS):
            e = min(t + TILE_ROWS, stop)
            tile = np.matmul(Z, many.rows(t, e).T)
            _jit.panels.finish_tile(tile, z_norms, many.norms[t:e], line)
            part[:, t:e] = tile

    with threads.one_blas_thread():  # n_jobs counts every thread, those of the matrix product too
        threads.ranges(n, work)


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
    line = many.line
    Z, z_norms = source.few(idx)
    threads = workers if idx.size * many.n > SMALL else Workers(1)
    if many.sparse:
        X = many.kept

        def sparse(start: int, stop: int) -> None:
            _jit.panels.sparse_product(
                X.indptr, X.indices, X.data, many.norms, start, stop, Z, z_norms, line, coef, out
            )

        threads.ranges(many.n, sparse)
    elif many.columns:

        def columns(start: int, stop: int) -> None:
            step = stop - start if many.kept is not None else TILE_ROWS
            for t in range(start, stop, step):
                e = min(t + step, stop)
                XT, first = many.tile(t, e)
                target = out[t:] if first == 0 else out
                _jit.panels.dense_product(XT, first, first + e - t, Z, line, coef, target)

        threads.ranges(many.n, columns, align=512)
    else:

        def rows(start: int, stop: int) -> None:
            for t in range(start, stop, TILE_ROWS):
                e = min(t + TILE_ROWS, stop)
                tile = np.matmul(Z, many.rows(t, e).T)
                _jit.panels.finish_tile(tile, z_norms, many.norms[t:e], line)
                _jit.panels.fold_tile(tile, coef, out, t)

        with threads.one_blas_thread():
            threads.ranges(many.n, rows)
