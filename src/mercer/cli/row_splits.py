"""Which rows are trained on and which are held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from mercer.cli.task_choice import TaskName
from mercer.cli.thresholds import threshold_wish
from mercer.cli.user_error import UserError
from mercer.words import did_you_mean


@dataclass(frozen=True)
class Plan:
    """How to measure.

    Attributes
    ----------
    task : str
        What is learned.
    holdout : float
        Share of the rows that are held out; 0 for none.
    folds : int
        Folds of the cross-validation; 0 for none.
    seed : int
        Of the split and the folds.
    delta : float
        Probability with which the bound may fail.
    tolerance : float or None
        The size of an error of regression that matters.
    scoring : str or None
        scikit-learn's name of the score that counts; None to choose by the target.
    threshold : str or None
        Where to draw the line between two classes, as written.
    """

    task: TaskName
    holdout: float = 0.25
    folds: int = 5
    seed: int = 0
    delta: float = 0.05
    tolerance: float | None = None
    scoring: str | None = None
    threshold: str | None = None

    def check(self) -> None:
        """Refuse impossible plans."""
        if not 0.0 <= self.holdout < 1.0:
            raise UserError(f"--holdout {self.holdout:g} must be a fraction: at least 0 and below 1")
        if self.folds < 0 or self.folds == 1:
            raise UserError(f"--folds {self.folds} must be 0 (none) or at least 2")
        if not 0.0 < self.delta < 1.0:
            raise UserError(f"--delta {self.delta:g} must lie between 0 and 1")
        if self.scoring is not None and self.scoring not in get_scorer_names():
            near = did_you_mean(self.scoring, get_scorer_names())
            raise UserError(f"--scoring {self.scoring} is not one of scikit-learn's scores.{near}")
        if self.threshold is not None:
            threshold_wish(self.threshold)
            if self.task != "classify":
                raise UserError(f"--threshold needs two classes; this task is {self.task}")


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def split_rows(plan: Plan, n: int, y: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on and the rows to hold out; classes keep their shares."""
    every = np.arange(n)
    if plan.holdout == 0.0:
        return every, np.empty(0, dtype=np.intp)
    if n < 8:
        raise UserError(f"{n} rows are too few to hold out any: give --holdout 0, or more rows")
    strata = None
    if plan.task == "classify":
        assert y is not None
        _, counts = np.unique(y, return_counts=True)
        enough = counts.min() >= 2 and min(plan.holdout, 1 - plan.holdout) * n >= counts.size
        strata = y if enough else None
    train, test = train_test_split(every, test_size=plan.holdout, random_state=plan.seed, stratify=strata)
    if plan.task == "classify" and y is not None and np.unique(y[train]).size < 2:
        raise UserError("all rows left for training are of one class: give --holdout 0, or more rows")
    return np.sort(train), np.sort(test)


def fold_pairs(plan: Plan, rows: np.ndarray, y: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of the rows; no more of them than the smallest class allows."""
    count = min(plan.folds, rows.size)
    splitter: Any = KFold
    if plan.task == "classify" and y is not None:
        count = min(count, int(np.unique(y[rows], return_counts=True)[1].min()))
        splitter = StratifiedKFold
    if count < 2:
        return []
    cut = splitter(count, shuffle=True, random_state=plan.seed)
    target = None if y is None else y[rows]
    return [(rows[a], rows[b]) for a, b in cut.split(rows, target)]
