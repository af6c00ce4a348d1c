"""Tables whose one column holds graphs or time series."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.extras import require
from mercer.io.graphs import read_graphs
from mercer.io.opening import memory_share
from mercer.io.tables.columns import Wish
from mercer.io.tables.encodings import as_utf8
from mercer.io.tables.file_bytes import SizeLimits, Source
from mercer.io.tables.item_files import as_labels, file_text
from mercer.io.tables.table import Table
from mercer.words import listed


@dataclass(frozen=True, eq=False)
class SeriesTable:
    """Time series, with the target where there is one.

    Attributes
    ----------
    X : list of ndarrays of shape (times, channels)
        The series.
    y : ndarray of shape (n,) or None
        The target.
    name : str
        Of the data set.
    """

    X: list[np.ndarray]
    y: np.ndarray | None
    name: str

    def __len__(self) -> int:
        return len(self.X)


def parse_series(text: str, source: str) -> SeriesTable:
    """Return the series of a file in the ``.ts`` format of the UCR and UEA archives."""
    header: dict[str, list[str]] = {}
    series: list[np.ndarray] = []
    labels: list[str] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if not inside:
            if not line.startswith("@"):
                raise DataFileError(f"{source}, line {number}: {line[:30]!r} stands before '@data'")
            key, *values = line[1:].split()
            header[key.lower()] = values
            inside = key.lower() == "data"
            continue
        *channels, last = line.split(":")
        if _labelled(header):
            labels.append(last.strip())
        else:
            channels.append(last)
        try:
            series.append(_points(channels))
        except ValueError as error:
            raise DataFileError(f"{source}, line {number}: {error}") from None
    if not inside:
        raise DataFileError(f"{source} has no line '@data': it is not a .ts file of time series")
    if header.get("timestamps", ["false"])[0].lower() == "true":
        raise DataFileError(f"{source} has a time stamp for each value: only evenly spaced series are read")
    name = " ".join(header.get("problemname", [])) or Path(source).stem
    return SeriesTable(series, as_labels(labels) if labels else None, name)


def _labelled(header: dict[str, list[str]]) -> bool:
    """Return whether each line ends with a class or with a number to predict."""
    said = [header.get(key, ["false"])[0] for key in ("classlabel", "targetlabel")]
    return any(word.lower() == "true" for word in said)


def _points(channels: Sequence[str]) -> np.ndarray:
    """Return a series from the texts of its channels; padding at the end is left out."""
    if not channels:
        raise ValueError("there is a label and no series")
    columns = []
    for text in channels:
        values = [value.strip() for value in text.split(",")] if text.strip() else []
        while values and values[-1] in ("?", "NaN", "nan"):
            values.pop()
        if "?" in values:
            raise ValueError(f"the value at time {values.index('?')} is missing: impute it")
        columns.append([float(value) for value in values])
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        raise ValueError(f"channels have {' and '.join(map(str, lengths))} values; they must agree")
    return np.array(columns, dtype=np.float64).T.reshape(len(columns[0]), len(columns))


def read_series(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    max_bytes: int | None = None,
    max_expansion: float = 200.0,
) -> SeriesTable:
    """Read time series from a ``.ts`` file of the UCR and UEA archives, plain or compressed by gzip.

    Each line behind ``@data`` is a series: values with commas between them, channels with colons, and at the
    end the class or the number to predict, if the header says that there is one. ``?`` at the end of a series
    is padding. Lengths may differ.

    Parameters
    ----------
    path : str or path
        The file; "-" for standard input.
    encoding, max_bytes, max_expansion
        As for `read_data`.

    Returns
    -------
    SeriesTable
        Series and target.
    """
    limits = SizeLimits(memory_share() if max_bytes is None else max_bytes, max_expansion)
    with Source(path, limits) as file:
        source = as_utf8(file, encoding)
        return parse_series(file_text(source), source.name)


def series_table(source: Source, wish: Wish) -> Table:
    """Return the table of an open ``.ts`` file: one column of series, and the target."""
    found = parse_series(file_text(source), source.name)
    return _table(found.X, found.y, "series", "ts", source.name, wish)


def graph_table(path: str | os.PathLike[str], wish: Wish) -> Table:
    """Return the table of a folder of graphs: one column of graphs, and the target."""
    found = read_graphs(path)
    return _table(found.X, found.y, "graph", "graphs", os.fspath(path), wish)


def _table(items: list[Any], y: np.ndarray | None, column: str, kind: str, source: str, wish: Wish) -> Table:
    if wish.features is not None and list(wish.features) != [column]:
        raise DataFileError(f"{source} has one column, {column!r}; asked for: {listed(wish.features)}")
    if wish.target is not None and wish.target not in ("last", "first", "class"):
        raise DataFileError(f"target={wish.target!r}: {source} has one target; leave it out, or name none")
    pandas = require("pandas", "files", f"a column of {'graphs' if kind == 'graphs' else 'time series'}")
    cells = np.empty(len(items), dtype=object)
    cells[:] = items
    frame = pandas.DataFrame({column: cells})
    y = None if wish.target is None else y
    name = None if y is None else "class"
    return Table(frame, y, (column,), name, categories={column: ()}, format=kind, source=source)
