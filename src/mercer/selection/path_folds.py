"""Cross-validation over every C at once, by the exact paths of the folds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from mercer.arrays import Float64
from mercer.estimators import SVC, SVR
from mercer.problems.fixed_bias import FixedBias
from mercer.problems.parametric_family import ParametricFamily, soft_margin_family, tube_family
from mercer.selection.accuracy_steps import Steps, accuracy_steps, machine_at, pieces
from mercer.selection.evaluator import Evaluator
from mercer.selection.held_out_machines import HeldOutClassifier, HeldOutRegressor
from mercer.selection.parameter_grids import prefix, short
from mercer.selection.score_table import ScoreTable
from mercer.selection.scoring import row_shares
from mercer.selection.shared_matrices import Fold, _whole, configured
from mercer.solvers import Limits, as_solver
from mercer.solvers.path.follow import Path, PathSolver

FINE = 200  # values of C at which other scores than accuracy are looked at
NARROW = 2.0**-5, 2.0**15  # the range of C where the grid names none


class PathFolds:
    """The paths of all folds for one setting of everything but C.

    Parameters
    ----------
    evaluator : Evaluator
        The data.
    candidates : list of dict
        Settings with C (whose least and largest value are the ends of the range) or without it.
    splits : list of (train, test)
        The folds.
    """

    def __init__(
        self, evaluator: Evaluator, candidates: list[dict[str, Any]], splits: list[tuple[Any, Any]]
    ) -> None:
        self.evaluator, self.splits = evaluator, splits
        self.name = next(
            (n for c in candidates for n in c if short(n) == "C"), f"{prefix(evaluator.template)}C"
        )
        prices = sorted(float(c[self.name]) for c in candidates if self.name in c) or list(NARROW)
        if not np.isfinite(prices[-1]):
            raise ValueError("method='path' needs a finite range of C: param_grid has C=inf")
        if prices[0] == prices[-1]:
            raise ValueError(
                f"method='path' looks at a range of C, param_grid has the one value {prices[0]:g}: give its "
                "least and its largest value"
            )
        self.ends = 1.0 / prices[0], 1.0 / prices[-1]
        rest: dict[str, dict[str, Any]] = {}
        for c in candidates:
            others = {n: v for n, v in c.items() if n != self.name}
            rest.setdefault(repr(sorted(others.items(), key=lambda item: item[0])), others)
        self.settings = list(rest.values())
        assert evaluator.machine is not None
        self.machines = configured(evaluator.machine, evaluator.own(self.settings))
        for machine in self.machines:
            if not isinstance(machine, SVC | SVR) or machine.loss not in ("hinge", "epsilon_insensitive"):
                raise ValueError(
                    "method='path' needs SVC(loss='hinge') or SVR(loss='epsilon_insensitive'): the solutions "
                    "of other machines are not piecewise linear in C"
                )
        mean = row_shares(evaluator.search.scoring_, evaluator.y) is not None
        self.exact = is_classifier(evaluator.template) and mean
        self.found: list[list[Any]] = [[None] * len(splits) for _ in self.settings]
        self.seconds = np.zeros((len(self.settings), len(splits)))
        self.folds: list[Fold] = []

    def run(self, advance: Any) -> None:
        """Follow all paths."""
        self.folds = self.evaluator._folds(self.splits, self.machines)
        count = len(self.splits)

        def work(number: int) -> None:
            s, j = divmod(number, count)
            if self.evaluator.limits.out_of_time():
                return
            started = time.perf_counter()
            self.found[s][j] = self._fold(s, j)
            self.seconds[s, j] = time.perf_counter() - started
            advance()

        self.evaluator.workers.each(len(self.settings) * count, work, stop=self._stop)

    def _stop(self) -> None:
        self.evaluator.limits.time_limit = 0.0

    def _fold(self, s: int, j: int) -> Any:
        fold, machine = self.folds[j], self.machines[s]
        train = fold.train
        if fold.weight is not None:
            train = train[fold.weight[train] > 0]
        kernel = machine._kernel()
        kernel.validate()
        X = fold.ground.X
        weight = None if fold.weight is None else fold.weight[train]
        kernel = kernel.resolve_on(_safe_indexing(X, train), weight)
        K, diag = _whole(fold.ground, kernel, np.float64)
        inner = np.ascontiguousarray(K[np.ix_(train, train)], dtype=np.float64)
        cross = K[np.ix_(fold.test, train)]
        family, classes = self._family(machine, fold.y[train], weight, machine.fit_intercept)
        named = as_solver(machine.solver)
        stated = family.dual(1.0) if named is None else named.restate(family.dual(1.0), diag[train])
        if isinstance(stated, FixedBias):  # the bias is one more coordinate, tau, of all points
            inner += stated.tau**2
            cross = cross + stated.tau**2
            family, classes = self._family(machine, fold.y[train], weight, False)
        limits = Limits(-1, self.evaluator.limits.time_limit, self.evaluator.limits.started)
        path = PathSolver(limits).solve(inner, family, self.ends[1])
        if path.status != "optimal":
            return None
        if self.exact:
            return self._steps(path, family, cross, fold, classes)
        return self._scores(machine, path, family, cross, j, classes)

    def _family(self, machine: Any, y: Any, weight: Any, bias: bool) -> tuple[ParametricFamily, Any]:
        split = machine._split(y, y, weight)
        (task, *others) = split.tasks
        if others:
            count = split.labels.classes.size
            raise ValueError(f"method='path' follows one two-class machine; y has {count} classes")
        weights = split.weight[task.rows]
        if isinstance(machine, SVR):
            return tube_family(task.target, weights, machine.epsilon, fit_intercept=bias), None
        return soft_margin_family(task.sign, weights, fit_intercept=bias), split.labels.classes

    def _steps(self, path: Path, family: ParametricFamily, cross: Any, fold: Fold, classes: Any) -> Steps:
        weight = self.evaluator._score_params(fold.test).get("sample_weight")
        share = row_shares(self.evaluator.search.scoring_, fold.y[fold.test], weight)
        assert share is not None
        return accuracy_steps(path, family, cross, fold.y[fold.test] == classes[1], share, self.ends)

    def prices(self) -> Float64:
        """Return the values of C at which scores that are no step functions are looked at."""
        return np.geomspace(1.0 / self.ends[0], 1.0 / self.ends[1], FINE)

    def _scores(
        self, machine: Any, path: Path, family: ParametricFamily, cross: Any, j: int, classes: Any
    ) -> Float64:
        evaluator, test = self.evaluator, self.splits[j][1]
        X, y = _safe_indexing(evaluator.X, test), _safe_indexing(evaluator.y, test)
        asked = evaluator._score_params(test)
        out = np.empty(FINE)
        for k, C in enumerate(self.prices()):
            # The range's ends are what rounding leaves of them; the path has them to the last bit.
            coef, intercept = machine_at(path, family, min(C, 1.0 / self.ends[1]))
            F = (cross @ coef + intercept)[:, None]
            model = HeldOutRegressor(F) if classes is None else HeldOutClassifier(machine, classes, F)
            with np.errstate(all="ignore"):  # a score that overflows is nan, which is never chosen
                out[k] = float(evaluator.scorer(model, X, y, **asked))
        return out

    def write(self, table: ScoreTable) -> list[dict[str, Any]]:
        """Fill the table with all pieces of all settings; return the curves."""
        candidates: list[dict[str, Any]] = []
        blocks, seconds, curves = [], [], []
        for s, others in enumerate(self.settings):
            found = self.found[s]
            if any(one is None for one in found):
                continue
            if self.exact:
                C, values = pieces(found, self.ends)
            else:
                C, values = self.prices(), np.stack(found, axis=1)
            curves.append(
                {"params": others, "C": C, "mean_test_score": values.mean(axis=1), "scores": values}
            )
            candidates += [{**others, self.name: float(c)} for c in C]
            blocks.append(values)
            seconds.append(np.tile(self.seconds[s] / C.size, (C.size, 1)))
        if candidates:
            table.candidates = candidates
            table.scores = np.concatenate(blocks)
            table.fit_seconds = np.concatenate(seconds)
            table.score_seconds = np.zeros_like(table.scores)
        return curves
