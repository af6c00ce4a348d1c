"""Files of delimited text: as a whole, or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

from mercer.io.errors import DataFileError
from mercer.io.tables.blocks import MARK, read_in_blocks
from mercer.io.tables.columns import Columns
from mercer.io.tables.delimited import DelimitedReader
from mercer.io.tables.file_bytes import Source
from mercer.io.tables.text import Text

LONGEST_ROW = 1 << 26  # bytes
BLOCK = 1 << 23


def read_delimited(source: Source, reader: DelimitedReader) -> Columns:
    """Return all columns of a file."""
    columns = read_in_blocks(source, copy(reader))
    if columns is not None:
        return columns
    text = Text(source.array(reader.workers))
    if text.part(0, len(MARK)) == MARK:
        text = Text(text.array[len(MARK) :])
    columns, _ = reader.read(text)
    if columns is None:
        raise DataFileError(f"{source.name} has no rows")
    return columns


def delimited_batches(source: Source, reader: DelimitedReader, batch_rows: int) -> Iterator[Columns]:
    """Yield the columns of a file, some rows at a time, in constant memory."""
    left = b""
    first, seen = True, False
    for block in source.blocks(BLOCK):
        left += block.removeprefix(MARK) if first else block
        first = False
        columns, rest = reader.read(left, last=False)
        left = left[rest:]
        if len(left) > LONGEST_ROW:
            raise DataFileError(f"{source.name} has a row of more than {LONGEST_ROW >> 20} MB")
        if columns is not None:
            seen = True
            yield from _cut(columns, batch_rows)
    columns, _ = reader.read(left, last=True)
    if columns is not None:
        seen = True
        yield from _cut(columns, batch_rows)
    if not seen:
        raise DataFileError(f"{source.name} has no rows")


def _cut(columns: Columns, rows: int) -> Iterator[Columns]:
    for start in range(0, columns.values.shape[0], rows):
        part = slice(start, start + rows)
        text = {k: cells[part] for k, cells in columns.text.items()}
        yield replace(columns, values=columns.values[part], text=text)
