"""Which task a target asks for: telling classes apart, predicting numbers, knowing what is normal."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mercer.cli.text_columns import disguise, way_out
from mercer.cli.user_error import UserError
from mercer.cli.value_sizes import refuse_target_sizes
from mercer.io import Table
from mercer.selection.preparation import is_name
from mercer.words import counted, listed

TaskName = Literal["classify", "regress", "novelty"]
MOST_CLASSES = 20  # different whole numbers that are taken for classes


def told(table: Table, task: str, why: str) -> str:
    """Return what a table is and what is to be learned from it, in a line."""
    rows, features = counted(table.n_rows, "row"), counted(table.n_features, "feature")
    return f"{table.source}: {rows}, {features}; task {task}: {why}"


def choose_task(table: Table, wish: str) -> tuple[TaskName, str]:
    """Return the task and why."""
    y = table.y
    if wish == "novelty" or (wish == "auto" and y is None):
        used = "is used to evaluate, not to train" if known_novelties(y) is not None else "is not used"
        return "novelty", "there is no target" if y is None else f"as asked; the target {used}"
    if y is None:
        raise UserError(f"--task {wish} needs a target: give --target COLUMN")
    name = f"target {table.target_name!r}"
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        bad = np.flatnonzero(~np.isfinite(y))
        raise UserError(
            f"the {name} is missing or infinite in {counted(bad.size, 'row')}, first in row {bad[0] + 1}: "
            "remove these rows, or choose another target"
        )
    different = np.unique(y)
    if wish == "ordinal" and y.dtype.kind in "USO":
        raise UserError(
            f"--task ordinal needs classes that are numbers, in their order; the {name} is text such as "
            f"{str(y[0])!r}: number the classes from lowest to highest, or use --task classify"
        )
    if wish in ("classify", "ordinal") or (wish == "auto" and _is_kinds(y, different)):
        if different.size < 2:
            raise UserError(f"the {name} is constant, {str(different[0])!r}: there is nothing to classify")
        if y.dtype.kind in "USO" and is_name(different.size, y.size):
            shown, numbers = listed([str(value) for value in different[:3]]), disguise(different.tolist())
            if numbers is not None:
                raise UserError(f"the {name} holds {numbers} ({shown}, ...): {way_out(numbers)}")
            raise UserError(
                f"the {name} has {different.size} different texts in {y.size} rows ({shown}, ...): too many "
                "for classes. Choose another --target"
            )
        if wish == "ordinal":
            return "classify", f"as asked; {different.size} classes from {different[0]} to {different[-1]}"
        why = "as asked" if wish == "classify" else f"the {name} has {different.size} different values"
        return "classify", why
    if y.dtype.kind in "US":
        raise UserError(f"--task regress needs numbers, but the {name} is text such as {str(y[0])!r}")
    if different.size < 2:
        raise UserError(f"the {name} is constant, {different[0]:g}: there is nothing to learn")
    refuse_target_sizes(y, name)
    return "regress", "as asked" if wish == "regress" else f"the {name} is a number"


def _is_kinds(y: np.ndarray, different: np.ndarray) -> bool:
    if y.dtype.kind in "USO":
        return True
    return y.dtype.kind in "iu" and different.size <= max(2, min(MOST_CLASSES, y.size // 10))


def known_novelties(y: np.ndarray | None) -> np.ndarray | None:
    """Return which rows are novel, by a target of two values: -1 beside 1, else the rarer one."""
    names = np.empty(0) if y is None else np.unique(y)
    if y is None or names.size != 2:
        return None
    usual = y.dtype.kind in "iuf" and set(names.tolist()) == {-1, 1}
    rare = names[0] if usual or 2 * np.sum(y == names[0]) < y.size else names[1]
    return np.asarray(y == rare)


def novelty_words(y: np.ndarray | None, novel: np.ndarray, name: str | None) -> str:
    """Return which rows a target calls novel, in words."""
    assert y is not None
    return f"novelties according to {name!r}: {str(y[novel][0])!r}, {counted(int(novel.sum()), 'row')}"
