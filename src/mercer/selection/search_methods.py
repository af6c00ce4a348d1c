"""The ways to judge a setting, one class each; ``METHODS`` names them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from mercer.bounds import Report, report
from mercer.estimators import SVC, SVR
from mercer.selection.alignment import target_alignment
from mercer.selection.consistency import ConsistencyTable, effective_rows, wished_share
from mercer.selection.evaluator import Evaluator
from mercer.selection.leave_one_out_bounds import left_out_values, masks
from mercer.selection.matrix_fits import Fitted
from mercer.selection.path_folds import PathFolds
from mercer.selection.progress import Progress
from mercer.selection.score_table import ScoreTable
from mercer.selection.scoring import row_shares
from mercer.selection.shared_matrices import _whole, configured
from mercer.solvers import as_solver

KERNEL_ONLY = ("alignment", "consistency")
NOTHING = 1e6  # stands for a bound that is infinite
LEAVE_ONE_OUT = ("sv_fraction", "xi_alpha", "span_rule", "span_bound")
TWO_CLASSES = ("xi_alpha", "span_bound", "bound")


@dataclass
class SearchMethod:
    """How the settings of a search are judged; ``extras`` become attributes of the search."""

    evaluator: Evaluator
    candidates: list[dict[str, Any]]
    columns: int = 1
    extras: dict[str, Any] = field(default_factory=dict)
    missing: int = 0  # settings that are not even in the table

    @property
    def pieces(self) -> int:
        """Steps of the progress bar."""
        return len(self.candidates) * self.columns

    def table(self) -> ScoreTable:
        """Return the empty table."""
        return ScoreTable(self.candidates, self.columns)

    def run(self, table: ScoreTable, bar: Progress) -> None:
        """Fill the table."""
        raise NotImplementedError


class KFold(SearchMethod):
    """Cross-validation."""

    def __init__(self, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> None:
        self.splits = evaluator.splits()
        super().__init__(evaluator, candidates, len(self.splits))

    def run(self, table: ScoreTable, bar: Progress) -> None:
        """Fill the table."""
        self.evaluator.cross_validate(self.candidates, self.splits, table, bar)


class Consistency(KFold):
    """Whether a detector rejects as many held-out rows as it was asked to."""

    def __init__(self, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> None:
        self.nu = wished_share(evaluator.template, candidates)
        super().__init__(evaluator, candidates)

    def table(self) -> ScoreTable:
        """Return the empty table."""
        table = ConsistencyTable(self.candidates, self.columns)
        table.nu = self.nu
        table.n = effective_rows(self.evaluator.weight(), np.concatenate([test for _, test in self.splits]))
        return table


class ExactPath(SearchMethod):
    """Cross-validation of every C by exact paths; ``path_curves_`` has the curves."""

    def __init__(self, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> None:
        _needs_shared("path", evaluator, candidates)
        if not evaluator.readable():
            raise ValueError(
                f"method='path' needs a scorer of predictions or decisions; "
                f"scoring={evaluator.search.scoring_!r} asks for more"
            )
        splits = evaluator.splits()
        self.folds = PathFolds(evaluator, candidates, splits)
        super().__init__(evaluator, [{} for _ in self.folds.settings], len(splits))

    def run(self, table: ScoreTable, bar: Progress) -> None:
        """Fill the table."""
        try:
            self.folds.run(bar.advance)
        finally:
            curves = self.folds.write(table)
            self.extras["path_curves_"] = curves
            self.missing = len(self.folds.settings) - len(curves) if curves else 0


class LeaveOneOutCriterion(SearchMethod):
    """A bound on, or an estimate of, the leave-one-out error, from one fit on all rows."""

    def __init__(self, evaluator: Evaluator, candidates: list[dict[str, Any]], which: str) -> None:
        super().__init__(evaluator, candidates)
        self.which = which
        machine = evaluator.machine
        if not isinstance(machine, SVC | SVR) or (which != "span_rule" and not isinstance(machine, SVC)):
            raise ValueError(
                f"method={which!r} is about leaving points out of SVC"
                f"{' or SVR' if which == 'span_rule' else ''}; {type(evaluator.template).__name__} is none"
            )
        _needs_shared(which, evaluator, candidates)
        for one in configured(machine, evaluator.own(candidates)):
            if which in TWO_CLASSES and one.loss != "hinge":
                raise ValueError(f"method={which!r} needs loss='hinge', got {one.loss!r}")
            named = as_solver(one.solver)
            if which == "span_bound" and (not one.fit_intercept or (named is not None and named.fixes_bias)):
                raise ValueError(
                    "method='span_bound' needs fit_intercept=True and a solver that leaves the bias free: it "
                    "is about machines with such a bias"
                )
            if np.isinf(one.C):
                raise ValueError(f"method={which!r} needs a finite C: leaving a point out of a hard margin")
        _check_classes(which, evaluator)

    def run(self, table: ScoreTable, bar: Progress) -> None:
        """Fill the table."""
        evaluator, n = self.evaluator, self.evaluator.n
        weight = evaluator.weight()
        table.errors = np.zeros(len(self.candidates))
        every, none = np.arange(n), np.arange(0)
        y = evaluator.targets()

        def judge(k: int, j: int, fitted: Fitted, K: Any) -> float:
            assert table.errors is not None
            if self.which != "span_rule":
                right = 1.0 - masks(fitted, self.which, n)
            else:
                model = fitted.held_out(left_out_values(fitted, n))
                counted = row_shares(evaluator.search.scoring_, y, weight)
                if counted is None or not is_classifier(evaluator.template):
                    with np.errstate(all="ignore"):  # a score that overflows is nan, which is never chosen
                        return float(
                            evaluator.scorer(model, evaluator.X, y, **evaluator._score_params(every))
                        )
                right = (model.predict(evaluator.X) == y).astype(np.float64)
                table.errors[k] = np.sqrt(float(counted**2 @ (right - float(counted @ right)) ** 2))
                return float(counted @ right)
            share = float(np.average(right, weights=weight))
            table.errors[k] = np.sqrt(share * (1.0 - share) / n)
            return share

        def record(k: int, j: int, score: float, fit: float, scoring: float) -> None:
            table.scores[k, 0], table.fit_seconds[k, 0], table.score_seconds[k, 0] = score, fit, scoring
            bar.advance()

        evaluator.run_shared(self.candidates, [(every, none)], judge, record)


class Alignment(SearchMethod):
    """Centred kernel-target alignment, without any fit."""

    def __init__(self, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> None:
        super().__init__(evaluator, candidates)
        _needs_shared("alignment", evaluator, candidates)
        for name in dict.fromkeys(name for c in evaluator.own(candidates) for name in c):
            if name not in ("kernel", "gamma", "degree", "coef0") and not name.startswith("kernel__"):
                raise ValueError(
                    f"method='alignment' looks at the kernel matrix alone and cannot choose {name!r}: leave "
                    "it out of param_grid, and choose it by another search"
                )

    def run(self, table: ScoreTable, bar: Progress) -> None:
        """Fill the table."""
        evaluator = self.evaluator
        assert evaluator.machine is not None
        machines = configured(evaluator.machine, evaluator.own(self.candidates))
        ground = evaluator.ground(evaluator.prepared_sample(), machines)
        y, weight, classes = evaluator.targets(), evaluator.weight(), is_classifier(evaluator.template)
        table.errors = np.zeros(len(machines))
        for k, machine in enumerate(machines):
            if evaluator.limits.out_of_time():
                return
            started = time.perf_counter()
            kernel = machine._kernel()
            kernel.validate()
            K, _ = _whole(ground, kernel.resolve_on(ground.X, weight), np.float64)
            table.scores[k, 0] = target_alignment(K, y, classes=classes, weight=weight)
            table.score_seconds[k, 0] = time.perf_counter() - started
            bar.advance()


class Bound(SearchMethod):
    """The margin bound of `mercer.bounds`, its delta shared among all settings."""

    def __init__(self, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> None:
        super().__init__(evaluator, candidates)
        self.options: dict[str, Any] = {"delta": evaluator.search.delta, "candidates": len(candidates)}
        if not is_classifier(evaluator.template):
            tolerance = getattr(evaluator.search, "tolerance", None)
            if tolerance is None:
                raise ValueError("method='bound' needs tolerance=, the size of an error that matters")
            easy = 0.5 * float(np.ptp(np.asarray(evaluator.targets(), dtype=np.float64)))
            if tolerance >= easy:
                raise ValueError(
                    f"tolerance={tolerance:g} is too large for method='bound': a constant is off by at most "
                    f"{easy:.4g} on these targets, so every setting would meet it; give a smaller one"
                )
            self.options["tolerance"] = tolerance
        elif evaluator.machine is None:
            raise ValueError(f"method='bound' cannot read {type(evaluator.template).__name__}")
        else:
            _check_classes("bound", evaluator)
        self.reports: list[Any] = [None] * len(candidates)
        self.extras["bound_reports_"] = self.reports

    def run(self, table: ScoreTable, bar: Progress) -> None:
        """Fill the table."""
        evaluator = self.evaluator
        table.errors = np.zeros(len(self.candidates))
        for k, params in enumerate(self.candidates):
            if evaluator.limits.out_of_time():
                return
            started = time.perf_counter()
            model, ended = evaluator.refit(params, evaluator.limits)
            if not ended:
                return
            middle = time.perf_counter()
            found = report(model, evaluator.X, evaluator.y, **self.options)
            assert isinstance(found, Report)
            self.reports[k] = found
            value = found.lines[0].value
            if value is None:
                raise ValueError(f"method='bound' at {params}: {found.lines[0].why}")
            table.scores[k, 0] = 1.0 - min(value, NOTHING)
            table.fit_seconds[k, 0] = middle - started
            table.score_seconds[k, 0] = time.perf_counter() - middle
            bar.advance()
        if all(np.isinf(found.lines[0].value) for found in self.reports):
            warnings.warn(
                "method='bound': the bound of every setting is infinite, so the choice among them means "
                "nothing; look at bound_reports_ for the reason, or take another method",
                UserWarning,
                stacklevel=4,
            )


def _needs_shared(which: str, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> None:
    why = evaluator.why_not_shared(candidates)
    if why:
        raise ValueError(f"method={which!r} works on the whole kernel matrix, but {why}")


def _check_classes(which: str, evaluator: Evaluator) -> None:
    if which in TWO_CLASSES and is_classifier(evaluator.template):
        count = np.unique(evaluator.targets()).size
        if count != 2:
            raise ValueError(f"method={which!r} is a statement about two classes; y has {count}")


_BY_NAME: dict[str, Callable[[Evaluator, list[dict[str, Any]]], SearchMethod]] = {
    "kfold": KFold,
    "path": ExactPath,
    **{which: partial(LeaveOneOutCriterion, which=which) for which in LEAVE_ONE_OUT},
    "alignment": Alignment,
    "bound": Bound,
    "consistency": Consistency,
}
METHODS: tuple[str, ...] = tuple(_BY_NAME)


def search_method(name: str, evaluator: Evaluator, candidates: list[dict[str, Any]]) -> SearchMethod:
    """Return the method of a name, ready to judge the settings.

    Parameters
    ----------
    name : str
        One of ``METHODS``.
    evaluator : Evaluator
        The data.
    candidates : list of dict
        The settings.
    """
    return _BY_NAME[name](evaluator, candidates)
