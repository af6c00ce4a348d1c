"""Exact steps of one row after the other, each in its own simplex, over working sets of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems import relative
from mercer.problems.joint_margin import JointMargin
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.dual.round_loop import LimitReached
from mercer.solvers.needs import SIMPLICES
from mercer.solvers.progress import progress, wants_to_know

GREED = 0.5  # share of the largest violation that a row of a working set must reach to be worth a step
FALL = 0.1  # share of the violation to which a working set is solved
LEAST = 64  # rows of a working set, however little memory there is
SLICE_WORK = 2e8  # entries touched between two looks at the clock: about a tenth of a second
PATIENCE, PATIENCE_PER_ROW = 2_000_000, 5_000  # steps after which only rounding keeps a solve going
ROUNDING = 1e-15  # of the objective
STALLS = 3  # rounds without headway after which float64 has no more to give


@dataclass(kw_only=True, repr=False)
class SimplexBlocks(Solver):
    """Solve a :class:`~mercer.problems.joint_margin.JointMargin` by blocks: a row's multipliers at a time.

    Each round takes the rows that violate the optimality conditions most, as many as their kernel matrix may
    take memory, and goes through them with exact steps (the projection onto a simplex where all scales are
    one) until their violation is a tenth. The functions at all other rows follow by one product.

    References
    ----------
    .. [1] K. Crammer and Y. Singer (2001). On the algorithmic implementation of multiclass kernel-based
       vector machines. *Journal of Machine Learning Research* 2, 265-292.
    .. [2] S. S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh and C.-J. Lin (2008). A sequential dual
       method for large scale multi-class linear SVMs. *Proc. KDD*, 408-416.
    """

    name: ClassVar[str] = "simplex_blocks"
    single_precision: ClassVar[bool] = True
    needs = (SIMPLICES,)

    def run(self, gram: Gram, problem: Any, start: Float64 | None) -> Reached:
        """Take rounds until the criterion holds in float64, or a limit is reached."""
        return _Rounds(self, gram, problem, start).run()


class _Rounds:
    """One solve: coefficients ``b`` with ``f`` = K b, improved round by round."""

    def __init__(self, options: Solver, gram: Gram, problem: JointMargin, start: Float64 | None) -> None:
        self.options, self.gram, self.problem = options, gram, problem
        self.limits = options.limits or Limits()
        self.b = problem.start() if start is None else problem.nearest(start)
        self.f = np.zeros_like(self.b)
        self.n_iter = 0
        self.before = self.least = np.inf  # the objective a round ago, and the least violation so far
        self.stalls = 0  # rounds in which neither fell

    def run(self) -> Reached:
        """Return where the rounds end."""
        status: Status
        try:
            self.refresh(self.gram)
            status = self.rounds()
        except LimitReached as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
        if status != "optimal":
            self.refresh(self.gram.exact())
        return Reached(self.b, self.f, self.n_iter, status)

    def refresh(self, gram: Gram) -> None:
        """Compute K b anew."""
        self.f = np.zeros_like(self.b)
        support = np.flatnonzero(self.b.any(axis=1))
        gram.add_products(support, self.b[support], self.f)

    def rounds(self) -> Status:
        while True:
            self.tell()
            violation = self.problem.judged(self.b, self.f)[2]
            if self.met():
                self.refresh(self.gram.exact())  # many updates, and single precision, leave rounding
                if self.met():
                    return "optimal"
                self.gram = self.gram.exact()
                violation = self.problem.judged(self.b, self.f)[2]
            now, worst = self.problem.objective(self.b, self.f), float(violation.max(initial=0.0))
            gained = now < self.before - ROUNDING * abs(now) or worst < 0.9 * self.least
            self.stalls = 0 if gained else self.stalls + 1
            self.before, self.least = now, min(worst, self.least)
            self.check_limits()
            if self.stalls > STALLS:  # each round takes the worst rows: what they cannot gain, nobody can
                if self.gram.is_exact:
                    return "ill_conditioned"
                self.gram, self.stalls = self.gram.exact(), 0
                self.refresh(self.gram)
                self.before = self.least = np.inf
                continue
            rows = self.working_set(violation)
            if rows.size:  # none: what is missing is beyond what float64 can tell
                self.improve(rows, worst)

    def met(self) -> bool:
        """Return whether the criterion holds at the present point."""
        criterion, tol = self.options.criterion, self.options.tol
        if criterion == "growth":
            now = self.problem.objective(self.b, self.f)
            return bool(self.before - now <= tol * abs(now)) and self.n_iter > 0
        values = self.problem.evaluate(self.b, self.f)
        if criterion == "gap":
            return relative(values.gap, values.primal, values.dual) <= tol
        return values.violation <= tol

    def check_limits(self) -> None:
        if self.limits.steps_left(self.n_iter) == 0:
            raise LimitReached("iteration_limit")
        if self.limits.out_of_time():
            raise LimitReached("time_limit")
        if self.n_iter > PATIENCE + PATIENCE_PER_ROW * self.problem.n:
            raise LimitReached("ill_conditioned")

    def most(self) -> int:
        """Return how many rows a working set may have."""
        return max(LEAST, int(np.sqrt(self.options.block_bytes / self.gram.dtype.itemsize)))

    def working_set(self, violation: Float64) -> Index:
        """Return the rows that violate their conditions most, in order."""
        rows = np.flatnonzero(violation > 0)
        worst = rows[np.argsort(-violation[rows], kind="stable")[: self.most()]]
        return np.sort(worst)

    def improve(self, rows: Index, worst: float) -> None:
        """Take exact steps on some rows until their violation has fallen, and update all functions."""
        p = self.problem
        K = self.gram.block(rows, rows)
        b, f = self.b[rows].copy(), np.ascontiguousarray(self.f[rows].T)
        own, price = p.y[rows], p.C[rows]
        goal = FALL * worst
        if self.options.criterion == "kkt":
            goal = max(goal, 0.5 * self.options.tol)
        elif self.options.criterion == "gap":  # gap and violation fall together: no more than is asked for
            values = p.evaluate(self.b, self.f)
            now = relative(values.gap, values.primal, values.dual)
            goal = max(goal, min(0.5, 0.5 * self.options.tol / now) * worst)
        stopped: LimitReached | None = None
        left = np.inf
        while left > goal and stopped is None:
            steps, left = _jit.simplex_blocks.sweeps(
                K, f, b, own, price, p.costs, p.scales, p.weights, p.uniform, goal, 0.0, GREED,
                self.limits.steps_left(self.n_iter), SLICE_WORK,
            )  # fmt: skip
            self.n_iter += int(steps)
            try:
                self.check_limits()
            except LimitReached as stop:
                stopped = stop
        change = b - self.b[rows]
        moved = np.flatnonzero(change.any(axis=1))
        self.gram.add_products(rows[moved], change[moved], self.f)
        self.b[rows] = b
        if stopped is not None:
            raise stopped

    def tell(self) -> None:
        """Tell the listener, if there is one."""
        listener = self.options.listener
        if listener is not None and wants_to_know(listener):
            seen = self.gram.evaluations
            listener(progress(self.problem, self.b, self.f, self.n_iter, self.limits, seen, self.options.tol))
