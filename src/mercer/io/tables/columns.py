"""From columns to a table: which is the target, which are features, which are text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.extras import require
from mercer.io.tables.table import Table, whole
from mercer.words import did_you_mean, listed

MOSTLY = 0.75  # of a table's memory that its features must fill to stay where they are
FEW_ROWS = 4096  # moved at a time


@dataclass
class Columns:
    """The columns of a file before anyone has said what they are for.

    Attributes
    ----------
    names : list of str
        A name for each column.
    values : (n, d) float64
        The columns that are numbers; nan where a value is missing.
    text : dict of int to (n,) object array
        The columns that are text, by their number; None where a value is missing.
    named : bool
        Whether the names are the file's own.
    nameless : frozenset of int
        The columns that the row of names leaves without one.
    """

    names: list[str]
    values: np.ndarray
    text: dict[int, np.ndarray] = field(default_factory=dict)
    named: bool = True
    nameless: frozenset[int] = frozenset()

    def vacant(self) -> set[int]:
        """Return the columns with neither a name nor a value: separators at the end of lines make them."""
        return {k for k in self.nameless if k not in self.text and np.isnan(self.column(k)).all()}

    def column(self, k: int) -> np.ndarray:
        """Return a column of numbers."""
        column: np.ndarray = self.values[:, k]
        return column

    def together(self, chosen: list[int]) -> np.ndarray:
        """Return columns of numbers as one array; the others may be lost."""
        if chosen == list(range(chosen[0], chosen[0] + len(chosen))):
            return _closed_up(self.values, chosen[0], len(chosen))
        return np.ascontiguousarray(self.values[:, chosen])


@dataclass(frozen=True)
class Wish:
    """What the user asked for.

    Attributes
    ----------
    target : str, int or None
        Name or number of the target, "last", "first", or None for no target.
    features : sequence of str, optional
        Names of the features, in the wished order; all columns but the target if not given.
    categorical : sequence of str, optional
        Names of the columns that are text; found out by looking if not given.
    """

    target: str | int | None = "last"
    features: Sequence[str] | None = None
    categorical: Sequence[str] | None = None


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse two columns of one name."""
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise DataFileError(f"{source} has two columns named {listed(twice)}: names must differ")


def target_column(names: Sequence[str], target: str | int | None, source: str) -> int | None:
    """Return the number of the target column."""
    if target is None:
        return None
    if isinstance(target, str) and target in names:
        return list(names).index(target)
    if target in ("last", "first"):
        return len(names) - 1 if target == "last" else 0
    try:
        number = int(target)
    except ValueError:
        raise DataFileError(
            f"target={target!r}: {source} has no such column; its columns are {listed(names)}."
            + did_you_mean(target, names)
        ) from None
    if not -len(names) <= number < len(names):
        raise DataFileError(
            f"target={target!r}: {source} has {len(names)} columns, numbered from 0 to {len(names) - 1}"
        )
    return number % len(names)


def assemble(
    columns: Columns,
    wish: Wish,
    *,
    source: str,
    format: str,  # noqa: A002
    first_row: int = 0,
    complete: bool = False,
) -> Table:
    """Return the table that the user asked for.

    Parameters
    ----------
    columns : Columns
        What the file holds.
    wish : Wish
        What was asked for.
    source, format
        For messages and for the table.
    first_row : int
        Number of rows before these.
    complete : bool
        Whether these are all rows, so that a column without a value has none in the whole file.
    """
    names = columns.names
    check_names(names, source)
    vacant = columns.vacant() if complete else set()
    kept = [k for k in range(len(names)) if k not in vacant] or list(range(len(names)))
    target = target_column(names, wish.target, source)
    if wish.target == "last" and "last" not in names:
        target = kept[-1]
    if wish.features is None:
        chosen = [k for k in kept if k != target]
    else:
        position = {name: k for k, name in enumerate(names)}
        missing = [name for name in wish.features if name not in position]
        if missing:
            raise DataFileError(
                f"{source} has no column {listed(missing)}; its columns are {listed(names)}."
                + did_you_mean(missing[0], names)
            )
        chosen = [position[name] for name in wish.features]
    if not chosen:
        raise DataFileError(
            f"{source} has no column left for features beside the target {names[target or 0]!r}"
        )
    y = None if target is None else _target(columns, target, source, first_row)
    feature_names = tuple(names[k] for k in chosen)
    categories = {
        names[k]: tuple(sorted({v for v in columns.text[k] if v is not None}))
        for k in chosen
        if k in columns.text
    }
    return Table(
        X=_features(columns, chosen),
        y=y,
        feature_names=feature_names,
        target_name=None if target is None else names[target],
        categories=categories,
        format=format,
        source=source,
        first_row=first_row,
        named=columns.named,
    )


def _target(columns: Columns, target: int, source: str, first_row: int) -> np.ndarray:
    if target not in columns.text:
        return whole(np.ascontiguousarray(columns.column(target)))
    values = columns.text[target]
    absent = [r for r, v in enumerate(values) if v is None]
    if absent:
        raise DataFileError(
            f"{source}: the target {columns.names[target]!r} is missing in {len(absent)} "
            f"row{'s' if len(absent) != 1 else ''}, first in row {first_row + absent[0] + 1}: "
            "remove these rows, or choose another target"
        )
    return np.array(values.tolist(), dtype=np.str_)


def _features(columns: Columns, chosen: list[int]) -> Any:
    if not any(k in columns.text for k in chosen):
        return columns.together(chosen)
    text = listed([columns.names[k] for k in chosen if k in columns.text])
    pandas = require("pandas", "files", f"a table with text columns ({text})")
    data = {}
    for k in chosen:
        if k in columns.text:
            cells = columns.text[k].copy()
            cells[[cell is None for cell in cells]] = np.nan  # what scikit-learn's imputers take for missing
            data[columns.names[k]] = cells
        else:
            data[columns.names[k]] = columns.column(k)
    return pandas.DataFrame(data)


def _closed_up(values: np.ndarray, first: int, count: int) -> np.ndarray:
    """Return some neighbouring columns as an array of their own, in the same memory if they fill most of it.

    Fresh memory costs more than moving numbers; ``values`` is of no use afterwards.
    """
    n, columns = values.shape
    if (
        count == columns
        or count < MOSTLY * columns
        or not (values.flags.c_contiguous and values.flags.writeable)
    ):
        return np.ascontiguousarray(values[:, first : first + count])
    closed = values.reshape(-1)[: n * count].reshape(n, count)
    for s in range(0, n, FEW_ROWS):  # a row moves towards the beginning, over rows that have moved already
        closed[s : s + FEW_ROWS] = values[s : s + FEW_ROWS, first : first + count].copy()
    return closed
