"""``partial_fit`` and ``forget`` of kernel ridge regression: one system, one factor, points come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from mercer.arrays import Float64, Index
from mercer.estimators.fitting import Solved, keep_machines, proof, working
from mercer.estimators.updating.live import KernelValues
from mercer.estimators.updating.mixin import UpdateMixin
from mercer.estimators.updating.rows import Rows
from mercer.estimators.verdict import check_finite_model
from mercer.gram.base import UNIT, whole
from mercer.problems import Machine
from mercer.solvers import Limits
from mercer.solvers.ridge.direct import Spectrum, by_eigenvectors
from mercer.solvers.ridge.updates import RidgeSystem

FEW = 24  # rows that come or go one by one; for more the factor is computed anew


class RidgeUpdateMixin(UpdateMixin):
    """Exact updates of ridge regressions; alpha, if it was chosen by leaving one out, is frozen."""

    alpha_: Any

    @staticmethod
    def _kept_targets(y: Any) -> np.ndarray:
        return np.array(y, dtype=np.float64)

    def _checked_targets(self, X: Any, y: Any) -> np.ndarray:
        from mercer.estimators.ridge._kernel_ridge import targets

        this: Any = self
        Y = targets(self, X, y)
        wanted = this.y_fit_.reshape(this.y_fit_.shape[0], -1).shape[1]
        if Y.shape[1] != wanted:
            raise ValueError(f"y has {Y.shape[1]} outputs; this model was fitted on {wanted}")
        return np.asarray(Y[:, 0] if this.y_fit_.ndim == 1 else Y)

    def _check_updatable(self, X: Any = None) -> None:
        super()._check_updatable(X)
        this: Any = self
        if this.updatable and this.solver == "cg":
            raise ValueError("updatable=True needs solver='auto', 'cholesky' or 'eigen': 'cg' has no factor")

    def _update(self, rows: Rows, more: Rows | None, gone: Index) -> None:
        this: Any = self
        both, gone, left = self._rows_left(rows, more, gone)
        split = self._split_of(left)
        if not split.tasks[0].rows.size:
            raise ValueError("sample_weight is zero for all rows that would be left")
        system = self.__dict__.pop("_live", None)
        limits = Limits(max_iter=-1, time_limit=this.time_limit)
        psd = not np.isnan(self.certificate_.gap)
        with working(self, limits, this._workers()):
            alpha = np.broadcast_to(np.asarray(self.alpha_, dtype=np.float64), (len(split.tasks),)).copy()
            problem = this._ridge(split, alpha)
            system, solution = self._solution(system, rows, both, gone, left, problem)
            this._begin(split)
            this.shape_fit_ = tuple(left.X.shape) if hasattr(left.X, "shape") else (left.n,)
            this.solver_, this.condition_ = solution.method, solution.condition
            root = np.asarray(self.kernel_.magnitude(left.X), dtype=np.float64)[split.tasks[0].rows]
            found = []
            for t, one in enumerate(problem.outputs()):
                machine = Machine(solution.A[:, t], float(solution.intercept[t]), solution.F[:, t])
                noise = UNIT * float(np.abs(machine.coef) @ root) * root
                found.append(Solved(one, machine, 1, "optimal", noise, solution.note))
            keep_machines(self, left.X, split, found)
            certificate = proof(self, found, psd)
        for name in ("alphas_", "loo_errors_", "history_"):  # of the fit that chose alpha
            self.__dict__.pop(name, None)
        self._set_rows(left)
        check_finite_model(this)
        this._conclude(certificate, notes=[s.note for s in found if s.note])
        self._live = system

    def _solution(
        self, system: RidgeSystem | None, rows: Rows, both: Rows, gone: Index, left: Rows, problem: Any
    ) -> tuple[RidgeSystem | None, Any]:
        """Return the system of the rows that are left, None where it is singular, and the solution."""
        this: Any = self
        same = bool((problem.alpha == problem.alpha[0]).all())
        try:
            if not same or this.solver == "eigen":
                raise LinAlgError
            if system is not None and both.n - rows.n + gone.size <= FEW:
                self._advance(system, rows, both, gone, float(problem.alpha[0]))
            else:
                system = RidgeSystem(self._matrix_of(left), float(problem.alpha[0]) / problem.weight)
            return system, system.solve(problem)
        except LinAlgError:  # singular in floating-point arithmetic, or a penalty for each output
            K = self._matrix_of(left)
            return None, by_eigenvectors(Spectrum.of(K, problem), K, problem)

    def _matrix_of(self, rows: Rows) -> Float64:
        this: Any = self
        values = KernelValues(self.kernel_, rows.X, this._workers())
        return whole(values.part(np.flatnonzero(rows.weight > 0)))

    def _advance(self, system: RidgeSystem, rows: Rows, both: Rows, gone: Index, alpha: float) -> None:
        """Bring a system from the rows so far to those that are left."""
        this: Any = self
        there = both.weight > 0
        values = KernelValues(self.kernel_, both.X, this._workers())
        for number in range(rows.n, both.n):
            if there[number]:
                before = np.flatnonzero(there[: number + 1])
                system.append(values.row(number)[before], alpha / float(both.weight[number]))
        place = np.cumsum(there) - 1
        for number in gone[::-1]:
            if there[number]:
                system.remove(int(place[number]))
