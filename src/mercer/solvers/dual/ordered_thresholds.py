"""Thresholds that must ascend: problems in which some of them are one, until the order holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Float64, Ints
from mercer.gram import Gram
from mercer.solvers.base import Limits, Reached, Solver, TimeShare
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.needs import AN_ORDER, SOLVERS

CLEAR = 1e-10  # share of all multipliers from which one of the wrong sign is no rounding


@dataclass(kw_only=True, repr=False)
class OrderedThresholds(Solver):
    """Solve a :class:`~mercer.problems.ordinal.Thresholds` whose order must be asked for.

    The problem without the order is solved first. Thresholds out of order are then made one, thresholds that
    pull apart (the multiplier of their order has the wrong sign) are two again, and the problem is solved
    from where it was left, until neither is needed: an active set of at most k - 2 constraints.

    Parameters
    ----------
    inner : str or Solver, optional
        What solves the problems with given blocks of thresholds: "decomposition" by default.
    """

    inner: Any = None

    name: ClassVar[str] = "ordered_thresholds"
    single_precision: ClassVar[bool] = True
    needs = (AN_ORDER,)

    def _inner_solver(self) -> Solver:
        if self.inner is None:
            return Decomposition()
        if isinstance(self.inner, Solver):
            return self.inner
        if self.inner not in SOLVERS:
            raise ValueError(
                f"inner={self.inner!r} must be one of {', '.join(map(repr, SOLVERS))}, or a solver"
            )
        return SOLVERS[self.inner]()

    def run(self, gram: Gram, problem: Any, start: Float64 | None) -> Reached:
        """Solve with blocks of thresholds that change until the order holds."""
        limits = self.limits or Limits()
        inner, steps = self._inner_solver(), 0
        blocks = np.arange(problem.copies, dtype=np.int64)
        seen: set[tuple[int, ...]] = set()
        while True:
            seen.add(tuple(blocks.tolist()))
            part = problem.merged(blocks)
            left = limits.steps_left(steps) if limits.max_iter >= 0 else -1
            solver = replace(
                inner,
                tol=self.tol,
                criterion=self.criterion,
                block_bytes=self.block_bytes,
                limits=TimeShare(max_iter=left, whole=limits),
                listener=self.listener,
            )
            reached = solver.solve(gram, part, start).reached
            steps += reached.n_iter
            reached = replace(reached, n_iter=steps)
            following = self._next(problem, part, blocks, reached)
            early = reached.stopped in ("iteration_limit", "time_limit", "interrupted")
            if early or following is None or tuple(following.tolist()) in seen:
                return _feasible(gram, problem, reached)
            blocks, start = following, reached.b

    def _next(self, problem: Any, part: Any, blocks: Ints, reached: Reached) -> Ints | None:
        """Return the blocks to go on with, None where the order holds."""
        b = reached.b
        pulls = problem.pulls(b)
        together = np.diff(blocks) == 0
        wrong = np.where(together, pulls, 0.0)
        if wrong.min(initial=0.0) < -CLEAR * float(np.abs(b).sum()):
            together[int(wrong.argmin())] = False
        else:
            tops, bottoms = part.extremes(part.settled(b), part.gradient(b, reached.f))
            apart = np.flatnonzero(np.diff(blocks) > 0)
            crossed = tops[blocks[apart + 1]] - bottoms[blocks[apart]] > self.tol
            if not crossed.any():
                return None
            together[apart[crossed]] = True
        return np.concatenate([[0], np.cumsum(~together)]).astype(np.int64)


def _feasible(gram: Gram, problem: Any, reached: Reached) -> Reached:
    """Return the point, or where an early end left pulls of the wrong sign, one near it without pulls."""
    if problem.missed(reached.b) <= CLEAR * float(np.abs(reached.b).sum()):
        return reached
    b = problem.merged(np.arange(problem.copies)).nearest(reached.b)
    return replace(reached, b=b, f=gram.exact().matvec(problem.beta(b)), noise=0.0)
