"""A file's table made ready for a kernel, and what of that a model remembers."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from mercer.cli.options import IMPUTE
from mercer.cli.text_columns import check_texts
from mercer.cli.user_error import UserError
from mercer.cli.value_sizes import refuse_sizes
from mercer.io import Table
from mercer.io.model.training_data import fitted_part
from mercer.selection.preparation import Prepared, prepare
from mercer.words import listed


def features_of(table: Table) -> Any:
    """Return the features as they are given to fit: a data frame where columns have names of their own."""
    if table.is_sparse or not isinstance(table.X, np.ndarray) or not table.named:
        return table.X
    return table.frame()


def prepare_table(table: Table, scale: bool, impute: str, dates: bool) -> Prepared:
    """Return the preparation of a table's features, or say what stands in its way."""
    missing = table.n_missing()
    if impute not in IMPUTE:
        raise UserError(f"--impute {impute} is invalid; choose one of {', '.join(IMPUTE)}")
    check_texts(table)
    refuse_sizes(table, learning=True)
    empty = [name for name, count in missing.items() if count == table.n_rows]
    if empty:
        leave = " ".join(f"--exclude {shlex.quote(name)}" for name in empty)
        raise UserError(f"{table.source} has no values in column {listed(empty)}. Drop it: {leave}")
    if missing and impute == "none":
        worst = sorted(missing, key=lambda name: -missing[name])
        counts = ", ".join(f"{name!r} in {missing[name]}" for name in worst[:5])
        more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
        raise UserError(
            f"{table.source} has missing values ({counts}{more} of {table.n_rows} rows): give --impute "
            "median to replace them, or remove these rows"
        )
    said = []
    if table.encoding != "utf-8":
        said.append(f"text encoding {table.encoding}")
    if table.decimal != ".":
        said.append(f"decimal separator {table.decimal!r}")
    constant = constant_columns(table)
    if len(constant) == table.n_features:
        raise UserError(f"every feature of {table.source} is constant: there is nothing to learn from")
    if constant:
        said.append(f"constant columns, not informative: {listed(constant)}")
    made = prepare(features_of(table), scale=scale, impute=impute, dates=dates)
    return replace(made, said=said + made.said)


def constant_columns(table: Table) -> list[str]:
    """Return the names of the features that have one value only."""
    if table.is_sparse or table.n_rows < 2:
        return []
    same = [len(table.categories[name]) == 1 for name in table.categorical]
    found = {name for name, one in zip(table.categorical, same, strict=True) if one}
    numeric = list(table.numeric)
    if numeric:
        X = table.X if isinstance(table.X, np.ndarray) else table.X[numeric].to_numpy()
        found |= {name for name, one in zip(numeric, (X[:1] == X).all(axis=0), strict=True) if one}
    return [name for name in table.feature_names if name in found]


def text_columns(model: Any) -> list[str]:
    """Return the names of the columns that a prepared model takes as text."""
    kernel = getattr(fitted_part(model), "kernel_", None)
    if kernel is not None and kernel.reads_columns and not kernel.is_vector:  # sequences, as they are
        return [str(name) for name in model.feature_names_in_]
    return [name for part, _, names in _parts(model) if part in ("text", "dates") for name in names]


def known_texts(model: Any) -> dict[str, set[str]]:
    """Return the texts that a prepared model learned from, by column."""
    for part, step, names in _parts(model):
        encoder = step[-1] if isinstance(step, Pipeline) else step
        if part == "text" and isinstance(encoder, OneHotEncoder):
            return {
                name: {kind for kind in kinds if isinstance(kind, str)}
                for name, kinds in zip(names, encoder.categories_, strict=True)
            }
    return {}


def takes_gaps(model: Any, name: str) -> bool:
    """Return whether a prepared model knows what to do about a missing value of a column."""
    for part, step, names in _parts(model):
        if name not in names:
            continue
        if part == "text":
            encoder = step[-1] if isinstance(step, Pipeline) else step
            kinds = encoder.categories_[list(names).index(name)]
            return isinstance(step, Pipeline) or any(not isinstance(kind, str) for kind in kinds)
        return part == "dates" or "SimpleImputer" in repr(step)
    return "SimpleImputer" in repr(getattr(model, "steps", ""))


def _parts(model: Any) -> list[Any]:
    first = model[0] if isinstance(model, Pipeline) else None
    return list(first.transformers_) if isinstance(first, ColumnTransformer) else []
