"""What the solvers of structured machines share: passes over the rows, limits, the best point so far."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index, Ints
from mercer.gram.joint import JointFeatures
from mercer.problems.output_pool import TRUE
from mercer.problems.problem import relative
from mercer.problems.structured import StructuredRisk
from mercer.solvers.base import Limits, Need, Reached, Solver, Status
from mercer.solvers.dual.round_loop import LimitReached
from mercer.solvers.progress import Progress, wants_to_know

SLICE = 0.1  # seconds of work between two looks at the limits
IDLE = 60  # passes without any gain after which rounding has the last word
GAIN = 1e-12  # of the objective, relative, that is none

STRUCTURES = Need(
    lambda solver, gram, problem: isinstance(problem, StructuredRisk) and isinstance(gram, JointFeatures),
    lambda solver, gram, problem: (
        "learns the weights of structured outputs, and this problem has none: use StructuredSVM, or "
        'solver="auto"'
    ),
)


class Passes(ABC):
    """One solve: weights and multipliers, improved from pass to pass over the rows.

    Parameters
    ----------
    options : Solver
        Tolerance, limits, listener.
    problem : StructuredRisk
        What is solved.
    start : array, optional
        Where to begin.
    """

    def __init__(self, options: Solver, problem: StructuredRisk, start: Float64 | None) -> None:
        self.options, self.p, self.examples, self.pool = options, problem, problem.examples, problem.pool
        self.limits = options.limits or Limits()
        b = problem.start() if start is None else problem.nearest(start)
        self.w, alpha = (part.copy() for part in problem.parts(b))
        self.alpha = alpha
        self.n_iter = 0
        self.batch = 16  # rows between two looks at the limits, found by measuring
        self.values = np.zeros(problem.n)
        self.best_w, self.best_values, self.best_primal = self.w, self.values, math.inf
        self.dual = -math.inf

    @abstractmethod
    def advance(self) -> None:
        """Take one pass over the rows and change ``w`` and ``alpha``."""

    def run(self) -> Reached:
        """Take passes until the gap or a limit stops them; return the point."""
        status: Status
        try:
            status = self._until_done()
        except LimitReached as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
        self.close()
        w = self.best_w if math.isfinite(self.best_primal) else self.w
        return Reached(self.p.point(w, self.padded()), self.best_values, self.n_iter, status)

    def close(self) -> None:  # noqa: B027  most have nothing to put right
        """Leave multipliers that are feasible."""

    def _until_done(self) -> Status:
        idle, least = 0, math.inf
        while True:
            if self.limits.steps_left(self.n_iter) == 0:
                return "iteration_limit"
            if self.limits.out_of_time():
                return "time_limit"
            self.advance()
            self.n_iter += 1
            gap = relative(self.best_primal - self.dual, self.best_primal, self.dual)
            self.tell()
            if gap <= self.options.tol:
                return "optimal"
            if gap <= self.options.accuracy:
                return "iteration_limit"  # as good as it gets
            idle = 0 if gap < (1 - GAIN) * least else idle + 1
            least = min(least, gap)
            if idle > IDLE:
                return "iteration_limit" if self.options.accuracy else "ill_conditioned"

    # -- passes ----------------------------------------------------------------------------------------------

    def worst(self, rows: Index) -> Ints:
        """Return the number in the pool of each row's worst output, given the weights; write ``values``."""
        numbers = np.empty(rows.size, dtype=np.int64)
        first = 0
        while first < rows.size:
            began = time.perf_counter()
            part = rows[first : first + self.batch]
            outputs, values, _ = self.examples.worst(part, self.w)
            numbers[first : first + part.size] = self.pool.add(part, outputs)
            self.values[part] = np.maximum(values, 0.0)
            first += part.size
            seconds = time.perf_counter() - began
            if self.limits.out_of_time():
                raise LimitReached("time_limit")
            if part.size == self.batch and seconds < SLICE / 4:
                self.batch *= 2
            elif seconds > SLICE:
                self.batch = max(1, self.batch // 2)
        return numbers

    def whole_pass(self) -> Ints:
        """Look at all rows at the present weights: what they are worth, and their worst outputs."""
        numbers = self.worst(np.arange(self.p.n))
        scores = self.pool.scores(self.w)
        values = self.p.lowest(self.pool, scores, self.values)
        if not self.examples.exact:  # the pool, or the true output, may be better than what the argmax finds
            numbers = self._best_known(numbers, scores, values)
        primal = 0.5 * float(self.w @ self.w) + float(self.p.C @ values)
        if primal < self.best_primal:
            self.best_primal, self.best_w, self.best_values = primal, self.w.copy(), values
        return numbers

    def _best_known(self, numbers: Ints, scores: Float64, values: Float64) -> Ints:
        """Return the number of each row's best known output."""
        found = np.where(numbers >= 0, scores[np.maximum(numbers, 0)] if scores.size else 0.0, 0.0)
        behind = found < values
        best = np.full(self.p.n, TRUE, dtype=np.int64)
        reached = scores >= values[self.pool.owners]
        best[self.pool.owners[reached]] = np.flatnonzero(reached)
        return np.where(behind, best, np.where(found < 0.0, TRUE, numbers))

    def padded(self) -> Float64:
        """Return the multipliers of all outputs in the pool."""
        if self.alpha.size < self.pool.size:
            more = np.zeros(self.pool.size)
            more[: self.alpha.size] = self.alpha
            self.alpha = more
        return self.alpha

    def measured_dual(self) -> float:
        """Return the dual value of the multipliers, whose weights are ``w``."""
        return float(self.padded() @ self.pool.losses) - 0.5 * float(self.w @ self.w)

    def tell(self) -> None:
        """Tell the listener, if there is one."""
        listener = self.options.listener
        if listener is None or not wants_to_know(listener):
            return
        gap = self.best_primal - self.dual
        listener(
            Progress(
                n_iter=self.n_iter,
                seconds=time.perf_counter() - self.limits.started,
                violation=relative(gap, self.best_primal, self.dual),
                primal=self.best_primal,
                dual=self.dual,
                gap=gap,
                margin=math.nan,
                n_support=int(np.count_nonzero(self.alpha)),
                evaluations=0,
                b=self.p.point(self.best_w, self.padded()),
                f=self.best_values,
            )
        )


def by_owner(owners: Ints, n: int) -> tuple[Ints, Ints]:
    """Return where the outputs of each row begin, and their numbers."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))]).astype(np.int64)
    return starts, np.argsort(owners, kind="stable").astype(np.int64)


def shuffled(n: int, seed: Any) -> Index:
    """Return the rows in random order."""
    return np.asarray(seed.permutation(n), dtype=np.intp)
