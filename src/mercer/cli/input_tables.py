"""Reading tables as the command's options ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.cli.option_groups import Reading
from mercer.cli.user_error import UserError
from mercer.io import Table, read_data
from mercer.words import did_you_mean, listed


def target_of(text: str) -> str | int | None:
    """Return a target as the readers know it."""
    if text.lower() == "none":
        return None
    return int(text) if text.lstrip("-").isdigit() else text


def read_table(data: str, target: str, how: Reading, exclude: list[str] | None = None) -> Table:
    """Read a whole table without the excluded columns."""
    table = read_data(data, target=target_of(target), **how.options())
    if table.n_rows == 0:
        raise UserError(f"{table.source} has no rows")
    if exclude:
        unknown = [name for name in exclude if name not in set(table.feature_names)]
        if table.target_name in unknown:
            raise UserError(f"--exclude {table.target_name!r}: it is the target; choose another by --target")
        if unknown:
            known = listed(tuple(table.feature_names))
            near = did_you_mean(unknown[0], table.feature_names)
            raise UserError(f"--exclude {unknown[0]!r}: the features of {table.source} are {known}.{near}")
        if len(set(exclude)) == table.n_features:
            raise UserError(f"--exclude leaves no feature of {table.source} to learn from")
        table = table.select([name for name in table.feature_names if name not in set(exclude)])
    return table


def words_of_names(table: Table, how: Reading) -> list[str]:
    """Return what is to say if the first row of a CSV file was taken for data, as nobody had said."""
    if table.format != "csv" or table.named or how.header is not None:
        return []
    return [
        "the first row contains numbers and is taken as data; columns are named x0, x1, ... "
        "(use --header if it holds the column names)"
    ]


def split_weights(table: Table, column: str | None) -> tuple[Table, np.ndarray | None]:
    """Take the weights out of a table's columns."""
    if column is None:
        return table, table.sample_weight
    if column not in set(table.feature_names):
        known = listed(tuple(table.feature_names))
        near = did_you_mean(column, table.feature_names)
        raise UserError(f"--weights {column!r}: the columns of {table.source} are {known}.{near}")
    if column in table.categories:
        raise UserError(f"--weights {column!r}: weights must be numbers, the column is text")
    position = list(table.feature_names).index(column)
    values = table.X[column].to_numpy() if hasattr(table.X, "iloc") else table.X[:, position]
    weight = np.asarray(values.toarray().ravel() if hasattr(values, "toarray") else values, dtype=float)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise UserError(f"--weights {column!r}: weights must be finite and not negative")
    kept = table.select([name for name in table.feature_names if name != column])
    return replace(kept, sample_weight=weight), weight
