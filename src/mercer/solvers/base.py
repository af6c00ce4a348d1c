"""What every solver takes and returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mercer.problems import Certificate, Values, relative

Float64 = NDArray[np.float64]
Status = Literal["optimal", "stationary", "iteration_limit", "time_limit", "interrupted"]
Criterion = Literal["kkt", "gap"]


@dataclass
class Limits:
    """When to give up: steps (-1: never) and seconds (None: never), counted from its creation."""

    max_iter: int = -1
    time_limit: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def steps_left(self, done: int) -> int:
        """Return how many more steps are allowed."""
        return 1 << 62 if self.max_iter < 0 else max(0, self.max_iter - done)

    def out_of_time(self) -> bool:
        """Return whether the seconds are used up."""
        return self.time_limit is not None and time.perf_counter() - self.started >= self.time_limit


@dataclass(frozen=True)
class Progress:
    """One line of a trace."""

    n_iter: int
    seconds: float
    violation: float
    dual: float
    gap: float
    n_support: int
    evaluations: int


Listener = Callable[[Progress], None]


@dataclass(frozen=True)
class Solution:
    """The point a solver stopped at, with its proof.

    Attributes
    ----------
    b : (copies n,) float64
        The dual variables.
    f : (n,) float64
        K beta, recomputed in float64 at the end.
    values : Values
        Primal, dual, gap, violation, multipliers there.
    n_iter : int
        Steps.
    status : str
        Why it stopped.
    """

    b: Float64
    f: Float64
    values: Values
    n_iter: int
    status: Status

    def certificate(self, criterion: str, psd: bool) -> Certificate:
        """Return the certificate; without a positive semi-definite kernel there is no gap."""
        v = self.values
        if not psd:
            status = "stationary" if self.status == "optimal" else self.status
            nan = float("nan")
            return Certificate(v.primal, v.dual, nan, nan, v.violation, self.n_iter, status, criterion)
        return Certificate(
            v.primal,
            v.dual,
            v.gap,
            relative(v.gap, v.primal, v.dual),
            v.violation,
            self.n_iter,
            self.status,
            criterion,
        )
