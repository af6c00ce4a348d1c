"""k(x, x) of checked points: computed, or given beside a kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from mercer.kernels import Kernel

TILE = 4096  # rows whose k(x, x) are computed together


def computed_diagonal(kernel: Kernel, X: Any, n: int, diag: ArrayLike | None) -> NDArray[np.float64]:
    """Return k(x, x) of n points in float64; refuse a ``diag`` that was given all the same."""
    if diag is not None:
        raise ValueError("diag is for kernel='precomputed' only; other kernels compute it")
    out = np.empty(n)
    for start in range(0, n, TILE):
        rows = kernel.take(X, np.arange(start, min(n, start + TILE)))
        if getattr(rows, "dtype", None) == np.float32:
            rows = rows.astype(np.float64)
        out[start : start + TILE] = kernel.evaluate_diag(rows)
    return out


def given_diagonal(diag: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return k(x, x) as the user gave it beside n rows of a kernel matrix."""
    given = column_or_1d(diag, dtype=np.float64)
    if given.size != n:
        raise ValueError(f"diag has {given.size} entries for {n} rows of X")
    return np.asarray(given)
