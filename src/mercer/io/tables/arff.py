"""ARFF, the format of Weka: named and typed columns, then rows, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer.gram import Workers
from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns, Wish, assemble
from mercer.io.tables.delimited import DelimitedReader, Dialect
from mercer.io.tables.delimited_files import delimited_batches
from mercer.io.tables.encodings import NOT_UTF8
from mercer.io.tables.file_bytes import Content, Source
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
    """What follows the header, as a source of bytes."""

    def __init__(self, source: Source, rest: bytes, blocks: Iterator[bytes]) -> None:
        self.name, self.limits = source.name, source.limits
        self._rest, self._blocks = rest, blocks

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the rows in blocks of whole lines, comments left out."""
        left = self._rest
        for block in self._blocks:
            left += block
            cut = left.rfind(b"\n") + 1
            yield _without_comments(left[:cut])
            left = left[cut:]
            if len(left) > LONGEST_HEADER:
                raise DataFileError(f"{self.name} has a row of more than {LONGEST_HEADER >> 20} MB")
        yield _without_comments(left)

    def everything(self) -> bytearray:
        """Return all rows."""
        whole = bytearray()
        for block in self.blocks(0):
            whole += block
            self.limits.check(len(whole), len(whole), self.name)
        return whole


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
        raise DataFileError(f"{source.name} has no line @data: it is no ARFF file, or is cut short")
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
    return attributes, Body(source, text[end.end() :], blocks)


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


def _reader(attributes: list[Attribute], source: str, workers: Workers) -> DelimitedReader:
    names = tuple(a.name for a in attributes)
    dialect = Dialect(",", header=False, quote="'\"", names=names)
    return DelimitedReader(dialect, source, workers, [a.name for a in attributes if a.values is not None])


def _check_values(columns: Columns, attributes: list[Attribute], source: str) -> None:
    for k, cells in columns.text.items():
        allowed = attributes[k].values
        if allowed:
            strange = {cell for cell in cells if cell is not None} - set(allowed)
            if strange:
                raise DataFileError(
                    f"{source}: {min(strange)[:40]!r} is not among the declared values of "
                    f"{attributes[k].name!r}"
                )


def _is_sparse(text: Content) -> bool:
    return text.lstrip()[:1] == b"{"


def _sparse(text: Content, attributes: list[Attribute], source: str, most_bytes: int) -> Columns | None:
    """Return rows written as {number value, ...}; what is left out is 0 or the first listed value."""
    lines = [line.strip() for line in text.decode("utf-8", errors="replace").splitlines() if line.strip()]
    if not lines:
        return None
    if len(lines) * len(attributes) * 8 > most_bytes:
        raise DataFileError(
            f"{source} is too large for a dense table: {len(lines)} rows of {len(attributes)} columns"
        )
    values = np.zeros((len(lines), len(attributes)))
    cells = {
        k: np.full(len(lines), (a.values or ("",))[0], dtype=object)
        for k, a in enumerate(attributes)
        if a.values is not None
    }
    for r, line in enumerate(lines):
        if not (line.startswith("{") and line.endswith("}")):
            raise DataFileError(f"{source}: the sparse row {line[:60]!r} has no braces around it")
        inside, at = line[1:-1].strip(), 0
        while at < len(inside):
            match = PAIR.match(inside, at)
            if match is None or int(match.group(1)[:10]) >= len(attributes):
                raise DataFileError(
                    f"{source}: {inside[at : at + 40]!r} is not 'number value' of a sparse row"
                )
            k, value, at = int(match.group(1)), _unquoted(match.group(2)), match.end()
            if k in cells:
                cells[k][r] = None if value == "?" else value
                continue
            try:
                values[r, k] = np.nan if value == "?" else float(value)
            except ValueError:
                raise DataFileError(
                    f"{source}: {value[:40]!r} is not a number in the sparse row {line[:60]!r}"
                ) from None
    return Columns([a.name for a in attributes], values, cells)


def read_arff(source: Source, wish: Wish, workers: Workers) -> Table:
    """Return all rows of an ARFF file."""
    attributes, body = read_header(source)
    text = body.everything()
    if _is_sparse(text[:4096]):
        columns = _sparse(text, attributes, source.name, source.limits.bytes)
    else:
        columns, _ = _reader(attributes, source.name, workers).read(text)
    if columns is None:
        raise DataFileError(f"{source.name} has no rows")
    _check_values(columns, attributes, source.name)
    return assemble(columns, wish, source=source.name, format="arff")


def arff_batches(source: Source, wish: Wish, workers: Workers, batch_rows: int) -> Iterator[Table]:
    """Yield some rows of an ARFF file at a time."""
    attributes, body = read_header(source)
    first = 0
    for columns in _column_batches(body, attributes, workers, batch_rows):
        _check_values(columns, attributes, source.name)
        yield assemble(columns, wish, source=source.name, format="arff", first_row=first)
        first += columns.values.shape[0]


def _column_batches(
    body: Body, attributes: list[Attribute], workers: Workers, batch_rows: int
) -> Iterator[Columns]:
    blocks = body.blocks(0)
    text = b""
    while not text.strip():
        block = next(blocks, None)
        if block is None:
            raise DataFileError(f"{body.name} has no rows")
        text += block
    whole = _Prefixed(body, text, blocks)
    if not _is_sparse(text[:4096]):
        yield from delimited_batches(whole, _reader(attributes, body.name, workers), batch_rows)  # type: ignore[arg-type]
        return
    for block in whole.blocks(0):
        columns = _sparse(block, attributes, body.name, body.limits.bytes)
        if columns is not None:
            yield columns


class _Prefixed:
    def __init__(self, body: Body, first: bytes, blocks: Iterator[bytes]) -> None:
        self.name, self._first, self._blocks = body.name, first, blocks

    def blocks(self, size: int) -> Iterator[bytes]:
        yield self._first
        yield from self._blocks
