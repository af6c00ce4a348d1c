"""A grid by fitting the estimator itself in every fold: any estimator, any scorer, data of any size."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from mercer.estimators.probability import wants_probabilities
from mercer.selection.limited_fits import fit_within
from mercer.selection.parameter_grids import chains_along_c, final_machine, prefix, short
from mercer.solvers import Limits


class FittingRun:
    """Evaluates all candidates on all folds, one fit each.

    A machine of ours walks along C with ``warm_start``: each solution starts the next.

    Parameters
    ----------
    estimator : estimator
        Cloned for every chain.
    candidates : list of dict
        The settings.
    splits : list of (train, test)
        Row numbers.
    X, y : data
        All rows.
    fit_params, score_params : callable
        Given row numbers, what to hand to ``fit`` and to the scorer for these rows.
    scorer : callable
        Of estimator, X, y.
    limits : Limits
        For the whole run.
    record : callable
        Told each score: candidate, fold, score, seconds of fit and of score.
    """

    def __init__(
        self,
        estimator: Any,
        candidates: list[dict[str, Any]],
        splits: Sequence[tuple[Any, Any]],
        X: Any,
        y: Any,
        fit_params: Callable[[Any], dict[str, Any]],
        score_params: Callable[[Any], dict[str, Any]],
        scorer: Callable[..., float],
        limits: Limits,
        record: Callable[[int, int, float, float, float], None],
    ) -> None:
        self.estimator, self.candidates, self.splits = estimator, candidates, splits
        self.X, self.y, self.scorer = X, y, scorer
        self.fit_params, self.score_params = fit_params, score_params
        self.limits, self.record = limits, record
        machine = final_machine(estimator)
        # Probabilities are found to a tolerance of their own, which depends on where a fit comes from.
        self.warm = machine is not None and not wants_probabilities(machine)

    def run(self) -> None:
        """Do it all; limits leave what is done."""
        chains = chains_along_c(self.candidates, list(range(len(self.candidates))))
        for chain in chains:
            for j in range(len(self.splits)):
                if not self._chain(chain, j):
                    return

    def _chain(self, chain: list[int], j: int) -> bool:
        train, test = self.splits[j]
        model = clone(self.estimator)
        X_train, y_train = _safe_split(model, self.X, self.y, train)
        X_test, y_test = _safe_split(model, self.X, self.y, test, train)
        if self.warm:
            model.set_params(**{f"{prefix(model)}warm_start": True})
        for number, k in enumerate(chain):
            if self.limits.out_of_time():
                return False
            setting = self.candidates[k]
            if number and not self.warm:
                model = clone(self.estimator)
            changed = {n: v for n, v in setting.items() if number == 0 or not self.warm or short(n) == "C"}
            model.set_params(**{n: clone(v, safe=False) for n, v in changed.items()})
            started = time.perf_counter()
            data = (X_train,) if y_train is None else (X_train, y_train)
            if not fit_within(self.limits, model, *data, **self.fit_params(train)):
                return False
            middle = time.perf_counter()
            asked = self.score_params(test)
            held = () if y_test is None else (y_test,)
            with np.errstate(all="ignore"):  # a score that overflows is nan, which is never chosen
                score = float(self.scorer(model, X_test, *held, **asked))
            self.record(k, j, score, middle - started, time.perf_counter() - middle)
        return True
