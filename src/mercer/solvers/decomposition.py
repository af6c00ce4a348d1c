"""Decomposition: a working set of many variables, solved by sequential minimal optimisation, again and again.

Each round takes all free points and the worst violators of each side, solves the problem restricted to them to a
fraction of the present violation, and updates K beta by the kernel rows of the points that changed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from mercer import _jit
from mercer.gram import Gram
from mercer.problems import Dual, relative
from mercer.solvers.base import Criterion, Float64, Limits, Listener, Progress, Solution, Status

WHOLE = 3072  # problems up to this size are one block
SLICE_WORK = 2e8  # block entries touched between two looks at the clock: under a tenth of a second
FLOOR_SINGLE, FLOOR_DOUBLE = 1e-6, 1e-12  # least curvature of a pair, relative to the largest diagonal entry


@dataclass
class Decomposition:
    """Solve a :class:`~mercer.problems.Dual` on a :class:`~mercer.gram.Gram`.

    Parameters
    ----------
    tol : float
        Largest KKT violation ("kkt") or largest relative gap ("gap") at which to stop.
    criterion : {"kkt", "gap"}
        What ``tol`` measures.
    block_bytes : int
        Memory for the working set's square block.
    violators : int
        Worst violators taken per side and round.
    limits : Limits
        Steps and seconds.
    listener : callable, optional
        Called with a :class:`Progress` after every round.

    References
    ----------
    Osuna, Freund and Girosi (1997); Platt (1999); Fan, Chen and Lin (2005), Working set selection using second
    order information for training support vector machines, JMLR 6.
    """

    tol: float = 1e-3
    criterion: Criterion = "kkt"
    block_bytes: int = 100_000_000
    violators: int = 1024
    limits: Limits | None = None
    listener: Listener | None = None

    def solve(self, gram: Gram, problem: Dual, start: Float64 | None = None) -> Solution:
        """Return a solution from ``start`` (any vector; it is made feasible first)."""
        return _Run(self, gram, problem, start).solve()


class _Run:
    """The state of one solve."""

    def __init__(self, options: Decomposition, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        self.o = options
        self.limits = options.limits or Limits()
        self.gram = gram
        self.exact = gram.exact()
        self.problem = problem
        self.b = problem.start() if start is None else problem.nearest(start)
        self.n_iter = 0
        self.tol = options.tol if options.criterion == "kkt" else min(1e-1, 100 * options.tol)
        self.diag = gram.diag()
        self.buffer: np.ndarray | None = None

    # -- the loop ----------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        status: Status = "optimal"
        try:
            self.f = self._product(self.gram)
            while True:
                status = self._descend()
                if status != "optimal":
                    break
                self.f = self._product(self.exact)
                if self._finished():
                    break
                if self.problem.hopeless(self.b, self.f):
                    break
                if self.gram is self.exact:
                    self.tol *= 0.2  # the gap wants a smaller violation than the one reached
                    if self.tol < 1e-15 * max(1.0, float(np.abs(self.f).max(initial=0.0))):
                        break
                elif self._violation(self.f) > self._target():
                    self.gram = self.exact  # what single precision can tell is used up
                    self.buffer = None
                else:
                    self.tol *= 0.2
        except KeyboardInterrupt:
            status = "interrupted"
        if status != "optimal":
            self.f = self._product(self.exact)
        self._mend_sums()
        return Solution(self.b, self.f, self.problem.evaluate(self.b, self.f), self.n_iter, status)

    def _finished(self) -> bool:
        if self.o.criterion == "kkt":
            return self._violation(self.f) <= self._target()
        values = self.problem.evaluate(self.b, self.f)
        return relative(values.gap, values.primal, values.dual) <= self.o.tol

    def _target(self) -> float:
        return self.problem.tolerance(self.tol, self.problem.objective(self.b, self.f))

    def _violation(self, f: Float64) -> float:
        return self.problem.violation(self.b, self.problem.gradient(self.b, f))

    def _product(self, gram: Gram) -> Float64:
        return gram.matvec(self.problem.beta(self.b))

    def _mend_sums(self) -> None:
        """Remove the rounding that many steps leave in the groups' sums, from one free variable of each."""
        p = self.problem
        if p.group is None:
            return
        for g, wanted in enumerate(p.sums):
            members = p.group == g
            error = float(wanted - self.b[members].sum())
            room = np.minimum(self.b - p.lo, p.hi - self.b)
            t = int(np.argmax(np.where(members, room, -1.0)))
            if abs(error) < room[t]:
                self.b[t] += error

    def _descend(self) -> Status:
        """Rounds until the violation is at most the target, in the precision of the present Gram."""
        n = self.problem.n
        itemsize = self.gram.dtype.itemsize
        whole = n <= WHOLE and n * n * itemsize <= self.o.block_bytes
        while True:
            g = self.problem.gradient(self.b, self.f)
            violation = self.problem.violation(self.b, g)
            self._tell(violation)
            target = self._target()
            if violation <= target or self.problem.hopeless(self.b, self.f):
                return "optimal"
            if self.limits.steps_left(self.n_iter) == 0:
                return "iteration_limit"
            if self.limits.out_of_time():
                return "time_limit"
            if whole:
                status, moved = self._solve_block(np.arange(n), g, target)
            else:
                working = self._choose(g, violation, itemsize)
                status, moved = self._solve_block(working, g, max(0.5 * target, 0.1 * violation))
            if status != "optimal":
                return status
            if not moved:
                return "optimal"  # rounding forbids any further step; the caller checks in higher precision

    def _tell(self, violation: float) -> None:
        if self.o.listener is None:
            return
        values = self.problem.evaluate(self.b, self.f)
        self.o.listener(
            Progress(
                self.n_iter,
                time.perf_counter() - self.limits.started,
                values.violation,
                values.dual,
                values.gap,
                int(np.count_nonzero(self.b)),
                self.gram.evaluations,
            )
        )

    # -- one round ---------------------------------------------------------------------------------------------

    def _choose(self, g: Float64, violation: float, itemsize: int) -> np.ndarray:
        """Return the working set: all free points and the worst violators of each side, sorted by group."""
        p, b = self.problem, self.b
        most = int(np.sqrt(self.o.block_bytes / itemsize))
        v = -g
        grow, shrink = b < p.hi, b > p.lo
        free = grow & shrink
        chosen = np.zeros(p.n, dtype=bool)
        per_side = min(self.o.violators, max(64, most // 4))
        groups = [None] if p.group is None else list(range(p.sums.size))
        for k in groups:
            member = None if (k is None or p.sums.size == 1) else p.group == k
            bound = 0.0, 0.0
            if k is not None:
                tops, bottoms = p.extremes(b, g)
                bound = float(bottoms[k]), float(tops[k])
            for sign, allowed, limit in ((1.0, grow, bound[0]), (-1.0, shrink, bound[1])):
                score = np.where(allowed if member is None else allowed & member, sign * v, -np.inf)
                candidates = np.flatnonzero(score > sign * limit)
                if candidates.size > per_side:
                    candidates = candidates[np.argpartition(-score[candidates], per_side - 1)[:per_side]]
                chosen[candidates % p.n] = True
        free_points = np.flatnonzero(free.reshape(p.copies, p.n).any(axis=0) & ~chosen)
        room = most - int(chosen.sum())
        if free_points.size > room:
            costs = np.abs(p.costs(g, p.multipliers(b, g)))
            worst = costs.reshape(p.copies, p.n).max(axis=0)[free_points]
            free_points = free_points[np.argpartition(-worst, room - 1)[:room]] if room > 0 else free_points[:0]
        chosen[free_points] = True
        working = np.flatnonzero(chosen)
        if p.group is not None and p.sums.size > 1 and p.copies == 1:
            working = working[np.argsort(p.group[working], kind="stable")]
        return working

    def _solve_block(self, working: np.ndarray, g: Float64, tol: float) -> tuple[Status, bool]:
        p = self.problem
        w = working.size
        if p.group is not None and p.sums.size > 1 and p.copies == 1:
            working = working[np.argsort(p.group[working], kind="stable")]
        K = self._block(working)
        variables = (working[None, :] + p.n * np.arange(p.copies)[:, None]).ravel()
        b, v = self.b[variables], -g[variables]
        old = b.copy()
        lo, hi, r = p.lo[variables], p.hi[variables], p.r[variables]
        curvature = np.tile(self.diag[working], p.copies) + r
        relative_floor = FLOOR_SINGLE if K.dtype == np.float32 else FLOOR_DOUBLE
        floor = relative_floor * max(float(self.diag[working].max(initial=0.0)), 1e-300)
        slice_steps = int(max(200, SLICE_WORK // (6 * w * p.copies)))
        status: Status = "optimal"
        while True:
            steps = min(slice_steps, self.limits.steps_left(self.n_iter))
            if p.group is None:
                done, reached = _jit.smo.singles(K, b, v, lo, hi, r, curvature, tol, steps, floor)
            else:
                starts = self._starts(variables, w)
                done, reached = _jit.smo.pairs(K, b, v, lo, hi, r, curvature, starts, tol, steps, floor)
            self.n_iter += done
            if reached <= tol or done < steps:
                break
            if self.limits.steps_left(self.n_iter) == 0:
                status = "iteration_limit"
                break
            if self.limits.out_of_time():
                status = "time_limit"
                break
        changed = np.flatnonzero(b != old)
        if changed.size == 0:
            return status, False
        beta_old, beta_new = p.copies_sum(old, w), p.copies_sum(b, w)
        points = np.flatnonzero(beta_new != beta_old)
        self.gram.add_product(working[points], (beta_new - beta_old)[points], self.f)
        self.b[variables] = b
        return status, True

    def _starts(self, variables: np.ndarray, w: int) -> np.ndarray:
        p = self.problem
        assert p.group is not None
        if p.sums.size == 1:
            return np.array([0, variables.size], dtype=np.int64)
        counts = np.bincount(p.group[variables], minlength=p.sums.size)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def _block(self, working: np.ndarray) -> np.ndarray:
        w = working.size
        if w == self.problem.n and self.buffer is not None and self.buffer.shape[0] == w:
            return self.buffer
        K = self.gram.block(working, working)
        if w == self.problem.n:
            self.buffer = K
        return K
