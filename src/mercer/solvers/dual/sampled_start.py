"""Where a problem of very many points starts: at the solution of a sample of them, which grows.

Few points matter as a rule, and most of those that a small sample lacks are near others that it has. So a
random sample is solved, then one that is four times as large and holds it, from the solution of the first.
The points that the last one lacks enter the working sets of the whole problem as they violate its optimality
conditions; the certificate is that of the whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer.problems import Dual
from mercer.solvers.base import Limits
from mercer.solvers.dual.round_loop import LimitReached

MANY = 100_000  # points from which on a sample is solved first
SHARES = (64, 16, 4)  # the samples, as fractions of all points
LOOSE = 10.0  # their tolerance, in units of the one that is asked for


def has_sampled_start(problem: Dual, limits: Limits) -> bool:
    """Return whether a solution of some points is feasible with zeros for the others, and steps are free."""
    return (
        problem.copies == 1
        and limits.max_iter < 0
        and problem.equalities is None
        and not (problem.group is not None and problem.sums.any())
        and bool((problem.lo <= 0).all() and (problem.hi >= 0).all())
        and (problem.has_shift or bool(np.isfinite(problem.hi - problem.lo).all()))
    )


def start_from_sample(solve: Any) -> bool:
    """Move one solve of a problem of very many points to where the solution of a sample of them is.

    Parameters
    ----------
    solve : Rounds
        A solve at its start, without any step yet; ``b`` and ``n_iter`` are changed.

    Returns
    -------
    bool
        Whether it was moved.

    Raises
    ------
    LimitReached, KeyboardInterrupt
        If the sample's own solve was stopped; ``b`` is where.
    """
    problem, gram, limits = solve.problem, solve.gram, solve.limits
    if not has_sampled_start(problem, limits):
        return False
    order = np.random.default_rng(0).permutation(problem.n)
    options = solve.options
    loose = replace(options, tol=LOOSE * options.tol, criterion="kkt", limits=limits, listener=None)
    for share in SHARES:
        rows = np.sort(order[: problem.n // share])
        start = solve.b[rows]
        reached = loose.run(gram.subset(rows), problem.take(rows), start if start.any() else None)
        solve.b[rows] = reached.b
        solve.n_iter += reached.n_iter
        if reached.stopped == "interrupted":
            raise KeyboardInterrupt
        if reached.stopped not in ("optimal", "ill_conditioned"):
            raise LimitReached(reached.stopped)
    return True
