"""Many small soft margins over parts of one kernel matrix, without a call for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import _jit
from mercer.gram import Workers
from mercer.problems.soft_margins import SoftMargins
from mercer.solvers.base import Float64, Solution
from mercer.solvers.dual.dense_block import FLOOR_DOUBLE

TOGETHER = 256  # problems between two looks at whether to stop
STEPS = 10_000  # most steps of a problem; the rare one that needs more is for a solver with more patience


def solve_crowd(
    K: Float64,
    problems: SoftMargins,
    tol: float,
    workers: Workers,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Solution | None]:
    """Return the solution of each problem, to a KKT violation of at most ``tol``; None where it is not found.

    Parameters
    ----------
    K : (n, n) float64
        The whole matrix.
    problems : SoftMargins
        What is solved.
    tol : float
        Largest KKT violation.
    workers : Workers
        Threads.
    should_stop : callable
        Asked now and then.
    """
    b, f = np.zeros(problems.p.size), np.zeros(problems.p.size)
    steps = np.zeros(len(problems), dtype=np.int64)
    floor = FLOOR_DOUBLE * max(float(np.diagonal(K).max(initial=0.0)), 1e-300)

    def work(start: int, stop: int) -> None:
        if should_stop():
            return
        part = slice(problems.ends[start], problems.ends[stop])
        _jit.small_problems.pairs_of_many(
            K,
            problems.rows[part],
            problems.ends[start : stop + 1] - problems.ends[start],
            problems.p[part],
            problems.lo[part],
            problems.hi[part],
            0.5 * tol,  # what is summed afresh may show a little more
            STEPS,
            floor,
            b[part],
            f[part],
            steps[start:stop],
        )

    workers.ranges(len(problems), work, parts=-(-len(problems) // TOGETHER))
    ends = problems.ends.tolist()
    return [
        Solution(b[ends[t] : ends[t + 1]], f[ends[t] : ends[t + 1]], values, int(steps[t]), "optimal")
        if values is not None and values.violation <= tol
        else None
        for t, values in enumerate(problems.evaluate(b, f))
    ]
