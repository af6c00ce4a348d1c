"""Parquet and Feather, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.extras import require
from mercer.io.tables.columns import Columns, Wish, assemble, target_column
from mercer.io.tables.file_bytes import Source
from mercer.io.tables.table import Table

WHAT = {"parquet": "reading Parquet", "feather": "reading Feather"}


class _Failures:
    """Turns pyarrow's errors into one that names the file."""

    def __init__(self, source: str, kind: str, arrow: Any) -> None:
        self.source, self.kind, self.arrow = source, kind, arrow

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, DataFileError) or error is None:
            return
        foreign = self.arrow.lib.ArrowException, OSError, ValueError, KeyError, MemoryError, OverflowError
        if isinstance(error, foreign):
            raise DataFileError(
                f"{self.source} is not a sound {self.kind} file: "
                f"{str(error).splitlines()[0][:200] if str(error) else kind.__name__}"
            ) from error


def _handle(source: Source, pyarrow: Any) -> Any:
    if source.path is not None and not source.compressed:
        return pyarrow.OSFile(str(source.path), "rb")
    return pyarrow.BufferReader(source.everything())


def _wanted(names: list[str], wish: Wish, source: str) -> list[str]:
    """Return the names of the columns to read, in the file's order."""
    if wish.features is None:
        return names
    target = target_column(names, wish.target, source)
    wanted = set(wish.features) | (set() if target is None else {names[target]})
    return [name for name in names if name in wanted]


def _batches(source: Source, wish: Wish, kind: str, rows: int | None) -> Iterator[Any]:
    """Yield record batches or tables; all rows at once if ``rows`` is None."""
    pyarrow = require("pyarrow", "files", WHAT[kind])
    with _Failures(source.name, kind, pyarrow):
        if kind == "parquet":
            parquet = require("pyarrow.parquet", "files", WHAT[kind])
            file = parquet.ParquetFile(_handle(source, pyarrow))
            names = list(file.schema_arrow.names)
            wanted = _wanted(names, wish, source.name)
            if rows is None:
                size = max(0, file.metadata.num_rows) * max(1, len(wanted)) * 8
                source.limits.check(size, size, source.name)
                yield file.read(columns=wanted)
            else:
                yield from file.iter_batches(batch_size=rows, columns=wanted)
            return
        if source.head.startswith(b"FEA1"):
            feather = require("pyarrow.feather", "files", WHAT[kind])
            table = feather.read_table(_handle(source, pyarrow), memory_map=False)
            yield from [table] if rows is None else table.to_batches(max_chunksize=rows)
            return
        file = pyarrow.ipc.open_file(_handle(source, pyarrow))
        kept: list[Any] = []
        for k in range(file.num_record_batches):
            batch = file.get_batch(k)
            batch.validate(full=True)
            if rows is None:
                size = sum(b.num_rows for b in kept) + batch.num_rows
                source.limits.check(size * 8 * batch.num_columns, size * 8 * batch.num_columns, source.name)
                kept.append(batch)
            else:
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)
        if rows is None:
            yield pyarrow.Table.from_batches(kept, schema=file.schema)


def _columns(batch: Any, wish: Wish, source: str) -> Columns:
    pyarrow = require("pyarrow", "files", "reading Parquet and Feather")
    types = pyarrow.types
    names = [str(name) for name in batch.schema.names]
    values = np.empty((batch.num_rows, len(names)))
    text: dict[int, np.ndarray] = {}
    for k, name in enumerate(names):
        column = batch.column(k)
        kind = column.type
        if types.is_dictionary(kind):
            kind = kind.value_type
            column = column.cast(kind)
        if types.is_date(kind) or types.is_timestamp(kind):  # text, as CSV files have them
            column, kind = column.cast(pyarrow.timestamp("s"), safe=False), pyarrow.string()
            column = column.cast(kind)
        number = (
            types.is_integer(kind)
            or types.is_floating(kind)
            or types.is_decimal(kind)
            or types.is_boolean(kind)
        )
        if wish.categorical is not None and name in wish.categorical and number:
            column, kind, number = _as_text(column, pyarrow), pyarrow.string(), False
        if number or types.is_null(kind):
            values[:, k] = _numbers(column, pyarrow)
        elif types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
            if wish.categorical is not None and name not in wish.categorical and name != wish.target:
                raise DataFileError(
                    f"{source}: column {name!r} is text, but is to hold numbers; name it in "
                    f"categorical= if it is text"
                )
            cells = np.empty(batch.num_rows, dtype=object)
            cells[:] = column.to_pylist()
            text[k] = cells
            values[:, k] = np.nan
        else:
            raise DataFileError(
                f"{source}: column {name!r} holds {kind}, which is neither number nor text: "
                f"convert or remove it"
            )
    return Columns(names, values, text)


def _as_text(column: Any, pyarrow: Any) -> Any:
    """Return numbers as text; True and False as Python, and so most CSV files, write them."""
    if pyarrow.types.is_boolean(column.type):
        return pyarrow.array([None if v is None else str(v) for v in column.to_pylist()], pyarrow.string())
    return column.cast(pyarrow.string())


def _numbers(column: Any, pyarrow: Any) -> np.ndarray:
    column = column.cast(pyarrow.float64(), safe=False)  # whole numbers above 2^53 are rounded, as in NumPy
    return np.asarray(
        column.to_numpy(zero_copy_only=False) if _is_array(column, pyarrow) else column.to_numpy()
    )


def _is_array(column: Any, pyarrow: Any) -> bool:
    return isinstance(column, pyarrow.Array)


def read_arrow(source: Source, wish: Wish, kind: str) -> Table:
    """Return all rows of a Parquet or Feather file."""
    (batch,) = _batches(source, wish, kind, None)
    if not batch.num_rows:
        raise DataFileError(f"{source.name} has no rows")
    return assemble(_columns(batch, wish, source.name), wish, source=source.name, format=kind)


def arrow_batches(source: Source, wish: Wish, kind: str, batch_rows: int) -> Iterator[Table]:
    """Yield some rows of a Parquet or Feather file at a time."""
    first = 0
    for batch in _batches(source, wish, kind, batch_rows):
        columns = _columns(batch, wish, source.name)
        yield assemble(columns, wish, source=source.name, format=kind, first_row=first)
        first += batch.num_rows
    if not first:
        raise DataFileError(f"{source.name} has no rows")
