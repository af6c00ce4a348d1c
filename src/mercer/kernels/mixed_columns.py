"""Tables whose columns hold items of any kind: numbers, strings, trees, graphs."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mercer.arrays import Float64


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """A table in canonical form, for kernels that see some of its columns.

    Rows are taken as of an array: ``table[idx]``, ``table[2:5]``.

    Attributes
    ----------
    rows : int
        Their number.
    names : tuple of str or None
        What the columns are called; None if they have numbers only.
    columns : tuple
        Of each column a float64 array, a list of items, or None where no kernel looks.
    """

    rows: int
    names: tuple[str, ...] | None
    columns: tuple[Any, ...]

    def __post_init__(self) -> None:
        sound = isinstance(self.columns, tuple) and type(self.rows) is int and self.rows >= 0
        if self.names is not None:
            sound = sound and isinstance(self.names, tuple) and len(self.names) == len(self.columns)
            sound = sound and all(isinstance(name, str) for name in self.names)
        for column in self.columns if sound else ():
            numbers = isinstance(column, np.ndarray) and column.dtype == np.float64 and column.ndim == 1
            sound = sound and (column is None or numbers or isinstance(column, list))
            sound = sound and (column is None or len(column) == self.rows)
        if not sound:
            raise ValueError("the columns of a table do not fit together")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.rows, len(self.columns)

    @property
    def ndim(self) -> int:
        """Two, as of any table."""
        return 2

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, idx: Any) -> MixedColumns:
        """Return some rows."""
        where = np.arange(self.rows)[idx]
        numbers = where.tolist()
        columns = tuple(
            column[where] if isinstance(column, np.ndarray) else None if column is None
            else [column[i] for i in numbers]
            for column in self.columns
        )  # fmt: skip
        return MixedColumns(len(numbers), self.names, columns)

    def only(self, wanted: set[int]) -> MixedColumns:
        """Return the same table without the contents of all other columns."""
        kept = tuple(column if j in wanted else None for j, column in enumerate(self.columns))
        return MixedColumns(self.rows, self.names, kept)

    def label(self, number: int) -> str:
        """Return what a column is called in messages."""
        return repr(self.names[number]) if self.names is not None else f":, {number}"

    def is_number(self, number: int) -> bool:
        """Return whether a column holds numbers only."""
        return isinstance(self.columns[number], np.ndarray)

    def numbers(self, chosen: Any) -> Float64:
        """Return columns of numbers as an array with a row for each of the table's."""
        return np.column_stack([self.columns[j] for j in chosen])


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame of pandas or polars."""
    return hasattr(X, "iloc") or (hasattr(X, "get_columns") and hasattr(X, "to_series"))


def has_columns(X: Any) -> bool:
    """Return whether X is a table that may hold more than numbers."""
    if isinstance(X, MixedColumns):
        return True
    if is_frame(X):
        return getattr(X, "ndim", 2) == 2
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS"


def mixed_columns(X: Any) -> MixedColumns:
    """Return a table, as `has_columns` tells them, in canonical form."""
    if isinstance(X, MixedColumns):
        return X
    if isinstance(X, np.ndarray):
        return MixedColumns(X.shape[0], None, tuple(_column(X[:, j].tolist()) for j in range(X.shape[1])))
    columns = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else X.get_columns()
    names = list(X.columns)
    named = all(isinstance(name, str) for name in names)
    return MixedColumns(int(X.shape[0]), tuple(names) if named else None, tuple(map(_of_frame, columns)))


def _of_frame(series: Any) -> Any:
    """Return one column of a data frame."""
    kind = getattr(series.dtype, "kind", "")
    if kind in tuple("biuf") or (hasattr(series.dtype, "is_numeric") and series.dtype.is_numeric()):
        if hasattr(series, "iloc"):
            return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.array(series.to_numpy(), dtype=np.float64)
    return _column(series.tolist() if hasattr(series, "tolist") else series.to_list())


def _column(items: list[Any]) -> Any:
    if items and all(isinstance(item, Real) for item in items):
        return np.array(items, dtype=np.float64)
    return items
