"""How long an exact fit on very many rows is going to take, and how many support vectors it will have."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.estimators.splits import Classes
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers import as_solver, suited
from mercer.solvers.base import Limits

FORESEEN = 100_000  # rows from which on a fit looks ahead
SMALL, LARGE = 2000, 4000  # rows of the two fits that the forecast is made of
LONG = 600.0  # seconds from which on a fit is announced
TRIED = 64  # points whose kernel values with all rows measure the cost of one
PASSES = 4.0  # times that the values between rows and support vectors are computed, as a rule
SECONDS = 20.0  # that the forecast itself may take


class LongFitWarning(UserWarning):
    """An exact fit will take long, or longer than it may."""


@dataclass(frozen=True)
class Forecast:
    """What two small fits say about a large one.

    Attributes
    ----------
    n : int
        Rows.
    support : int
        Support vectors; all rows where a loss gives every row a coefficient.
    seconds : float
        Time.
    """

    n: int
    support: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"about {_duration(self.seconds)} and {_rounded(self.support):,} support vectors for {self.n:,} "
            f"rows (by fits on {SMALL} and {LARGE} of them)"
        )


def extrapolated(n: int, few: float, many: float, low: float, high: float) -> float:
    """Return a quantity of n rows that is a power of their number, between two exponents.

    Parameters
    ----------
    n : int
        Rows.
    few, many : float
        The quantity of `SMALL` and of `LARGE` rows.
    low, high : float
        Least and largest exponent.
    """
    if not many > 0:
        return 0.0
    power = math.log(many / max(few, 1e-300)) / math.log(LARGE / SMALL)
    return float(many * (n / LARGE) ** min(max(power, low), high))


def forecast(fit: Any, matrix: Gram) -> Forecast | None:
    """Return the forecast of the largest problem of a fit, times what all of them together are.

    Parameters
    ----------
    fit : Fit
        The problems.
    matrix : Gram
        The kernel matrix.

    Returns
    -------
    Forecast or None
        None where two small fits say nothing: a linear kernel, a warm start, a sample that lacks a class.
    """
    if matrix.features() is not None or fit.starts is not None:  # linear in the rows, or nearly done
        return None
    sizes = np.array([rows.size for rows in fit.rows])
    k = int(sizes.argmax())
    n = int(sizes[k])
    order = np.random.default_rng(0).permutation(n)
    limits = Limits(time_limit=min(SECONDS, 0.1 * fit.ask.limits.seconds_left()))
    support, seconds, dual = [], [], False
    for m in (SMALL, LARGE):
        some = np.sort(order[:m])
        rows, whole = fit.rows[k][some], fit.split.tasks[k].target
        target: Any = None if whole is None else whole[some]
        if isinstance(fit.split, Classes) and (target == target[0]).all():
            return None
        part = matrix.subset(rows)
        problem = fit.model._stated(target, fit.split.weight[rows], part)
        dual = isinstance(problem, Dual)
        solver = as_solver(fit.model.solver) or suited(part, problem)
        if solver.unmet(part, problem) is not None:
            return None
        model = fit.model
        begun = time.perf_counter()
        solution = solver.controlled(
            tol=model.tol,
            criterion=model.criterion,
            block_bytes=model._cache_bytes() // 2,
            limits=limits,
            listener=None,
        ).solve(problem.view(part), problem)
        seconds.append(time.perf_counter() - begun)
        support.append(int(np.count_nonzero(problem.machine(solution.b, solution.f).coef)))
    many = int(min(n, extrapolated(n, support[0], support[1], 0.0, 1.0)))
    if dual:
        some = np.sort(order[:TRIED])
        begun = time.perf_counter()
        matrix.add_product(fit.rows[k][some], np.ones(TRIED), np.zeros(matrix.n))
        each = (time.perf_counter() - begun) / (TRIED * matrix.n)
        total = max(PASSES * each * n * many, seconds[1])
    else:
        total = extrapolated(n, seconds[0], seconds[1], 2.0, 3.0)
    others = float(((sizes / n) ** 2).sum())
    return Forecast(n if sizes.size == 1 else int(matrix.n), many, others * total)


def foresee(fit: Any, matrix: Gram) -> None:
    """Warn before a fit begins that is going to take long; print the forecast for those who look on.

    Parameters
    ----------
    fit : Fit
        The problems.
    matrix : Gram
        The kernel matrix.
    """
    seen = forecast(fit, matrix)
    if seen is None:
        return
    model = fit.model
    if model.verbose:
        sys.stdout.write(f"[{type(model).__name__}] forecast: {seen}\n")
        sys.stdout.flush()
    left = fit.ask.limits.seconds_left()
    if seen.seconds <= min(LONG, left):
        return
    late = "" if left == math.inf else f", and time_limit leaves {_duration(max(left, 0.0))}"
    other = "fit a sample of the rows"
    if hasattr(model, "approximation"):
        other = (
            "approximation='nystroem' fits explicit features of the kernel in time proportional to the rows, "
            "and distance_from_exact_ measures what that costs"
        )
    warn_user(f"an exact fit is going to take {seen}{late}: {other}", LongFitWarning)


def _rounded(number: int) -> int:
    """Return a number with the two digits that a forecast knows."""
    if number < 100:
        return number
    unit: int = 10 ** (len(str(number)) - 2)
    return round(number / unit) * unit


def _duration(seconds: float) -> str:
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.2g} seconds"
