"""ARFF, the format of Weka: named and typed columns, then rows, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns, Wish, assemble
from mercer.io.tables.delimited import DelimitedReader
from mercer.io.tables.delimited_files import AllRows, column_blocks, cut
from mercer.io.tables.dialect import Dialect
from mercer.io.tables.encodings import NOT_UTF8
from mercer.io.tables.file_bytes import Source
from mercer.io.tables.table import Table

LONGEST_HEADER = 1 << 26
ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.+)""", re.IGNORECASE
)
VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"\s][^,]*?)\s*(?:,|$)""")
PAIR = re.compile(r"""\s*(\d+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"\s][^,]*?)\s*(?:,|$)""")
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column: its name, and its values if they are listed; () for any text, None for numbers."""

    name: str
    values: tuple[str, ...] | None


class Body:
    """What follows the header, in blocks of whole lines.

    Parameters
    ----------
    source : Source
        The file.
    rest : bytes
        What was read of the rows already.
    blocks : iterator of bytes
        What follows.
    line : int
        Number of the first line of the rows.

    Attributes
    ----------
    text : bytes
        The last block, comments left out.
    line : int
        Number of its first line.
    """

    def __init__(self, source: Source, rest: bytes, blocks: Iterator[bytes], line: int) -> None:
        self.name, self.limits = source.name, source.limits
        self.text, self.line = b"", line
        self._rest, self._blocks = rest, blocks

    def blocks(self) -> Iterator[bytes]:
        """Yield the rows in blocks of whole lines, comments left out."""
        left = self._rest
        for block in self._blocks:
            left += block
            cut = left.rfind(b"\n") + 1
            yield self._next(left[:cut])
            left = left[cut:]
            if len(left) > LONGEST_HEADER:
                raise DataFileError(f"{self.name} has a row of more than {LONGEST_HEADER >> 20} MB")
        yield self._next(left)

    def _next(self, text: bytes) -> bytes:
        self.line += self.text.count(b"\n")
        self.text = _without_comments(text)
        return self.text

    def line_of(self, row: int) -> int:
        """Return the number of the line that holds a row of the last block."""
        lines = (number for number, line in enumerate(self.text.split(b"\n"), self.line) if line.strip())
        return next(islice(lines, row, None))


def _without_comments(text: bytes) -> bytes:
    return re.sub(rb"(?m)^[ \t]*%.*$", b"", text) if b"%" in text else text


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def read_header(source: Source) -> tuple[list[Attribute], Body]:
    """Return the columns, and the rest of the file."""
    blocks = source.blocks(1 << 20)
    text, end = b"", None
    for block in blocks:
        text += block
        end = re.search(rb"(?im)^[ \t]*@data[^\n]*(\n|\Z)", text)
        if end is not None and (end.group().endswith(b"\n") or len(text) > LONGEST_HEADER):
            break
        if len(text) > LONGEST_HEADER:
            break
    if end is None:
        raise DataFileError(f"{source.name} has no line @data: it is not an ARFF file, or is truncated")
    attributes = []
    try:
        lines = text[: end.start()].decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataFileError(f"{source.name} is not UTF-8 ({error.reason}): {NOT_UTF8}") from error
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if word.lower().startswith("@attribute"):
            attributes.append(_attribute(word, number, source.name))
        elif word and not word.startswith("%") and not word.lower().startswith("@relation"):
            raise DataFileError(f"{source.name}, line {number}: {word[:40]!r} has no meaning before @data")
    if not attributes:
        raise DataFileError(f"{source.name} declares no @attribute")
    return attributes, Body(source, text[end.end() :], blocks, text.count(b"\n", 0, end.end()) + 1)


def _attribute(line: str, number: int, source: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(line)
    if match is None:
        raise DataFileError(f"{source}, line {number}: {line[:60]!r} does not declare an attribute")
    name, kind = _unquoted(match.group(1)), match.group(2).strip()
    if kind.startswith("{"):
        inside = kind.partition("%")[0].strip()
        if not inside.endswith("}"):
            raise DataFileError(f"{source}, line {number}: the values of {name!r} have no closing brace")
        values = tuple(_unquoted(m.group(1)) for m in VALUE.finditer(inside[1:-1]))
        return Attribute(name, values)
    word = kind.split()[0].lower()
    if word in NUMERIC:
        return Attribute(name, None)
    if word == "string":
        return Attribute(name, ())
    raise DataFileError(
        f"{source}, line {number}: attribute {name!r} is of type {word[:40]!r}; numbers, listed "
        f"values and strings "
        "are read: convert or remove it"
    )


def _columns(attributes: list[Attribute], body: Body, threads: int) -> Iterator[Columns]:
    """Yield the columns of one block after the other, all values among those declared."""
    blocks = body.blocks()
    first = next((block for block in blocks if block.strip()), None)
    if first is None:
        raise DataFileError(f"{body.name} has no rows")
    if first.lstrip()[:1] == b"{":
        for _ in chain([first], blocks):
            columns = _sparse(attributes, body)
            if columns is not None:
                yield columns
        return
    dialect = Dialect(",", header=False, quote="'\"", names=tuple(a.name for a in attributes))
    text = [a.name for a in attributes if a.values is not None]
    reader = DelimitedReader(dialect, body.name, threads, text)
    reader.lines = body.line - 1
    for columns in column_blocks(chain([first], blocks), reader):
        for k, cells in columns.text.items():
            _check_values(attributes[k], cells, body)
        yield columns


def _check_values(attribute: Attribute, cells: np.ndarray, body: Body) -> None:
    strange = {cell for cell in cells if cell is not None} - set(attribute.values or ())
    if attribute.values and strange:
        row = next(r for r, cell in enumerate(cells) if cell in strange)
        raise DataFileError(
            f"{body.name}, line {body.line_of(row)}: {cells[row][:40]!r} is not among the declared values of "
            f"{attribute.name!r}"
        )


def _sparse(attributes: list[Attribute], body: Body) -> Columns | None:
    """Return rows written as {number value, ...}; what is left out is 0 or the first listed value."""
    text = body.text.decode("utf-8", errors="replace")
    lines = [
        (number, line.strip()) for number, line in enumerate(text.split("\n"), body.line) if line.strip()
    ]
    if not lines:
        return None
    if len(lines) * len(attributes) * 8 > body.limits.bytes:
        raise DataFileError(
            f"{body.name} is too large for a dense table: {len(lines)} rows of {len(attributes)} columns"
        )
    values = np.zeros((len(lines), len(attributes)))
    cells = {
        k: np.full(len(lines), (a.values or ("",))[0], dtype=object)
        for k, a in enumerate(attributes)
        if a.values is not None
    }
    for r, (number, line) in enumerate(lines):
        where = f"{body.name}, line {number}"
        if not (line.startswith("{") and line.endswith("}")):
            raise DataFileError(f"{where}: the sparse row {line[:60]!r} has no braces around it")
        inside, at = line[1:-1].strip(), 0
        while at < len(inside):
            match = PAIR.match(inside, at)
            if match is None or int(match.group(1)[:10]) >= len(attributes):
                raise DataFileError(
                    f"{where}: {inside[at : at + 40]!r} is not 'number value' of a sparse row"
                )
            k, value, at = int(match.group(1)), _unquoted(match.group(2)), match.end()
            if k in cells:
                cells[k][r] = None if value == "?" else value
                continue
            try:
                values[r, k] = np.nan if value == "?" else float(value)
            except ValueError:
                raise DataFileError(
                    f"{where}: {value[:40]!r} is not a number in the sparse row {line[:60]!r}"
                ) from None
    for k, column in cells.items():
        _check_values(attributes[k], column, body)
    return Columns([a.name for a in attributes], values, cells)


def read_arff(source: Source, wish: Wish, threads: int) -> Table:
    """Return all rows of an ARFF file."""
    attributes, body = read_header(source)
    rows, size = AllRows(None), 0
    for columns in _columns(attributes, body, threads):
        size += max(len(body.text), columns.values.nbytes)
        source.limits.check(size, size, source.name)
        rows.add(columns)
    return assemble(rows.columns(), wish, source=source.name, format="arff")


def arff_batches(source: Source, wish: Wish, threads: int, batch_rows: int) -> Iterator[Table]:
    """Yield some rows of an ARFF file at a time."""
    attributes, body = read_header(source)
    first = 0
    for block in _columns(attributes, body, threads):
        for columns in cut(block, batch_rows):
            yield assemble(columns, wish, source=source.name, format="arff", first_row=first)
            first += columns.values.shape[0]
