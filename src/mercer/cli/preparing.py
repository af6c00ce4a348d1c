"""From a table to numbers that a kernel can compare: scaling, encoding, imputing, each said aloud."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from mercer.cli.exits import UserError
from mercer.cli.options import IMPUTE
from mercer.cli.texts import check_texts, disguise, is_name, way_out
from mercer.io import Table
from mercer.io.tables.table import listed

Task = Literal["classify", "regress", "novelty"]
MOST_CLASSES = 20  # different whole numbers that are taken for classes


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
    refuse_infinite(table)
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


def refuse_infinite(table: Table) -> None:
    """Refuse numbers without a size, with their place."""
    if table.is_sparse or not table.numeric:
        return
    numeric = list(table.numeric)
    X = table.X if isinstance(table.X, np.ndarray) else table.X[numeric].to_numpy()
    if not np.isinf(X).any():
        return
    row, column = np.argwhere(np.isinf(X))[0]
    raise UserError(
        f"column {numeric[column]!r} of {table.source} is infinite in row {table.first_row + row + 1}: "
        "write a number, or leave the cell empty if there is none"
    )


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


def counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def told(table: Table, task: str, why: str) -> str:
    """Return what a table is and what is to be learned from it, in a line."""
    rows, features = counted(table.n_rows, "row"), counted(table.n_features, "feature")
    return f"{table.source}: {rows}, {features}; task {task}: {why}"


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


def choose_task(table: Table, wish: str) -> tuple[Task, str]:
    """Return the task and why."""
    y = table.y
    if wish == "novelty" or (wish == "auto" and y is None):
        return "novelty", "there is no target" if y is None else "as asked; the target is not used"
    if y is None:
        raise UserError(f"--task {wish} needs a target: give --target COLUMN")
    name = f"target {table.target_name!r}"
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        bad = np.flatnonzero(~np.isfinite(y))
        raise UserError(
            f"the {name} is missing or infinite in {counted(bad.size, 'row')}, first in row {bad[0] + 1}: "
            "remove them, or choose another target"
        )
    different = np.unique(y)
    if wish == "classify" or (wish == "auto" and _is_kinds(y, different)):
        if different.size < 2:
            raise UserError(
                f"the {name} has one value only, {str(different[0])!r}: there is nothing to tell apart"
            )
        if y.dtype.kind in "USO" and is_name(different.size, y.size):
            shown, numbers = listed([str(value) for value in different[:3]]), disguise(different.tolist())
            if numbers is not None:
                raise UserError(f"the {name} holds {numbers} ({shown}, ...): {way_out(numbers)}")
            raise UserError(
                f"the {name} has {different.size} different texts in {y.size} rows ({shown}, ...): too many "
                "for classes. Choose another --target"
            )
        why = "as asked" if wish == "classify" else f"the {name} has {different.size} different values"
        return "classify", why
    if y.dtype.kind in "US":
        raise UserError(f"--task regress needs numbers, but the {name} is text such as {str(y[0])!r}")
    if different.size < 2:
        raise UserError(f"the {name} has one value only, {different[0]:g}: there is nothing to learn")
    return "regress", "as asked" if wish == "regress" else f"the {name} is a number"


def _is_kinds(y: np.ndarray, different: np.ndarray) -> bool:
    if y.dtype.kind in "USO":
        return True
    return y.dtype.kind in "iu" and different.size <= max(2, min(MOST_CLASSES, y.size // 10))
