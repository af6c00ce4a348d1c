"""Rows of a kernel matrix as a compiled loop asks for them: all of them, or those used last."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram

LEAST = 4  # rows kept, however little memory there is: a step needs two


class KeptRows:
    """Rows in float64 within a budget; where all fit, all are there from the start.

    Parameters
    ----------
    gram : Gram
        The matrix.
    budget : int
        Bytes.

    Attributes
    ----------
    rows : (m, n) float64
        The rows that are kept.
    slot : (n,) intp
        Where the row of each point is, -1 where it is not kept.
    diag : (n,) float64
        The diagonal of the matrix.
    clock, stamp : (1,), (m,) int64
        When any row, and each, was used last; whoever uses one says so.
    """

    def __init__(self, gram: Gram, budget: int) -> None:
        n = gram.n
        self.gram = gram
        self.diag = np.ascontiguousarray(gram.diag())
        self.clock = np.zeros(1, dtype=np.int64)
        capacity = min(n, max(LEAST, budget // (8 * n)))
        self.stamp = np.zeros(capacity, dtype=np.int64)
        self.slot = np.full(n, -1, dtype=np.intp)
        self.owner = np.full(capacity, -1, dtype=np.intp)
        self.rows: Float64
        if capacity == n:
            every = np.arange(n)
            self.rows = np.ascontiguousarray(gram.block(every, every), dtype=np.float64)
            self.slot[:] = every
        else:
            self.rows = np.empty((capacity, n))

    def fetch(self, point: int, spared: int) -> None:
        """Compute the row of a point, in place of the one used longest ago; ``spared`` keeps its own."""
        self.clock[0] += 1
        if self.slot[spared] >= 0:
            self.stamp[self.slot[spared]] = self.clock[0]
        place = int(self.stamp.argmin())
        if self.owner[place] >= 0:
            self.slot[self.owner[place]] = -1
        self.rows[place] = self.gram.rows(np.array([point]))[0]
        self.owner[place], self.slot[point] = point, place
        self.clock[0] += 1
        self.stamp[place] = self.clock[0]
