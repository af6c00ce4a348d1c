"""Decomposition: a working set of many variables, solved by a smaller working set, down to a dense block.

Each round takes all free points and the worst violators of each side, solves the problem restricted to them
to a fraction of the present violation, and updates K beta by the kernel rows of the points that changed. The
restricted problem is solved the same way on its own, smaller kernel matrix, until a block is small enough for
sequential minimal optimisation in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual, relative
from mercer.problems.warm_start import best_multiple, carried
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.dual import sampled_start
from mercer.solvers.dual.dense_block import DenseBlock
from mercer.solvers.dual.fixed_size import FixedSize
from mercer.solvers.dual.round_loop import LimitReached, Rounds, mend_sums
from mercer.solvers.dual.rounding import mend_sample, resolution
from mercer.solvers.dual.small_problems import can_be_stacked, solve_stacked
from mercer.solvers.dual.whole_rescue import WholeRescue
from mercer.solvers.dual.working_set import choose, variables_of
from mercer.solvers.many import Many, Some
from mercer.solvers.needs import A_DUAL, GROUP_SUMS, SOLVERS
from mercer.solvers.progress import progress, wants_every_line, wants_to_know
from mercer.threads import Workers

DENSE = 3072  # problems up to this size are one block
TINY = 16  # so are these, however little memory there is
LEAST_PER_SIDE, MOST_PER_SIDE = 256, 4096  # violators per side and round
SLICE_WORK = 2e8  # block entries touched between two looks at the clock: under a tenth of a second
HARD_STEPS, HARD_STEPS_PER_VARIABLE = 2_000, 40  # steps after which a block counts as ill-conditioned
HARD_WORK = 0.1  # and after this times the square of its size: a quarter of what the interior would take
MOST_FREE = 1024  # free variables of such a block up to which a Newton step pays
NEWTON_STEPS = 20  # at most, one after the other
STALLS = 2  # rounds without headway, each from a fresh K beta, after which float64 has no more to give
SMALL_PASS = 50_000  # kernel values that are recomputed in double precision without a thought


@dataclass(kw_only=True, repr=False)
class Decomposition(Solver):
    """Solve a :class:`~mercer.problems.Dual` on a :class:`~mercer.gram.Gram`, whatever its size and kind.

    Parameters
    ----------
    size : int, optional
        Points of the working set, the same in every round: decomposition as it was first published. By
        default the set is as large as pays, and is itself decomposed.
    inner : str or Solver, optional
        With ``size``: what solves the problem of the working set, such as "interior_point" or "smo" (the
        default), or a solver object with its options. It must be able to solve problems of this kind.

    References
    ----------
    Osuna, Freund and Girosi (1997); Platt (1999); Cristianini and Shawe-Taylor (2000), section 7.4; Fan, Chen
    and Lin (2005), Working set selection using second order information for training support vector machines,
    JMLR 6.
    """

    size: int | None = None
    inner: Any = None

    name: ClassVar[str] = "decomposition"
    single_precision: ClassVar[bool] = True
    needs = (A_DUAL, GROUP_SUMS)

    def __post_init__(self) -> None:
        if self.size is None and self.inner is not None:
            raise ValueError(f"inner={self.inner!r} solves working sets of a given size: give size, too")
        if self.size is not None and not (isinstance(self.size, int) and self.size >= 2):
            raise ValueError(f"size={self.size!r} must be an integer of at least 2, or None")
        if self.inner is not None and not isinstance(self.inner, str | Solver):
            raise ValueError(f"inner={self.inner!r} must be the name of a solver, or a solver")

    def _inner_solver(self) -> Solver:
        inner = "smo" if self.inner is None else self.inner
        if isinstance(inner, Solver):
            return inner
        if inner not in SOLVERS:
            raise ValueError(f"inner={inner!r} must be one of {', '.join(map(repr, SOLVERS))}, or a solver")
        return SOLVERS[inner]()

    def solve_many(self, gram: Gram, many: Many, workers: Workers) -> None:
        """Solve many problems over parts of one matrix; very many small ones all at once."""
        limits = self.limits or Limits()
        if self.size is not None:
            super().solve_many(gram, many, workers)
            return
        several = len(many.rows) > 1 and self.criterion == "kkt" and limits.unlimited
        if several and can_be_stacked(gram, many, self.block_bytes):
            found = solve_stacked(gram, many, self.tol, workers, limits.out_of_time)
            for k, solution in enumerate(found):
                if solution is not None:
                    many.solved(k, gram, solution.problem, solution)
            many = Some(many, [k for k, solution in enumerate(found) if solution is None])
        super().solve_many(gram, many, workers)

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Descend until the criterion holds in float64."""
        if self.size is not None:
            return FixedSize(self, gram, problem, start, self.size, self._inner_solver()).run()
        return _Descent(self, gram, problem, start).run()


class _Descent(Rounds):
    """One solve: a round descends to a violation, and then makes sure of it in float64."""

    in_double = False

    def __init__(self, options: Decomposition, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        super().__init__(options, gram, problem, None)
        self.started = start is not None
        if start is not None:
            self.b = carried(problem, start)
        self.tol = options.tol if options.criterion == "kkt" else min(1e-1, 100 * options.tol)
        self.descended = False
        self.block: Any = None
        self.stalls = 0  # rounds in float64 that missed their target
        self.stuck = False  # so did the last one, by more than rounding
        listener = options.listener
        self.recorded = listener is not None and wants_every_line(listener)  # whether no line may be left out
        self.best: tuple[float, Float64, Float64] = (np.inf, self.b, self.f)  # violation and point of those
        self.exhausted = False  # single precision makes no headway: go on in double
        self.whole: WholeRescue | None = None  # once a block has turned out ill-conditioned
        self.evaluations = 0  # kernel values computed by working sets, and by the Gram in single precision

    # -- precision -------------------------------------------------------------------------------------------

    def begin(self) -> None:
        if self.problem.n >= sampled_start.MANY and not (self.started or self.recorded):
            self.started = sampled_start.start_from_sample(self)
        if self.b.any():
            self.f = self.gram.matvec(self.problem.beta(self.b))
        if self.started:  # a neighbour's solution: when C has grown, so should its multiples
            self.b, self.f = best_multiple(self.problem, self.b, self.f)

    def finish(self, status: Status) -> None:
        if status != "optimal":  # else the last round has done it
            self._exactly()
            self._mend_sums()

    def _mend_sums(self) -> None:
        """Restore the sums, and keep f in step: with multipliers of 1e8 even their rounding changes it."""
        before = self.problem.beta(self.b).copy()
        mend_sums(self.problem, self.b)
        change = self.problem.beta(self.b) - before
        moved = np.flatnonzero(change)
        if moved.size:
            self.gram.exact().add_product(moved, change[moved], self.f)

    def _exactly(self) -> None:
        self.f, self.error = self.gram.exact().matvec(self.problem.beta(self.b)), 0.0

    def advance(self) -> bool:
        self._descend(self.gram, self.problem, self.b, self.f, None)
        self._mend_sums()
        self.error = self._refresh()
        self.descended = True
        return True  # what makes no headway is noticed by the verdict

    def verdict(self) -> Status | None:
        """Return "optimal" once the user's criterion holds in float64, or rounding has the last word."""
        if not self.descended:
            return None
        if self.problem.hopeless(self.b, self.f) and self.error > 0:
            self._exactly()  # a proof should not rest on rounding
        if self.problem.hopeless(self.b, self.f) or self._finished(self.error):
            return "optimal"
        if self.error > 0 or self.stalls:
            self._exactly()
            if self._finished(0.0):
                return "optimal"
        violation = self.violation()
        if not self.gram.is_exact and (self.exhausted or violation > self.target()):
            self.evaluations += self.gram.evaluations
            self.gram, self.block = self.gram.exact(), None  # what single precision can tell is used up
            self.exhausted = False
            return None
        if violation > self.target():
            # A fresh K beta shows the way, or the target, where it is a share of the objective, has
            # fallen with it, or float64 cannot tell the remaining violation from rounding.
            return "optimal" if self._stalled(violation) else None
        self.before = self.problem.objective(self.b, self.f)
        self.tol *= 0.2  # the gap, or growth, asks for a smaller violation than the one reached
        beyond = self.tol < 1e-15 * max(1.0, float(np.abs(self.f).max(initial=0.0)))
        return "optimal" if beyond else None

    def _stalled(self, violation: float) -> bool:
        """Note a round that missed its target; return whether what is left is rounding, at the best point."""
        self.stalls = 0 if violation < 0.5 * self.best[0] else self.stalls + 1
        if violation < self.best[0]:
            self.best = violation, self.b.copy(), self.f.copy()
        self.stuck = self.stalls > 0 and violation > resolution(self.problem, self.b, self.f)
        if self.stalls <= STALLS:
            return False
        violation, self.b, self.f = self.best
        if violation > resolution(self.problem, self.b, self.f):
            raise LimitReached("ill_conditioned")
        return True

    def _refresh(self) -> float:
        """Recompute K beta in float64 where it matters; return a bound on the error of the rest."""
        beta = self.problem.beta(self.b)
        support = np.flatnonzero(beta)
        if self.gram.is_exact:
            if self.block is not None:  # a cheap pass over a small problem: no rounding of many steps remains
                self.f = beta @ self.block  # by rows, as everywhere: a given matrix may be asymmetric
            return 0.0
        if support.size * self.problem.n <= SMALL_PASS:
            every = np.arange(self.problem.n)
            self.f = self.gram.exact_block(every, support) @ beta[support]
            return 0.0
        return mend_sample(self.gram, self.problem, self.b, self.f)

    def _finished(self, error: float) -> bool:
        if self.violation() + 2.0 * error > self.target():
            return False
        if self.options.criterion == "kkt":
            return True
        if self.options.criterion == "growth":
            now = self.problem.objective(self.b, self.f)
            return bool(self.before - now <= self.options.tol * abs(now))
        values = self.problem.evaluate(self.b, self.f)
        return relative(values.gap, values.primal, values.dual) <= self.options.tol

    def target(self) -> float:
        """Return the violation to descend to, which the gap may ask to be smaller than ``tol``."""
        return self.problem.tolerance(self.tol, self.problem.objective(self.b, self.f))

    # -- levels ----------------------------------------------------------------------------------------------

    def _descend(self, gram: Gram, problem: Dual, b: Float64, f: Float64, goal: float | None) -> None:
        """Lower the violation of ``problem`` to ``goal`` (None: the user's), changing b and f in place."""
        top = goal is None
        while True:
            g = problem.gradient(b, f)
            violation = problem.violation(b, g)
            if top:
                self._tell(self.b, self.f)
                goal = 0.9 * self.target()  # room for the error of single precision
                if problem.hopeless(b, f):
                    return
            assert goal is not None
            if violation <= goal:
                return
            if self.exhausted:
                return
            self._check_limits()
            size = problem.n * problem.n * gram.dtype.itemsize
            if problem.n <= DENSE and (size <= self.options.block_bytes or problem.n <= TINY):
                if not self._dense(gram, problem, b, f, g, goal, keep=top) or not top:
                    return
                if self.gram.is_exact and not self.recorded and not self.exhausted:
                    return  # solved; the caller computes K beta afresh and looks again
                continue
            if top and self.whole is not None and self.whole.due:
                self.whole.run(gram, b, f, g, self.target)
                continue
            working = self._working_set(problem, b, g, gram.dtype.itemsize)
            if size <= self.options.block_bytes and working.size > 0.7 * problem.n:
                if not self._dense(gram, problem, b, f, g, goal, keep=False) or not top:
                    return
                continue
            part = problem.take(working)
            variables = variables_of(working, problem)
            inner_b, inner_f = b[variables], f[working]
            old = part.beta(inner_b).copy()
            stopped: LimitReached | None = None
            inner, counted = gram.subset(working), gram.evaluations
            try:
                self._descend(inner, part, inner_b, inner_f, max(0.5 * goal, 0.1 * violation))
            except LimitReached as stop:
                stopped = stop
            self.evaluations += max(0, inner.evaluations - (gram.evaluations - counted))  # not those of both
            change = part.beta(inner_b) - old
            moved = np.flatnonzero(change)
            if (
                moved.size == 0
                and stopped is None
                and not (top and self.whole is not None and self.whole.due)
            ):
                return  # rounding forbids any further step; the caller checks in higher precision
            gram.add_product(working[moved], change[moved], f)
            b[variables] = inner_b
            if stopped is not None:
                raise stopped

    def _working_set(self, problem: Dual, b: Float64, g: Float64, itemsize: int) -> np.ndarray:
        per_side = int(np.clip(problem.n // 8, LEAST_PER_SIDE, MOST_PER_SIDE))
        most = max(8, int(np.sqrt(self.options.block_bytes / itemsize)))
        sides = 2 * max(1, problem.sums.size)
        return choose(problem, b, g, max(1, min(per_side, most // (2 * sides))), most)

    def _check_limits(self) -> None:
        stopped = self.limit()
        if stopped is not None:
            raise LimitReached(stopped)

    def _tell(self, b: Float64, f: Float64) -> None:
        if self.options.listener is not None and wants_to_know(self.options.listener):
            count, target = self.gram.evaluations + self.evaluations, self.target()
            self.options.listener(progress(self.problem, b, f, self.n_iter, self.limits, count, target))

    # -- the dense block -------------------------------------------------------------------------------------

    def _dense(
        self, gram: Gram, p: Dual, b: Float64, f: Float64, g: Float64, tol: float, *, keep: bool
    ) -> bool:
        """Solve a whole problem as one block, changing b and f; return whether anything moved."""
        everything = np.arange(p.n)
        K = self.block if keep and self.block is not None else gram.block(everything, everything)
        if keep:
            self.block = K
        block = DenseBlock(K, gram.diag(), p, b, g)
        stopped: LimitReached | None = None
        try:
            self._optimise(block, tol, watched=keep and self.options.listener is not None)
            if block.violation > tol and not self.gram.is_exact:
                # Rounding makes a near-singular block indefinite; no number of steps can mend that.
                self.exhausted = True
            elif block.violation > tol or self.stuck:
                self._insist(block, gram, p, tol, whole=keep)
        except LimitReached as stop:
            stopped = stop
        change = block.write(b)
        moved = np.flatnonzero(change)
        if moved.size:
            _jit.row_products.fold_rows(K, moved, change[moved], 0, p.n, f)  # sums in float64, no copy of K
        if stopped is not None:
            raise stopped
        return bool(moved.size)

    def _optimise(
        self, block: DenseBlock, tol: float, watched: bool = False, budget: int | None = None
    ) -> None:
        """Sequential minimal optimisation for a number of steps that well-conditioned problems never need."""
        if budget is None:
            budget = max(HARD_STEPS_PER_VARIABLE * block.size + HARD_STEPS, int(HARD_WORK * block.size**2))
        slice_steps = int(max(200, SLICE_WORK // (6 * block.size)))
        if watched and self.recorded:
            # A trace of a problem that is one block has lines, too.
            slice_steps = min(slice_steps, max(4, block.size // 8))
        while budget > 0:
            steps = min(slice_steps, budget, self.limits.steps_left(self.n_iter))
            done = block.run(tol, steps)
            self.n_iter += done
            budget -= done
            if block.violation <= tol or done < steps:
                return
            if watched and wants_to_know(self.options.listener):
                self._tell(*block.point())
            self._check_limits()

    def _insist(self, block: DenseBlock, gram: Gram, p: Dual, tol: float, *, whole: bool) -> None:
        """Go on with an ill-conditioned block as long as that gains anything that float64 can tell."""
        rescue = gram.is_psd is True or (gram.is_psd is None and block.is_definite(MOST_FREE))
        watched = whole and not self.recorded
        if self.whole is None:
            self.whole = WholeRescue(self.options, self.problem, self.limits)
        if rescue and not whole and not self.whole.done and self.whole.has_low_rank(self.gram):
            self.whole.due = True
            return
        if rescue:
            self._alternate(block, tol, watched)
        while block.violation > tol or (rescue and self.stuck):
            if not block.gained() or (whole and self.problem.hopeless(*block.point())):
                return
            if rescue and not whole and not self.whole.done and self.whole.fits(p):
                self.whole.due = True  # the others would move the solution of these, round after round
                return
            if rescue and self.whole.restarted(block, p):
                self._alternate(block, tol, watched)
            else:
                self._optimise(block, tol, watched)
            rescue = False

    def _alternate(self, block: DenseBlock, tol: float, watched: bool) -> None:
        """Take Newton steps, and between them steps of two variables, which find the right bounds.

        The last step is Newton's: it costs as much as a few hundred of the others and leaves only rounding.
        """
        for _ in range(NEWTON_STEPS):
            if not block.newton(MOST_FREE):
                break
            reached = block.violation <= tol
            self._check_limits()
            self._optimise(block, tol, watched, 2 * block.size + 100)
            if reached and block.violation <= tol:
                return
        if block.violation > tol:
            self._optimise(block, tol, watched, 2 * block.size + 100)
