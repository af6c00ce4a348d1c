"""Decomposition with a working set of a given size, and any solver of quadratic problems inside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.base import Limits, Solver
from mercer.solvers.dual.round_loop import Rounds
from mercer.solvers.dual.working_set import choose

CLOSER = 0.1  # share of the present violation that the inner solver leaves in the working set
LEAST = 1e-14  # of the inner tolerance, on the scale of K beta


class FixedSize(Rounds):
    """One solve: a round optimises the points of a working set while all others stay as they are.

    Parameters
    ----------
    options : Solver
        Tolerance, criterion, limits, memory.
    gram, problem, start
        As for every solve.
    size : int
        Points of the working set.
    inner : Solver
        What solves the problem of these points.
    """

    def __init__(
        self, options: Solver, gram: Gram, problem: Dual, start: Float64 | None, size: int, inner: Solver
    ) -> None:
        super().__init__(options, gram, problem, start)
        self.size, self.inner = size, inner

    def advance(self) -> bool:
        """Optimise a working set; return whether anything changed."""
        p, g = self.problem, self.gradient()
        sides = 2 * max(1, p.sums.size)
        working = choose(p, self.b, g, max(1, self.size // sides), self.size)
        if working.size == 0:
            return False
        variables = (working[None, :] + p.n * np.arange(p.copies)[:, None]).ravel()
        part_gram = self.gram.subset(working)
        part = self._restricted(part_gram, working, variables, g)
        goal = max(
            min(CLOSER * p.violation(self.b, g), 0.5 * self.target()),
            LEAST * max(1.0, float(np.abs(self.f).max(initial=0.0))),
        )
        solver = replace(
            self.inner,
            tol=goal,
            criterion="kkt",
            block_bytes=self.options.block_bytes,
            limits=Limits(-1, self.limits.time_limit, self.limits.started),
            listener=None,
        )
        found = solver.solve(part_gram, part, self.b[variables])
        before, value = self.b[variables], p.objective(self.b, self.f)
        old = p.beta(self.b).copy()
        self.b = self.b.copy()
        self.b[variables] = np.clip(found.b, p.lo[variables], p.hi[variables])
        change = p.beta(self.b) - old
        moved = np.flatnonzero(change)
        f = self.f.copy()
        self.gram.add_product(moved, change[moved], f)
        self.n_iter += 1
        if p.objective(self.b, f) > value:  # rounding: the inner solution is no better than what was there
            self.b[variables] = before
            return False
        self.f = f
        return bool(moved.size)

    def _restricted(self, gram: Gram, working: Index, variables: Index, g: Float64) -> Dual:
        """Return the problem of the working set: what the others contribute is in its linear term."""
        p = self.problem
        b = self.b[variables]
        beta = b.reshape(p.copies, working.size).sum(axis=0)
        own = np.tile(gram.matvec(beta), p.copies) + p.r[variables] * b
        more: dict[str, Any] = {}
        if p.group is not None:
            group = p.group[variables]
            more = {"group": group, "sums": np.bincount(group, weights=b, minlength=p.sums.size)}
        return Dual(
            g[variables] - own,
            p.lo[variables],
            p.hi[variables],
            r=p.r[variables] if p.has_shift else None,
            copies=p.copies,
            **more,
        )
