"""The rows that can be made of one row by changing some of its columns, and how far they are from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.inspect.tables import Table


class ChangedRows:
    """A row whose columns may change between the smallest and largest value in some data.

    A row is a vector of numbers here; values that are not numbers are numbered.

    Parameters
    ----------
    table : Table
        The row.
    data : Table
        Rows that give ranges, units and values.
    free : list of int
        The columns that may change.

    Attributes
    ----------
    x : (d,) float64
        The row.
    rows : (n, d) float64
        The data.
    text : (d,) bool
        Columns that are not numbers.
    whole : (d,) bool
        Columns that hold whole numbers only.
    free : (d,) bool
        Columns that may change; never one whose value is missing in the row.
    unit : (d,) float64
        Standard deviations; 1 for text.
    low, high : (d,) float64
        Ranges of the data, widened to hold the row.
    """

    def __init__(self, table: Table, data: Table, free: list[int]) -> None:
        d = table.d
        self._table, self._values = table, list[Any]()
        self.x, self.rows = np.empty(d), np.empty((data.n, d))
        self.text, self.free = np.zeros(d, dtype=bool), np.zeros(d, dtype=bool)
        for j in range(d):
            own, other = np.asarray(table.column(j)), np.asarray(data.column(j))
            if own.dtype.kind in "biuf" and other.dtype.kind in "biuf":
                self.x[j], self.rows[:, j] = own[0], other
                self._values.append(None)
                continue
            self.text[j] = True
            known: dict[Any, int] = {}
            codes = [
                np.nan if _missing(v) else known.setdefault(v, len(known)) for v in [own[0], *other.tolist()]
            ]
            self.x[j], self.rows[:, j] = codes[0], codes[1:]
            self._values.append(np.array([*known, None], dtype=object))
        self.free[free] = True
        self.free &= ~np.isnan(self.x)
        self.rows = self.rows[~np.isnan(self.rows[:, self.free]).any(axis=1)]
        self.rows[:, ~self.free] = self.x[~self.free]
        every = np.vstack([self.rows, self.x])
        self.low, self.high = every.min(axis=0), every.max(axis=0)
        deviation = self.rows.std(axis=0) if len(self.rows) else np.ones(d)
        self.unit = np.where(self.text | ~(deviation > 0), 1.0, deviation)
        self.whole = ~self.text & (np.round(every) == every).all(axis=0)

    def built(self, Z: Float64) -> Any:
        """Return rows as the model takes them."""
        if not self._table.frame and not self.text.any():
            return Z
        cells = [self._cells(j, Z[:, j]) for j in range(Z.shape[1])]
        if not self._table.frame:
            return np.array(cells, dtype=object).T
        out = self._table.X.iloc[np.zeros(len(Z), dtype=np.intp)].reset_index(drop=True)
        for j in np.flatnonzero((self.x != Z).any(axis=0) & self.free):
            out.isetitem(int(j), cells[j])
        return out

    def value(self, j: int, number: float) -> Any:
        """Return a value as the user knows it."""
        return self._cells(j, np.array([number]))[0]

    def _cells(self, j: int, numbers: Float64) -> np.ndarray:
        if not self.text[j]:
            whole = self.whole[j] and bool((np.round(numbers) == numbers).all())
            return numbers.astype(np.int64) if whole else numbers
        codes = np.where(np.isnan(numbers), len(self._values[j]) - 1, numbers)
        return np.asarray(self._values[j][codes.astype(np.intp)])

    def costs(self, Z: Float64) -> Float64:
        """Return the change of each column, in units: standard deviations, or 1 for another text."""
        away = np.abs(Z - self.x) / self.unit
        return np.where(np.isnan(away), 0.0, np.where(self.text, away > 0, away))

    def distance(self, z: Float64) -> float:
        """Return the sum of all changes."""
        return float(self.costs(z[None])[0].sum())


def _missing(value: Any) -> bool:
    return value is None or bool(value != value)  # NaN and NaT differ from themselves
