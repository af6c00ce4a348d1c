"""Rows worked through a few at a time, so that what is known of each does not fill the memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import Kernel


def in_pieces(kernel: Kernel, X: Any, rows: int, work: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return ``work`` of all rows of X, done for so many of them at a time.

    Parameters
    ----------
    kernel : Kernel
        What takes rows out of data that are no array.
    X : array, CSR or sequence
        Points.
    rows : int
        Most rows of a piece.
    work : callable
        Returns an array with an entry for each row of what it is given.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n <= rows:
        return work(X)

    def part(start: int) -> Any:
        stop = min(start + rows, n)
        return X[start:stop] if hasattr(X, "shape") else kernel.take(X, np.arange(start, stop))

    return np.concatenate([work(part(start)) for start in range(0, n, rows)])
