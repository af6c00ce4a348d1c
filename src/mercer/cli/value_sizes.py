"""Numbers that are too large or too small to compute with, told by column, row and value."""

from __future__ import annotations

import shlex

import numpy as np

from mercer.cli.user_error import UserError
from mercer.io import Table

LARGEST, SMALLEST = 1e150, 1e-150  # beyond, squares (of distances, of deviations) overflow, or are 0


def refuse_sizes(table: Table, learning: bool = False) -> None:
    """Refuse features whose squares are not numbers.

    Parameters
    ----------
    table : Table
        The features.
    learning : bool
        Whether to learn from them: then a column must not vanish in squares either.
    """
    if table.is_sparse:
        values = table.X.tocoo()
        _check(table, values.data, values.row, values.col, list(table.feature_names))
        return
    if not table.numeric:
        return
    numeric = list(table.numeric)
    X = np.asarray(table.X if isinstance(table.X, np.ndarray) else table.X[numeric].to_numpy(), dtype=float)
    rows, columns = np.nonzero(np.abs(X) > LARGEST)  # the few, if any: nan is none of them
    _check(table, X[rows, columns], rows, columns, numeric)
    if not learning:
        return
    for k, name in enumerate(numeric):
        most = float(np.nanmax(np.abs(X[:, k]), initial=0.0))
        if 0.0 < most < SMALLEST:
            raise UserError(
                f"column {name!r} of {table.source} has no value above {most:.3g} in size: squares of "
                f"numbers below {SMALLEST:g} are 0. Write it in a smaller unit (multiply it by "
                f"{_power(most, -1)}), or leave it out: --exclude {shlex.quote(name)}"
            )


def _check(table: Table, values: np.ndarray, rows: np.ndarray, columns: np.ndarray, names: list[str]) -> None:
    bad = np.flatnonzero(np.abs(values) > LARGEST)
    if not bad.size:
        return
    first = bad[np.lexsort((columns[bad], rows[bad]))[0]]
    name, value, row = names[columns[first]], float(values[first]), table.first_row + int(rows[first]) + 1
    if np.isinf(value):
        raise UserError(
            f"column {name!r} of {table.source} is infinite in row {row}: write a number, or leave the cell "
            "empty if there is none"
        )
    raise UserError(
        f"column {name!r} of {table.source} is {value:.3g} in row {row}: squares of numbers beyond "
        f"{LARGEST:g} overflow. Write it in a larger unit (divide it by {_power(value)}), or leave it out: "
        f"--exclude {shlex.quote(name)}"
    )


def _power(value: float, sign: int = 1) -> str:
    """Return the power of ten of a value's size, or its inverse."""
    return f"1e{sign * int(np.floor(np.log10(abs(value)))):+d}"


def refuse_target_sizes(y: np.ndarray, name: str) -> None:
    """Refuse a target of numbers whose squares are not numbers.

    Parameters
    ----------
    y : ndarray
        Finite numbers.
    name : str
        What to call them.
    """
    sizes = np.abs(np.asarray(y, dtype=np.float64))
    row = int(sizes.argmax())
    most = float(sizes[row])
    if most > LARGEST:
        raise UserError(
            f"the {name} is {float(y[row]):.3g} in row {row + 1}: squares of numbers beyond {LARGEST:g} "
            f"overflow. Write it in a larger unit: divide it by {_power(most)}"
        )
    if most < SMALLEST:
        raise UserError(
            f"the {name} has no value above {most:.3g} in size: squares of numbers below {SMALLEST:g} are 0. "
            f"Write it in a smaller unit: multiply it by {_power(most, -1)}"
        )
