"""What the estimators with any loss share: parameters, the choice of the solver, the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from threadpoolctl import threadpool_limits

from mercer.estimators.interrupts import Stop
from mercer.estimators.machine import KernelMachine
from mercer.estimators.ridge import IllConditionedWarning
from mercer.gram import Gram, Workers
from mercer.problems import Certificate, Dual
from mercer.solvers import Decomposition, Limits, Solution
from mercer.solvers.base import Listener
from mercer.solvers.risk import ConvexConcave, Newton, Proximal

SIDE_BY_SIDE = range(100, 1025)  # rows of problems that are solved side by side, one thread each


class ConvexMachine(KernelMachine):
    """Base of the estimators that minimise any convex loss."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in (
                "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "verbose",
                "time_limit", "n_jobs", "precision", "fit_intercept", "warm_start", "on_interrupt", "trace",
            )
        },
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "criterion": [StrOptions({"kkt", "gap"})],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }  # fmt: skip

    _notes: tuple[str, ...] = ()

    def _blas_threads(self, workers: Workers) -> AbstractContextManager[Any]:
        """Keep matrix products to the threads that were asked for."""
        return nullcontext() if self.n_jobs is None else threadpool_limits(workers.threads, user_api="blas")

    def _minimise(
        self,
        matrix: Gram,
        problem: Any,
        stop: Stop,
        listener: Listener | None,
        psd: bool,
        start: Any = None,
        side_by_side: int = 1,
    ) -> Solution:
        """Solve one problem by the method for its kind."""
        memory = self._cache_bytes() // side_by_side
        options: dict[str, Any] = {
            "tol": self.tol, "criterion": self.criterion, "limits": stop.limits, "listener": listener,
        }  # fmt: skip
        solution: Solution
        if isinstance(problem, Dual):
            solution = Decomposition(**options, block_bytes=memory // 2).solve(matrix, problem, start)
        else:
            method: Any = Newton if problem.loss.smooth else Proximal
            if not psd:
                method = ConvexConcave
            found = method(**options, memory=memory).solve(matrix, problem, start)
            if found.note:
                self._notes = (*self._notes, found.note)
            solution = found
        if solution.status == "interrupted":
            stop()
        elif stop.requested and solution.status == "time_limit":
            solution = replace(solution, status="interrupted")
        return solution

    def _each(self, workers: Workers, together: bool, sizes: list[int], work: Callable[..., None]) -> None:
        """Call ``work(k, part_workers, side_by_side)`` for each problem, side by side where that pays."""
        if together and len(sizes) > 1 and max(sizes) in SIDE_BY_SIDE and workers.threads > 1:
            share = min(workers.threads, len(sizes))
            workers.each(len(sizes), lambda k: work(k, Workers(1), share))
            return
        for k in range(len(sizes)):
            work(k, None, 1)

    def _conclude(self, certificate: Certificate, keep: bool = False) -> None:
        """Store the certificate; where rounding had the last word, say so instead of naming a limit."""
        notes, self._notes = self._notes, ()
        unlimited = certificate.status == "iteration_limit" and notes
        if not unlimited:
            super()._conclude(certificate, keep)
            return
        self.certificate_ = certificate
        self.fit_status_ = 1
        warnings.warn(f"{type(self).__name__}: {notes[0]}.", IllConditionedWarning, stacklevel=4)

    def _reason(self, certificate: Certificate) -> str:
        """Return what stopped a fit before its tolerance."""
        if certificate.status == "time_limit":
            return f"at time_limit={self.time_limit}"
        limited = self.max_iter >= 0
        return f"at max_iter={self.max_iter}" if limited else "where rounding hides any further gain"

    def _begin(self, X: Any) -> tuple[Any, Limits, Workers]:
        """Return checked data, limits and threads; the notes of an earlier fit are forgotten."""
        self._notes = ()
        return self._check_X(X, kernel=self._kernel(), reset=True), self._limits(), self._workers()

    def _resolve(self, X: Any, weight: np.ndarray | None) -> None:
        """Fix the kernel's data-dependent parameters."""
        kernel = self._kernel()
        kernel.validate()
        self.kernel_ = kernel.resolve_on(X, weight)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (self._length(X),)
        self._gamma = getattr(self.kernel_, "gamma", 0.0)
