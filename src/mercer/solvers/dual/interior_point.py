"""The interior-point method for a whole dual: small problems, to machine precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.problem import FEASIBLE
from mercer.solvers.base import Need, Reached, Solver, Status, UnsuitableSolverError
from mercer.solvers.dual.needs import A_DUAL, POSITIVE_SEMIDEFINITE
from mercer.solvers.dual.quadratic import solve_quadratic
from mercer.solvers.dual.round_loop import mend_sums
from mercer.solvers.limits import Limits
from mercer.solvers.progress import progress, wants_to_know

NO_CHOICE = 1e-13  # share of a group's sum by which its members could move at all that counts as none


def dense_bytes(problem: Dual) -> int:
    """Return the memory of the quadratic problem's matrix."""
    return 8 * problem.size**2


SMALL = Need(
    lambda solver, gram, problem: dense_bytes(problem) <= solver.block_bytes,
    lambda solver, gram, problem: (
        f"factorises a matrix of {problem.size} rows: {dense_bytes(problem) / 1e6:.0f} MB, and "
        f"{solver.block_bytes / 1e6:.0f} MB are allowed: raise cache_size to at least "
        f'{2 * dense_bytes(problem) / 1e6:.0f} (and expect cubic time), or use solver="decomposition"'
    ),
)


@dataclass(kw_only=True, repr=False)
class InteriorPoint(Solver):
    r"""A primal-dual interior-point method on the whole dual, finished by its active set.

    The conditions :math:`(b - lo) z = (hi - b) u = \mu` are followed to :math:`\mu = 0` by Newton steps with
    Mehrotra's corrector, each one Cholesky factorisation. At the end the variables on their bounds are put
    there and the equations of the others solved, so that what is left is rounding. Whatever ``tol`` says,
    the method goes to the end: it is the judge of the others. Time grows with the cube of n.

    References
    ----------
    Mehrotra (1992), On the implementation of a primal-dual interior point method, SIAM J. Optimization 2.
    Fine and Scheinberg (2001), Efficient SVM training using low-rank kernel representations, JMLR 2.
    """

    name: ClassVar[str] = "interior_point"
    needs = (A_DUAL, POSITIVE_SEMIDEFINITE, SMALL)

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Follow the central path to its end; a start is of no use to an interior method."""
        gram, limits = gram.exact(), self.limits or Limits()
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

    try:
        b[inside], n_iter = solve_quadratic(
            Q, linear, lo, hi, A, s, should_stop=should_stop, visit=None if visit is None else seen
        )
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
