"""CSV and its relatives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer import _jit
from mercer.gram import Workers
from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns, target_column
from mercer.io.tables.encodings import NOT_UTF8
from mercer.io.tables.file_bytes import Bytes, Content, joined
from mercer.io.tables.row_cells import split
from mercer.io.tables.text import NEWLINE, PIECE, Text

SEPARATORS = ",;\t|"
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "NULL", "null", "None", "?"}
)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|Inf|INF|infinity|Infinity)")
MOST_COLUMNS = 1 << 20
WIDE_CELL = 128  # bytes; columns with longer cells are taken apart in Python


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written.

    Attributes
    ----------
    separator : str
        One character; a space stands for any run of spaces.
    header : bool
        Whether the first row holds names.
    quote : str
        The quotation marks: one or two characters, each of which closes what it opened.
    names : tuple of str, optional
        Names of the columns, where something else than the first row says them.
    """

    separator: str = ","
    header: bool = True
    quote: str = '"'
    names: tuple[str, ...] | None = None

    @property
    def named(self) -> bool:
        """Whether the columns' names are the file's own."""
        return self.header or self.names is not None

    @property
    def codes(self) -> tuple[int, int, int]:
        """The separator and the quotation marks as bytes."""
        return ord(self.separator), ord(self.quote[0]), ord(self.quote[-1])


def sniff(head: bytes, separator: str | None, header: bool | str, source: str) -> Dialect:
    """Return how a file is written, from its first lines and what the user said.

    The separator is the first of comma, semicolon, tab and bar that the first line has most of outside
    quotes, else a run of spaces. The first row is a header unless one of its cells is a number.
    """
    whole = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    before = len(whole) - len(whole.lstrip(_blanks(separator) + "\n"))
    text = whole[whole.rfind("\n", 0, before) + 1 :]
    line = text.partition("\n")[0].strip("\r")
    number = 1 + whole[: len(whole) - len(text)].count("\n")
    if separator is None:
        bare = re.sub(r'"[^"]*"', "", line)
        counts = {s: bare.count(s) for s in SEPARATORS}
        separator = max(counts, key=lambda s: counts[s])
        if not counts[separator]:
            separator = " " if " " in bare.strip() else ","
    if len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise DataFileError(f"separator={separator!r} must be one character, no quote and no line end")
    if header == "auto":
        header = not any(NUMBER.fullmatch(cell.strip()) for cell in split(line, separator, source, number))
    if header not in (True, False):
        raise DataFileError(f"header={header!r} must be True, False or 'auto'")
    return Dialect(separator, bool(header))


def _blanks(separator: str | None) -> str:
    """Return what may stand around cells, and alone in lines that are no rows."""
    return " \r" if separator == "\t" else " \t\r"


class DelimitedReader:
    """Reads rows out of text, with one idea of the columns from the first block to the last.

    Parameters
    ----------
    dialect : Dialect
        How the text is written.
    source : str
        For messages.
    workers : Workers
        Threads.
    categorical : sequence of str, optional
        Names of the columns that are text; all others must be numbers then.
    target : str, int, optional
        A column that must be there: if it is not, that is told before any row is read.
    """

    def __init__(
        self,
        dialect: Dialect,
        source: str,
        workers: Workers,
        categorical: Sequence[str] | None,
        target: str | int | None = None,
    ) -> None:
        self.dialect = dialect
        self.source = source
        self.workers = workers
        self.categorical = None if categorical is None else set(categorical)
        self.target = target
        self.names: list[str] | None = None if dialect.names is None else list(dialect.names)
        self.lines = 0  # before the block at hand
        self.nameless: frozenset[int] = frozenset()
        self._text_columns: set[int] | None = None

    # -- rows --------------------------------------------------------------------------------------------

    def _edges(self, text: Text, first: int, last: bool) -> tuple[list[int], int]:
        """Return where to cut a block, between rows, and where what is left over begins."""
        parts = max(1, min(4 * self.workers.threads, len(text) >> 16))
        quoted = text.has({ord(mark) for mark in self.dialect.quote}, self.workers)
        if quoted:
            ends = self._quoted_ends(text, last)
            stop = int(ends[-1]) + 1 if ends.size else 0
        else:
            stop = text.last_line_end() + 1
        stop = len(text) if last else max(stop, first)
        edges = [first]
        for k in range(1, parts):
            wish = first + k * (stop - first) // parts
            if quoted:
                after = int(np.searchsorted(ends, wish))
                cut = int(ends[after]) + 1 if after < ends.size else stop
            else:
                cut = text.find(NEWLINE, wish, stop) + 1 or stop
            if edges[-1] < cut < stop:
                edges.append(cut)
        return [*edges, stop], stop

    def _quoted_ends(self, text: Text, last: bool) -> np.ndarray:
        ends = np.empty(text.line_ends(0, len(text)), dtype=np.int64)
        count, opened = _jit.delimited.quoted_line_ends(text.array, *self.dialect.codes, ends)
        if opened >= 0 and last:
            raise DataFileError(
                f"{self.source}, line {self._line(text, opened)}: a quote is opened here and never closed"
            )
        return ends[:count]

    def _open(self, line: bytes) -> bool:
        """Return whether a line leaves a quote open."""
        ends = np.empty(1, dtype=np.int64)
        array = np.frombuffer(line, dtype=np.uint8)
        return bool(_jit.delimited.quoted_line_ends(array, *self.dialect.codes, ends)[1] >= 0)

    def _line(self, text: Text, position: int) -> int:
        return self.lines + text.line_ends(0, position) + 1

    # -- columns -----------------------------------------------------------------------------------------

    def read(self, content: Content | Text, last: bool = True) -> tuple[Columns | None, int]:
        """Return the columns of a block (None before the first row) and the position of what is left."""
        text, first = Text.of(content), 0
        if self.names is None:
            first = self.begin(text, last)
        if self.names is None:
            return None, 0
        edges, rest = self._edges(text, first, last)
        starts, values, others = self._numbers(text, edges, len(self.names))
        if not starts.size:
            self.lines += text.line_ends(0, rest)
            return None, rest
        array, names = text.array, self.names
        columns = Columns(names, values, {}, self.dialect.named, nameless=self.nameless)
        known = self._text_columns if self._text_columns is not None else self._forced(names)
        for k in sorted(set(np.flatnonzero(others).tolist()) | known):
            if k not in known and self.settle(array, starts, values, k):
                continue
            if k not in known and (self.categorical is not None or self._text_columns is not None):
                self._refuse_text(text, array, starts, values, k)
            columns.text[k] = self._text(array, starts, k)
        if self._text_columns is None:
            self._text_columns = set(columns.text)
        if not last:
            self.lines += text.line_ends(0, rest)
        return columns, rest

    def _forced(self, names: list[str]) -> set[int]:
        return {
            k for k, name in enumerate(names) if self.categorical is not None and name in self.categorical
        }

    def begin(self, text: Text, last: bool) -> int:
        """Take the names from the first row; return where the rows begin."""
        start, end = self._first_line(text)
        if end < 0:
            if not last or start == len(text):
                return 0
            end = len(text)
        line = self._decode(text.part(start, end)).strip("\r")
        number = self._line(text, start)
        if self.dialect.header and self._open(text.part(start, end) + b"\n"):
            raise DataFileError(
                f"{self.source}, line {number}: a quote is opened here and never closed: the row of names "
                "must end where its line does"
            )
        cells = split(line, self.dialect.separator, self.source, number)
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
        return min(end + 1, len(text)) if self.dialect.header else start

    def _first_line(self, text: Text) -> tuple[int, int]:
        """Return where the first line with a cell begins and ends; its end is -1 if the text ends first."""
        blank = np.frombuffer(f"{_blanks(self.dialect.separator)}\n".encode(), dtype=np.uint8)
        for s in range(0, len(text), PIECE):
            solid = ~np.isin(text.array[s : s + PIECE], blank)
            if solid.any():
                before = Text(text.array[: s + int(solid.argmax())])
                start = before.last_line_end() + 1
                return start, text.find(NEWLINE, start, len(text))
        return len(text), -1

    def _numbers(
        self, text: Text, edges: list[int], columns: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where the rows begin, their values, and the number of strange cells of each column."""
        parts, array = len(edges) - 1, text.array
        # A row ends with a line end and has a byte at least for each separator: no more rows are believed.
        room = [0] * parts

        def count(k: int) -> None:
            a, b = edges[k], edges[k + 1]
            lines = text.line_ends(a, b) + (text.part(b - 1, b) != b"\n")
            room[k] = min(lines, (b - a) // columns + 1)

        self.workers.each(parts, count)
        offsets = np.concatenate([[0], np.cumsum(room)])
        values, starts = np.empty((offsets[-1], columns)), np.empty(offsets[-1], dtype=np.int64)
        others = np.zeros((parts, columns), dtype=np.int64)
        found: list[tuple[int, int]] = [(0, 0)] * parts

        def read(k: int) -> None:
            part = slice(offsets[k], offsets[k + 1])
            found[k] = _jit.delimited.read_rows(
                array, edges[k], edges[k + 1], *self.dialect.codes, values[part], starts[part], others[k]
            )

        self.workers.each(parts, read)
        for k, (rows, cells) in enumerate(found):
            if cells:
                line = self._line(text, int(starts[min(offsets[k] + rows, offsets[k + 1] - 1)]))
                raise DataFileError(
                    f"{self.source}, line {line}: {cells} cell{'s' if cells != 1 else ''} separated by "
                    f"{self.dialect.separator!r}, but the rows before have {columns}"
                    + self._why_first(sum(rows for rows, _ in found[: k + 1]))
                )
        kept = [slice(offsets[k], offsets[k] + found[k][0]) for k in range(parts)]
        return joined(starts, kept), joined(values, kept), others.sum(axis=0)

    def _why_first(self, rows: int) -> str:
        """Return what may be wrong if the rows differ from the first one on."""
        if self.dialect.header and rows == 0:
            return (
                ": the first row must name each column, also that of row numbers; no title stands before it"
            )
        return "" if self.dialect.header or rows > 1 else ": no title or comment may stand before the table"

    def _spans(self, array: Bytes, starts: np.ndarray, column: int) -> np.ndarray:
        spans = np.empty((starts.size, 2), dtype=np.int64)
        _jit.delimited.cell_spans(array, starts, *self.dialect.codes, column, spans)
        return spans

    def settle(self, array: Bytes, starts: np.ndarray, values: np.ndarray, column: int) -> bool:
        """Read the cells that the compiled loop could not; return whether all of them are numbers."""
        rows = _other_rows(values, column)
        cells, which = self._distinct(array, self._spans(array, starts[rows], column))
        read = np.empty(len(cells))
        for k, cell in enumerate(cells):
            if cell in MISSING:
                read[k] = np.nan
            elif NUMBER.fullmatch(cell):
                read[k] = float(cell)
            else:
                return False
        values[rows, column] = read[which]
        return True

    def _text(self, array: Bytes, starts: np.ndarray, column: int) -> np.ndarray:
        cells, which = self._distinct(array, self._spans(array, starts, column))
        table = np.empty(len(cells), dtype=object)
        table[:] = [None if cell in MISSING else cell for cell in cells]
        cells_of_rows: np.ndarray = table[which]
        return cells_of_rows

    def _refuse_text(
        self, text: Text, array: Bytes, starts: np.ndarray, values: np.ndarray, column: int
    ) -> None:
        assert self.names is not None
        for row in _other_rows(values, column):
            cells, _ = self._distinct(array, self._spans(array, starts[row : row + 1], column))
            if cells[0] not in MISSING and not NUMBER.fullmatch(cells[0]):
                why = "is to hold numbers" if self.categorical is not None else "held numbers so far"
                raise DataFileError(
                    f"{self.source}, line {self._line(text, int(starts[row]))}: {cells[0][:40]!r} is not a "
                    f"number, but column {self.names[column]!r} {why}; name it in categorical= if it is text"
                )

    def _distinct(self, text: Bytes, spans: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Return the different cells, and which of them stands where."""
        width = int((spans[:, 1] - spans[:, 0]).max(initial=0))
        if 0 < width <= WIDE_CELL:
            padded = np.zeros((spans.shape[0], width), dtype=np.uint8)
            _jit.delimited.gather(text, spans, padded)
            raw, which = np.unique(padded.view(f"S{width}")[:, 0], return_inverse=True)
            pieces = [bytes(piece) for piece in raw]
        else:
            numbers: dict[bytes, int] = {}
            which = np.empty(spans.shape[0], dtype=np.intp)
            for r, (start, end) in enumerate(spans.tolist()):
                which[r] = numbers.setdefault(bytes(text[start:end]), len(numbers))
            pieces = list(numbers)
        return [self._bare(self._decode(piece)) for piece in pieces], which.ravel()

    def _bare(self, cell: str) -> str:
        if len(cell) >= 2 and cell[0] in self.dialect.quote and cell[-1] == cell[0]:
            return cell[1:-1].replace(cell[0] * 2, cell[0])
        return cell

    def _decode(self, piece: bytes) -> str:
        try:
            cell = piece.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataFileError(
                f"{self.source}: {piece[:40]!r} is not UTF-8 ({error.reason}): {NOT_UTF8}"
            ) from error
        if "\0" in cell:
            raise DataFileError(f"{self.source} holds zero bytes: it is no text file")
        return cell


def _other_rows(values: np.ndarray, column: int) -> np.ndarray:
    return np.flatnonzero(values.view(np.int64)[:, column] == _jit.delimited.OTHER)
