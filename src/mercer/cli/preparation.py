"""From a table to numbers that a kernel can compare: scaling, encoding, imputing, each said aloud."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from mercer.cli.options import IMPUTE
from mercer.cli.task_choice import counted
from mercer.cli.text_columns import check_texts
from mercer.cli.user_error import UserError
from mercer.cli.value_sizes import refuse_sizes
from mercer.io import Table
from mercer.io.tables.table import listed


@dataclass(frozen=True)
class Preparation:
    """The steps before the machine.

    Attributes
    ----------
    steps : list of (str, transformer)
        For a pipeline.
    said : list of str
        What they do, in words.
    """

    steps: list[tuple[str, Any]]
    said: list[str]

    def pipeline(self, machine: Any) -> Pipeline:
        """Return the steps with a machine at their end."""
        return Pipeline([*self.steps, ("machine", machine)])


def features_of(table: Table) -> Any:
    """Return the features as they are given to fit: a data frame where columns have names of their own."""
    if table.is_sparse or not isinstance(table.X, np.ndarray) or not table.named:
        return table.X
    return table.frame()


def prepare(table: Table, scale: bool, impute: str | None) -> Preparation:
    """Return the preparation of a table's features."""
    missing = table.n_missing()
    if impute is not None and impute not in IMPUTE:
        raise UserError(f"--impute {impute} is not known; it must be one of {', '.join(IMPUTE)}")
    check_texts(table)
    refuse_sizes(table, learning=True)
    empty = [name for name, count in missing.items() if count == table.n_rows]
    if empty:
        leave = " ".join(f"--exclude {shlex.quote(name)}" for name in empty)
        raise UserError(f"{table.source} has no value at all in column {listed(empty)}. Leave out: {leave}")
    if missing and impute is None:
        worst = sorted(missing, key=lambda name: -missing[name])
        counts = ", ".join(f"{name!r} in {missing[name]}" for name in worst[:5])
        more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
        raise UserError(
            f"{table.source} has missing values ({counts}{more} of {table.n_rows} rows): give --impute "
            "median to fill them in, or remove them"
        )
    if table.is_sparse:
        return _sparse(table, scale, impute if missing else None)
    said = []
    if table.encoding != "utf-8":
        said.append(f"read the letters as {table.encoding}")
    if table.decimal != ".":
        said.append(f"read {table.decimal!r} as the decimal point")
    constant = constant_columns(table)
    if len(constant) == table.n_features:
        raise UserError(f"every feature of {table.source} has one value only: there is nothing to learn from")
    if constant:
        said.append(f"one value only, so nothing to learn from: {listed(constant)}")
    numeric, text = list(table.numeric), list(table.categorical)
    numbers = _numbers(scale, impute if any(name in missing for name in numeric) else None)
    if numeric and scale:
        said.append(f"standardised {counted(len(numeric), 'numeric column')} (mean 0, deviation 1)")
    for names, by in ((numeric, impute), (text, "most frequent text")):
        gaps = [name for name in names if name in missing]
        if gaps:
            said.append(f"filled in missing values of {listed(gaps)} by {by}")
    if not text:
        return Preparation(numbers, said)
    values = sum(len(table.categories[name]) for name in text)
    before, after = counted(len(text), "text column"), counted(values, "column")
    said.append(f"encoded {before} as {after} of 0 and 1: {listed(text)}")
    one_hot: list[tuple[str, Any]] = [("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False))]
    if any(name in missing for name in text):
        one_hot.insert(0, ("impute", SimpleImputer(strategy="most_frequent")))
    columns = [("text", _joined(one_hot), text)]
    if numeric:
        columns.insert(0, ("numbers", _joined(numbers), numeric))
    return Preparation([("prepare", ColumnTransformer(columns, verbose_feature_names_out=False))], said)


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


def _numbers(scale: bool, impute: str | None) -> list[tuple[str, Any]]:
    steps: list[tuple[str, Any]] = []
    if impute == "zero":
        steps.append(("impute", SimpleImputer(strategy="constant", fill_value=0.0)))
    elif impute is not None:
        steps.append(("impute", SimpleImputer(strategy=impute)))
    if scale:
        steps.append(("scale", StandardScaler()))
    return steps


def _sparse(table: Table, scale: bool, impute: str | None) -> Preparation:
    steps, said = [s for s in _numbers(False, impute)], []  # noqa: C416
    if impute:
        said.append(f"filled in missing values by {impute}")
    if scale:
        steps.append(("scale", MaxAbsScaler()))
        said.append(f"scaled {table.n_features} sparse columns to at most 1 in size (zeros stay zeros)")
    return Preparation(steps, said)


def _joined(steps: list[tuple[str, Any]]) -> Any:
    if not steps:
        return "passthrough"
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


def text_columns(model: Any) -> list[str]:
    """Return the names of the columns that a prepared model takes as text."""
    first = model[0] if isinstance(model, Pipeline) else None
    if not isinstance(first, ColumnTransformer):
        return []
    return [name for part, _, names in first.transformers_ if part == "text" for name in names]


def known_texts(model: Any) -> dict[str, set[str]]:
    """Return the texts that a prepared model learned from, by column."""
    first = model[0] if isinstance(model, Pipeline) else None
    if not isinstance(first, ColumnTransformer):
        return {}
    for part, step, names in first.transformers_:
        encoder = step[-1] if isinstance(step, Pipeline) else step
        if part == "text" and isinstance(encoder, OneHotEncoder):
            return {name: set(kinds) for name, kinds in zip(names, encoder.categories_, strict=True)}
    return {}
