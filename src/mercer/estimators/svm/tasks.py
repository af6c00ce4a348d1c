"""Solving the two-class problems of one classifier, side by side where that pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.estimators.machine import KernelMachine
from mercer.estimators.monitoring import Watch
from mercer.estimators.probability import Calibration
from mercer.gram import Gram, Workers
from mercer.problems import Dual
from mercer.problems.multiclass import Task
from mercer.problems.soft_margins import Biased, SoftMargins
from mercer.solvers import Progress, Solution
from mercer.solvers.dual.small_problems import solve_crowd

SIDE_BY_SIDE = range(400, 4097)  # rows of two-class problems that are solved side by side, one thread each
CROWD = 10  # two-class problems that are enough to be solved all at once
FEW_ROWS = 256  # that each of them may have


class TaskMachine(KernelMachine):
    """Base of the classifiers that are made of two-class machines."""

    # What a subclass says: the problem of one task.
    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        raise NotImplementedError

    def _task_problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        """Return the problem of one task in the form that the solver takes."""
        return self._stated(self._problem(sign, weight, matrix), matrix)

    def _soft_margin_price(self) -> float | None:
        """Return C where the problems are plain soft margins with a bias."""
        return None

    def _solve_crowd(
        self, tasks: list[Task], weight: np.ndarray, matrix: Gram, workers: Workers, watch: Watch
    ) -> list[Solution | None]:
        """Return the solutions of many small problems where they can be found at once and nobody looks on."""
        price, cache = self._soft_margin_price(), self._cache_bytes() // 2
        watched = self.trace or self.verbose or watch.one_at_a_time
        limited = self.max_iter >= 0 or self.time_limit is not None
        if (
            price is None
            or watched
            or limited
            or (self.solver, self.criterion) != ("auto", "kkt")
            or len(tasks) < CROWD
            or max(task.rows.size for task in tasks) > FEW_ROWS
            or 8 * matrix.n**2 > cache
        ):
            return [None] * len(tasks)
        every = np.arange(matrix.n)
        K = np.ascontiguousarray(matrix.exact().block(every, every), dtype=np.float64)
        sign = np.concatenate([task.sign for task in tasks])
        C = price * weight[np.concatenate([task.rows for task in tasks])]
        problems = SoftMargins([task.rows for task in tasks], sign, C)
        return solve_crowd(K, problems, self.tol, workers, lambda: watch.stop.requested)

    def _solve_all(
        self,
        tasks: list[Task],
        weight: np.ndarray,
        matrix: Gram,
        workers: Workers,
        starts: list[np.ndarray] | None,
        watch: Watch,
        calibration: Calibration | None = None,
        snapshot: Callable[[Progress, Dual], dict[str, Any]] | None = None,
    ) -> tuple[list[Solution], list[Dual]]:
        """Solve every task; after a request to stop, the rest end where they are or start."""
        stop = watch.stop
        solutions: list[Any] = [None] * len(tasks)
        duals: list[Any] = [None] * len(tasks)
        if starts is None and calibration is None:
            solutions = list(self._solve_crowd(tasks, weight, matrix, workers, watch))
            duals = [None if s is None else Biased(float(s.values.multipliers[0])) for s in solutions]
        if len(tasks) > 1 and any(s is None for s in solutions):
            matrix = matrix.shared(self._cache_bytes() // 2)
        together = (
            len(tasks) > 1
            and matrix.independent_subsets
            and max(t.rows.size for t in tasks) in SIDE_BY_SIDE
            and not watch.one_at_a_time
        )
        side_by_side = min(workers.threads, len(tasks)) if together else 1

        def solve(k: int) -> None:
            if stop.requested and self.on_interrupt == "raise" and not stop.asked_by_callback:
                raise KeyboardInterrupt
            if solutions[k] is not None:
                watch.solved(k)
                return
            task = tasks[k]
            whole = task.rows.size == matrix.n
            part = matrix if whole else matrix.subset(task.rows, Workers(1) if together else None)
            if calibration is not None:
                part = calibration.watch(part)
            dual = duals[k] = self._task_problem(task.sign, weight[task.rows], part)
            start = None if starts is None else dual.recover(starts[k])
            look = None if snapshot is None else lambda p: snapshot(p, dual)
            listener = watch.listener(k, look)
            solution = self._solve(part, dual, stop.limits, listener, start, side_by_side, workers)
            if solution.status == "interrupted":
                stop()
            elif stop.requested and solution.status == "time_limit":
                solution = replace(solution, status="interrupted")
            solutions[k] = solution
            watch.solved(k)
            if calibration is not None:
                solver = self._solver(stop.limits, None, side_by_side)
                calibration.learn(
                    k, task, part, dual, solution, self._task_problem, weight[task.rows], solver
                )

        if together:
            workers.each(len(tasks), solve, stop=stop)
        else:
            for k in range(len(tasks)):
                solve(k)
        return solutions, duals
