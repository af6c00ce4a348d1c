"""Products with some rows of a CSR matrix, summed in float64."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import REASSOCIATE, compiled


@compiled(fastmath=REASSOCIATE)
def times(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    w: np.ndarray,
    start: int,
    stop: int,
    out: np.ndarray,
) -> None:
    """Write Z w to ``out``, for the rows from ``start`` to ``stop``."""
    for i in range(start, stop):
        total = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[t]) * w[indices[t]]
        out[i] = total


@compiled
def transposed_times(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    v: np.ndarray,
    start: int,
    stop: int,
    out: np.ndarray,
) -> None:
    """Add Z' v to ``out``, for the rows from ``start`` to ``stop``."""
    for i in range(start, stop):
        value = v[i]
        if value == 0.0:
            continue
        for t in range(indptr[i], indptr[i + 1]):
            out[indices[t]] += value * np.float64(data[t])


@compiled
def curved_times(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    d: np.ndarray,
    w: np.ndarray,
    shift: float,
    start: int,
    stop: int,
    out: np.ndarray,
) -> None:
    """Add Z' u and, as the last entry, the sum of u = d (Z w + shift) to ``out``."""
    last = out.size - 1
    for i in range(start, stop):
        if d[i] == 0.0:
            continue
        total = shift
        for t in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[t]) * w[indices[t]]
        u = d[i] * total
        out[last] += u
        for t in range(indptr[i], indptr[i + 1]):
            out[indices[t]] += u * np.float64(data[t])


@compiled
def column_squares(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    d: np.ndarray,
    start: int,
    stop: int,
    out: np.ndarray,
) -> None:
    """Add the diagonal of Z' diag(d) Z to ``out``."""
    for i in range(start, stop):
        if d[i] == 0.0:
            continue
        for t in range(indptr[i], indptr[i + 1]):
            value = np.float64(data[t])
            out[indices[t]] += d[i] * value * value


@compiled
def row_squares(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, start: int, stop: int, out: np.ndarray
) -> None:
    """Write the squared lengths of rows to ``out``."""
    for i in range(start, stop):
        total = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            value = np.float64(data[t])
            total += value * value
        out[i] = total
