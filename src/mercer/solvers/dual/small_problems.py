"""Many small duals over parts of one kernel matrix, without a call for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.base import UNIT
from mercer.problems.dual import Dual
from mercer.problems.stacked import SolvedDual, Stacked
from mercer.solvers.base import Reached, Solution
from mercer.solvers.dual.dense_block import FLOOR_DOUBLE
from mercer.solvers.many import Many
from mercer.threads import Workers

ENOUGH = 10  # problems that are enough to be solved all at once
FEW_ROWS = 256  # that each of them may have
TOGETHER = 256  # problems between two looks at whether to stop
STEPS = 10_000  # most steps of a problem; the rare one that needs more is for a solver with more patience


def can_be_stacked(gram: Gram, many: Many, block_bytes: int) -> bool:
    """Return whether problems are so many and so small that a call for each would be most of the work."""
    return (
        len(many.rows) >= ENOUGH
        and max(rows.size for rows in many.rows) <= FEW_ROWS
        and 8 * gram.n**2 <= block_bytes
    )


def solve_stacked(
    gram: Gram,
    many: Many,
    tol: float,
    workers: Workers,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Solution | None]:
    """Return the solution of each problem, to a KKT violation of at most ``tol``; None where it is not found.

    Parameters
    ----------
    gram : Gram
        The whole matrix.
    many : Many
        What is solved.
    tol : float
        Largest KKT violation.
    workers : Workers
        Threads.
    should_stop : callable
        Asked now and then.
    """
    whole = many.stacked(gram)
    if type(whole) is not Dual or whole.copies != 1 or whole.has_shift or not whole.bounded:
        return [None] * len(many.rows)
    if whole.sums.size != 1 or whole.sums[0] != 0.0:
        return [None] * len(many.rows)
    problems = Stacked(list(many.rows), whole)
    every = np.arange(gram.n)
    K: Float64 = np.ascontiguousarray(gram.exact().block(every, every), dtype=np.float64)
    b, f = np.zeros(problems.p.size), np.zeros(problems.p.size)
    steps = np.zeros(len(problems), dtype=np.int64)
    diagonal = np.diagonal(K)
    floor = FLOOR_DOUBLE * max(float(diagonal.max(initial=0.0)), 1e-300)

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
    root = gram.magnitude()
    noise = UNIT * problems.sums(np.abs(b) * root[problems.rows]) * float(root.max(initial=0.0))
    ends = problems.ends.tolist()
    found: list[Solution | None] = []
    for t, values in enumerate(problems.evaluate(b, f, noise)):
        if values is None or values.violation > tol:
            found.append(None)
            continue
        part = slice(ends[t], ends[t + 1])
        reached = Reached(b[part], f[part], int(steps[t]), "optimal")
        found.append(Solution(SolvedDual(values), reached, 0.0, tol, "kkt"))
    return found
