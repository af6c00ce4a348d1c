"""Loops over text whose rows are lines and whose cells are separated by one character."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import byte_at, float64_from_bits, start_of
from mercer._jit.compiler import compiled
from mercer._jit.decimals import number

NEWLINE, RETURN, SPACE, TAB = 10, 13, 32, 9
OTHER = 0x7FF8000000000001  # bits of the nan that marks a cell which is neither empty nor a plain number


@compiled
def quoted_line_ends(
    text: np.ndarray, separator: int, quote: int, other_quote: int, out: np.ndarray
) -> tuple[int, int]:
    """Write the positions of the line ends that are not inside quotes.

    A quote opens at the start of a cell only, and a doubled one inside quotes is part of the text. Returns
    their number, and where the quotes were opened that never close (-1 if all do).
    """
    k, opened, inside = 0, -1, 0
    fresh = True
    i = 0
    while i < text.size:
        c = text[i]
        if inside != 0:
            if c == inside:
                if i + 1 < text.size and text[i + 1] == inside:
                    i += 1
                else:
                    inside, opened = 0, -1
        elif c == NEWLINE:
            out[k] = i
            k += 1
            fresh = True
        elif c == separator:
            fresh = True
        elif fresh and c in (quote, other_quote):
            inside, opened, fresh = c, i, False
        elif c != SPACE:
            fresh = False
        i += 1
    return k, opened


@compiled(inner=True)
def _cell_end(text: int, i: int, stop: int, separator: int, quote: int, other_quote: int) -> int:
    """Return where the cell at i ends: at a separator or line end outside quotes, or at ``stop``."""
    if i < stop and (byte_at(text, i) == quote or byte_at(text, i) == other_quote):
        mark = byte_at(text, i)
        i += 1
        while i < stop:
            if byte_at(text, i) == mark:
                if i + 1 < stop and byte_at(text, i + 1) == mark:
                    i += 1
                else:
                    break
            i += 1
    while i < stop and byte_at(text, i) != separator and byte_at(text, i) != NEWLINE:
        i += 1
    return i


@compiled(inner=True)
def _is_blank(c: int, separator: int) -> bool:
    return c in (SPACE, RETURN) or (c == TAB and separator != TAB)


@compiled(inner=True)
def _skip(text: int, i: int, stop: int, separator: int) -> int:
    while i < stop and _is_blank(byte_at(text, i), separator):
        i += 1
    return i


@compiled(inner=True)
def _after_number(text: int, end: int, stop: int, separator: int) -> tuple[int, bool]:
    """Return where the cell of a number that ends here goes on, and whether nothing else is in it."""
    after = byte_at(text, end) if end < stop else NEWLINE
    if after in (separator, NEWLINE):
        return end, True
    end = _skip(text, end, stop, separator)
    after = byte_at(text, end) if end < stop else NEWLINE
    if separator == SPACE:
        return end, byte_at(text, end - 1) == SPACE or after == NEWLINE
    return end, after in (separator, NEWLINE)


@compiled
def read_rows(
    text: np.ndarray,
    start: int,
    stop: int,
    separator: int,
    quote: int,
    other_quote: int,
    values: np.ndarray,
    starts: np.ndarray,
    others: np.ndarray,
) -> tuple[int, int]:
    """Read the rows of text[start:stop], which begins with a row, into the rows of ``values``.

    An empty cell is nan; a cell that is no plain number is the nan with the bits OTHER, and counted in
    ``others`` for its column. Lines without a cell are left out. Returns the number of rows, and that of the
    cells of the row after them if it has too few or too many (0 if all is well).
    """
    at = start_of(text)
    columns = values.shape[1]
    other = float64_from_bits(np.int64(OTHER))
    runs = separator == SPACE
    i, r = start, 0
    while i < stop:
        c = byte_at(at, i)
        if c == NEWLINE:
            i += 1
            continue
        if _is_blank(c, separator):
            after = _skip(at, i, stop, separator)
            if after == stop or byte_at(at, after) == NEWLINE:
                i = after + 1
                continue
        row = i
        sound = r < values.shape[0]
        for j in range(columns if sound else 0):
            c = byte_at(at, i) if i < stop else NEWLINE
            if _is_blank(c, separator):
                i = _skip(at, i, stop, separator)
                c = byte_at(at, i) if i < stop else NEWLINE
            if runs and c == NEWLINE:
                sound = False
                break
            begin = i
            quoted = c in (quote, other_quote)
            end, status, value = number(at, i + quoted, stop)
            if status == 0 and quoted:
                status = 0 if end < stop and byte_at(at, end) == c else 2
                end += 1
            if status == 0:
                end, alone = _after_number(at, end, stop, separator)
                status = 0 if alone else 2
            if status == 0:
                values[r, j] = value
                i = end
            elif c in (NEWLINE, separator):
                values[r, j] = np.nan
            else:
                values[r, j] = other
                others[j] += 1
                i = _cell_end(at, begin, stop, separator, quote, other_quote)
            if j < columns - 1:
                c = byte_at(at, i) if i < stop else NEWLINE
                if c == NEWLINE:
                    sound = False
                    break
                if not runs or c == SPACE:
                    i += 1  # the separator
        if runs:
            i = _skip(at, i, stop, separator)
        if not sound or (i < stop and byte_at(at, i) != NEWLINE):
            if starts.size:
                starts[min(r, starts.size - 1)] = row
            return r, _cells(at, row, stop, separator, quote, other_quote)
        starts[r] = row
        r += 1
        i += 1
    return r, 0


@compiled(inner=True)
def _cells(text: int, i: int, stop: int, separator: int, quote: int, other_quote: int) -> int:
    count = 0
    while True:
        i = _skip(text, i, stop, separator)
        if separator == SPACE and (i >= stop or byte_at(text, i) == NEWLINE):
            return count
        i = _cell_end(text, i, stop, separator, quote, other_quote)
        count += 1
        if i >= stop or byte_at(text, i) == NEWLINE:
            return count
        i += 1


@compiled
def cell_spans(
    text: np.ndarray,
    starts: np.ndarray,
    separator: int,
    quote: int,
    other_quote: int,
    column: int,
    spans: np.ndarray,
) -> None:
    """Write where the cells of a column begin and end, blanks around them left out."""
    at, stop = start_of(text), text.size
    for r in range(starts.size):
        i, end = starts[r], starts[r]
        for j in range(column + 1):
            i = _skip(at, i, stop, separator)
            end = _cell_end(at, i, stop, separator, quote, other_quote)
            if j < column:
                i = end + 1
        while end > i and _is_blank(byte_at(at, end - 1), 0):
            end -= 1
        spans[r, 0] = i
        spans[r, 1] = end


@compiled
def gather(text: np.ndarray, spans: np.ndarray, out: np.ndarray) -> None:
    """Copy the cells into the rows of ``out``, which is filled with zeros."""
    for r in range(spans.shape[0]):
        for i in range(spans[r, 1] - spans[r, 0]):
            out[r, i] = text[spans[r, 0] + i]
