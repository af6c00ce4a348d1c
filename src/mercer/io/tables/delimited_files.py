"""Files of delimited text: as a whole, or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns
from mercer.io.tables.delimited import DelimitedReader, TextCameLate
from mercer.io.tables.file_bytes import Source

LONGEST_ROW = 1 << 26  # bytes
BLOCK = 1 << 23
MARK = b"\xef\xbb\xbf"  # that some editors put before UTF-8
SPARE = 1.02  # more rows than the first block lets expect


def read_delimited(source: Source, reader: DelimitedReader) -> Columns:
    """Return all columns of a file."""
    text_columns: set[int] = set()
    while True:
        fresh = copy(reader)
        fresh.begins_anew, fresh.text_columns = True, set(text_columns)
        rows = AllRows(source.plain_size())
        fresh.room = rows.room
        try:
            for columns in column_blocks(source.again(BLOCK), fresh):
                rows.add(columns)
        except TextCameLate as late:  # then it is text from its first row on
            text_columns |= fresh.text_columns | late.columns
            continue
        return rows.columns()


def delimited_batches(source: Source, reader: DelimitedReader, batch_rows: int) -> Iterator[Columns]:
    """Yield the columns of a file, some rows at a time, in constant memory."""
    for columns in column_blocks(source.blocks(BLOCK), reader):
        yield from cut(columns, batch_rows)


def column_blocks(blocks: Iterator[bytes], reader: DelimitedReader) -> Iterator[Columns]:
    """Yield the columns of one block after the other."""
    left, first, seen = b"", True, False
    for block in blocks:
        fresh = block.removeprefix(MARK) if first else block
        left = left + fresh if left else fresh
        first = False
        columns, rest = reader.read(left, last=False)
        left = left[rest:]
        if len(left) > LONGEST_ROW:
            raise DataFileError(f"{reader.source} has a row of more than {LONGEST_ROW >> 20} MB")
        if columns is not None:
            seen = True
            yield columns
    columns, _ = reader.read(left, last=True)
    if columns is not None:
        yield columns
    elif not seen:
        raise DataFileError(f"{reader.source} has no rows")


def cut(columns: Columns, rows: int) -> Iterator[Columns]:
    """Yield columns in batches of some rows."""
    for start in range(0, columns.values.shape[0], rows):
        part = slice(start, start + rows)
        text = {k: cells[part] for k, cells in columns.text.items()}
        yield replace(columns, values=columns.values[part], text=text)


class AllRows:
    """All rows of a file, in one table that is made when the first block tells how many to expect.

    Parameters
    ----------
    size : int or None
        Bytes of the file, as far as known.
    """

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._first: Columns | None = None
        self._values = np.empty((0, 0))
        self._count = 0
        self._text: dict[int, list[np.ndarray]] = {}

    def room(self, rows: int, columns: int) -> np.ndarray:
        """Return the place of the next rows, to be filled before they are added."""
        count = self._count
        if not self._values.size and self._size is not None:
            self._values = np.empty((int(rows * max(1.0, SPARE * self._size / BLOCK)) + 1, columns))
        if count + rows > self._values.shape[0]:
            more = np.empty((count // 2 + rows, columns))
            self._values = np.concatenate([self._values[:count], more]) if count else more
        return self._values[count : count + rows]

    def add(self, columns: Columns) -> None:
        """Put rows behind those that are there."""
        n, width = columns.values.shape
        if self._first is None:
            self._first = replace(columns, values=columns.values[:0], text={})
            self._text = {k: [] for k in columns.text}
        if columns.values.base is not self._values:
            self.room(n, width)[:] = columns.values
        self._count += n
        for k, cells in columns.text.items():
            self._text[k].append(cells)

    def columns(self) -> Columns:
        """Return what there is."""
        assert self._first is not None
        text = {k: np.concatenate(cells) for k, cells in self._text.items()}
        return replace(self._first, values=self._values[: self._count], text=text)
