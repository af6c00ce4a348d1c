"""The interior-point method for a whole dual: small problems, to machine precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.problem import FEASIBLE
from mercer.solvers.base import Limits, Need, Reached, Solver, Status, UnsuitableSolverError
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.low_rank import LEAST_RANK, Model, rank_within
from mercer.solvers.dual.quadratic import solve_quadratic
from mercer.solvers.dual.round_loop import mend_sums
from mercer.solvers.needs import A_DUAL, POSITIVE_SEMIDEFINITE
from mercer.solvers.progress import progress, wants_to_know

NEARLY = 1e-3  # share of the largest eigenvalue that may be missing, by rounding, from the smallest
IDLE = 60  # steps on a factor without headway
SLOW = 0.5  # share of the gap that a step on a factor leaves where working sets finish sooner
NO_CHOICE = 1e-13  # share of a group's sum by which its members could move at all that counts as none


def dense_bytes(problem: Dual) -> int:
    """Return the memory of the quadratic problem's matrix."""
    return 8 * problem.size**2


def _fits(solver: Solver, gram: Gram, problem: Dual) -> bool:
    rank = rank_within(problem.n, problem.copies, solver.block_bytes)
    return dense_bytes(problem) <= solver.block_bytes or rank >= LEAST_RANK


ROOM = Need(
    _fits,
    lambda solver, gram, problem: (
        f"factorises the kernel matrix, and {solver.block_bytes / 1e6:.3g} MB do not even hold a factor of "
        f"rank {LEAST_RANK} for {problem.size} variables: raise cache_size"
    ),
)


@dataclass(kw_only=True, repr=False)
class InteriorPoint(Solver):
    r"""A primal-dual interior-point method on the whole dual, finished by its active set.

    The conditions :math:`(b - lo) z = (hi - b) u = \mu` are followed to :math:`\mu = 0` by Newton steps with
    Mehrotra's corrector, each one Cholesky factorisation. At the end the variables on their bounds are put
    there and the equations of the others solved, so that what is left is rounding. Whatever ``tol`` says,
    the method goes to the end: it is the judge of the others. Time grows with the cube of n.

    A matrix that memory does not hold is replaced by a pivoted Cholesky factor L of the rank that it does
    hold, and Woodbury's formula solves the systems. The exact problem is still the one that is solved: the
    factor is the curvature of a model that lies above the exact objective, whose minimum is the next point,
    until the exact conditions hold to ``tol`` (:mod:`mercer.solvers.dual.low_rank`). Where the factor leaves
    so much out that these steps become small, decomposition goes on from there, with exact kernel values.

    References
    ----------
    Mehrotra (1992), On the implementation of a primal-dual interior point method, SIAM J. Optimization 2.
    Fine and Scheinberg (2001), Efficient SVM training using low-rank kernel representations, JMLR 2.
    """

    name: ClassVar[str] = "interior_point"
    needs = (A_DUAL, POSITIVE_SEMIDEFINITE, ROOM)

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Follow the central path to its end; a start is of no use to an interior method."""
        gram, limits = gram.exact(), self.limits or Limits()
        if dense_bytes(problem) > self.block_bytes:
            return self._on_a_factor(gram, problem, start, limits)
        every = np.arange(problem.n)
        b, f = problem.start(), np.zeros(problem.n)
        n_iter = 0
        status: Status = "optimal"
        try:
            K = np.asarray(gram.block(every, every), dtype=np.float64)

            def visit(point: Float64) -> None:
                nonlocal b, n_iter
                n_iter += 1
                b = problem.nearest(point)
                self._tell(problem, b, K @ problem.beta(b), n_iter - 1, limits, gram)

            if limits.steps_left(0) > 0:
                b, n_iter = solve_dense(
                    K,
                    problem,
                    should_stop=lambda: limits.steps_left(n_iter) == 0 or limits.out_of_time(),
                    visit=visit if self.listener is not None or limits.max_iter >= 0 else None,
                    name=self.name,
                )
            if limits.out_of_time():
                status = "time_limit"
            elif limits.steps_left(n_iter) == 0:
                status = "iteration_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        f = gram.matvec(problem.beta(b))
        self._tell(problem, b, f, n_iter, limits, gram)
        return Reached(b, f, n_iter, status)

    def _on_a_factor(self, gram: Gram, problem: Dual, start: Float64 | None, limits: Limits) -> Reached:
        """Minimise models whose curvature is a factor of low rank until the exact conditions hold."""
        b = problem.start() if start is None else problem.nearest(start)
        f, n_iter, note = gram.matvec(problem.beta(b)), 0, ""
        status: Status = "optimal"
        best: tuple[float, Float64, Float64] = (np.inf, b, f)

        def stop() -> bool:
            return limits.steps_left(n_iter) == 0 or limits.out_of_time()

        try:
            rank = rank_within(problem.n, problem.copies, self.block_bytes)
            model = Model.of_rank(gram, problem, rank)
            idle, speed, ahead, f_ahead = 0, 1.0, b, f
            gaps: list[float] = []
            while True:
                values = problem.evaluate(b, f)
                self._tell(problem, b, f, n_iter, limits, gram)
                idle = 0 if values.gap < 0.9 * best[0] else idle + 1
                if values.gap < best[0]:
                    best = values.gap, b, f
                if problem.met(values, self.criterion, self.tol):
                    best = values.gap, b, f
                    break
                gaps.append(best[0])
                slow = len(gaps) > 2 and gaps[-1] > SLOW * gaps[-2]  # the first is that of the start
                if slow and problem.equalities is None and not stop():
                    return self._by_working_sets(gram, problem, best[1], n_iter, limits)
                if idle > IDLE:
                    status = "ill_conditioned"
                    note = (
                        f"a factor of rank {model.L.shape[1]}, which is what cache_size allows, leaves so "
                        "much of the kernel matrix out that the steps have become tiny: raise cache_size, "
                        'or use solver="decomposition"'
                    )
                    break
                if stop():
                    status = "time_limit" if limits.out_of_time() else "iteration_limit"
                    break
                new, done = model.step(ahead, f_ahead, limits.out_of_time)
                n_iter += done
                f_new = gram.matvec(problem.beta(new))
                # Nesterov's momentum, begun anew where it leads uphill; K beta of a combination is one, too.
                uphill = float(problem.gradient(ahead, f_ahead) @ (new - b)) > 0.0
                before, speed = (1.0, 1.0) if uphill else (speed, 0.5 + math.sqrt(0.25 + speed * speed))
                further = 0.0 if uphill else (before - 1.0) / speed
                ahead, f_ahead = new + further * (new - b), f_new + further * (f_new - f)
                b, f = new, f_new
        except KeyboardInterrupt:
            status = "interrupted"
        return Reached(best[1], best[2], n_iter, status, note=note)

    def _by_working_sets(self, gram: Gram, problem: Dual, b: Float64, done: int, limits: Limits) -> Reached:
        """Finish by decomposition, from the point that the factor led to."""
        solver = Decomposition(
            tol=self.tol,
            criterion=self.criterion,
            limits=replace(limits, max_iter=limits.steps_left(done) if limits.max_iter >= 0 else -1),
            listener=self.listener,
            block_bytes=self.block_bytes,
        )
        found = solver.run(gram, problem, b)
        return replace(found, n_iter=done + found.n_iter)

    def _tell(self, problem: Dual, b: Float64, f: Float64, n_iter: int, limits: Limits, gram: Gram) -> None:
        if self.listener is not None and wants_to_know(self.listener):
            target = problem.tolerance(self.tol, problem.objective(b, f))
            self.listener(progress(problem, b, f, n_iter, limits, gram.evaluations, target))


def solve_dense(
    K: Any,
    problem: Dual,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    visit: Callable[[Float64], None] | None = None,
    name: str = "interior_point",
) -> tuple[Float64, int]:
    """Return the solution of a problem whose kernel values are all in memory, and the iterations.

    Parameters
    ----------
    K : (n, n) float64
        Kernel matrix.
    problem : Dual
        The problem.
    should_stop : callable
        Asked before each iteration.
    visit : callable, optional
        Called with the variables before each iteration.
    name : str
        Who asks, for the message about a matrix that is not positive semi-definite.
    """
    p = problem
    b = p.start()
    inside = np.flatnonzero(~p.fixed & ~_forced(p))
    if inside.size == 0:
        return b, 0
    Q = np.tile(K, (p.copies, p.copies)) if p.copies > 1 else K
    Q = Q[np.ix_(inside, inside)].copy()
    Q[np.diag_indices(inside.size)] += p.r[inside]
    Q = 0.5 * (Q + Q.T)
    A, s = _sums(p, inside, b)
    # What cannot move pulls at the rest.
    rest = b.copy()
    rest[inside] = 0.0
    linear = p.p[inside] + np.tile(K @ p.beta(rest), p.copies)[inside]
    lo, hi = p.lo[inside], p.hi[inside]

    def seen(x: Float64) -> None:
        point = b.copy()
        point[inside] = x
        assert visit is not None
        visit(point)

    def solved(Q: Float64) -> tuple[Float64, int]:
        tell = None if visit is None else seen
        return solve_quadratic(Q, linear, lo, hi, A, s, should_stop=should_stop, visit=tell)

    try:
        try:
            b[inside], n_iter = solved(Q)
        except LinAlgError:
            ends = np.linalg.eigvalsh(Q)[[0, -1]]
            if not -NEARLY * ends[1] <= ends[0] < 0.0:
                raise
            # Rounding of large values, of which a trend has taken most: what it costs, the gap tells.
            Q[np.diag_indices(inside.size)] -= 2.0 * ends[0]
            b[inside], n_iter = solved(Q)
    except LinAlgError:
        raise UnsuitableSolverError(
            f"solver={name!r} factorises the kernel matrix, which turned out not positive semi-definite: "
            'use solver="decomposition" or "smo"'
        ) from None
    if should_stop():
        return p.nearest(b), n_iter
    b = p.settled(b)  # what scaling and back moved off its bound by rounding
    mend_sums(p, b)
    if p.missed(b) > FEASIBLE * float(
        np.abs(b).sum()
    ):  # a set without an interior: rounding was all there was
        b = p.nearest(b)
    return b, n_iter


def _forced(p: Dual) -> np.ndarray:
    """Return which variables their group's sum leaves no choice: all of them must be at the same bound."""
    forced = np.zeros(p.size, dtype=bool)
    if p.group is None:
        return forced
    for g, wanted in enumerate(p.sums):
        members = p.group == g
        least, most = float(p.lo[members].sum()), float(p.hi[members].sum())
        size = sum(abs(x) for x in (wanted, least, most) if np.isfinite(x))
        if min(wanted - least, most - wanted) <= NO_CHOICE * size:
            forced |= members
    return forced


def _sums(p: Dual, inside: np.ndarray, b: Float64) -> tuple[Float64, Float64]:
    """Return the fixed sums over the variables that can move, less what the others contribute."""
    if p.equalities is not None:
        A = np.tile(p.equalities, (1, p.copies))
        outside = np.ones(p.size, dtype=bool)
        outside[inside] = False
        return A[:, inside], p.sums - A[:, outside] @ b[outside]
    if p.group is None:
        return np.zeros((0, inside.size)), np.zeros(0)
    A = (p.group[inside][None, :] == np.arange(p.sums.size)[:, None]).astype(np.float64)
    alive = A.any(axis=1)
    outside = np.ones(p.size, dtype=bool)
    outside[inside] = False
    others = np.bincount(p.group[outside], weights=b[outside], minlength=p.sums.size)
    return A[alive], (p.sums - others)[alive]
