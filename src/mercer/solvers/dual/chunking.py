"""Chunking: the support vectors so far and the worst of the rest, solved by a generic method, repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.base import Reached, Solver, UnsuitableSolverError
from mercer.solvers.dual.interior_point import dense_bytes, solve_dense
from mercer.solvers.dual.round_loop import Rounds
from mercer.solvers.dual.working_set import choose
from mercer.solvers.needs import A_DUAL, GROUP_SUMS, POSITIVE_SEMIDEFINITE


@dataclass(kw_only=True, repr=False)
class Chunking(Solver):
    """Vapnik's chunking, with the interior-point method as the generic solver inside.

    Each round solves the problem of a chunk of the points to the end, all other points being at zero. It
    keeps the support vectors, forgets the rest, and adds the points that most violate the optimality
    conditions of the whole. The chunk of the last rounds is about the support vectors, which must fit into
    memory as a matrix.

    Parameters
    ----------
    chunk : int, default=400
        How many violators join the support vectors in each round (M).

    References
    ----------
    Vapnik (1982), Estimation of Dependences Based on Empirical Data. Osuna, Freund and Girosi (1997), An
    improved training algorithm for support vector machines. Cristianini and Shawe-Taylor (2000), Table 7.2.
    """

    chunk: int = 400

    name: ClassVar[str] = "chunking"
    needs = (A_DUAL, GROUP_SUMS, POSITIVE_SEMIDEFINITE)

    def __post_init__(self) -> None:
        if not (isinstance(self.chunk, int) and self.chunk >= 2):
            raise ValueError(f"chunk={self.chunk!r} must be an integer of at least 2")

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Run the rounds."""
        return _Chunks(self, gram, problem, start).run()


class _Chunks(Rounds):
    """One solve: a round is a chunk."""

    def __init__(self, options: Chunking, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        super().__init__(options, gram, problem, start)
        self.o = options

    def advance(self) -> bool:
        p = self.problem
        sides = 2 * max(1, p.sums.size)
        per_side = max(1, self.o.chunk // sides)
        violators = choose(p, self.b, self.gradient(), per_side, p.n)
        support = (self.b != 0).reshape(p.copies, p.n).any(axis=0)
        support[violators] = True
        chunk = np.flatnonzero(support)
        part = p.take(chunk)
        if dense_bytes(part) > self.o.block_bytes:
            raise UnsuitableSolverError(
                f"solver='chunking' has come to a chunk of {chunk.size} points, whose matrix takes "
                f"{dense_bytes(part) / 1e6:.0f} MB, and {self.o.block_bytes / 1e6:.0f} MB are allowed: raise "
                'cache_size, or use solver="decomposition"'
            )
        K = np.asarray(self.gram.block(chunk, chunk), dtype=np.float64)
        old = p.beta(self.b).copy()
        before = self.b
        new, _ = solve_dense(K, part, should_stop=self.limits.out_of_time, name=self.o.name)
        if self.limits.out_of_time() and part.objective(new, K @ part.beta(new)) > p.objective(
            before, self.f
        ):
            return True  # the limit cut the inner solve short: what it had is worse than what we have
        self.n_iter += 1
        variables = (chunk[None, :] + p.n * np.arange(p.copies)[:, None]).ravel()
        self.b = np.zeros(p.size)
        self.b[variables] = new
        change = p.beta(self.b) - old
        moved = np.flatnonzero(change)
        self.gram.add_product(moved, change[moved], self.f)
        return bool(moved.size)
