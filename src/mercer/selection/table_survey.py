"""A careful survey of a table before anything is fitted: what it is like, what it needs first."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, RobustScaler, StandardScaler
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from mercer.selection.preparation import needs_preparation, prepare
from mercer.selection.scoring import chosen_scoring, rare_class

UNEQUAL = 3.0  # ratio of the columns' spreads from which one drowns the other
FAR_OUT = 20.0  # interquartile ranges from the median beyond which a value is no part of the crowd


@dataclass
class TableSurvey:
    """What was seen.

    Attributes
    ----------
    task : {"classification", "regression"}
        What y asks for.
    n, d : int
        Rows and columns.
    scaler : transformer or None
        What the columns need first; None where they are fine as they are.
    must_scale : bool
        Whether nothing can be fitted without it: words, dates or gaps among the columns.
    imbalanced : bool
        Whether the rarest class is so rare that accuracy would hide it.
    reasons : list of str
        In words.
    """

    task: str
    n: int
    d: int
    scaler: Any
    must_scale: bool = False
    imbalanced: bool = False
    reasons: list[str] = field(default_factory=list)


def survey_table(X: Any, y: Any, task: str) -> TableSurvey:
    """Return what the data are like.

    Parameters
    ----------
    X : table
        Array, CSR or data frame.
    y : array
        Targets.
    task : {"auto", "classification", "regression"}
        What to do; "auto" asks y.
    """
    y = column_or_1d(y, warn=True)
    if task == "auto":
        with warnings.catch_warnings():
            # Many different whole numbers: scikit-learn wonders whether they are classes; so do we, below.
            warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
            kind = type_of_target(y, input_name="y")
        numbers = np.issubdtype(np.asarray(y).dtype, np.number)
        many = numbers and np.unique(y).size > max(20, 0.05 * len(y))
        task = "regression" if kind.startswith("continuous") or many else "classification"
    n, d = np.shape(X)[0], int(np.shape(X)[1])
    if n != len(y):
        raise ValueError(
            f"X and y have inconsistent numbers of samples: X has {n} rows, y has {len(y)} entries"
        )
    if needs_preparation(X):
        ready = prepare(X)
        found = TableSurvey(task, n, d, Pipeline(ready.steps), must_scale=True, reasons=list(ready.said))
        _target(y, found)
        return found
    table = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    found = TableSurvey(task, n, d, None)
    _spreads(table, found)
    _target(y, found)
    return found


def _spreads(table: Any, found: TableSurvey) -> None:
    if sp.issparse(table):
        sizes: Any = abs(table)  # type: ignore[arg-type]
        largest = np.asarray(sizes.max(axis=0).todense()).ravel()
        used = largest[largest > 0]
        ratio = float(used.max() / used.min()) if used.size else 1.0
        if ratio > UNEQUAL:
            found.scaler = MaxAbsScaler()
            found.reasons.append(
                f"the columns' largest values differ by a factor of {ratio:.3g}; the table is sparse, so "
                "each is divided by its largest value, which keeps the zeros"
            )
        else:
            found.reasons.append("the table is sparse and its columns have like sizes: left as it is")
        return
    spread = table.std(axis=0)
    constant = int((spread == 0).sum())
    used = spread[spread > 0]
    ratio = float(used.max() / used.min()) if used.size else 1.0
    low, middle, high = np.percentile(table, [25, 50, 75], axis=0)
    width = np.where(high > low, high - low, np.inf)
    distance = np.abs(table - middle) / width
    outliers = int((distance > FAR_OUT).any(axis=1).sum())
    if constant:
        found.reasons.append(f"{constant} of {found.d} columns are constant and say nothing")
    if outliers and outliers < 0.05 * found.n:
        found.scaler = RobustScaler()
        found.reasons.append(
            f"{outliers} rows have values more than {FAR_OUT:g} interquartile ranges off: the columns are "
            "scaled by median and quartiles, which such rows do not move"
        )
    elif ratio > UNEQUAL:
        found.scaler = StandardScaler()
        found.reasons.append(
            f"the columns' standard deviations differ by a factor of {ratio:.3g}: unless they are "
            "standardised, the kernel would see the largest ones only"
        )
    else:
        found.reasons.append(
            f"the columns have like spreads (they differ by a factor of {ratio:.3g}): no scaling is needed"
        )


def _target(y: Any, found: TableSurvey) -> None:
    if found.task == "regression":
        return
    names = np.unique(y)
    if names.size < 2:
        raise ValueError(f"y has the one class {names[0]!r}: there is nothing to classify")
    if rare_class(y) is not None:
        found.imbalanced = True
        found.reasons.append(
            f"{chosen_scoring(y, True)[1]}; C is weighted so that each class counts as much as the others"
        )
