"""A loop over delimited text that holds nothing but plain numbers and empty cells."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import byte_at, start_of
from mercer._jit.compiler import compiled
from mercer._jit.decimals import number

NEWLINE, RETURN = 10, 13


@compiled
def read_plain(text: np.ndarray, start: int, stop: int, separator: int, values: np.ndarray) -> int:
    """Read the rows of text[start:stop] into those of ``values``, nan for empty cells.

    Returns the number of rows; -1 if there is anything else than numbers, or a row has too few or too many.
    """
    at, columns = start_of(text), values.shape[1]
    i, r = start, 0
    while i < stop:
        if byte_at(at, i) == NEWLINE:
            i += 1
            continue
        if byte_at(at, i) == RETURN and i + 1 < stop and byte_at(at, i + 1) == NEWLINE:
            i += 2
            continue
        if r == values.shape[0]:
            return -1
        for j in range(columns):
            c = byte_at(at, i) if i < stop else NEWLINE
            if c in (separator, NEWLINE, RETURN):
                values[r, j] = np.nan
            else:
                i, status, values[r, j] = number(at, i, stop)
                if status != 0:
                    return -1
            c = byte_at(at, i) if i < stop else NEWLINE
            if c == RETURN and i + 1 < stop and byte_at(at, i + 1) == NEWLINE:
                i, c = i + 1, NEWLINE
            if c != (separator if j < columns - 1 else NEWLINE):
                return -1
            i += 1
        r += 1
    return r
