"""The loop that solvers by rounds share: limits, the three stopping criteria, the trace, the last digits.

Fixed sums are restored here, for all solvers. Which variables pay depends on what is known of the point: at
the end of a solve only rounding is missing, and one variable takes it (``mend_sums``, ``mend_rows``); a
system's solution may miss more, which the roomiest variables share (``share_missing``); where variables on
their bounds belong there, only those inside their box move (``mended_inside``, ``mended_equalities``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual, relative
from mercer.problems.problem import FEASIBLE
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.dual.rounding import resolution
from mercer.solvers.progress import progress, wants_to_know

PATIENCE, PATIENCE_PER_VARIABLE = 2_000_000, 5_000  # steps after which only rounding keeps a solve going
# Work (a round counts as some steps) between two looks at the headway: 1 % of the objective, half of the
# violation, or a twentieth of the gap that is left is the least that makes going on worth while. The gap is
# what tells slow headway, as of coordinate ascent, from none.
WINDOW, WINDOW_PER_VARIABLE, ROUND_WORK = 100_000, 1_000, 10
LEAST_GAIN, LEAST_FALL, LEAST_SHARE = 0.01, 0.5, 0.05
MENDING = 5  # corrections of the sums by the variables inside their box
INSIDE = 1e-3  # share of its room that counts of a variable on its bound: those inside move first
STALLS = 2  # rounds without any change, each from a fresh K beta, after which float64 has no more to give


class LimitReached(Exception):  # noqa: N818  it is no error
    """A limit was reached inside a round; the point is consistent."""

    def __init__(self, status: Status) -> None:
        self.status: Status = status


class Rounds(ABC):
    """One solve: a feasible point ``b`` with ``f`` = K beta, improved round by round.

    Parameters
    ----------
    options : Solver
        Tolerance, criterion, limits, listener.
    gram, problem
        What is solved; kernel values are float64 unless an algorithm says otherwise.
    start : (copies n,) float64, optional
        Where to begin.
    """

    in_double = True  # whether an algorithm needs kernel values in float64

    def __init__(self, options: Solver, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        self.options = options
        self.limits = options.limits or Limits()
        self.gram = gram.exact() if self.in_double else gram
        self.problem = problem
        self.b = problem.start() if start is None else problem.nearest(start)
        self.f = np.zeros(problem.n)
        self.n_iter = 0
        self.error = 0.0  # a bound on that of f, beyond float64's own
        self.before = np.inf  # the objective at the end of the last cycle
        self.n_rounds = 0
        self.looked = (0, np.inf, np.inf)  # work, objective and violation when headway was looked at
        self.cycle_ended = True  # whether the last round looked at all variables: growth is measured there

    # -- what an algorithm says ------------------------------------------------------------------------------

    def open(self) -> None:  # noqa: B027  most algorithms have nothing to prepare
        """Prepare: ``b`` and ``f`` are set."""

    @abstractmethod
    def advance(self) -> bool:
        """Take one round, changing ``b``, ``f`` and ``n_iter``; return whether anything changed."""

    # -- the loop --------------------------------------------------------------------------------------------

    def run(self) -> Reached:
        """Take rounds until the criterion or a limit stops them; return the point."""
        status: Status
        try:
            self.begin()
            status = self._until_done()
        except LimitReached as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
        self.finish(status)
        return Reached(self.b, self.f, self.n_iter, status, self.error)

    def begin(self) -> None:
        """Compute K beta and prepare."""
        self.refresh()
        self.open()

    def finish(self, status: Status) -> None:
        """Leave a point whose sums hold and whose K beta is fresh."""
        self.b = self.problem.settled(self.b)
        mend_sums(self.problem, self.b)
        self.refresh()

    def _until_done(self) -> Status:
        stalls = 0
        while True:
            verdict = self.verdict()
            if verdict is not None:
                return verdict
            if self.advance():
                stalls = 0
                continue
            stalls += 1
            self.refresh()
            if stalls > STALLS:
                least = resolution(self.problem, self.b, self.f)
                return "optimal" if self.violation() <= least else "ill_conditioned"

    def verdict(self) -> Status | None:
        """Return why to stop before the next round; None to go on."""
        self.b = self.problem.settled(self.b)  # a variable one rounding away from its bound is not free
        self.tell()
        if self.problem.hopeless(self.b, self.f):
            self.refresh()  # a proof should not rest on rounding
            if self.problem.hopeless(self.b, self.f):
                return "optimal"
        if self._met(self.before):
            self.refresh()  # many small updates leave rounding in K beta
            if self._met(self.before):
                return "optimal"
        if self.cycle_ended:
            self.before = self.problem.objective(self.b, self.f)
        return self.limit() or self._as_good_as_it_gets() or self._out_of_patience()

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

    def _out_of_patience(self) -> Status | None:
        """Return "ill_conditioned" once much work has gained next to nothing: it would go on for ever."""
        self.n_rounds += 1
        work, (before, value, violation) = self.n_iter + ROUND_WORK * self.n_rounds, self.looked
        if work - before < WINDOW + WINDOW_PER_VARIABLE * self.problem.size:
            return None
        now, left = self.problem.objective(self.b, self.f), self.violation()
        gained = value - now > LEAST_GAIN * abs(now) or left < LEAST_FALL * violation
        gained = gained or value - now > LEAST_SHARE * self.problem.evaluate(self.b, self.f).gap
        self.looked = work, min(value, now), min(violation, left)
        return None if gained else "ill_conditioned"

    def limit(self) -> Status | None:
        """Return the limit that is reached, if any: the user's, or that of any hope."""
        if self.limits.steps_left(self.n_iter) == 0:
            return "iteration_limit"
        if self.limits.out_of_time():
            return "time_limit"
        hopeful = PATIENCE + PATIENCE_PER_VARIABLE * self.problem.size
        return "ill_conditioned" if self.n_iter > hopeful else None

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


# -- fixed sums ----------------------------------------------------------------------------------------------


def mend_sums(problem: Dual, b: Float64) -> None:
    """Remove the rounding that many steps leave in the groups' sums, from the roomiest variable of each."""
    if problem.group is None:
        return
    for g, wanted in enumerate(problem.sums):
        members = problem.group == g
        _give_to_roomiest(b, problem.lo, problem.hi, members, float(wanted - np.add.reduce(b[members])))


def mend_rows(b: Float64, lo: Float64, hi: Float64, A: Float64, s: Float64) -> None:
    """Do the same for sums over disjoint groups that are given by the rows of A."""
    for row, wanted in zip(A, s, strict=True):
        _give_to_roomiest(b, lo, hi, row > 0, float(wanted - row @ b))


def _give_to_roomiest(b: Float64, lo: Float64, hi: Float64, members: NDArray[np.bool_], error: float) -> None:
    if error == 0.0:
        return
    room = np.where(members, np.minimum(b - lo, hi - b), -1.0)
    t = int(room.argmax())
    if abs(error) < room[t]:
        b[t] += error


def share_missing(b: Float64, lo: Float64, hi: Float64, A: Float64, s: Float64) -> None:
    """Restore sums over the rows of A that miss more than rounding: the roomiest variables first."""
    for row, wanted in zip(A, s, strict=True):
        missing = float(wanted - row @ b)
        members = np.flatnonzero(row)
        above, below = hi[members] - b[members], b[members] - lo[members]
        room = above if missing > 0 else below
        inside = np.minimum(above, below) > 0
        order = np.argsort(-(np.minimum(room, 1e300) * np.where(inside, 1.0, INSIDE)))
        for t in order:
            step = min(abs(missing), float(room[t]))
            b[members[t]] += np.sign(missing) * step
            missing -= np.sign(missing) * step
            if missing == 0.0:
                break


def mended_inside(p: Dual, b: Float64) -> Float64:
    """Return b with its one sum restored by the variables inside their box, in proportion to their room."""
    if p.group is None:
        return b
    missing = float(p.sums[0] - b.sum())
    room = np.where((b > p.lo) & (b < p.hi), p.hi - b if missing > 0 else b - p.lo, 0.0)
    room = np.where(np.isfinite(room), room, np.abs(b))
    total = float(room.sum())
    if total <= abs(missing):
        return p.nearest(b)
    mended: Float64 = np.clip(b + missing * (room / total), p.lo, p.hi)
    return mended


def mended_equalities(p: Dual, b: Float64, A: Float64) -> Float64:
    """Return a point near b on A b = s, for any A, moved by the variables inside their box alone."""
    for _ in range(MENDING):
        missing = p.sums - A @ b if A.size else np.zeros(0)
        if float(np.abs(missing).sum()) <= 1e-15 * float(np.abs(b).sum()):
            return b
        free = (b > p.lo) & (b < p.hi)
        room = np.where(free, np.minimum(np.minimum(b - p.lo, p.hi - b), 1e300), 0.0)
        H = (A * room) @ A.T
        b = np.clip(b + room * (A.T @ np.linalg.lstsq(H, missing, rcond=None)[0]), p.lo, p.hi)
    return b if p.missed(b) <= 0.1 * FEASIBLE * float(np.abs(b).sum()) else p.nearest(b)
