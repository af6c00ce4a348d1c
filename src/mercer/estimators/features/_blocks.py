"""Features made a few rows at a time, by several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.threads import Workers

ENTRIES = 1 << 17  # numbers of a block: they stay in the cache


def in_blocks(X: Any, width: int, workers: Workers, block: Callable[[Any, np.ndarray], None]) -> np.ndarray:
    """Return features of all rows.

    Parameters
    ----------
    X : array or CSR
        Rows.
    width : int
        Number of features.
    workers : Workers
        Threads.
    block : callable
        Given some rows and an array, writes their features to it.
    """
    n = X.shape[0]
    out = np.empty((n, width), dtype=X.dtype)
    step = max(16, ENTRIES // max(1, width))

    def part(first: int, last: int) -> None:
        for start in range(first, last, step):
            stop = min(start + step, last)
            with np.errstate(over="ignore", invalid="ignore"):  # refused below, in words
                block(X[start:stop], out[start:stop])

    workers.ranges(n, part)
    _refuse_overflow(out)
    return out


def _refuse_overflow(features: np.ndarray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(features.sum()):  # needs no memory, and settles nearly every case
            return
    wrong = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if wrong.size:
        raise ValueError(
            f"the features of {wrong.size} of the {len(features)} rows of X (row {wrong[0]} is the first) "
            f"are beyond what {features.dtype} can hold: scale the features (StandardScaler)"
            + (", or pass X in float64" if features.dtype == np.float32 else "")
        )
