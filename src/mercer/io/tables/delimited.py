"""CSV and its relatives, block by block: what each column holds, and where a mistake is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.tables.arrow_rows import read_rows
from mercer.io.tables.columns import Columns, target_column
from mercer.io.tables.dialect import Dialect
from mercer.io.tables.encodings import NOT_UTF8
from mercer.io.tables.number_rows import read_numbers
from mercer.io.tables.row_cells import split
from mercer.io.tables.text_rows import OpenQuote, number, numbers, rows, words

MOST_COLUMNS = 1 << 20
NEWLINE = 10
SAMPLE = 1 << 16  # bytes that tell which columns are text, most likely


class TextCameLate(Exception):  # noqa: N818 -- an error only for those who cannot begin anew
    """Columns that held numbers so far hold text."""

    def __init__(self, columns: set[int]) -> None:
        super().__init__(columns)
        self.columns = columns


class DelimitedReader:
    """Reads rows out of text, with one idea of the columns from the first block to the last.

    Parameters
    ----------
    dialect : Dialect
        How the text is written.
    source : str
        For messages.
    threads : int
        Most threads.
    categorical : sequence of str, optional
        Names of the columns that are text; all others must be numbers then.
    target : str, int, optional
        A column that must be there: if it is not, that is told before any row is read.

    Attributes
    ----------
    names : list of str or None
        Names of the columns, once they are known.
    lines : int
        Lines before the block at hand.
    text_columns : set of int
        The columns that are known to be text.
    begins_anew : bool
        Whether text in a column of numbers is told by `TextCameLate`, not as a mistake.
    room : callable
        Returns an array of some rows and columns, to be filled with the numbers of a block.
    """

    def __init__(
        self,
        dialect: Dialect,
        source: str,
        threads: int,
        categorical: Sequence[str] | None,
        target: str | int | None = None,
    ) -> None:
        self.dialect = dialect
        self.source = source
        self.threads = threads
        self.categorical = None if categorical is None else set(categorical)
        self.target = target
        self.names: list[str] | None = None if dialect.names is None else list(dialect.names)
        self.lines = 0
        self.nameless: frozenset[int] = frozenset()
        self.text_columns: set[int] = set()
        self.begins_anew = False
        self.room: Callable[[int, int], np.ndarray] = lambda rows, columns: np.empty((rows, columns))
        self._rows = 0  # before the block at hand
        self._settled = False  # which columns are text

    def read(self, block: bytes, last: bool = True) -> tuple[Columns | None, int]:
        """Return the columns of a block (None before the first row) and the position of what is left."""
        first = 0
        if self.names is None:
            first = self._begin(block, last)
        if self.names is None:
            return None, 0
        stop = len(block) if last else block.rfind(b"\n") + 1
        if not self._settled and self.categorical is not None:
            self.text_columns |= {k for k, name in enumerate(self.names) if name in self.categorical}
            self._settled = True
        found = self._quickly(block, slice(first, stop))
        if found is None:
            found, stop = self._carefully(block, first, last)
        if not last:
            self.lines += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8)[:stop] == NEWLINE))
        if found is None:
            return None, stop
        self._settled = True
        values, text = found
        self._rows += values.shape[0]
        return Columns(self.names, values, text, self.dialect.named, self.nameless), stop

    # -- names -------------------------------------------------------------------------------------------

    def _begin(self, block: bytes, last: bool) -> int:
        """Take the names from the first row; return where the rows begin."""
        start = len(block) - len(block.lstrip(self.dialect.blanks.encode() + b"\n"))
        if start == len(block):
            return 0
        start = block.rfind(b"\n", 0, start) + 1
        end = block.find(b"\n", start)
        if end < 0:
            if not last:
                return 0
            end = len(block)
        line = self._decoded(block[start:end], block[start:end]).strip("\r")
        number_of_line = self.lines + block.count(b"\n", 0, start) + 1
        if self.dialect.header:
            try:
                list(rows(line + "\n", self.dialect))
            except OpenQuote:
                raise DataFileError(
                    f"{self.source}, line {number_of_line}: a quote is opened here and never closed: the row "
                    "of names must end where its line does"
                ) from None
        cells = split(line, self.dialect.separator, self.source, number_of_line)
        if len(cells) > MOST_COLUMNS:
            raise DataFileError(
                f"{self.source}: its first row has {len(cells)} cells; {MOST_COLUMNS} is the most"
            )
        if not self.dialect.header:
            self.names = [f"x{k}" for k in range(len(cells))]
        else:
            self.names = [cell.strip() or f"column {k}" for k, cell in enumerate(cells)]
            self.nameless = frozenset(k for k, cell in enumerate(cells) if not cell.strip())
        target_column(self.names, self.target, self.source)
        return min(end + 1, len(block)) if self.dialect.header else start

    # -- rows --------------------------------------------------------------------------------------------

    def _quickly(self, block: bytes, part: slice) -> tuple[np.ndarray, dict[int, np.ndarray]] | None:
        """Return the columns of whole rows, None if they must be read with care."""
        assert self.names is not None
        known = self.text_columns
        if not self._settled:
            known = self._likely_text(block[part.start : min(part.stop, part.start + SAMPLE)]) | known
        if not known:
            plain = read_numbers(
                block, part, self.dialect.separator, len(self.names), self.threads, self.room
            )
            if plain is not None:
                return plain, {}
        found = read_rows(block, part, self.dialect, len(self.names), known, self.threads, self.room)
        if found is None:
            return None
        self.text_columns = set(known)
        return found

    def _likely_text(self, text: bytes) -> set[int]:
        """Return the columns that are text in the first rows."""
        assert self.names is not None
        sample = text[: text.rfind(b"\n") + 1].decode("utf-8", errors="replace")
        try:
            cells = [row for _, row in rows(sample, self.dialect) if len(row) == len(self.names)]
        except OpenQuote:
            return set()
        return {k for k, column in enumerate(zip(*cells, strict=True)) if numbers(column) is None}

    def _carefully(
        self, block: bytes, first: int, last: bool
    ) -> tuple[tuple[np.ndarray, dict[int, np.ndarray]] | None, int]:
        """Return the columns of the complete rows there are (or None), and their end."""
        assert self.names is not None
        stop = len(block) if last else block.rfind(b"\n") + 1
        text = self._decoded(block[first:stop], block[:stop])
        starts: list[int] = []
        table: list[list[str]] = []
        try:
            for start, cells in rows(text, self.dialect):
                if len(cells) != len(self.names):
                    self._refuse_cells(block, first, text, start, len(cells), len(table))
                starts.append(start)
                table.append(cells)
        except OpenQuote as quote:
            if last:
                line = self._line(block, first, text, quote.position)
                raise DataFileError(
                    f"{self.source}, line {line}: a quote is opened here and never closed"
                ) from None
            stop = first + len(text[: quote.row].encode())
        if not table:
            return None, stop
        values, found = self.room(len(table), len(self.names)), {}
        late: set[int] = set()
        for k, column in enumerate(zip(*table, strict=True)):
            read = None if k in self.text_columns else numbers(column)
            if read is not None:
                values[:, k] = read
                continue
            if k not in self.text_columns and self._settled:
                if not self.begins_anew or self.categorical is not None:
                    row = next(r for r, cell in enumerate(column) if number(cell) is None)
                    self._refuse_text(self._line(block, first, text, starts[row]), column[row], k)
                late.add(k)
            values[:, k], found[k] = np.nan, words(column)
        if late:
            raise TextCameLate(late)
        self.text_columns |= set(found)
        return (values, found), stop

    # -- mistakes ----------------------------------------------------------------------------------------

    def _line(self, block: bytes, first: int, text: str, position: int) -> int:
        return self.lines + block.count(b"\n", 0, first) + text.count("\n", 0, position) + 1

    def _refuse_cells(
        self, block: bytes, first: int, text: str, position: int, count: int, before: int
    ) -> None:
        assert self.names is not None
        why, before = "", before + self._rows
        if self.dialect.header and before == 0:
            why = ": the first row must name each column, also that of row numbers; no title stands before it"
        elif not self.dialect.named and before <= 1:
            why = ": no title or comment may stand before the table"
        raise DataFileError(
            f"{self.source}, line {self._line(block, first, text, position)}: {count} "
            f"cell{'s' if count != 1 else ''} separated by {self.dialect.separator!r}, but the rows before "
            f"have {len(self.names)}{why}"
        )

    def _refuse_text(self, line: int, cell: str, column: int) -> None:
        assert self.names is not None
        why = "is to hold numbers" if self.categorical is not None else "held numbers so far"
        raise DataFileError(
            f"{self.source}, line {line}: {cell[:40]!r} is not a number, but column {self.names[column]!r} "
            f"{why}; name it in categorical= if it is text"
        )

    def _decoded(self, piece: bytes, before: bytes) -> str:
        """Return bytes as text, or refuse them; ``before`` are those of the block up to their end."""
        try:
            text = piece.decode("utf-8")
        except UnicodeDecodeError as error:
            start = piece.rfind(b"\n", 0, error.start) + 1
            near = piece[max(start, error.start - 30) :].partition(b"\n")[0][:40]
            line = self.lines + before.count(b"\n", 0, len(before) - len(piece) + error.start) + 1
            raise DataFileError(
                f"{self.source}, line {line}: {near!r} is not UTF-8 ({error.reason}): {NOT_UTF8}"
            ) from error
        if "\0" in text:
            raise DataFileError(f"{self.source} holds zero bytes: it is not a text file")
        return text
