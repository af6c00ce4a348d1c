"""What machines with one dual over all rows share: regressors and detectors."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.expansion import ExpansionMixin
from mercer.estimators.interrupts import stoppable
from mercer.estimators.machine import KernelMachine
from mercer.estimators.monitoring import Watch
from mercer.gram import Gram, Segment, cross_products
from mercer.problems import Certificate, Dual, Machine, Values
from mercer.solvers import Progress, Solution


class SingleMachine(ExpansionMixin, KernelMachine):
    """Base of the estimators whose function is f(x) = sum_i coef_i k(x_i, x) + intercept."""

    # -- what a subclass says ----------------------------------------------------------------------------

    def _target(self, X: Any, y: Any) -> np.ndarray | None:
        """Return the checked targets; a detector has none."""
        return None

    def _check_feasible(self, weight: np.ndarray) -> None:
        """Refuse what no kernel could make feasible; called before any kernel value is computed."""

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        raise NotImplementedError

    def _keep(self, machine: Any, weight: np.ndarray) -> None:
        """Store what the machine knows beside its coefficients and intercept."""

    def _certified(self, problem: Any, coef: np.ndarray, f: np.ndarray) -> Values:
        """Return the values of the shipped machine, given f = K coef."""
        values: Values = problem.certify(coef, float(self.intercept_[0]), f)
        return values

    # -- fit ---------------------------------------------------------------------------------------------

    def _fit_machine(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Gram]:
        """Fit; return what a subclass may go on with: checked data, weights and kernel matrix."""
        limits = self._limits()
        workers = self._workers()
        kernel = self._kernel()
        given = X
        X = self._check_X(X, kernel=kernel, reset=True)
        n = self._length(X)
        target = self._target(X, y)
        weight = self._check_weight(sample_weight, X, n)
        self._check_feasible(weight)
        kernel.validate()
        resolved = kernel.resolve_on(
            X, None if sample_weight is None else weight
        )  # X and weights are checked
        previous = self._previous(n)
        self.kernel_ = resolved
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        self._gamma = getattr(resolved, "gamma", 0.0)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            watch = Watch(self, stop, given, y, sample_weight)
            matrix = self._gram(resolved, X, workers, not self._algorithm().single_precision)
            problem = self._stated(self._problem(target, weight, matrix), matrix)
            start = None if previous is None else problem.recover(previous)
            listener = watch.listener(snapshot=self._snapshots(X, problem, weight))
            solution = self._solve(matrix, problem, limits, listener, start)
            if stop.requested and solution.status == "time_limit":
                solution = replace(solution, status="interrupted")
            psd = self._psd(resolved, matrix)
            self._store(X, problem.machine(solution.b, solution.f), weight)
        self.n_iter_ = max(1, solution.n_iter)
        if self.trace:
            self.history_ = watch.history[0]
        self._conclude(solution.certificate(self.criterion, psd), stop.asked_by_callback)
        watch.end()
        return X, weight, matrix

    _predicts_in_rounds = True  # whether the dual alone makes an estimator that predicts

    def _snapshots(self, X: Any, problem: Dual, weight: np.ndarray) -> Callable[[Progress], Any] | None:
        """Return what makes the attributes of a fit out of a round of the solver."""

        def snapshot(p: Progress) -> dict[str, Any]:
            twin = copy.copy(self)
            twin._store(X, problem.machine(p.b.copy(), p.f.copy()), weight)
            return dict(vars(twin))

        return snapshot if self._predicts_in_rounds and not self._pairwise_kernel else None

    def _store(self, X: Any, machine: Machine, weight: np.ndarray) -> None:
        support = np.flatnonzero(machine.coef)
        coef = np.ascontiguousarray(machine.coef[support][None, :])
        self.support_ = support.astype(np.int32)
        self.dual_coef_: Any = coef
        if sp.issparse(X):  # as in scikit-learn, sparse data give sparse coefficients
            self.dual_coef_ = sp.csr_array(coef) if isinstance(X, sp.sparray) else sp.csr_matrix(coef)
        self.intercept_ = np.array([machine.intercept])
        self.support_vectors_ = self._kept(X, support)
        self._keep(machine, weight)

    def _previous(self, n: int) -> np.ndarray | None:
        """Return the coefficients of the previous fit, if it is wanted and was on as many rows."""
        if not self.warm_start or not hasattr(self, "dual_coef_") or self.shape_fit_[0] != n:
            return None
        return self._of_all_points(n)

    def _of_all_points(self, n: int) -> np.ndarray:
        whole = np.zeros(n)
        whole[self.support_] = self._coefficients[0]
        return whole

    # -- use ---------------------------------------------------------------------------------------------

    def _products(self, X: Any) -> np.ndarray:
        """Return K(X, support vectors) coef for checked data."""
        segment = Segment(0, self.support_.size, self._coefficients.T, np.arange(1))
        return cross_products(self.kernel_, X, self._reference(), [segment], 1, self._workers())[:, 0]

    def _values(self, X: Any) -> np.ndarray:
        """Return f(X)."""
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(self._products(X) + self.intercept_[0])

    # -- proof -------------------------------------------------------------------------------------------

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        n = self._fitted_length(X)
        target = self._target(X, y)
        weight = self._check_weight(sample_weight, X, n)
        matrix = self._gram(self.kernel_, X, self._workers())
        problem = self._stated(self._problem(target, weight, matrix), matrix)
        coef, f = self._of_all_points(n), self._products(X)
        known = self.certificate_
        values = self._certified(problem, coef, f)
        solution = Solution(coef, f, values, known.n_iter, known.status)  # type: ignore[arg-type]
        return solution.certificate(self.criterion, not math.isnan(known.gap))
