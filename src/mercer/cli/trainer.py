"""What ``mercer train`` does: hold out, cross-validate, measure, bound, refit on all rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._report.outputs import Outputs, joined, outputs_of
from mercer._report.scores import Coverage, Measuring, Scores, coverage_of
from mercer._report.subject import Kind, Unseen
from mercer._report.verdict import Promise, promise_of
from mercer.cli.data_warnings import doubtful_result, doubtful_twins
from mercer.cli.row_splits import Plan, fold_pairs, take
from mercer.cli.screen import Screen, Steps
from mercer.cli.task_choice import TaskName
from mercer.cli.thresholds import found_threshold, threshold_wish
from mercer.cli.user_error import UserError
from mercer.selection.scoring import positive_class

KINDS: dict[TaskName, Kind] = {"classify": "classifier", "regress": "regressor", "novelty": "detector"}
BY_WEIGHT = ", weighted"


@dataclass
class Run:
    """The course of a training.

    Attributes
    ----------
    model : pipeline
        Fitted on all rows.
    split : tuple of arrays
        Rows trained on before the refit, and held-out rows.
    held_out : Scores or None
        Of the machine that had not seen the held-out rows.
    folds : list of float
        Scores of the cross-validation on the other rows.
    pooled : Scores or None
        Of all these rows, each said by the machine that had not seen it.
    metric : str
        What the scores are.
    promise : Promise or None
        The generalisation bound.
    coverage : Coverage or None
        Of the intervals of a regression.
    unseen : Unseen or None
        The machine that had not seen the held-out rows, and these.
    threshold : str
        How the threshold was found, in words; "" if it is 0.
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
    split: tuple[np.ndarray, np.ndarray]
    held_out: Scores | None = None
    folds: list[float] = field(default_factory=list)
    pooled: Scores | None = None
    metric: str = ""
    promise: Promise | None = None
    coverage: Coverage | None = None
    unseen: Unseen | None = None
    threshold: str = ""
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    weighted: bool = False
    interrupted: list[str] = field(default_factory=list)

    @property
    def by_weight(self) -> str:
        """What is to say of the scores if rows count by their weights."""
        return BY_WEIGHT if self.weighted else ""

    @property
    def best(self) -> Scores | None:
        """The scores that count: of held-out rows, else of folds."""
        return self.held_out if self.held_out is not None else self.pooled


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
    novel : ndarray of bool, optional
        Which rows are known to be novel, for novelty detection.
    """

    def __init__(
        self,
        plan: Plan,
        X: Any,
        y: np.ndarray | None,
        weight: Any,
        screen: Screen,
        keep_partial: bool = False,
        novel: np.ndarray | None = None,
    ) -> None:
        plan.check()
        if plan.threshold is not None and np.unique(np.asarray(y)).size != 2:
            raise UserError("--threshold needs two classes; the target has another number of classes")
        self.measuring = Measuring(KINDS[plan.task], y, plan.scoring, plan.delta)
        self.truth = novel if plan.task == "novelty" else y
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

    def score(self, said: Outputs, rows: np.ndarray, words: str, brief: bool = False) -> Scores:
        """Measure what a model said of rows that it has not seen; briefly, by the headline alone."""
        truth = None if self.truth is None else self.truth[rows]
        weight = self.weight_of(rows)
        if weight is not None:
            words += BY_WEIGHT
            if not weight.any():
                raise UserError("all rows to evaluate on have weight 0: try another --seed")
        return self.measuring(truth, said, words, True, weight, brief)

    def said(self, model: Any, rows: np.ndarray) -> Outputs:
        """Return what a model says of some rows."""
        return outputs_of(model, take(self.X, rows))

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
        # Folds tell where a threshold belongs, and how wide intervals must be: after a search, too.
        needed = chosen is None or self.plan.threshold is not None or self.plan.task == "regress"
        pairs = fold_pairs(self.plan, train, self.y) if needed else []
        if needed and self.plan.folds > len(pairs):
            few = "the smallest class, or the file, has too few rows"
            self.screen.say(f"{len(pairs) or 'no'} folds instead of {self.plan.folds}: {few}")
        run = Run(None, split, folds=[] if chosen is None else [chosen], interrupted=self.interrupted)
        with self.screen.steps((1 if test.size else 0) + len(pairs) + 1) as steps:
            self.steps = steps
            try:
                model = self._measure(model, run, pairs)
            except KeyboardInterrupt:
                if not self.keep_partial:
                    raise
                self.interrupted.append("measuring")
            run.model = self._final(model)
        self.steps = Steps(None, 0)
        run.warnings, run.weighted = list(self.caught), self.weight is not None
        run.seconds = time.perf_counter() - self.started
        return run

    def _measure(self, model: Any, run: Run, pairs: list[tuple[np.ndarray, np.ndarray]]) -> Any:
        """Fit on some of the rows and score on others; return the model, with its threshold."""
        if self.plan.threshold is not None:  # found on the folds, tried on the held-out rows
            parts = [self._of_fold(model, pairs, k) for k in range(len(pairs))]
            rows = np.concatenate([b for _, b in pairs]) if pairs else np.arange(0)
            model, run.threshold = self._with_threshold(model, rows, parts)
            parts = [self._cut(part, float(model[-1].threshold)) for part in parts]
            self._hold_out(model, run)
        else:
            self._hold_out(model, run)
            parts = []
        searched = bool(run.folds)
        for k, (_, b) in enumerate(pairs):
            if k == len(parts):
                parts.append(self._of_fold(model, pairs, k))
            run.metric, value = self.score(parts[k], b, "a fold", brief=True).headline
            known = self.truth is None or self.plan.task != "novelty" or 0 < self.truth[b].sum() < b.size
            if known and not searched:  # a fold without novelties has nothing to tell of finding them
                run.folds.append(value)
        if pairs:
            words = f"{len(pairs)}-fold cross-validation"
            run.pooled = self.score(joined(parts), np.concatenate([b for _, b in pairs]), words)
        if run.best is not None and self.plan.task == "regress":
            errors = None
            if run.pooled is not None and run.held_out is not None:
                assert run.pooled.truth is not None
                errors = run.pooled.truth - run.pooled.predicted
            run.coverage = coverage_of(run.best, errors)
        return model

    def _of_fold(self, model: Any, pairs: list[tuple[np.ndarray, np.ndarray]], k: int) -> Outputs:
        self.steps.now(f"cross-validation, fold {k + 1} of {len(pairs)}")
        said = self.said(self.fit(model, pairs[k][0]), pairs[k][1])
        self.steps.done()
        return said

    def _hold_out(self, model: Any, run: Run) -> None:
        """Score on the held-out rows, and tell what they promise."""
        train, test = run.split
        if not test.size:
            return
        self.steps.now("fitting the rows that are not held out")
        fitted = self.fit(model, train)
        said = self.said(fitted, test)
        truth = None if self.y is None else self.y[test]
        run.unseen = Unseen(fitted, take(self.X, test), truth, f"{test.size} held-out rows, before the refit")
        held_out = self.score(said, test, f"{test.size} held-out rows")
        run.promise = promise_of(
            held_out, self.plan.delta, tolerance=self.plan.tolerance, note=", before the refit",
            weighted=self.weight is not None,
        )  # fmt: skip
        self.caught |= dict.fromkeys(doubtful_twins(self.X, train, test))
        if self.plan.task == "classify" and self.y is not None and held_out.truth is not None:
            self.caught |= dict.fromkeys(doubtful_result(self.y, held_out.truth, held_out.predicted))
        run.held_out, run.metric = held_out, held_out.headline[0]
        self.steps.done()

    def _with_threshold(self, model: Any, rows: np.ndarray, parts: list[Outputs]) -> tuple[Any, str]:
        """Return the model with the threshold that was wished for, and how it was found."""
        assert self.plan.threshold is not None
        assert self.y is not None
        wish = threshold_wish(self.plan.threshold)
        if isinstance(wish, float):
            return clone(model).set_params(machine__threshold=wish), f"{wish:.6g}, as asked"
        decision = joined(parts).decision if parts else None
        if decision is None:
            raise UserError("--threshold needs cross-validation: give --folds 5")
        value, words = found_threshold(
            wish, positive_class(self.y), self.y[rows], decision, self.weight_of(rows)
        )
        return clone(model).set_params(machine__threshold=value), f"{value:.4g}: {words}"

    def _cut(self, said: Outputs, threshold: float) -> Outputs:
        """Return what is said at a threshold."""
        assert said.decision is not None
        assert self.y is not None
        return replace(said, predicted=np.unique(self.y)[(said.decision >= threshold).astype(np.intp)])

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
