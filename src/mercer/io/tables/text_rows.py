"""Rows of delimited text and their cells, read with care: for any file, at the speed of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from mercer.io.tables.dialect import MISSING, NUMBER, Dialect

DIGITS = b"0123456789+-.eE"  # of which Python and we make the same numbers


class OpenQuote(Exception):  # noqa: N818 -- whether it is an error depends on what follows
    """A quote is opened at a position and does not close before the text ends."""

    def __init__(self, row: int, position: int) -> None:
        super().__init__(row, position)
        self.row, self.position = row, position


@cache
def _cell_pattern(separator: str, quote: str, blanks: str) -> re.Pattern[str]:
    """Return what a cell looks like: in quotes with anything behind them, or up to the next separator."""
    sep = re.escape(separator)
    quoted = "|".join(rf"{q}[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}[^{sep}\n]*" for q in sorted(set(quote)))
    return re.compile(rf"[{blanks}]*(?:(?P<quoted>{quoted})|(?P<plain>[^{sep}\n]*))(?P<end>{sep}|\n|\Z)")


def bare(cell: str, quote: str) -> str:
    """Return a cell without the quotes around it."""
    if len(cell) >= 2 and cell[0] in quote and cell[-1] == cell[0]:
        return cell[1:-1].replace(cell[0] * 2, cell[0])
    return cell


def rows(text: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield where each row begins, and its cells without blanks and quotes around them.

    Raises
    ------
    OpenQuote
        If the text ends inside quotes.
    """
    marks, position = set(dialect.quote), 0
    quoted = any(mark in text for mark in marks)
    plain = not any(blank in text for blank in dialect.blanks)
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        if quoted and any(mark in line for mark in marks):
            cells, after = _quoted_row(text, position, dialect)
            yield position, cells
            position = after
            continue
        if plain and dialect.separator != " ":
            if line:
                yield position, line.split(dialect.separator)
        elif line.strip(dialect.blanks):
            cells = [cell.strip(dialect.blanks) for cell in line.split(dialect.separator)]
            yield position, [cell for cell in cells if cell] if dialect.separator == " " else cells
        position = end + 1


def _quoted_row(text: str, start: int, dialect: Dialect) -> tuple[list[str], int]:
    """Return the cells of the row that begins at a position, and where the next one begins."""
    pattern = _cell_pattern(dialect.separator, dialect.quote, dialect.blanks)
    marks = set(dialect.quote)
    cells: list[str] = []
    position = start
    while True:
        found = pattern.match(text, position)
        assert found is not None
        if found["quoted"] is None and found["plain"][:1] in marks:
            raise OpenQuote(start, found.start("plain"))
        cell = (found["quoted"] or found["plain"]).rstrip(dialect.blanks)
        if cell or dialect.separator != " ":
            cells.append(bare(cell, dialect.quote))
        position = found.end()
        if found["end"] != dialect.separator:
            return cells, position


def numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Return cells as numbers, nan for missing ones; None if one of them is neither."""
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:  # some are missing, or text
        pass
    else:
        if not "".join(cells).encode().translate(None, DIGITS):  # Python also reads 1_000 and INFINITY
            return values
    known: dict[str, float] = {}
    for cell in set(cells):
        value = number(cell)
        if value is None:
            return None
        known[cell] = value
    return np.fromiter(map(known.__getitem__, cells), dtype=np.float64, count=len(cells))


def number(cell: str) -> float | None:
    """Return a cell as a number, nan if it is missing, None if it is text."""
    if cell in MISSING:
        return float("nan")
    return float(cell) if NUMBER.fullmatch(cell) else None


def words(cells: Sequence[str]) -> np.ndarray:
    """Return cells as text, None for missing ones; equal cells share their memory."""
    known = {cell: None if cell in MISSING else cell for cell in set(cells)}
    out = np.empty(len(cells), dtype=object)
    out[:] = [known[cell] for cell in cells]
    return out
