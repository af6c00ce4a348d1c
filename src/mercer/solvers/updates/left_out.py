"""Every fit without one point, by walks from the optimum of all points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.gram.base import MatrixGram
from mercer.problems import Dual
from mercer.solvers.base import Limits
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.updates.optimum import Optimum, StuckError

EVENTS = 1000  # of one walk, before a solver takes over
STEPS = 200  # of a solver, for each variable
TIGHT = 1e-10  # KKT violation that such a solver is asked for, relative to p and the matrix


def tight_solution(K: Float64, problem: Dual, start: Float64 | None, limits: Limits | None = None) -> Any:
    """Return a solution by the working-set solver, as exact as it gets."""
    size = float(np.abs(problem.p).max(initial=0.0)) + float(np.sqrt(np.abs(np.diagonal(K)).max(initial=0.0)))
    solver = Decomposition(
        tol=TIGHT * max(size, 1e-30), limits=limits or Limits(200 * problem.size + 100_000)
    )
    return solver.solve(MatrixGram(K, True), problem, start)


def left_out(
    K: Float64,
    problem: Dual,
    b: Float64,
    without: Callable[[int], Dual],
    *,
    every: bool,
) -> Iterator[tuple[int, Any, float]]:
    """Yield, for each point, the machine without it and the value of its kernel expansion at the point.

    A point with multiplier zero leaves the machine of all points, where the bias is determined without it.

    Parameters
    ----------
    K : (n, n) float64
        Kernel matrix, positive semi-definite.
    problem : Dual
        The problem of all points, with one fixed sum at most.
    b : float64 array
        A point near its optimum.
    without : callable
        Given a point's number, the problem of the others.
    every : bool
        Whether problems depend on the number of points, so that every point counts.

    Yields
    ------
    int
        The point.
    Machine
        The machine of the others; its intercept, not its coefficients, is meant to be used.
    float
        The value of its kernel expansion at the point, without the intercept.
    """
    n = problem.n
    solution = tight_solution(K, problem, problem.nearest(b))
    diag = np.diagonal(K)
    whole: Optimum | None = None
    b, f = solution.b, solution.f
    try:
        whole = Optimum(problem, b, f, lambda i: K[i], diag, EVENTS + n)
        b, f = whole.point()
    except StuckError:  # a solver has the last word, here and below
        whole = None
    machine = problem.machine(b, f)
    beta = problem.beta(problem.settled(b))
    settled = whole is None or whole.block.size > 0 or problem.group is None
    for i in range(n):
        if beta[i] == 0.0 and settled and not every:
            yield i, machine, float(f[i])
            continue
        others = np.delete(np.arange(n), i)
        part = without(i)
        try:
            if whole is None:
                raise StuckError
            walker = whole.twin()
            walker.move(part, others, EVENTS)
            if walker.error() > 1e4:
                raise StuckError
            b_i, f_i = walker.point()
        except StuckError:  # ties or rounding hold the walk up
            inner = np.ascontiguousarray(K[np.ix_(others, others)])
            start = part.nearest(b.reshape(problem.copies, n)[:, others].ravel())
            found = tight_solution(inner, part, start)
            b_i = np.zeros((problem.copies, n))
            b_i[:, others] = found.b.reshape(problem.copies, n - 1)
            b_i = b_i.ravel()
            f_i = K @ b_i.reshape(problem.copies, n).sum(axis=0)
        rest = np.ascontiguousarray(b_i.reshape(problem.copies, n)[:, others]).ravel()
        yield i, part.machine(rest, f_i[others]), float(f_i[i])
