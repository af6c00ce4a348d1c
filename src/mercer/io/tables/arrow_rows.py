"""Rows of delimited text, read by pyarrow: for most files, at the speed of all cores.

pyarrow reads some text differently than we do. Wherever that could be, the answer is None, and the text is
read again with care: it has bytes or quotes that the two may take for different things, or values that only
one of them would call a number.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Set
from typing import Any

import numpy as np

from mercer.io.tables.dialect import MISSING, SEPARATORS, Dialect

LEAST = 1 << 16  # bytes for which pyarrow is worth while
LEAST_ALONE = 1 << 21  # bytes for which it is worth while to import it
BLOCK = 1 << 20  # bytes for a thread


def read_rows(
    block: bytes,
    part: slice,
    dialect: Dialect,
    columns: int,
    text_columns: Set[int],
    threads: int,
    room: Callable[[int, int], np.ndarray] = lambda rows, columns: np.empty((rows, columns)),
) -> tuple[np.ndarray, dict[int, np.ndarray]] | None:
    """Return the columns of whole rows, if there is no doubt about what they hold.

    Parameters
    ----------
    block : bytes
        Text.
    part : slice
        The part of it that is whole rows, without the names of the columns.
    dialect : Dialect
        How they are written.
    columns : int
        Number of cells of a row.
    text_columns : set of int
        The columns that are text.
    threads : int
        1 for this thread alone.
    room : callable, optional
        Returns an array of some rows and columns, to be filled.

    Returns
    -------
    values : (n, columns) float64
        The numbers, nan where one is missing.
    text : dict of int to (n,) object array
        The text, None where it is missing.
    """
    least = LEAST if "pyarrow" in sys.modules else LEAST_ALONE
    if part.stop - part.start < least or _is_doubtful(block, part.start, part.stop, dialect):
        return None
    if importlib.util.find_spec("pyarrow") is None:
        return None
    import pyarrow
    from pyarrow import csv

    word = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {str(k): word if k in text_columns else pyarrow.float64() for k in range(columns)}
    quote = '"' if block.find(b'"', part.start, part.stop) >= 0 else False
    try:
        table = csv.read_csv(
            pyarrow.BufferReader(memoryview(block)[part]),
            csv.ReadOptions(use_threads=threads > 1, block_size=BLOCK, column_names=list(types)),
            csv.ParseOptions(delimiter=dialect.separator, quote_char=quote),
            csv.ConvertOptions(column_types=types, null_values=sorted(MISSING), strings_can_be_null=True),
        )
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):  # ours finds what is wrong, and where
        return None
    if table.num_rows == 0:
        return None
    values, first = room(table.num_rows, columns), 0
    found: dict[int, list[np.ndarray]] = {k: [] for k in text_columns}
    for batch in table.to_batches():  # a batch's columns stay in the cache while they become rows
        rows = values[first : first + batch.num_rows]
        first += batch.num_rows
        for k in range(columns):
            column = batch.column(k)
            if k in text_columns:
                cells = _words(column, dialect.separator)
                if cells is None:
                    return None
                found[k].append(cells)
                rows[:, k] = np.nan
                continue
            numbers = column.to_numpy(zero_copy_only=False)
            if np.count_nonzero(np.isfinite(numbers)) != batch.num_rows - column.null_count:
                return None  # a word for nan or infinity, of which we know others
            rows[:, k] = numbers
    return values, {k: np.concatenate(cells) for k, cells in found.items()}


def _is_doubtful(block: bytes, start: int, stop: int, dialect: Dialect) -> bool:
    """Return whether pyarrow may find other cells in a part of a text than we do."""

    def count(some: str) -> int:
        return block.count(some.encode(), start, stop)

    def has(some: str) -> bool:
        return block.find(some.encode(), start, stop) >= 0

    sep = dialect.separator
    if sep not in SEPARATORS or has("\0") or (has("\r") and count("\r") != count("\r\n")):
        return True
    if any(mark != '"' and has(mark) for mark in dialect.quote):
        return True
    if not has('"'):
        return False
    # Each quote must open a cell or close one, and none may stand beside a blank. What this count does not
    # see has a separator or a line end inside quotes: `_words` finds those.
    opened = count(f'{sep}"') + count('\n"') + block.startswith(b'"', start, stop)
    closed = count(f'"{sep}') + count('"\n') + count('"\r\n') + block.endswith(b'"', start, stop)
    beside = any(has(f'"{blank}') or has(f'{blank}"') for blank in dialect.blanks.replace("\r", ""))
    return beside or opened != closed or opened + closed != count('"') or '"' not in dialect.quote


def _words(column: Any, separator: str) -> np.ndarray | None:
    """Return text cells, None for missing ones; None for all if one may be read differently."""
    different = column.dictionary.to_pylist()
    for cell in different:
        if cell != cell.strip(" \t\r\n") or separator in cell or "\n" in cell or "\r" in cell:
            return None
    table = np.empty(len(different) + 1, dtype=object)
    table[:-1] = different
    table[-1] = None  # which a missing cell's number -1 leads to
    cells: np.ndarray = table[column.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return cells
