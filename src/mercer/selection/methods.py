"""The ways to judge a setting: each makes a task of the search."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from mercer.bounds import Report, report
from mercer.estimators import SVC, SVR
from mercer.selection.alignment import target_alignment
from mercer.selection.consistency import ConsistencyTable, effective_rows, wished_share
from mercer.selection.driver import Driver
from mercer.selection.leaving import left_out_values, masks
from mercer.selection.matrices import Fitted
from mercer.selection.paths import PathFolds
from mercer.selection.progress import Progress
from mercer.selection.results import Table
from mercer.selection.shared import _whole, configured

METHODS = (
    "kfold", "path", "sv_fraction", "xi_alpha", "span_rule", "span_bound", "alignment", "bound",
    "consistency",
)  # fmt: skip
KERNEL_ONLY = ("alignment", "consistency")
NOTHING = 1e6  # stands for a bound that is infinite
TWO_CLASSES = ("xi_alpha", "span_bound", "bound")


@dataclass
class Task:
    """What a search has to do; ``extras`` become attributes of the search."""

    driver: Driver
    candidates: list[dict[str, Any]]
    columns: int = 1
    extras: dict[str, Any] = field(default_factory=dict)
    missing: int = 0  # settings that are not even in the table

    @property
    def pieces(self) -> int:
        """Steps of the progress bar."""
        return len(self.candidates) * self.columns

    def table(self) -> Table:
        """Return the empty table."""
        return Table(self.candidates, self.columns)

    def run(self, table: Table, bar: Progress) -> None:
        """Fill the table."""
        raise NotImplementedError


class KFold(Task):
    """Cross-validation."""

    def __init__(self, driver: Driver, candidates: list[dict[str, Any]]) -> None:
        self.splits = driver.splits()
        super().__init__(driver, candidates, len(self.splits))

    def run(self, table: Table, bar: Progress) -> None:
        """Fill the table."""
        self.driver.cross_validate(self.candidates, self.splits, table, bar)


class Consistency(KFold):
    """Whether a detector rejects as many held-out rows as it was asked to."""

    def __init__(self, driver: Driver, candidates: list[dict[str, Any]]) -> None:
        self.nu = wished_share(driver.template, candidates)
        super().__init__(driver, candidates)

    def table(self) -> Table:
        """Return the empty table."""
        table = ConsistencyTable(self.candidates, self.columns)
        table.nu = self.nu
        table.n = effective_rows(self.driver.weight(), np.concatenate([test for _, test in self.splits]))
        return table


class ExactPath(Task):
    """Cross-validation of every C by exact paths; ``path_curves_`` has the curves."""

    def __init__(self, driver: Driver, candidates: list[dict[str, Any]]) -> None:
        _needs_shared("path", driver, candidates)
        if not driver.readable():
            raise ValueError(
                f"method='path' needs a scorer of predictions or decisions; "
                f"scoring={driver.search.scoring!r} asks for more"
            )
        splits = driver.splits()
        self.folds = PathFolds(driver, candidates, splits)
        super().__init__(driver, [{} for _ in self.folds.settings], len(splits))

    def run(self, table: Table, bar: Progress) -> None:
        """Fill the table."""
        try:
            self.folds.run(bar.advance)
        finally:
            curves = self.folds.write(table)
            self.extras["path_curves_"] = curves
            self.missing = len(self.folds.settings) - len(curves) if curves else 0


class LeaveOneOut(Task):
    """A bound on, or an estimate of, the leave-one-out error, from one fit on all rows."""

    def __init__(self, driver: Driver, candidates: list[dict[str, Any]], which: str) -> None:
        super().__init__(driver, candidates)
        self.which = which
        machine = driver.machine
        if not isinstance(machine, SVC | SVR) or (which != "span_rule" and not isinstance(machine, SVC)):
            raise ValueError(
                f"method={which!r} is about leaving points out of SVC"
                f"{' or SVR' if which == 'span_rule' else ''}; {type(driver.template).__name__} is none"
            )
        _needs_shared(which, driver, candidates)
        for one in configured(machine, driver.own(candidates)):
            if which in TWO_CLASSES and one.loss != "hinge":
                raise ValueError(f"method={which!r} needs loss='hinge', got {one.loss!r}")
            if which == "span_bound" and (not one.fit_intercept or one._algorithm().fixes_bias):
                raise ValueError(
                    "method='span_bound' needs fit_intercept=True and a solver that leaves the bias free: it "
                    "is about machines with such a bias"
                )
            if np.isinf(one.C):
                raise ValueError(f"method={which!r} needs a finite C: leaving a point out of a hard margin")
        _check_classes(which, driver)

    def run(self, table: Table, bar: Progress) -> None:
        """Fill the table."""
        driver, n = self.driver, self.driver.n
        weight = driver.weight()
        table.errors = np.zeros(len(self.candidates))
        every, none = np.arange(n), np.arange(0)
        y = driver.targets()

        def judge(k: int, j: int, fitted: Fitted, K: Any) -> float:
            assert table.errors is not None
            if self.which != "span_rule":
                right = 1.0 - masks(fitted, self.which, n)
            else:
                model = fitted.held_out(left_out_values(fitted, n))
                if driver.search.scoring is not None or not is_classifier(driver.template):
                    return float(driver.scorer(model, driver.X, y, **driver._score_params(every)))
                right = (model.predict(driver.X) == y).astype(np.float64)
            share = float(np.average(right, weights=weight))
            table.errors[k] = np.sqrt(share * (1.0 - share) / n)
            return share

        def record(k: int, j: int, score: float, fit: float, scoring: float) -> None:
            table.scores[k, 0], table.fit_seconds[k, 0], table.score_seconds[k, 0] = score, fit, scoring
            bar.advance()

        driver.run_shared(self.candidates, [(every, none)], judge, record)


class Alignment(Task):
    """Centred kernel-target alignment, without any fit."""

    def __init__(self, driver: Driver, candidates: list[dict[str, Any]]) -> None:
        super().__init__(driver, candidates)
        _needs_shared("alignment", driver, candidates)
        for name in dict.fromkeys(name for c in driver.own(candidates) for name in c):
            if name not in ("kernel", "gamma", "degree", "coef0") and not name.startswith("kernel__"):
                raise ValueError(
                    f"method='alignment' looks at the kernel matrix alone and cannot choose {name!r}: leave "
                    "it out of param_grid, and choose it by another search"
                )

    def run(self, table: Table, bar: Progress) -> None:
        """Fill the table."""
        driver = self.driver
        assert driver.machine is not None
        machines = configured(driver.machine, driver.own(self.candidates))
        ground = driver.ground(driver.prepared_sample(), machines)
        y, weight, classes = driver.targets(), driver.weight(), is_classifier(driver.template)
        table.errors = np.zeros(len(machines))
        for k, machine in enumerate(machines):
            if driver.limits.out_of_time():
                return
            started = time.perf_counter()
            kernel = machine._kernel()
            kernel.validate()
            K, _ = _whole(ground, kernel.resolve_on(ground.X, weight), np.float64)
            table.scores[k, 0] = target_alignment(K, y, classes=classes, weight=weight)
            table.score_seconds[k, 0] = time.perf_counter() - started
            bar.advance()


class Bound(Task):
    """The margin bound of `mercer.bounds`, its delta shared among all settings."""

    def __init__(self, driver: Driver, candidates: list[dict[str, Any]]) -> None:
        super().__init__(driver, candidates)
        self.options: dict[str, Any] = {"delta": driver.search.delta, "candidates": len(candidates)}
        if not is_classifier(driver.template):
            tolerance = getattr(driver.search, "tolerance", None)
            if tolerance is None:
                raise ValueError("method='bound' needs tolerance=, the size of an error that matters")
            easy = 0.5 * float(np.ptp(np.asarray(driver.targets(), dtype=np.float64)))
            if tolerance >= easy:
                raise ValueError(
                    f"tolerance={tolerance:g} is too large for method='bound': a constant is off by at most "
                    f"{easy:.4g} on these targets, so to keep to it is no achievement of any setting; give "
                    "a smaller one"
                )
            self.options["tolerance"] = tolerance
        elif driver.machine is None:
            raise ValueError(f"method='bound' cannot read {type(driver.template).__name__}")
        else:
            _check_classes("bound", driver)
        self.reports: list[Any] = [None] * len(candidates)
        self.extras["bound_reports_"] = self.reports

    def run(self, table: Table, bar: Progress) -> None:
        """Fill the table."""
        driver = self.driver
        table.errors = np.zeros(len(self.candidates))
        for k, params in enumerate(self.candidates):
            if driver.limits.out_of_time():
                return
            started = time.perf_counter()
            model = driver.refit(params)
            middle = time.perf_counter()
            found = report(model, driver.X, driver.y, **self.options)
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


def _needs_shared(which: str, driver: Driver, candidates: list[dict[str, Any]]) -> None:
    why = driver.why_not_shared(candidates)
    if why:
        raise ValueError(f"method={which!r} works on the whole kernel matrix, but {why}")


def _check_classes(which: str, driver: Driver) -> None:
    if which in TWO_CLASSES and is_classifier(driver.template):
        count = np.unique(driver.targets()).size
        if count != 2:
            raise ValueError(f"method={which!r} is a statement about two classes; y has {count}")


def prepare(method: str, driver: Driver, candidates: list[dict[str, Any]]) -> Task:
    """Return the task of a method.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    driver : Driver
        The data.
    candidates : list of dict
        The settings.
    """
    if method == "kfold":
        return KFold(driver, candidates)
    if method == "alignment":
        return Alignment(driver, candidates)
    if method == "bound":
        return Bound(driver, candidates)
    if method == "consistency":
        return Consistency(driver, candidates)
    if method == "path":
        return ExactPath(driver, candidates)
    return LeaveOneOut(driver, candidates, method)
