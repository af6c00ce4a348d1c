"""What a table or a result gives reason to doubt: nothing is wrong, but a person should know."""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.cli.text_columns import MOST_TOLD, disguise, way_out
from mercer.io import Table, fingerprint
from mercer.io.extras import require
from mercer.words import listed

FEWEST_ROWS = 20  # fewer may count by chance
FEWEST_TWINS, MANY_TWINS = 5, 0.2  # held-out rows that were trained on, too; their share
KEY = re.compile(r"(?i:(^|.*[\W_])(id|uuid|guid|index|rownum|row))$|.*[a-z](Id|ID)$|^(?i:id)[\W_].*")


def doubtful_columns(table: Table, task: str) -> list[str]:
    """Return warnings of columns that are used, but perhaps should not be."""
    found = _counters(table)
    for name in table.categorical:
        kinds = table.categories[name]
        numbers = disguise(kinds)
        if numbers is not None:
            found.append(
                f"column {name!r} holds {numbers}: each of the {len(kinds)} texts is treated as a "
                f"category; {way_out(numbers)}"
            )
    if task == "classify" and table.y is not None and table.y.dtype.kind in "US":
        kinds = tuple(np.unique(table.y).tolist())
        numbers = disguise(kinds)
        if numbers is not None:
            found.append(
                f"the target {table.target_name!r} holds {numbers}: each of the {len(kinds)} texts is "
                f"treated as a class; {way_out(numbers)}"
            )
    return found


def _counters(table: Table) -> list[str]:
    """Return warnings of numbers that name the rows instead of describing them."""
    if table.is_sparse or table.n_rows < FEWEST_ROWS or table.n_features < 2:
        return []
    counters, keys = [], []
    for k, name in enumerate(table.feature_names):
        if name in table.categories:
            continue
        column = table.X[:, k] if isinstance(table.X, np.ndarray) else table.X[name].to_numpy()
        if not np.isfinite(column).all() or (column != np.rint(column)).any():
            continue
        if np.unique(column).size < column.size:
            continue
        steps = np.diff(column)
        if column.max() - column.min() == column.size - 1 or (steps == steps[0]).all():
            counters.append(name)
        elif KEY.fullmatch(name):
            keys.append(name)
    found = []
    for names, what in ((counters, "looks like a row number"), (keys, "looks like an identifier")):
        if names:
            rest = f" (and {len(names) - MOST_TOLD} more)" if len(names) > MOST_TOLD else ""
            found.append(
                f"column {listed(names[:MOST_TOLD])}{rest} {what}: the model may learn the order of the "
                f"file. If it is not a measurement: --exclude {shlex.quote(names[0])}"
            )
    return found


def doubtful_twins(X: Any, train: np.ndarray, test: np.ndarray) -> list[str]:
    """Return a warning if many held-out rows were seen in training, too, under another number.

    Parameters
    ----------
    X : array or data frame
        The features; sparse ones are not looked at.
    train, test : arrays of int
        The rows that were trained on, and those that were held out.
    """
    if sp.issparse(X):
        return []
    if isinstance(X, np.ndarray):
        marks = np.array([hash(row.tobytes()) for row in X])
    else:
        pandas = require("pandas", "files", "a data frame")
        try:
            marks = pandas.util.hash_pandas_object(X, index=False).to_numpy()
        except TypeError:  # graphs and time series have no hash
            marks = np.array([fingerprint(list(row)) for row in X.itertuples(index=False)])
    twins = int(np.isin(marks[test], marks[train]).sum())
    if twins < FEWEST_TWINS or twins < MANY_TWINS * test.size:
        return []
    return [
        f"{twins} of {test.size} held-out rows have duplicates among the training rows: score and bound are "
        "too optimistic if new rows will not. Does the file contain duplicate rows?"
    ]


def doubtful_result(y: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> list[str]:
    """Return warnings of a classification whose score says less than it seems to.

    Parameters
    ----------
    y : ndarray
        The classes of all rows.
    truth, predicted : ndarray
        Of the rows that were held out.
    """
    classes, counts = np.unique(y, return_counts=True)
    unseen = [(c, n) for c, n, held in zip(classes, counts, np.isin(classes, truth), strict=True) if not held]
    found = []
    if unseen:
        shown = ", ".join(f"{str(c)!r} ({n} in all)" for c, n in unseen[:MOST_TOLD])
        more = f" and {len(unseen) - MOST_TOLD} more classes" if len(unseen) > MOST_TOLD else ""
        found.append(f"no row of the class {shown}{more} was held out: the score says nothing about it")
    called = np.unique(predicted)
    if called.size == 1 and np.unique(truth).size > 1:
        found.append(
            f"the model predicts {str(called[0])!r} for every held-out row: no better than guessing. "
            "--class-weight balanced gives all classes the same weight; --search may help"
        )
    return found
