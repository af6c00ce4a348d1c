"""Many neighbouring problems on one kernel matrix in memory: each solution starts the next.

The problems of a grid differ in C, nu or epsilon and share the matrix; those of the next kernel parameter
share the variables. Each is solved by sequential minimal optimisation in slices, with a Newton step over the
free variables between slices: the first finds the bounds, the second does away with bad conditioning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.warm_start import best_multiple, carried
from mercer.solvers.base import Limits, Reached, Solution, Status, judged
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.dense_block import DenseBlock
from mercer.solvers.dual.free_newton import newton_step
from mercer.solvers.dual.round_loop import mend_sums

LARGEST = 6144  # variables up to which a problem is one block
MOST_FREE = 2048  # free variables up to which a factorisation pays
SLICE_WORK = 1e8  # block entries touched between two looks at the clock
PATIENCE = 2  # slices without help before the first Newton step
HARD, SMALL = 12, 1024  # slices after which so many variables go to their interior-point solution
PATIENT_STEPS = 200  # steps per variable that the general solver may take
ROUNDS = 200  # slices before the general solver takes over


@dataclass
class Walk:
    """Solve neighbouring duals one after the other.

    Parameters
    ----------
    tol : float
        Largest KKT violation.
    limits : Limits, optional
        Steps (of each problem) and seconds (of all).
    """

    tol: float = 1e-3
    limits: Limits | None = None

    def solve(self, gram: Gram, problem: Dual, starts: Sequence[Float64] = ()) -> Solution:
        """Return the solution, begun at the best of some points (each is made feasible first).

        Parameters
        ----------
        gram : Gram
            All kernel values in memory.
        problem : Dual
            The problem.
        starts : sequence of (copies n,) float64
            Solutions of neighbours.
        """
        limits = self.limits or Limits()
        if problem.size > LARGEST:
            return self._general(gram, problem, starts[0] if starts else None, limits)
        every = np.arange(problem.n)
        run = _Run(gram.block(every, every), gram.diag(), problem, limits)
        run.begin(starts)
        goal = lambda: problem.tolerance(self.tol, problem.objective(run.b, run.f))  # noqa: E731
        status = run.descend(goal, gram.is_psd is True)
        if status is None:  # no headway: duplicates, an indefinite matrix, or a tolerance beyond rounding
            return self._general(gram, problem, run.b, limits)
        return judged(gram, problem, Reached(run.b, run.f, run.n_iter, status), self.tol, "kkt")

    def _general(self, gram: Gram, problem: Dual, start: Any, limits: Limits) -> Solution:
        # One of very many problems: where its tolerance is beyond rounding, the next one is waiting.
        most = PATIENT_STEPS * problem.size + 100_000
        capped = Limits(min(most, limits.steps_left(0)), limits.time_limit, limits.started)
        return Decomposition(tol=self.tol, limits=capped).solve(gram, problem, start)


class _Run:
    """The state of one solve."""

    def __init__(self, K: Any, diag: Float64, problem: Dual, limits: Limits) -> None:
        self.K, self.diag, self.p, self.limits = K, diag, problem, limits
        self.b = problem.start()
        self.f = np.zeros(problem.n)
        self.n_iter = 0

    def product(self, b: Float64) -> Float64:
        beta = self.p.beta(b)
        used = np.flatnonzero(beta)
        f = np.zeros(self.p.n)
        _jit.row_products.fold_rows(self.K, used, beta[used], 0, self.p.n, f)
        return f

    def begin(self, starts: Sequence[Float64]) -> None:
        """Go to the best of the starts."""
        points = [self.b, *(carried(self.p, start) for start in starts)]
        least = np.inf
        for b in points[1:] if len(points) > 1 else points:
            b, f = best_multiple(self.p, b, self.product(b))
            value = self.p.objective(b, f)
            if value < least:
                self.b, self.f, least = b, f, value

    def move(self, b: Float64) -> None:
        change = self.p.beta(b) - self.p.beta(self.b)
        moved = np.flatnonzero(change)
        _jit.row_products.fold_rows(self.K, moved, change[moved], 0, self.p.n, self.f)
        self.b = b

    def descend(self, goal: Callable[[], float], psd: bool) -> Status | None:
        """Lower the violation to the goal; None when there is no headway."""
        steps = int(np.clip(SLICE_WORK // (6 * self.p.size), 200, 2 * self.p.size))
        fresh = False
        for number in range(ROUNDS):
            g = self.p.gradient(self.b, self.f)
            tol = goal()
            if self.p.violation(self.b, g) <= tol:
                if fresh:
                    return "optimal"
                mend_sums(self.p, self.b)
                self.f = self.product(self.b)  # many small changes leave rounding behind
                fresh = True
                continue
            if self.p.hopeless(self.b, self.f):
                return "optimal"
            if self.limits.steps_left(self.n_iter) == 0:
                return "iteration_limit"
            if self.limits.out_of_time():
                return "time_limit"
            if number >= PATIENCE:
                better = newton_step(self.K, self.p, self.b, g, MOST_FREE)
                if better is not None:
                    self.move(better)
                    g = self.p.gradient(self.b, self.f)
            block = DenseBlock(self.K, self.diag, self.p, self.b, g)
            if number == HARD and psd and self.p.size <= SMALL:
                block.restart_from_interior(self.limits.out_of_time, exact=False)
            done = block.run(0.9 * tol, min(steps, self.limits.steps_left(self.n_iter)))
            self.n_iter += done
            b = self.b.copy()
            block.write(b)
            if done == 0 and fresh:
                return None
            fresh = False
            self.move(b)
        return None
