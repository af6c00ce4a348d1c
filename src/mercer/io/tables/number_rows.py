"""Rows of delimited text that are plain numbers, read by a compiled loop on all cores.

It is the loop that svmlight files need for their numbers, and takes two thirds of pyarrow's time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from mercer import _jit
from mercer.gram import Workers
from mercer.io.tables.file_bytes import joined, read_only

LEAST = 1 << 16  # bytes for which the loop is worth while
LEAST_ALONE = 1 << 21  # bytes for which it is worth while to import the compiler
NEWLINE = 10


def read_numbers(
    block: bytes,
    part: slice,
    separator: str,
    columns: int,
    threads: int,
    room: Callable[[int, int], np.ndarray] = lambda rows, columns: np.empty((rows, columns)),
) -> np.ndarray | None:
    """Return the rows of a part of a text; None if it holds more than plain numbers, or a mistake.

    Parameters
    ----------
    block : bytes
        Text.
    part : slice
        The part of it that is whole rows, without the names of the columns.
    separator : str
        What separates the cells; a space stands for a run of spaces, which is left to others.
    columns : int
        Number of cells of a row.
    threads : int
        Most threads.
    room : callable, optional
        Returns an array of some rows and columns, to be filled.
    """
    least = LEAST if "numba" in sys.modules else LEAST_ALONE
    if part.stop - part.start < least or separator == " ":
        return None
    text = read_only(np.frombuffer(block, dtype=np.uint8))
    edges = [part.start]
    for k in range(1, threads):
        wish = part.start + k * (part.stop - part.start) // threads
        edges.append(max(edges[-1], block.rfind(b"\n", part.start, wish) + 1))
    edges.append(part.stop)
    lines = [
        int(np.count_nonzero(text[a:b] == NEWLINE)) + (text[b - 1] != NEWLINE) for a, b in pairwise(edges)
    ]
    if sum(lines) * columns > part.stop - part.start + 1:  # a cell has a byte at least for what ends it
        return None
    offsets = np.concatenate([[0], np.cumsum(lines)])
    values, found = room(int(offsets[-1]), columns), [0] * len(lines)

    def read(k: int) -> None:
        rows = values[offsets[k] : offsets[k + 1]]
        found[k] = _jit.plain_rows.read_plain(text, edges[k], edges[k + 1], ord(separator), rows)

    Workers(threads).each(len(lines), read)
    if min(found) < 0 or not sum(found):
        return None
    return joined(values, [slice(offsets[k], offsets[k] + count) for k, count in enumerate(found)])
