"""One door for all data files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mercer.gram import Workers, resolve_threads
from mercer.io.errors import DataFileError
from mercer.io.opening import memory_share
from mercer.io.tables.arff import arff_batches, read_arff
from mercer.io.tables.bundled import BUNDLED, read_bundled
from mercer.io.tables.columns import Wish, assemble
from mercer.io.tables.decimal_commas import PointedSource, separator_beside_commas
from mercer.io.tables.delimited import DelimitedReader
from mercer.io.tables.delimited_files import delimited_batches, read_delimited
from mercer.io.tables.dialect import sniff
from mercer.io.tables.encodings import as_utf8
from mercer.io.tables.file_bytes import SizeLimits, Source
from mercer.io.tables.formats import BINARY, FORMATS, detect
from mercer.io.tables.item_files import read_items
from mercer.io.tables.not_a_table import refuse_foreign
from mercer.io.tables.npz import read_npz
from mercer.io.tables.object_tables import graph_table, series_table
from mercer.io.tables.parquet_feather import arrow_batches, read_arrow
from mercer.io.tables.svmlight import read_svmlight, svmlight_batches
from mercer.io.tables.table import Table

EXPANSION = 200.0


def _open(path: Any, max_bytes: int | None, max_expansion: float) -> Source:
    limits = SizeLimits(memory_share() if max_bytes is None else max_bytes, max_expansion)
    return Source(path, limits)


def _bundled(path: Any, format: str | None) -> str | None:  # noqa: A002
    name = os.fspath(path)
    if isinstance(name, str) and name in BUNDLED and format is None and not Path(name).exists():
        return name
    return None


def _check_format(format: str | None) -> None:  # noqa: A002
    if format is not None and format not in FORMATS:
        raise DataFileError(f"format={format!r} is invalid; choose one of {', '.join(FORMATS)}")


def read_data(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = "last",
    features: Sequence[str] | None = None,
    categorical: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002
    header: bool | str = "auto",
    separator: str | None = None,
    decimal: str = "auto",
    encoding: str = "utf-8",
    zero_based: bool | str = "auto",
    n_features: int | None = None,
    max_bytes: int | None = None,
    max_expansion: float = EXPANSION,
    n_jobs: int | None = None,
) -> Table:
    """Read a table from a file: CSV, Parquet, Feather, svmlight/LIBSVM, ARFF, NPZ, FASTA, ts, also gzipped.

    The table of a ``.ts`` file has one column of time series (see `read_series`), that of a folder in the
    layout of TUDataset one column of graphs (see `read_graphs`).

    Numbers in text are read to the last bit: each is the float64 nearest to what is written. Nothing that a
    file says of its own size is believed before it is checked.

    Parameters
    ----------
    path : str or path
        A file, a folder of graphs, "-" for standard input, or the name of a data set that comes with
        scikit-learn ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud").
    target : str, int or None, default="last"
        Name or number of the target column, "last" or "first"; None for no target. Formats that mark their
        target themselves (svmlight, NPZ with y, the named data sets) use it for "last" and "first". For FASTA
        and lines see `read_fasta`: an entry of the headers, "re:" and a pattern, or a file of labels.
    features : sequence of str, optional
        Which columns to read as features, in this order; all but the target if not given.
    categorical : sequence of str, optional
        Names of the columns that are text; all others must be numbers then. If not given, a column is text
        when one of its cells is no number.
    format : str, optional
        "csv", "parquet", "feather", "svmlight", "arff", "npz", "fasta", "lines", "ts" or "graphs"; found from
        the file's first bytes and its name if not given.
    header : bool or "auto", default="auto"
        Whether the first row of a CSV file holds names; "auto" takes it for names unless one of its cells is
        a number.
    separator : str, optional
        What separates the cells of a CSV file; found in the first row if not given. A space stands for any
        run of spaces.
    decimal : {"auto", ".", ","}, default="auto"
        The decimal point of a CSV file. "auto" takes the comma for it where something else separates the
        cells and a column of the first lines holds nothing but numbers, some of them with a comma. With a
        comma, points group the thousands: ``1.234,5`` is 1234.5.
    encoding : str, default="utf-8"
        How the letters of a text file (CSV, ARFF, svmlight) are written, by any name that Python knows:
        "cp1252" is usual for files of Western Windows programs. UTF-16 and UTF-32 that begin with their mark
        are recognised.
    zero_based : bool or "auto", default="auto"
        Whether the indices of an svmlight file start at 0; "auto" says so if one of them is 0.
    n_features : int, optional
        Number of features of an svmlight file, if it is known to be larger than the largest index.
    max_bytes : int, optional
        Most bytes of content (after expansion) to read; half of the machine's memory if not given.
    max_expansion : float, default=200
        Most that a compressed file may grow by, above 64 MB.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    Table
        Features, target, names.

    Examples
    --------
    >>> import mercer.io
    >>> table = mercer.io.read_data("iris")
    >>> table.X.shape, table.feature_names[0], str(table.y[0])
    ((150, 4), 'sepal length (cm)', 'setosa')
    """
    _check_format(format)
    wish = Wish(target, features, categorical)
    name = _bundled(path, format)
    if name is not None:
        return read_bundled(name, wish)
    if _is_folder(path, format):
        return graph_table(path, wish)
    with _open(path, max_bytes, max_expansion) as file:
        source, kind = _decoded(file, format, encoding)
        workers = Workers(resolve_threads(n_jobs))
        if kind == "svmlight":
            table = read_svmlight(source, workers, zero_based, n_features, target is not None)
            return table if features is None else table.select(features)
        if kind == "npz":
            return read_npz(source, wish)
        if kind in ("fasta", "lines"):
            return read_items(source, kind, wish)
        if kind == "ts":
            return series_table(source, wish)
        if kind == "arff":
            return read_arff(source, wish, workers.threads)
        if kind in ("parquet", "feather"):
            return read_arrow(source, wish, kind)
        text, separator = _pointed(source, separator, decimal)
        dialect = sniff(text.head, separator, header, source.name)
        reader = DelimitedReader(dialect, source.name, workers.threads, categorical, target)
        columns = read_delimited(text, reader)
        table = assemble(columns, wish, source=source.name, format="csv", complete=True)
        return replace(table, decimal="." if text is source else ",", encoding=source.encoding)


def read_batches(
    path: str | os.PathLike[str],
    *,
    batch_rows: int = 65536,
    target: str | int | None = None,
    features: Sequence[str] | None = None,
    categorical: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002
    header: bool | str = "auto",
    separator: str | None = None,
    decimal: str = "auto",
    encoding: str = "utf-8",
    zero_based: bool | str = "auto",
    n_features: int | None = None,
    max_bytes: int | None = None,
    max_expansion: float = EXPANSION,
    n_jobs: int | None = None,
) -> Iterator[Table]:
    """Read a file in batches of rows, in constant memory for CSV, svmlight, ARFF, Parquet and Feather.

    Parameters
    ----------
    path, features, format, header, separator, decimal, encoding, n_features, max_bytes, max_expansion, n_jobs
        As for `read_data`.
    batch_rows : int, default=65536
        Most rows of a batch.
    target : str, int or None, default=None
        As for `read_data`; new rows to predict have none as a rule.
    categorical : sequence of str, optional
        Names of the text columns. If not given, the first batch decides, and text in a later batch of a
        column that held numbers is an error.
    zero_based : bool or "auto", default="auto"
        For svmlight files; "auto" looks at the first batch only.

    Yields
    ------
    Table
        ``first_row`` says how many rows came before.

    Examples
    --------
    >>> import mercer.io
    >>> [batch.n_rows for batch in mercer.io.read_batches("iris", batch_rows=100)]
    [100, 50]
    """
    _check_format(format)
    if batch_rows < 1:
        raise DataFileError(f"batch_rows={batch_rows} must be at least 1")
    wish = Wish(target, features, categorical)
    name = _bundled(path, format)
    if name is not None:
        yield from _slices(read_bundled(name, wish), batch_rows)
        return
    if _is_folder(path, format):
        yield from _slices(graph_table(path, wish), batch_rows)
        return
    with _open(path, max_bytes, max_expansion) as file:
        source, kind = _decoded(file, format, encoding)
        workers = Workers(resolve_threads(n_jobs))
        if kind == "npz":
            yield from _slices(read_npz(source, wish), batch_rows)
        elif kind in ("fasta", "lines"):
            yield from _slices(read_items(source, kind, wish), batch_rows)
        elif kind == "ts":
            yield from _slices(series_table(source, wish), batch_rows)
        elif kind == "svmlight":
            for table in svmlight_batches(
                source, workers, zero_based, n_features, target is not None, batch_rows
            ):
                yield table if features is None else table.select(features)
        elif kind in ("parquet", "feather"):
            yield from arrow_batches(source, wish, kind, batch_rows)
        elif kind == "arff":
            yield from arff_batches(source, wish, workers.threads, batch_rows)
        else:
            text, separator = _pointed(source, separator, decimal)
            dialect = sniff(text.head, separator, header, source.name)
            reader = DelimitedReader(dialect, source.name, workers.threads, categorical)
            first = 0
            for columns in delimited_batches(text, reader, batch_rows):
                yield assemble(columns, wish, source=source.name, format="csv", first_row=first)
                first += columns.values.shape[0]


def _is_folder(path: str | os.PathLike[str], format: str | None) -> bool:  # noqa: A002
    """Return whether the rows are the graphs of a folder."""
    return format == "graphs" or (format is None and Path(path).is_dir())


def _decoded(file: Source, format: str | None, encoding: str) -> tuple[Source, str]:  # noqa: A002
    """Return a file, as UTF-8 if it is text, and its format."""
    kind = format or detect(file.head, file.name)
    if format is None:
        refuse_foreign(file.head, file.name)
    if kind in BINARY:
        return file, kind
    source = as_utf8(file, encoding)
    if format is None and source is not file:
        refuse_foreign(source.head, file.name)
        kind = detect(source.head, file.name)
    return source, kind


def _pointed(source: Source, separator: str | None, decimal: str) -> tuple[Source, str | None]:
    """Return a CSV file as one with decimal points, and its separator if that is known."""
    if decimal not in ("auto", ".", ","):
        raise DataFileError(f"decimal={decimal!r} must be 'auto', '.' or ','")
    if decimal == ".":
        return source, separator
    found = separator_beside_commas(source.head, separator)
    if decimal == "," and found is None:
        found = separator or sniff(source.head.replace(b",", b""), None, True, source.name).separator
        if found == ",":
            raise DataFileError(f"decimal=',': {source.name} cannot have commas between its cells, too")
    return (source, separator) if found is None else (PointedSource(source, found), found)


def _slices(table: Table, rows: int) -> Iterator[Table]:
    def part(values: Any, start: int) -> Any:
        return None if values is None else values[start : start + rows]

    for start in range(0, table.n_rows, rows):
        yield replace(
            table,
            X=part(table.X, start),
            y=part(table.y, start),
            query=part(table.query, start),
            sample_weight=part(table.sample_weight, start),
            first_row=start,
        )
