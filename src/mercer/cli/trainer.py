"""What ``mercer train`` does: hold out, cross-validate, measure, bound, refit on all rows."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from mercer._report.scores import Scores, measure
from mercer._report.subject import Subject
from mercer.bounds import held_out_error
from mercer.cli.data_warnings import doubtful_result, doubtful_twins
from mercer.cli.exits import UserError
from mercer.cli.preparation import TaskName
from mercer.cli.screen import Screen, Steps

BY_WEIGHT = ", counted by their weights"


@dataclass
class Run:
    """The course of a training.

    Attributes
    ----------
    model : pipeline
        Fitted on all rows.
    held_out : Scores or None
        Of the machine that had not seen the held-out rows.
    folds : list of float
        Scores of the cross-validation on the other rows.
    metric : str
        What they measure.
    bound : dict or None
        What may be promised of new rows.
    split : tuple of arrays
        Rows trained on before the refit, and held-out rows.
    warnings : list of str
        What the fits warned of.
    seconds : float
        Time taken.
    weighted : bool
        Whether rows count by their weights in the scores.
    """

    model: Any
    held_out: Scores | None
    folds: list[float]
    metric: str
    bound: dict[str, Any] | None
    split: tuple[np.ndarray, np.ndarray]
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    weighted: bool = False

    @property
    def by_weight(self) -> str:
        """What is to say of the scores if rows count by their weights."""
        return BY_WEIGHT if self.weighted else ""


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
    """

    task: TaskName
    holdout: float = 0.25
    folds: int = 5
    seed: int = 0
    delta: float = 0.05
    tolerance: float | None = None

    def check(self) -> None:
        """Refuse impossible plans."""
        if not 0.0 <= self.holdout < 1.0:
            raise UserError(f"--holdout {self.holdout:g} must be a share from 0 to below 1")
        if self.folds < 0 or self.folds == 1:
            raise UserError(f"--folds {self.folds} must be 0 (none) or at least 2")
        if not 0.0 < self.delta < 1.0:
            raise UserError(f"--delta {self.delta:g} must lie between 0 and 1")


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def split_rows(plan: Plan, n: int, y: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on and the rows to hold out; classes keep their shares."""
    every = np.arange(n)
    if plan.holdout == 0.0:
        return every, np.empty(0, dtype=np.intp)
    if n < 8:
        raise UserError(f"{n} rows are too few to hold some out: give --holdout 0, or more rows")
    strata = None
    if plan.task == "classify":
        assert y is not None
        _, counts = np.unique(y, return_counts=True)
        enough = counts.min() >= 2 and min(plan.holdout, 1 - plan.holdout) * n >= counts.size
        strata = y if enough else None
    train, test = train_test_split(every, test_size=plan.holdout, random_state=plan.seed, stratify=strata)
    if plan.task == "classify" and y is not None and np.unique(y[train]).size < 2:
        raise UserError("the rows that are not held out are all of one class: give --holdout 0, or more rows")
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


class Trainer:
    """Fits on parts of the data and on all of them.

    Parameters
    ----------
    plan : Plan
        How to measure.
    X, y, weight
        The data; y and weight may be None.
    screen : Screen
        For progress.
    """

    def __init__(self, plan: Plan, X: Any, y: np.ndarray | None, weight: Any, screen: Screen) -> None:
        plan.check()
        self.plan, self.X, self.y, self.weight, self.screen = plan, X, y, weight, screen
        self.n = int(X.shape[0])
        self.caught: dict[str, None] = {}
        self.steps = Steps(None, 0)
        self.started = time.perf_counter()  # a search before the run counts, too

    def weight_of(self, rows: np.ndarray) -> Any:
        """Return the weights of some rows, or None."""
        return None if self.weight is None else self.weight[rows]

    def fit(self, model: Any, rows: np.ndarray | None = None) -> Any:
        """Fit a copy on some rows, all if None."""
        X = self.X if rows is None else take(self.X, rows)
        arguments: dict[str, Any] = {}
        if self.y is not None and self.plan.task != "novelty":
            arguments["y"] = self.y if rows is None else self.y[rows]
        if self.weight is not None:
            arguments["machine__sample_weight"] = self.weight if rows is None else self.weight[rows]
        with warnings.catch_warnings(record=True) as found, self.steps.fitting():
            warnings.simplefilter("always")
            fitted = clone(model).fit(X, **arguments)
        for warning in found:
            self.caught[str(warning.message)] = None
        return fitted

    def score(self, model: Any, rows: np.ndarray) -> Scores:
        """Measure a model on rows that it has not seen."""
        truth = None if self.y is None or self.plan.task == "novelty" else self.y[rows]
        X = take(self.X, rows)
        predicted, weight = np.asarray(model.predict(X)), self.weight_of(rows)
        words = f"{rows.size} held-out rows"
        if weight is not None:
            words += BY_WEIGHT
            if not weight.any():
                raise UserError("rows to measure on have weight 0, all of them: give another --seed")
        return measure(Subject(model, X, truth), truth, predicted, words, True, weight)

    def run(self, model: Any, split: tuple[np.ndarray, np.ndarray], chosen: float | None = None) -> Run:
        """Measure a model and fit it on all rows.

        Parameters
        ----------
        model : pipeline
            Unfitted.
        split : pair of arrays
            Rows to train on, rows to hold out.
        chosen : float, optional
            The score of a search that has cross-validated on the training rows already.
        """
        train, test = split
        pairs = [] if chosen is not None else fold_pairs(self.plan, train, self.y)
        if chosen is None and self.plan.folds > len(pairs):
            few = "the smallest class, or the file, has too few rows"
            self.screen.say(f"{len(pairs) or 'no'} folds instead of {self.plan.folds}: {few}")
        folds: list[float] = [] if chosen is None else [chosen]
        total = (1 if test.size else 0) + len(pairs) + 1
        held_out, metric, bound = None, "", None
        with self.screen.steps(total) as steps:
            self.steps = steps
            if test.size:
                steps.now("fitting the rows that are not held out")
                held_out = self.score(self.fit(model, train), test)
                metric = held_out.headline[0]
                bound = self.bound(held_out)
                self.caught |= dict.fromkeys(doubtful_twins(self.X, train, test))
                if self.plan.task == "classify" and self.y is not None and held_out.truth is not None:
                    doubts = doubtful_result(self.y, held_out.truth, held_out.predicted)
                    self.caught |= dict.fromkeys(doubts)
                steps.done()
            for k, (a, b) in enumerate(pairs):
                steps.now(f"cross-validation, fold {k + 1} of {len(pairs)}")
                one = self.score(self.fit(model, a), b)
                folds.append(one.headline[1])
                metric = one.headline[0]
                steps.done()
            final = self._final(model, steps)
        self.steps = Steps(None, 0)
        seconds = time.perf_counter() - self.started
        return Run(
            final, held_out, folds, metric, bound, split, list(self.caught), seconds, self.weight is not None
        )

    def _final(self, model: Any, steps: Steps) -> Any:
        steps.now(f"fitting all {self.n} rows")
        final = self.fit(model)
        steps.done()
        return final

    def bound(self, scores: Scores) -> dict[str, Any] | None:
        """Return what the held-out rows promise of new ones."""
        plan, n = self.plan, len(scores.predicted)
        if plan.task == "classify":
            wrong = int((scores.predicted != scores.truth).sum())
            what = "wrong"
        elif plan.task == "novelty":
            wrong = int((scores.predicted < 0).sum())
            what = "called novel though they are not"
        elif plan.tolerance is not None:
            assert scores.truth is not None
            wrong = int((np.abs(scores.predicted - scores.truth) > plan.tolerance).sum())
            what = f"missed by more than {plan.tolerance:g}"
        else:
            return None
        once = "" if self.weight is None else ", each counted once"
        value = float(held_out_error(errors=wrong, n=n, delta=plan.delta))
        return {
            "at_most": value,
            "of_new_rows": what,
            "with_probability": 1.0 - plan.delta,
            "seen": wrong / n,
            "from": f"{n} held-out rows{once}, before the refit",
        }


def certificate_document(certificate: Any) -> dict[str, Any] | None:
    """Return a certificate for JSON."""
    if certificate is None:
        return None
    names = ("status", "primal", "dual", "gap", "relative_gap", "kkt_violation", "n_iter", "criterion")
    return {"words": str(certificate), **{name: getattr(certificate, name) for name in names}}


def certificate_row(certificate: Any) -> tuple[str, str, str]:
    """Return a certificate in words, with its tone."""
    if certificate is None:
        return ("certificate", "none: this kind of machine has no gap to show", "")
    good = certificate.status == "optimal" and math.isfinite(certificate.relative_gap)
    return ("certificate", str(certificate), "good" if good else "fair")


def result_rows(run: Run, plan: Plan, n: int) -> list[tuple[str, ...]]:
    """Return the closing table."""
    rows: list[tuple[str, ...]] = []
    if run.held_out is not None:
        name, value = run.held_out.headline
        more = [f"{k} {v:.4g}" for k, v in run.held_out.values.items() if k != name]
        tail = f"; {', '.join(more)}" if more else ""
        rows.append(("held-out score", f"{name} {value:.4g} on {run.held_out.rows}{tail}"))
    rest = n - run.split[1].size
    if len(run.folds) > 1:
        mean, spread = float(np.mean(run.folds)), float(np.std(run.folds, ddof=1))
        words = (
            f"{run.metric} {mean:.4g} ± {spread:.2g} ({len(run.folds)} folds over {rest} rows{run.by_weight})"
        )
        rows.append(("cross-validation", words))
    elif run.folds:
        where = f"the best of the search, on {rest} rows{run.by_weight}"
        words = f"{run.metric or 'score'} {run.folds[0]:.4g} ({where})"
        rows.append(("cross-validation", words))
    machine = run.model[-1]
    rows.append(("support vectors", f"{machine.support_.size} of {n} rows ({machine.support_.size / n:.1%})"))
    rows.append(certificate_row(getattr(machine, "certificate_", None)))
    if run.bound is not None:
        sure = f"with probability {run.bound['with_probability']:.0%}"
        rows.append(
            (
                "bound",
                f"at most {run.bound['at_most']:.2%} of new rows {run.bound['of_new_rows']}, {sure} "
                f"({run.bound['from']})",
            )
        )
    elif plan.task == "regress" and run.held_out is not None:
        rows.append(("bound", "give --tolerance, the size of an error that matters"))
    rows.append(("time", f"{run.seconds:.2g} s" if run.seconds < 100 else f"{run.seconds:.0f} s"))
    return rows
