"""Panels of a kernel matrix between a few points and many: tiles that stay in the processor's cache.

``Z`` holds the few points, ``X`` the many. A tile of shared statistics (squared distances, inner products) is
computed, turned into kernel values in place, and either written out or folded into a product at once, so that
a product with a kernel matrix never writes that matrix to memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, REASSOCIATE, compiled
from mercer._jit.elementwise import is_squared, transform

TILE = 512  # points of X in a tile
FEW = 16  # points of Z in a tile: 16 x 512 float32 are 32 kB


@compiled(fastmath=CONTRACT, inner=True)
def _distances(
    XT: np.ndarray, s: int, m: int, Z: np.ndarray, c: int, e: int, out0: np.ndarray, out1: np.ndarray
) -> None:
    """out0[t] = |x_{s+t} - z_c|^2 and out1 the same for z_e; differences first, so nothing cancels.

    Features of X are in rows. Two points of Z share each load of X, four features each load of the sums.
    """
    prefer_wide_vectors()
    d = XT.shape[0]
    zero = XT.dtype.type(0)
    k = 0
    while k < d:
        last = d - k
        x0, a0, b0 = XT[k, s : s + m], Z[c, k], Z[e, k]
        if last >= 4:
            x1, a1, b1 = XT[k + 1, s : s + m], Z[c, k + 1], Z[e, k + 1]
            x2, a2, b2 = XT[k + 2, s : s + m], Z[c, k + 2], Z[e, k + 2]
            x3, a3, b3 = XT[k + 3, s : s + m], Z[c, k + 3], Z[e, k + 3]
            if k == 0:
                for t in range(m):
                    p0, p1, p2, p3 = x0[t] - a0, x1[t] - a1, x2[t] - a2, x3[t] - a3
                    q0, q1, q2, q3 = x0[t] - b0, x1[t] - b1, x2[t] - b2, x3[t] - b3
                    out0[t] = (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
                    out1[t] = (q0 * q0 + q1 * q1) + (q2 * q2 + q3 * q3)
            else:
                for t in range(m):
                    p0, p1, p2, p3 = x0[t] - a0, x1[t] - a1, x2[t] - a2, x3[t] - a3
                    q0, q1, q2, q3 = x0[t] - b0, x1[t] - b1, x2[t] - b2, x3[t] - b3
                    out0[t] += (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
                    out1[t] += (q0 * q0 + q1 * q1) + (q2 * q2 + q3 * q3)
            k += 4
        else:
            if k == 0:
                for t in range(m):
                    out0[t] = zero
                    out1[t] = zero
            for t in range(m):
                p0 = x0[t] - a0
                q0 = x0[t] - b0
                out0[t] += p0 * p0
                out1[t] += q0 * q0
            k += 1


@compiled(fastmath=CONTRACT, inner=True)
def _products(XT: np.ndarray, s: int, m: int, Z: np.ndarray, c: int, out: np.ndarray) -> None:
    """out[t] = <x_{s+t}, z_c>, features of X in rows."""
    prefer_wide_vectors()
    d = XT.shape[0]
    for t in range(m):
        out[t] = 0
    k = 0
    while k + 4 <= d:
        z0, z1, z2, z3 = Z[c, k], Z[c, k + 1], Z[c, k + 2], Z[c, k + 3]
        x0, x1, x2, x3 = XT[k, s : s + m], XT[k + 1, s : s + m], XT[k + 2, s : s + m], XT[k + 3, s : s + m]
        for t in range(m):
            out[t] += (x0[t] * z0 + x1[t] * z1) + (x2[t] * z2 + x3[t] * z3)
        k += 4
    while k < d:
        z0 = Z[c, k]
        x0 = XT[k, s : s + m]
        for t in range(m):
            out[t] += x0[t] * z0
        k += 1


@compiled(inner=True)
def _tile_of_distances(
    XT: np.ndarray, s: int, m: int, Z: np.ndarray, c0: int, c1: int, tile: np.ndarray
) -> None:
    for c in range(c0, c1, 2):
        e = min(c + 1, c1 - 1)  # an odd last point is computed twice
        _distances(XT, s, m, Z, c, e, tile[c - c0], tile[c + 1 - c0])


@compiled(inner=True)
def _tile_of_either(
    XT: np.ndarray, s: int, m: int, Z: np.ndarray, c0: int, c1: int, squared: bool, tile: np.ndarray
) -> None:
    if squared:
        _tile_of_distances(XT, s, m, Z, c0, c1, tile)
    else:
        for c in range(c0, c1):
            _products(XT, s, m, Z, c, tile[c - c0])


def tile_of_statistics(
    XT: np.ndarray, s: int, m: int, Z: np.ndarray, c0: int, c1: int, line: tuple[Any, ...], tile: np.ndarray
) -> None:
    """tile[c - c0, t] = the statistic that the line takes, of z_c and x_{s+t}."""
    if is_squared(line):
        _tile_of_distances(XT, s, m, Z, c0, c1, tile)
    else:
        _tile_of_either(XT, s, m, Z, c0, c1, False, tile)


@overload(tile_of_statistics, inline="always", strict=False)
def _choose_statistic(XT: Any, s: Any, m: Any, Z: Any, c0: Any, c1: Any, line: Any, tile: Any) -> Any:
    if len(line) == 1:
        return lambda XT, s, m, Z, c0, c1, line, tile: _tile_of_distances(XT, s, m, Z, c0, c1, tile)
    return lambda XT, s, m, Z, c0, c1, line, tile: _tile_of_either(XT, s, m, Z, c0, c1, line[0], tile)


@compiled(fastmath=CONTRACT)
def _fold(tile: np.ndarray, rows: int, m: int, coef: np.ndarray, c0: int, out: np.ndarray, s: int) -> None:
    """out[s + t] += sum_c coef[c0 + c] tile[c, t], summed in float64."""
    prefer_wide_vectors()
    o = out[s : s + m]
    c = 0
    while c + 4 <= rows:
        w0, w1, w2, w3 = coef[c0 + c], coef[c0 + c + 1], coef[c0 + c + 2], coef[c0 + c + 3]
        r0, r1, r2, r3 = tile[c], tile[c + 1], tile[c + 2], tile[c + 3]
        for t in range(m):
            o[t] += (w0 * r0[t] + w1 * r1[t]) + (w2 * r2[t] + w3 * r3[t])
        c += 4
    while c < rows:
        w0 = coef[c0 + c]
        r0 = tile[c]
        for t in range(m):
            o[t] += w0 * r0[t]
        c += 1


@compiled
def _dense(
    XT: np.ndarray,
    j0: int,
    j1: int,
    Z: np.ndarray,
    line: tuple[Any, ...],
    coef: np.ndarray,
    product: np.ndarray,
    panel: np.ndarray,
) -> None:
    """Tiles for `dense_product` (``coef`` not empty) or `dense_panel`, compiled once for both."""
    memory = np.empty(FEW * TILE, XT.dtype)
    fold = coef.size > 0
    for s in range(j0, j1, TILE):
        m = min(TILE, j1 - s)
        width = -(-m // 16) * 16  # whole vectors; a narrower last tile has fewer values to transform
        flat = memory[: FEW * width]
        tile = flat.reshape((FEW, width))
        for i in range(0, Z.shape[0], FEW):
            e = min(i + FEW, Z.shape[0])
            tile_of_statistics(XT, s, m, Z, i, e, line, tile)
            transform(flat[: (e - i) * width], line)
            if fold:
                _fold(tile, e - i, m, coef, i, product, s)
            else:
                for q in range(e - i):
                    for t in range(m):
                        panel[i + q, s + t] = tile[q, t]


def dense_product(
    XT: np.ndarray,
    j0: int,
    j1: int,
    Z: np.ndarray,
    line: tuple[Any, ...],
    coef: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[j] += sum_i coef[i] k(z_i, x_j) for j0 <= j < j1."""
    _dense(XT, j0, j1, Z, line, coef, out, np.empty((0, 0), XT.dtype))


def dense_panel(
    XT: np.ndarray,
    j0: int,
    j1: int,
    Z: np.ndarray,
    line: tuple[Any, ...],
    out: np.ndarray,
) -> None:
    """out[i, j] = k(z_i, x_j) for j0 <= j < j1."""
    none = np.empty(0)
    _dense(XT, j0, j1, Z, line, none, none, out)


@compiled(fastmath=CONTRACT, inner=True)
def _sparse_row(
    indices: np.ndarray, values: np.ndarray, p: int, e: int, ZT: np.ndarray, out: np.ndarray
) -> None:
    """out[i] = <x, z_i> for the sparse row x = values[p:e] and the columns z_i of ZT."""
    prefer_wide_vectors()
    m = ZT.shape[1]
    for i in range(m):
        out[i] = 0
    while p + 4 <= e:
        v0, v1, v2, v3 = values[p], values[p + 1], values[p + 2], values[p + 3]
        r0, r1, r2, r3 = ZT[indices[p]], ZT[indices[p + 1]], ZT[indices[p + 2]], ZT[indices[p + 3]]
        for i in range(m):
            out[i] += (v0 * r0[i] + v1 * r1[i]) + (v2 * r2[i] + v3 * r3[i])
        p += 4
    while p < e:
        v0 = values[p]
        r0 = ZT[indices[p]]
        for i in range(m):
            out[i] += v0 * r0[i]
        p += 1


@compiled(fastmath=CONTRACT, inner=True)
def _to_distances(row: np.ndarray, x_norm: float, z_norms: np.ndarray, lost: float) -> int:
    """Turn inner products into squared distances; return how many of them lost their digits."""
    prefer_wide_vectors()
    zero = row.dtype.type(0)  # a literal 0 would be an integer, and turn float32 into float64
    near = 0
    for i in range(row.size):
        total = x_norm + z_norms[i]
        square = total - (row[i] + row[i])
        near += square < lost * total
        row[i] = max(square, zero)
    return near


@compiled(inner=True)
def _lost_share(row: np.ndarray) -> float:
    """Return the share of |x|^2 + |z|^2 below which a squared distance has lost too many digits."""
    kind = row.dtype.type
    single = kind(1) + kind(1e-10) == kind(1)
    share: float = kind(1e-5) if single else kind(1.5e-8)  # single: a larger one would take many more pairs
    return share


@compiled(inner=True)
def _again_dense(row: np.ndarray, x: np.ndarray, x_norm: float, Z: np.ndarray, z_norms: np.ndarray) -> None:
    """Compute the distances of x from the rows z_i once more where they cancelled: by differences."""
    lost = _lost_share(row)
    for i in range(row.size):
        if row[i] < lost * (x_norm + z_norms[i]):
            total = 0.0
            for k in range(x.size):
                difference = np.float64(x[k]) - np.float64(Z[i, k])
                total += difference * difference
            row[i] = total


@compiled(inner=True)
def _again_sparse(
    row: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    p: int,
    e: int,
    x_norm: float,
    ZT: np.ndarray,
    z_norms: np.ndarray,
) -> None:
    """Do the same for a sparse row and the columns z_i of ZT; its indices are sorted."""
    lost = _lost_share(row)
    for i in range(row.size):
        if row[i] < lost * (x_norm + z_norms[i]):
            total = 0.0
            q = p
            for k in range(ZT.shape[0]):
                difference = -np.float64(ZT[k, i])
                if q < e and indices[q] == k:
                    difference += np.float64(values[q])
                    q += 1
                total += difference * difference
            row[i] = total


@compiled(fastmath=REASSOCIATE, inner=True)
def _dot(row: np.ndarray, coef: np.ndarray) -> float:
    prefer_wide_vectors()
    total = 0.0
    for i in range(row.size):
        total += coef[i] * row[i]
    return total


@compiled
def _sparse(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    norms: np.ndarray,
    j0: int,
    j1: int,
    ZT: np.ndarray,
    z_norms: np.ndarray,
    line: tuple[Any, ...],
    coef: np.ndarray,
    product: np.ndarray,
    panel: np.ndarray,
) -> None:
    """Rows for `sparse_product` (``coef`` not empty) or `sparse_panel`, compiled once for both."""
    scratch = np.empty((1, ZT.shape[1]), ZT.dtype)
    fold = coef.size > 0
    for j in range(j0, j1):
        row = scratch[0] if fold else panel[j]
        _sparse_row(indices, values, indptr[j], indptr[j + 1], ZT, row)
        if is_squared(line) and _to_distances(row, norms[j], z_norms, _lost_share(row)):
            _again_sparse(row, indices, values, indptr[j], indptr[j + 1], norms[j], ZT, z_norms)
        transform(row, line)
        if fold:
            product[j] += _dot(row, coef)


def sparse_product(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    norms: np.ndarray,
    j0: int,
    j1: int,
    ZT: np.ndarray,
    z_norms: np.ndarray,
    line: tuple[Any, ...],
    coef: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[j] += sum_i coef[i] k(z_i, x_j) for sparse rows x_j; ZT holds the few points as dense columns."""
    none = np.empty((0, 0), ZT.dtype)
    _sparse(indptr, indices, values, norms, j0, j1, ZT, z_norms, line, coef, out, none)


def sparse_panel(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    norms: np.ndarray,
    j0: int,
    j1: int,
    ZT: np.ndarray,
    z_norms: np.ndarray,
    line: tuple[Any, ...],
    out: np.ndarray,
) -> None:
    """out[j, i] = k(z_i, x_j) for sparse rows x_j."""
    none = np.empty(0)
    _sparse(indptr, indices, values, norms, j0, j1, ZT, z_norms, line, none, none, out)


@compiled
def finish_tile(
    tile: np.ndarray,
    Z: np.ndarray,
    z_norms: np.ndarray,
    X: np.ndarray,
    x_norms: np.ndarray,
    line: tuple[Any, ...],
) -> None:
    """Turn a tile of inner products (z by x, from a matrix product) into kernel values in place."""
    for i in range(tile.shape[0]):
        row = tile[i]
        if is_squared(line) and _to_distances(row, z_norms[i], x_norms, _lost_share(row)):
            _again_dense(row, Z[i], z_norms[i], X, x_norms)
        transform(row, line)


@compiled
def fold_tile(tile: np.ndarray, coef: np.ndarray, out: np.ndarray, s: int) -> None:
    """out[s + t] += sum_i coef[i] tile[i, t], summed in float64."""
    _fold(tile, tile.shape[0], tile.shape[1], coef, 0, out, s)
