"""The loop that solvers by rounds share: limits, the three stopping criteria, the trace, the last digits."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mercer.gram import Gram
from mercer.problems import Dual, relative
from mercer.solvers.base import Float64, Limits, Solution, Solver, Status, progress, wants_to_know
from mercer.solvers.dual.rounding import resolution

STALLS = 2  # rounds without any change, each from a fresh K beta, after which float64 has no more to give


class Rounds(ABC):
    """One solve: a feasible point ``b`` with ``f`` = K beta, improved round by round.

    Parameters
    ----------
    options : Solver
        Tolerance, criterion, limits, listener.
    gram, problem
        What is solved; kernel values are float64.
    start : (copies n,) float64, optional
        Where to begin.
    """

    def __init__(self, options: Solver, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        self.options = options
        self.limits = options.limits or Limits()
        self.gram = gram.exact()
        self.problem = problem
        self.b = problem.start() if start is None else problem.nearest(start)
        self.f = np.zeros(problem.n)
        self.n_iter = 0
        self.cycle_ended = True  # whether the last round looked at all variables: growth is measured there

    # -- what an algorithm says ------------------------------------------------------------------------------

    def open(self) -> None:  # noqa: B027  most algorithms have nothing to prepare
        """Prepare: ``b`` and ``f`` are set."""

    @abstractmethod
    def advance(self) -> bool:
        """Take one round, changing ``b``, ``f`` and ``n_iter``; return whether anything changed."""

    # -- the loop --------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """Return the point at which the criterion or a limit stopped the rounds."""
        status: Status
        try:
            self.refresh()
            self.open()
            status = self._until_done()
        except KeyboardInterrupt:
            status = "interrupted"
        self.b = self.problem.settled(self.b)
        mend_sums(self.problem, self.b)
        self.refresh()
        return Solution(self.b, self.f, self.problem.evaluate(self.b, self.f), self.n_iter, status)

    def _until_done(self) -> Status:
        before = np.inf
        stalls = 0
        while True:
            self.b = self.problem.settled(self.b)  # a variable one rounding away from its bound is not free
            self.tell()
            if self.problem.hopeless(self.b, self.f):
                self.refresh()  # a proof should not rest on rounding
                if self.problem.hopeless(self.b, self.f):
                    return "optimal"
            if self._met(before):
                self.refresh()  # many small updates leave rounding in K beta
                if self._met(before):
                    return "optimal"
            stopped = self.limit() or self._as_good_as_it_gets()
            if stopped is not None:
                return stopped
            if self.cycle_ended:
                before = self.problem.objective(self.b, self.f)
            if self.advance():
                stalls = 0
                continue
            stalls += 1
            self.refresh()
            if stalls > STALLS:
                least = resolution(self.problem, self.b, self.f)
                return "optimal" if self.violation() <= least else "iteration_limit"

    def _met(self, before: float) -> bool:
        criterion, tol = self.options.criterion, self.options.tol
        if criterion == "kkt":
            return self.violation() <= self.target()
        if criterion == "gap":
            values = self.problem.evaluate(self.b, self.f)
            return relative(values.gap, values.primal, values.dual) <= tol
        now = self.problem.objective(self.b, self.f)
        return self.cycle_ended and before - now <= tol * abs(now)

    def _as_good_as_it_gets(self) -> Status | None:
        """Return a limit once an algorithm that is not accurate has reached what it can."""
        if self.options.accuracy == 0.0:
            return None
        values = self.problem.evaluate(self.b, self.f)
        reached = relative(values.gap, values.primal, values.dual) <= self.options.accuracy
        return "iteration_limit" if reached else None

    def limit(self) -> Status | None:
        """Return the limit that is reached, if any."""
        if self.limits.steps_left(self.n_iter) == 0:
            return "iteration_limit"
        return "time_limit" if self.limits.out_of_time() else None

    def tell(self) -> None:
        """Tell the listener, if there is one."""
        listener = self.options.listener
        if listener is not None and wants_to_know(listener):
            seen = self.gram.evaluations
            target = self.target()
            listener(progress(self.problem, self.b, self.f, self.n_iter, self.limits, seen, target))

    # -- what algorithms ask for -----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Compute K beta anew."""
        self.f = self.gram.matvec(self.problem.beta(self.b))

    def gradient(self) -> Float64:
        """Return the gradient."""
        return self.problem.gradient(self.b, self.f)

    def violation(self) -> float:
        """Return the largest KKT violation."""
        return self.problem.violation(self.b, self.gradient())

    def target(self) -> float:
        """Return the KKT violation that ``tol`` stands for (whatever the criterion)."""
        return self.problem.tolerance(self.options.tol, self.problem.objective(self.b, self.f))


def mend_sums(problem: Dual, b: Float64) -> None:
    """Remove the rounding that many steps leave in the groups' sums, from the roomiest variable of each."""
    if problem.group is None:
        return
    for g, wanted in enumerate(problem.sums):
        members = problem.group == g
        error = float(wanted - np.add.reduce(b[members]))
        if error == 0.0:
            continue
        room = np.where(members, np.minimum(b - problem.lo, problem.hi - b), -1.0)
        t = int(room.argmax())
        if abs(error) < room[t]:
            b[t] += error
