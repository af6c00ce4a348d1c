"""Block-coordinate Frank-Wolfe for structured machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index, Ints
from mercer.gram.joint import JointFeatures
from mercer.problems.structured import StructuredRisk
from mercer.solvers.base import Reached, Solver
from mercer.solvers.dual.round_loop import LimitReached
from mercer.solvers.structured.passes import STRUCTURES, Passes, by_owner, shuffled

SWEEPS = 8  # most sweeps over known outputs between two passes
STEPS = 4  # most steps on a row in a visit
SHARE = 0.2  # of the gap: known outputs are left when they are to blame for no more
BATCHES = 32  # parts of a pass: later rows see newer weights
LOOK = 5  # passes between two looks at all rows with the same weights
FORGOTTEN = 10  # passes after which an output without a multiplier is forgotten
CROWDED = 8  # outputs for each row beyond which the pool is looked through


@dataclass(kw_only=True, repr=False)
class BlockFrankWolfe(Solver):
    r"""Go from each row's multipliers towards its worst output, as far as is best.

    The dual has a simplex for each row, and the argmax finds the corner of it that the gradient points to.
    With ``pairwise`` a step takes the multiplier of the worst known output instead of a part of all, and
    outputs that were met before are visited again, which costs no argmax, until what they lack is a small
    part of the gap. The exact length of a step is known in both cases, since the dual is quadratic; so is the
    gap, after a pass over all rows with the same weights.

    Parameters
    ----------
    pairwise : bool
        Whether multipliers move between two outputs. Otherwise each step is that of Frank and Wolfe, and each
        pass visits every row once.
    seed : int
        Of the order of the rows.

    References
    ----------
    .. [1] S. Lacoste-Julien, M. Jaggi, M. Schmidt and P. Pletscher (2013). Block-coordinate Frank-Wolfe
       optimization for structural SVMs. *ICML*, 53-61.
    .. [2] A. Osokin, J.-B. Alayrac, I. Lukasewitz, P. Dokania and S. Lacoste-Julien (2016). Minding the gaps
       for block Frank-Wolfe optimization of structured SVMs. *ICML*, 593-602.
    """

    pairwise: bool = True
    seed: int = 0

    name: ClassVar[str] = "block_frank_wolfe"
    needs = (STRUCTURES,)

    def run(self, gram: JointFeatures, problem: StructuredRisk, start: Float64 | None) -> Reached:  # type: ignore[override]
        """Take passes."""
        return (_Pairwise if self.pairwise else _Toward)(self, problem, start).run()


class _Blocks(Passes):
    """Steps on blocks, in compiled loops."""

    def __init__(self, options: BlockFrankWolfe, problem: StructuredRisk, start: Float64 | None) -> None:
        super().__init__(options, problem, start)
        self.random = np.random.default_rng(options.seed)
        self.scratch = np.zeros(problem.width)

    def refresh(self) -> None:
        """Compute the weights and the dual anew: what many small steps have summed up is rounded."""
        self.w = self.pool.weights(self.padded())
        self.dual = self.measured_dual()


class _Pairwise(_Blocks):
    """Pairs of outputs, with visits to known ones between passes."""

    def __init__(self, options: BlockFrankWolfe, problem: StructuredRisk, start: Float64 | None) -> None:
        super().__init__(options, problem, start)
        self.unused = np.zeros(self.pool.size, dtype=np.int64)
        self.gaps = np.zeros(problem.n)  # of each row at its last visit

    def advance(self) -> None:
        gap = self._pass_in_batches()
        self.refresh()
        if gap <= 2.0 * self.options.tol * abs(self.dual + gap) or self.n_iter % LOOK == 0:
            self.whole_pass()
            gap = self.best_primal - self.dual
        if gap > self.options.tol * abs(self.dual + gap):
            self._visit_known(SHARE * gap)
            self.refresh()
        self._forget()

    def _pass_in_batches(self) -> float:
        """Find all rows' worst outputs, with newer weights for later rows; return the sum of their gaps."""
        order = shuffled(self.p.n, self.random)
        step = max(1, -(-self.p.n // BATCHES))
        for first in range(0, self.p.n, step):
            rows = order[first : first + step]
            self.worst(rows)
            self._steps(rows, by_owner(self.pool.owners, self.p.n))
        return float(self.gaps.sum())

    def _visit_known(self, enough: float) -> None:
        """Visit the known outputs of rows with a gap until all gaps are small enough."""
        blocks = by_owner(self.pool.owners, self.p.n)
        rows = np.arange(self.p.n)
        for sweep in range(SWEEPS):
            if sweep % 4 == 0:
                rows = np.arange(self.p.n)
            self._steps(rows[shuffled(rows.size, self.random)], blocks)
            if float(self.gaps.sum()) <= enough:
                break
            rows = np.flatnonzero(self.gaps > 0.1 * enough / self.p.n)
            if self.limits.out_of_time():
                raise LimitReached("time_limit")

    def _steps(self, rows: Index, blocks: tuple[Ints, Ints]) -> None:
        starts, members = blocks
        alpha = self.padded()
        _jit.output_blocks.pairwise(
            *self.pool.arrays, self.pool.losses, self.pool.squares, starts, members, self.p.C, rows, STEPS,
            alpha, self.w, self.scratch, np.empty(members.size), self.gaps,
        )  # fmt: skip

    def _forget(self) -> None:
        """Forget outputs that have had no multiplier for a while, where there are many."""
        unused = np.zeros(self.pool.size, dtype=np.int64)
        unused[: self.unused.size] = self.unused
        self.unused = np.where(self.padded() > 0, 0, unused + 1)
        if self.pool.size > CROWDED * self.p.n:
            kept = self.unused <= FORGOTTEN
            if 4 * int(kept.sum()) <= 3 * self.pool.size:
                self.pool.keep(kept)
                self.alpha, self.unused = self.alpha[kept], self.unused[kept]


class _Toward(_Blocks):
    """Steps towards corners."""

    def __init__(self, options: BlockFrankWolfe, problem: StructuredRisk, start: Float64 | None) -> None:
        super().__init__(options, problem, start)
        self.marked = np.zeros(problem.width, dtype=np.bool_)

    def advance(self) -> None:
        order = shuffled(self.p.n, self.random)
        step = max(1, -(-self.p.n // BATCHES))
        for first in range(0, self.p.n, step):
            rows = order[first : first + step]
            corners = self.worst(rows)
            starts, members = by_owner(self.pool.owners, self.p.n)
            alpha = self.padded()
            _jit.output_blocks.toward(
                *self.pool.arrays, self.pool.losses, starts, members, self.p.C, rows, corners, alpha, self.w,
                self.scratch, self.marked,
            )  # fmt: skip
        self.refresh()
        self.whole_pass()
