"""A large table of nothing but numbers, read block by block by all threads at once.

Fresh memory for all of a file's text costs more than reading the text does. Here each thread has one buffer
that it uses again and again: it takes the next block of whole lines, reads their numbers, and copies them to
where they belong as soon as the block before has said how many rows it has.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from mercer import _jit
from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns, target_column
from mercer.io.tables.delimited import DelimitedReader
from mercer.io.tables.file_bytes import Source, read_only
from mercer.io.tables.text import Text

BLOCK = 1 << 21  # bytes taken at a time; a row must be shorter
SPARE = 1.02  # more rows than the first block lets expect
MARK = b"\xef\xbb\xbf"  # that some editors put before UTF-8


def read_in_blocks(source: Source, reader: DelimitedReader) -> Columns | None:
    """Return the columns of a large plain file whose cells are numbers, empty, or names of missing values.

    The target is kept apart: taking it out of the table later would move every number once more.

    Returns
    -------
    Columns or None
        None for any other file: one that is small, compressed or a pipe, that has text or quotes, rows longer
        than a block, or a mistake (which is found again, with its line, by reading the file as a whole).
    """
    size = source.plain_size()
    if size is None or size < 2 * BLOCK or reader.categorical:
        return None
    rows = _Rows(source, size, reader)
    reader.workers.each(reader.workers.threads, rows.work, stop=rows.give_up)
    return rows.columns()


class _Buffer:
    """What one thread works with: a block of text, and room for its rows."""

    def __init__(self) -> None:
        self.text = bytearray(2 * BLOCK)  # a block, and before it the row that the last one cut
        self.view = memoryview(self.text)
        self.array = read_only(np.frombuffer(self.text, dtype=np.uint8))
        self.values = np.empty((0, 0))
        self.starts = np.empty(0, dtype=np.int64)
        self.others = np.empty(0, dtype=np.int64)

    def expect(self, columns: int) -> None:
        """Make room for all rows that a block can have: each needs a byte for every column."""
        if self.others.size != columns:
            most = len(self.text) // columns + 1
            self.values, self.starts = np.empty((most, columns)), np.empty(most, dtype=np.int64)
            self.others = np.empty(columns, dtype=np.int64)


class _Store:
    """Rows in their order, one column of them apart.

    Parameters
    ----------
    rows, columns : int
        How many are expected; there may be more rows.
    apart : int or None
        The column.
    """

    def __init__(self, rows: int, columns: int, apart: int | None) -> None:
        self.apart = apart
        self._cut = columns if apart is None else apart
        self._values = np.empty((rows, columns - (apart is not None)))
        self._column = np.empty(rows if apart is not None else 0)
        self._beyond: dict[int, np.ndarray] = {}  # blocks for which there is no room, by their first row

    def put(self, first: int, rows: np.ndarray) -> None:
        """Copy rows to where they belong."""
        room = self._values[first : first + len(rows)]
        if len(room) < len(rows):
            self._beyond[first] = rows.copy()
            return
        room[:, : self._cut] = rows[:, : self._cut]
        room[:, self._cut :] = rows[:, self._cut + 1 :]
        if self.apart is not None:
            self._column[first : first + len(rows)] = rows[:, self.apart]

    def columns(self, count: int, names: list[str], named: bool) -> Columns:
        """Return as many rows as there are."""
        inside = min([count, *self._beyond])
        values, column = self._values[:inside], self._column[:inside]
        more = [self._beyond[first] for first in sorted(self._beyond)]
        if more and self.apart is not None:
            values = np.concatenate([values, *(np.delete(rows, self.apart, axis=1) for rows in more)])
            column = np.concatenate([column, *(rows[:, self.apart] for rows in more)])
        elif more:
            values = np.concatenate([values, *more])
        return Columns(names, values, {}, named, None if self.apart is None else (self.apart, column))


class _Rows:
    """The rows of a file, found by several threads, kept in their order."""

    def __init__(self, source: Source, size: int, reader: DelimitedReader) -> None:
        self.source, self.size, self.reader = source, size, reader
        self.quotes = [mark.encode() for mark in set(reader.dialect.quote)]
        self.given_up = False
        self._reading = threading.Lock()  # guards what follows
        self._taken, self._position = 0, 0  # blocks, bytes
        self._left = b""  # of the row that the last block cut
        self._order = threading.Condition()  # guards what follows
        self._placed, self._count = 0, 0  # blocks, rows
        self._store: _Store | None = None

    def give_up(self) -> None:
        """Leave the file to whoever reads it as a whole."""
        with self._order:
            self.given_up = True
            self._order.notify_all()

    def work(self, _: int) -> None:
        """Read blocks until there are no more."""
        buffer = _Buffer()
        while not self.given_up:
            block = self._take(buffer)
            if block is None:
                return
            k, start, stop = block
            values = self._numbers(buffer, start, stop)
            if values is None:
                self.give_up()
            else:
                self._place(k, values, stop - start)

    def columns(self) -> Columns | None:
        """Return all rows, once the work is done."""
        names = self.reader.names
        if self.given_up or names is None or self._store is None or self._count == 0:
            return None
        columns = self._store.columns(self._count, names, self.reader.dialect.named)
        return replace(columns, nameless=self.reader.nameless)

    def _take(self, buffer: _Buffer) -> tuple[int, int, int] | None:
        """Fill a buffer with the next lines; return their number and where in it they begin and end."""
        with self._reading:
            if self.given_up or self._position == self.size:
                return None
            kept, room = len(self._left), min(BLOCK, self.size - self._position)
            buffer.text[:kept] = self._left
            self.source.fill(buffer.view[kept : kept + room], self._position)
            self._position += room
            end = kept + room
            stop = end if self._position == self.size else buffer.text.rfind(b"\n", kept, end) + 1
            start = self._begin(buffer, stop) if self._taken == 0 else 0
            if stop == 0 or self.reader.names is None:
                self.give_up()
                return None
            self._left = bytes(buffer.view[stop:end])
            self._taken += 1
            return self._taken - 1, start, stop

    def _begin(self, buffer: _Buffer, stop: int) -> int:
        """Take the names of the columns from the first lines; return where the rows begin."""
        mark = len(MARK) if buffer.text.startswith(MARK) else 0
        return mark + self.reader.begin(Text(buffer.array[mark:stop]), last=False)

    def _numbers(self, buffer: _Buffer, start: int, stop: int) -> Any:
        """Return the rows of a block; None if they hold more than numbers."""
        names = self.reader.names
        assert names is not None
        if any(buffer.text.find(mark, start, stop) >= 0 for mark in self.quotes):
            return None  # a line end inside quotes ends no row: blocks might be cut in the wrong places
        buffer.expect(len(names))
        buffer.others[:] = 0
        rows, wrong = _jit.delimited.read_rows(
            buffer.array,
            start,
            stop,
            *self.reader.dialect.codes,
            buffer.values,
            buffer.starts,
            buffer.others,
        )
        if wrong:
            return None
        text, values, starts = buffer.array[:stop], buffer.values[:rows], buffer.starts[:rows]
        try:
            strange = np.flatnonzero(buffer.others).tolist()
            sound = all(self.reader.settle(text, starts, values, column) for column in strange)
        except DataFileError:  # said again, with a line that does not depend on which thread comes first
            sound = False
        return values if sound else None

    def _place(self, k: int, values: np.ndarray, length: int) -> None:
        """Copy the rows of block k, which has a length in bytes, to their place behind those before it."""
        with self._order:
            self._order.wait_for(lambda: self.given_up or self._placed == k)
            if self.given_up:
                return
            if self._store is None:
                self._store = self._expected(len(values), length)
            first = self._count
            self._count += len(values)
            self._placed += 1
            self._order.notify_all()
        self._store.put(first, values)

    def _expected(self, rows: int, length: int) -> _Store:
        """Return room for all rows, from the rows of the first block and its length."""
        names = self.reader.names
        assert names is not None
        most = int(SPARE * self.size * rows / max(length, 1)) + 1
        return _Store(most, len(names), target_column(names, self.reader.target, self.source.name))
