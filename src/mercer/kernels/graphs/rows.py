"""Tables of the different rows of integers that describe parts of graphs, each with a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import _jit
from mercer.arrays import Index


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of integers of any lengths: row r is ``flat[starts[r]:starts[r + 1]]``."""

    flat: Index
    starts: Index

    def __len__(self) -> int:
        return self.starts.size - 1

    @classmethod
    def of_table(cls, table: Index) -> Rows:
        """Return the rows of a table."""
        flat = np.ascontiguousarray(table, dtype=np.int64)
        return cls(flat.ravel(), np.arange(flat.shape[0] + 1, dtype=np.int64) * flat.shape[1])

    def taken(self, idx: Index) -> Rows:
        """Return some of the rows."""
        lengths = np.diff(self.starts)[idx]
        starts = np.zeros(idx.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        places = np.arange(starts[-1]) + np.repeat(self.starts[idx] - starts[:-1], lengths)
        return Rows(self.flat[places], starts)

    def content(self) -> tuple[bytes, bytes]:
        """Return what only equal rows have."""
        return self.flat.tobytes(), self.starts.tobytes()


def numbered(rows: Rows, known: Rows | None = None) -> tuple[Index, int, Rows]:
    """Return the number of each row, how many numbers there are, and the different rows by their numbers.

    Known rows keep their numbers; new ones follow, in the order in which they first occur.
    """
    before = 0
    if known is not None:
        before = len(known)
        joined = Rows(
            np.concatenate([known.flat, rows.flat]),
            np.concatenate([known.starts, rows.starts[1:] + known.flat.size]),
        )
    else:
        joined = rows
    numbers = np.empty(len(joined), dtype=np.int64)
    first = np.empty(len(joined), dtype=np.int64)
    found = int(_jit.graph_rows.number_rows(joined.flat, joined.starts, numbers, first))
    return numbers[before:], found, joined.taken(first[:found])
