"""What a solver tells while it works, and to whom."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mercer.arrays import Float64
from mercer.problems import InfeasibleError, Problem

if TYPE_CHECKING:
    from mercer.solvers.base import Limits


@dataclass(frozen=True)
class Progress:
    """One line of a trace; ``b`` and ``f`` are the solver's own arrays, to be looked at only."""

    n_iter: int
    seconds: float
    violation: float
    primal: float
    dual: float
    gap: float
    margin: float
    n_support: int
    evaluations: int
    b: Float64 = field(repr=False, compare=False)
    f: Float64 = field(repr=False, compare=False)
    target: float = math.nan  # the violation at which the solver stops, where it knows

    def row(self) -> dict[str, float]:
        """Return the line under the names of ``history_``."""
        return {
            "n_iter": self.n_iter,
            "seconds": self.seconds,
            "dual": self.dual,
            "primal": self.primal,
            "gap": self.gap,
            "kkt_violation": self.violation,
            "margin": self.margin,
            "n_support": self.n_support,
            "kernel_evaluations": self.evaluations,
        }


Listener = Callable[[Progress], None]


class Onlooker:
    """A listener that is content with a look now and then, so that no solve becomes slower for its sake.

    Parameters
    ----------
    listen : callable
        The listener.
    pause : float
        Seconds between two looks.
    """

    def __init__(self, listen: Listener, pause: float) -> None:
        self.listen, self.pause = listen, pause
        self.last = -math.inf

    @property
    def due(self) -> bool:
        """Whether it is time for a look."""
        return time.perf_counter() - self.last >= self.pause

    def __call__(self, p: Progress) -> None:
        """Look."""
        self.last = time.perf_counter()
        self.listen(p)


def wants_to_know(listener: Listener | None) -> bool:
    """Return whether a listener is there and wants to be told now."""
    return listener is not None and (not isinstance(listener, Onlooker) or listener.due)


def wants_every_line(listener: Listener | None) -> bool:
    """Return whether a listener is there that records: its lines must not depend on the clock."""
    return listener is not None and not isinstance(listener, Onlooker)


def progress(
    problem: Problem,
    b: Float64,
    f: Float64,
    n_iter: int,
    limits: Limits,
    evaluations: int,
    target: float = math.nan,
) -> Progress:
    """Return where a solve stands; the margin is nan where there is none (yet)."""
    values = problem.evaluate(b, f)
    margin = math.nan
    if problem.has_margin:
        try:
            margin = problem.machine(b, f).margin
        except InfeasibleError:  # a hard margin that does not exist: the solver is about to say so
            margin = 0.0
    return Progress(
        n_iter,
        time.perf_counter() - limits.started,
        values.violation,
        values.primal,
        values.dual,
        values.gap,
        margin,
        int(np.count_nonzero(problem.beta(b).reshape(problem.n, -1).any(axis=1))),
        evaluations,
        b,
        f,
        target,
    )
