"""Text as an array of bytes, with the few questions that readers ask of it."""

from __future__ import annotations

import numpy as np

from mercer.gram import Workers
from mercer.io.sources import Bytes, Content, read_only

NEWLINE = 10
PIECE = 1 << 20  # bytes looked at together: they stay in the cache


class Text:
    """The bytes of a table.

    An array can be filled by several threads, and NumPy looks through it without holding the interpreter;
    ``bytes`` can do neither.

    Parameters
    ----------
    array : (n,) uint8
        The bytes.
    """

    def __init__(self, array: Bytes) -> None:
        self.array = read_only(array)
        self._counts: np.ndarray | None = None  # line ends in each piece, once all have been looked at

    @classmethod
    def of(cls, content: Content | Text) -> Text:
        """Return text for bytes; text as it is."""
        return content if isinstance(content, Text) else cls(np.frombuffer(content, dtype=np.uint8))

    def __len__(self) -> int:
        return self.array.size

    def part(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        return self.array[start:stop].tobytes()

    def has(self, some: set[int], workers: Workers) -> bool:
        """Return whether one of some bytes occurs; lines are counted on the way, while a piece is at hand."""
        counts = np.zeros(-(-len(self) // PIECE), dtype=np.int64)
        found = []

        def look(start: int, stop: int) -> None:
            for s in range(start, stop, PIECE):
                piece = self.array[s : min(s + PIECE, stop)]
                counts[s // PIECE] = np.count_nonzero(piece == NEWLINE)
                if any((piece == byte).any() for byte in some):
                    found.append(s)

        workers.ranges(len(self), look, align=PIECE)
        self._counts = counts
        return bool(found)

    def find(self, byte: int, start: int, stop: int) -> int:
        """Return where a byte occurs first, -1 if it does not."""
        for s in range(start, stop, PIECE):
            hits = self.array[s : min(s + PIECE, stop)] == byte
            if hits.any():
                return s + int(hits.argmax())
        return -1

    def last_line_end(self) -> int:
        """Return where the last line ends, -1 if none does."""
        for s in range(len(self), 0, -PIECE):
            hits = np.flatnonzero(self.array[max(0, s - PIECE) : s] == NEWLINE)
            if hits.size:
                return max(0, s - PIECE) + int(hits[-1])
        return -1

    def line_ends(self, start: int, stop: int) -> int:
        """Return the number of line ends in a range."""
        first, last = -(-start // PIECE), stop // PIECE  # whole pieces
        if self._counts is None or first >= last:
            return self._count(start, stop)
        inside = int(self._counts[first:last].sum())
        return self._count(start, first * PIECE) + inside + self._count(last * PIECE, stop)

    def _count(self, start: int, stop: int) -> int:
        return sum(
            int(np.count_nonzero(self.array[s : min(s + PIECE, stop)] == NEWLINE))
            for s in range(start, stop, PIECE)
        )
