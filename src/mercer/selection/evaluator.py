"""How a search does its work: on shared kernel matrices where it can, by plain fits where it must."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, column_or_1d

from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.regressor import BaseSVR
from mercer.estimators.svm.svc import BaseSVC
from mercer.gram import Workers, resolve_threads
from mercer.kernels import Kernel
from mercer.kernels.data import size
from mercer.selection.limited_fits import fit_within
from mercer.selection.parameter_grids import final_machine, prefix
from mercer.selection.plain_fits import FittingRun
from mercer.selection.progress import Progress
from mercer.selection.score_table import ScoreTable
from mercer.selection.shared_matrices import Fold, Ground, Judge, SharedRun, configured
from mercer.solvers import Limits

if TYPE_CHECKING:
    from mercer.selection.base_search import BaseSearch

PARAMETRIC = "parametric"
READABLE = ("predict", "decision_function", "default")


class Evaluator:
    """The data of one search and the ways to evaluate machines on them.

    Parameters
    ----------
    search : BaseSearch
        Whose parameters count.
    template : estimator
        What is tuned.
    X, y : data
        All rows.
    routed : Bunch
        What goes to the estimator, the splitter and the scorer.
    scorer : callable
        Of estimator, X, y.
    limits : Limits
        For the whole search.
    """

    def __init__(
        self, search: BaseSearch, template: Any, X: Any, y: Any, routed: Any, scorer: Any, limits: Limits
    ) -> None:
        self.search, self.template, self.X, self.y = search, template, X, y
        self.routed, self.scorer, self.limits = routed, scorer, limits
        self.workers = Workers(resolve_threads(search.n_jobs))
        self.machine = final_machine(template)
        self.unfinished = 0

    # -- what is there -----------------------------------------------------------------------------------

    def prepared_sample(self) -> Any:
        """Return the rows as the machine will see them, all first steps of a pipeline fitted on all rows."""
        return self._transformed(np.arange(self.n))

    @property
    def n(self) -> int:
        """Number of rows."""
        return size(self.X)

    def splits(self) -> list[tuple[Any, Any]]:
        """Return the folds that the splitter makes."""
        splitter = check_cv(self.search.cv, self.y, classifier=is_classifier(self.template))
        pairs = splitter.split(self.X, self.y, **self.routed.splitter.split)
        folds = [(_row_numbers(train), _row_numbers(test)) for train, test in pairs]
        if not folds:
            raise ValueError(
                f"cv={self.search.cv!r} gives no folds: give a number of them, a splitter, or pairs of row "
                "numbers to fit and to judge by"
            )
        weight = self._of_all_rows(self.routed.scorer.score.get("sample_weight"))
        for j, (_, test) in enumerate(folds if weight is not None else []):
            if not weight[test].any():
                raise ValueError(
                    f"sample_weight is zero for all {test.size} rows that fold {j + 1} of {len(folds)} is "
                    "judged by: leave such rows out, shuffle the folds, or make fewer of them"
                )
        return folds

    def targets(self) -> Any:
        """Return y as an array."""
        return column_or_1d(self.y, warn=True)

    def weight(self) -> Any:
        """Return the sample weights, or None."""
        given = self.routed.estimator.fit
        weight = given.get("sample_weight", given.get(f"{prefix(self.template)}sample_weight"))
        return self._of_all_rows(weight)

    def _of_all_rows(self, weight: Any) -> Any:
        if weight is None:
            return None
        weight = np.asarray(weight, dtype=np.float64)
        if weight.shape not in ((), (self.n,)):
            raise ValueError(
                f"sample_weight has shape {weight.shape}; for {self.n} rows it must be ({self.n},)"
            )
        return np.broadcast_to(weight, self.n)

    def own(self, candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the settings under the names of the last step's parameters."""
        start = prefix(self.template)
        return [{name.removeprefix(start): v for name, v in c.items()} for c in candidates]

    def why_not_shared(self, candidates: list[dict[str, Any]]) -> str:
        """Return why these settings cannot be evaluated on shared kernel matrices; "" if they can."""
        start = prefix(self.template)
        machine = self.machine
        if not isinstance(machine, BaseSVC | BaseSVR):
            return f"{type(self.template).__name__} does not end in a support vector classifier or regressor"
        if any(not name.startswith(start) for c in candidates for name in c):
            return "param_grid changes the first steps of the pipeline"
        if set(self.routed.estimator.fit) - {"sample_weight", f"{start}sample_weight"}:
            return "fit is handed more than sample_weight"
        if machine.time_limit is not None:
            return "the machine has a time_limit of its own"
        kernels = [machine._kernel(), *(v for c in candidates for v in c.values() if isinstance(v, Kernel))]
        if any(_keeps_data(kernel) for kernel in kernels):
            return "a centred kernel depends on the rows of each fold"
        if self._has_columns(kernels, candidates):
            return "columns beside the kernel cost nothing (parametric)"
        needed = 16.0 * self.n**2 * 1e-6
        if needed > self.search.cache_size:
            return f"{self.n} rows need cache_size={needed:.0f} MB"
        return ""

    def _has_columns(self, kernels: list[Kernel], candidates: list[dict[str, Any]]) -> bool:
        """Return whether some machine may have columns beside its kernel that cost nothing."""
        own = [getattr(self.machine, "parametric", None), *(c.get(PARAMETRIC) for c in self.own(candidates))]
        if any(not (p is None or (isinstance(p, str) and p == "auto")) for p in own):
            return True
        width = self.X.shape[1] if getattr(self.X, "ndim", 1) == 2 else 0
        by_themselves = width and any(k.trend_on(width) is not None for k in kernels if k.is_vector)
        return bool(by_themselves) and any(p is not None for p in own)

    def readable(self) -> bool:
        """Return whether the scorer needs no more than predictions or decisions."""
        if self.search.scoring is None:
            return True
        method = getattr(self.scorer, "_response_method", None)
        first = (
            method[0] if isinstance(method, tuple | list) else method
        )  # the others are for machines without it
        return first in READABLE

    # -- evaluation --------------------------------------------------------------------------------------

    def cross_validate(
        self,
        candidates: list[dict[str, Any]],
        splits: list[tuple[Any, Any]],
        table: ScoreTable,
        bar: Progress,
    ) -> None:
        """Fill the table with the scores of all settings on all folds."""

        def record(k: int, j: int, score: float, fit: float, scoring: float) -> None:
            table.scores[k, j] = score
            table.fit_seconds[k, j], table.score_seconds[k, j] = fit, scoring
            bar.advance()

        if self.why_not_shared(candidates) or not self.readable():
            FittingRun(
                self.template, candidates, splits, self.X, self.y, self._fit_params, self._score_params,
                self.scorer, self.limits, record,
            ).run()  # fmt: skip
            return
        held = [(_safe_indexing(self.X, test), _safe_indexing(self.y, test)) for _, test in splits]
        asked = [self._score_params(test) for _, test in splits]

        def judge(k: int, j: int, fitted: Any, K: Any) -> float:
            X, y = held[j]
            with np.errstate(all="ignore"):  # a score that overflows is nan, which is never chosen
                return float(self.scorer(fitted.held_out(fitted.values(K)), X, y, **asked[j]))

        self.run_shared(candidates, splits, judge, record)

    def run_shared(
        self, candidates: list[dict[str, Any]], splits: list[tuple[Any, Any]], judge: Judge, record: Any
    ) -> None:
        """Evaluate settings on shared kernel matrices."""
        own = self.own(candidates)
        assert self.machine is not None
        machines = configured(self.machine, own)
        run = SharedRun(machines, own, self._folds(splits, machines), judge, self.limits, record)
        run.run(self.workers)
        self.unfinished += run.unfinished

    def _folds(self, splits: list[tuple[Any, Any]], machines: list[KernelMachine]) -> list[Fold]:
        y, weight = self.targets(), self.weight()
        if not prefix(self.template):
            common = self.ground(self.X, machines)
            return [Fold(train, test, common, y, weight) for train, test in splits]
        return [
            Fold(train, test, self.ground(self._transformed(train), machines), y, weight)
            for train, test in splits
        ]

    def ground(self, X: Any, machines: list[KernelMachine]) -> Ground:
        """Return data in the form that all the machines' kernels take."""
        first = machines[0]
        kernel = first._kernel()
        X = first._check_X(X, kernel=kernel, reset=True)
        for other in machines[1:]:
            other._kernel().check_domain(X, other)
        if len(self.targets()) != size(X):
            raise ValueError(
                f"X and y have inconsistent numbers of samples: X has {size(X)} rows, y has "
                f"{len(self.targets())} entries"
            )
        return Ground(X, self.workers)

    def _transformed(self, rows: Any) -> Any:
        """Return all rows after the first steps of the pipeline, fitted on some rows."""
        if not prefix(self.template):
            return self.X
        first = clone(self.template[:-1])
        some = _safe_indexing(self.X, rows)
        if len(first) == 0:
            return self.X
        y = None if self.y is None else _safe_indexing(self.y, rows)
        return first.fit(some, y).transform(self.X)

    def _fit_params(self, rows: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = _check_method_params(self.X, self.routed.estimator.fit, indices=rows)
        return chosen

    def _score_params(self, rows: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = _check_method_params(self.X, self.routed.scorer.score, indices=rows)
        return chosen

    def refit(self, params: dict[str, Any], limits: Limits) -> tuple[Any, bool]:
        """Return the estimator with these parameters, fitted on all rows, and whether time was enough."""
        model = clone(self.template).set_params(**{n: clone(v, safe=False) for n, v in params.items()})
        data = (self.X,) if self.y is None else (self.X, self.y)
        return model, fit_within(limits, model, *data, **self.routed.estimator.fit)


def _keeps_data(kernel: Kernel) -> bool:
    """Return whether a kernel is another one on other training items, so that no matrix can be shared."""
    parts = (kernel, *kernel.get_params().values())
    return any(isinstance(part, Kernel) and part.keeps_data for part in parts)


def _row_numbers(rows: Any) -> Any:
    """Return what a splitter gave as an array of row numbers."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
