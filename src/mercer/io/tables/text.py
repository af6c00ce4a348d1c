"""Text as an array of bytes, with the few questions that readers ask of it."""

from __future__ import annotations

import threading

import numpy as np

from mercer.gram import Workers
from mercer.io.tables.file_bytes import Bytes, Content, read_only

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
        """Return whether one of some bytes occurs."""
        found = threading.Event()

        def look(start: int, stop: int) -> None:
            for s in range(start, stop, PIECE):
                piece = self.array[s : min(s + PIECE, stop)]
                if found.is_set() or any((piece == byte).any() for byte in some):
                    found.set()
                    return

        workers.ranges(len(self), look, align=PIECE)
        return found.is_set()

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
        return sum(
            int(np.count_nonzero(self.array[s : min(s + PIECE, stop)] == NEWLINE))
            for s in range(start, stop, PIECE)
        )
