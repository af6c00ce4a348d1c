"""Predictions as CSV or Parquet, a few rows at a time."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from mercer.cli.user_error import UserError
from mercer.cli.whole_files import whole_file
from mercer.io.extras import require


class Writer(Protocol):
    """Takes columns of equal length, always the same ones."""

    def write(self, columns: dict[str, np.ndarray]) -> None:
        """Write some rows."""


class CsvWriter:
    """Writes a header, then rows; numbers with all their digits."""

    def __init__(self, target: TextIO) -> None:
        self._rows = csv.writer(target, lineterminator="\n")
        self._begun = False

    def write(self, columns: dict[str, np.ndarray]) -> None:
        """Write some rows."""
        if not self._begun:
            self._rows.writerow(columns)
            self._begun = True
        self._rows.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))


class ParquetWriter:
    """Writes row groups."""

    def __init__(self, path: Path) -> None:
        self._arrow = require("pyarrow", "files", "Parquet")
        self._parquet = require("pyarrow.parquet", "files", "Parquet")
        self._path = path
        self._writer: Any = None

    def write(self, columns: dict[str, np.ndarray]) -> None:
        """Write some rows."""
        table = self._arrow.table({name: self._arrow.array(v.tolist()) for name, v in columns.items()})
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()


@contextmanager
def open_writer(output: str) -> Iterator[Writer]:
    """Open a writer for a file, by its ending; - is standard output."""
    if output == "-":
        yield CsvWriter(sys.stdout)
        return
    path = Path(output)
    parquet = path.suffix in (".parquet", ".pq")
    if not parquet and path.suffix not in (".csv", ".txt", ".out", ""):
        raise UserError(f"--output {output}: predictions are written as .csv or .parquet")
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(
            f"--output {output}: {'it is a folder' if path.is_dir() else 'there is no such folder'}"
        )
    with whole_file(path) as part, _writing(part, parquet) as writer:
        yield writer


@contextmanager
def _writing(path: Path, parquet: bool) -> Iterator[Writer]:
    if parquet:
        rows = ParquetWriter(path)
        try:
            yield rows
        finally:
            rows.close()
        return
    with path.open("w", encoding="utf-8", newline="") as target:
        yield CsvWriter(target)
