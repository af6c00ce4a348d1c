"""Loops over text in the format of SVMlight and LIBSVM: ``label [qid:q] index:value ...  # comment``."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import byte_at, float64_from_bits, start_of
from mercer._jit.compiler import compiled
from mercer._jit.decimals import number

NEWLINE, SPACE, COLON, HASH = 10, 32, 58, 35
HARD = (
    0x7FF8000000000000  # a nan whose other bits are where in the text the number stands that Python must read
)
LARGEST_INDEX = (1 << 31) - 2  # LIBSVM's indices are 32-bit integers

# What is counted for each part of the text.
ROWS, PAIRS, LEAST, MOST, UNSORTED, QUERIES, COUNTS = 0, 1, 2, 3, 4, 5, 6
# What may be wrong.
NO_LABEL, NO_PAIR, BIG_INDEX, NO_QUERY = 1, 2, 3, 4


@compiled
def count_pairs(text: np.ndarray, start: int, stop: int) -> tuple[int, int]:
    """Return the number of line ends and colons in text[start:stop]."""
    at, lines, colons = start_of(text), 0, 0
    for i in range(start, stop):
        lines += byte_at(at, i) == NEWLINE
        colons += byte_at(at, i) == COLON
    return lines, colons


@compiled(inner=True)
def _blank(c: int) -> bool:
    return c == SPACE or c == 9 or c == 13 or c == 11 or c == 12


@compiled(inner=True)
def _value(text: int, i: int, stop: int) -> tuple[int, float]:
    """Return where a number ends, and it; or, if Python must read it, the nan that says where it is."""
    end, status, value = number(text, i, stop)
    if status == 0 and (
        end >= stop
        or _blank(byte_at(text, end))
        or byte_at(text, end) == NEWLINE
        or byte_at(text, end) == HASH
    ):
        return end, value
    end = i
    while (
        end < stop
        and not _blank(byte_at(text, end))
        and byte_at(text, end) != NEWLINE
        and byte_at(text, end) != HASH
    ):
        end += 1
    return end, float64_from_bits(np.int64(HARD) | np.int64(i + 1))


@compiled(inner=True)
def _whole(text: int, i: int, stop: int) -> tuple[int, int]:
    """Return where a whole number followed by no more digits ends, and the number; -1 if there is none."""
    start, value = i, 0
    negative = i < stop and byte_at(text, i) == 45
    if negative:
        i += 1
        start += 1
    while i < stop and byte_at(text, i) >= 48 and byte_at(text, i) <= 57:
        if value <= LARGEST_INDEX:
            value = 10 * value + byte_at(text, i) - 48
        i += 1
    if i == start or negative:
        return i, -1
    return i, value


@compiled
def read_lines(
    text: np.ndarray,
    i: int,
    stop: int,
    labels: np.ndarray,
    queries: np.ndarray,
    lengths: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    counts: np.ndarray,
) -> tuple[int, int]:
    """Read the lines of text[i:stop]; return what is wrong (0: nothing) and where."""
    at = start_of(text)
    rows, pairs, unsorted, asked = 0, 0, 0, 0
    least, most = LARGEST_INDEX, -1
    while i < stop:
        while i < stop and (_blank(byte_at(at, i)) or byte_at(at, i) == NEWLINE):
            i += 1
        if i >= stop:
            break
        if byte_at(at, i) == HASH:
            while i < stop and byte_at(at, i) != NEWLINE:
                i += 1
            continue
        begin = i
        i, labels[rows] = _value(at, i, stop)
        for t in range(begin, i):
            if byte_at(at, t) == COLON:
                return NO_LABEL, begin
        first, previous = pairs, -1
        queries[rows] = 0
        while True:
            while i < stop and _blank(byte_at(at, i)):
                i += 1
            if i >= stop or byte_at(at, i) == NEWLINE:
                break
            if byte_at(at, i) == HASH:
                while i < stop and byte_at(at, i) != NEWLINE:
                    i += 1
                break
            begin = i
            if (
                byte_at(at, i) == 113
                and i + 3 < stop
                and byte_at(at, i + 1) == 105
                and byte_at(at, i + 2) == 100
                and byte_at(at, i + 3) == COLON
            ):
                i, queries[rows] = _whole(at, i + 4, stop)
                if queries[rows] < 0 or (
                    i < stop and not _blank(byte_at(at, i)) and byte_at(at, i) != NEWLINE
                ):
                    return NO_QUERY, begin
                asked += 1
                continue
            i, index = _whole(at, i, stop)
            if index < 0 or i >= stop or byte_at(at, i) != COLON:
                return NO_PAIR, begin
            if index >= LARGEST_INDEX:
                return BIG_INDEX, begin
            i += 1
            if i >= stop or _blank(byte_at(at, i)) or byte_at(at, i) == NEWLINE or byte_at(at, i) == HASH:
                return NO_PAIR, begin
            i, data[pairs] = _value(at, i, stop)
            indices[pairs] = index
            pairs += 1
            unsorted += index <= previous
            previous = index
            least, most = min(least, index), max(most, index)
        lengths[rows] = pairs - first
        rows += 1
    counts[ROWS], counts[PAIRS], counts[LEAST], counts[MOST] = rows, pairs, least, most
    counts[UNSORTED], counts[QUERIES] = unsorted, asked
    return 0, 0
