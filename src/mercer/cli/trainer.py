"""What ``mercer train`` does: hold out, cross-validate, measure, bound, refit on all rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._report.scores import Scores, measure
from mercer._report.subject import Subject
from mercer.bounds import held_out_error
from mercer.cli.data_warnings import doubtful_result, doubtful_twins
from mercer.cli.row_splits import Plan, fold_pairs, take
from mercer.cli.screen import Screen, Steps
from mercer.cli.user_error import UserError

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
    interrupted : list of str
        What a Ctrl-C ended early.
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
    interrupted: list[str] = field(default_factory=list)

    @property
    def by_weight(self) -> str:
        """What is to say of the scores if rows count by their weights."""
        return BY_WEIGHT if self.weighted else ""


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
    keep_partial : bool
        Whether a Ctrl-C ends what is being done, and the rest goes on with what was reached; ``interrupted``
        names what was ended.
    """

    def __init__(
        self,
        plan: Plan,
        X: Any,
        y: np.ndarray | None,
        weight: Any,
        screen: Screen,
        keep_partial: bool = False,
    ) -> None:
        plan.check()
        self.keep_partial, self.interrupted = keep_partial, list[str]()
        self.plan, self.X, self.y, self.weight, self.screen = plan, X, y, weight, screen
        self.n = int(X.shape[0])
        self.caught: dict[str, None] = {}
        self.steps = Steps(None, 0)
        self.started = time.perf_counter()  # a search before the run counts, too

    @property
    def every_row(self) -> np.ndarray:
        """The numbers of all rows."""
        return np.arange(self.n)

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
        run = Run(
            None, None, [] if chosen is None else [chosen], "", None, split, interrupted=self.interrupted
        )
        with self.screen.steps((1 if test.size else 0) + len(pairs) + 1) as steps:
            self.steps = steps
            try:
                self._measure(model, run, pairs)
            except KeyboardInterrupt:
                if not self.keep_partial:
                    raise
                self.interrupted.append("measuring")
            run.model = self._final(model)
        self.steps = Steps(None, 0)
        run.warnings, run.weighted = list(self.caught), self.weight is not None
        run.seconds = time.perf_counter() - self.started
        return run

    def _measure(self, model: Any, run: Run, pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Fit on some of the rows and score on others: the held-out ones, then fold by fold."""
        train, test = run.split
        if test.size:
            self.steps.now("fitting the rows that are not held out")
            held_out = self.score(self.fit(model, train), test)
            run.bound = self.bound(held_out)
            self.caught |= dict.fromkeys(doubtful_twins(self.X, train, test))
            if self.plan.task == "classify" and self.y is not None and held_out.truth is not None:
                doubts = doubtful_result(self.y, held_out.truth, held_out.predicted)
                self.caught |= dict.fromkeys(doubts)
            run.held_out, run.metric = held_out, held_out.headline[0]
            self.steps.done()
        for k, (a, b) in enumerate(pairs):
            self.steps.now(f"cross-validation, fold {k + 1} of {len(pairs)}")
            run.metric, score = self.score(self.fit(model, a), b).headline
            run.folds.append(score)
            self.steps.done()

    def _final(self, model: Any) -> Any:
        self.steps.now(f"fitting all {self.n} rows")
        if self.keep_partial:
            model = clone(model).set_params(machine__on_interrupt="keep")
        final = self.fit(model)
        if self.keep_partial:
            certificate = getattr(final[-1], "certificate_", None)
            if certificate is not None and certificate.status == "interrupted":
                self.interrupted.append("the last fit")
            final.set_params(machine__on_interrupt="raise")  # as if nothing had been asked
        self.steps.done()
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
