"""How far a solve has come, for those who wait: the logarithm of its violation on the way to the target."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mercer.problems import relative
from mercer.solvers.progress import Onlooker, Progress

PAUSE = 0.2  # seconds between two looks: a solve must not become slower by being looked at
Told = Callable[[float], None]

WAITING: ContextVar[Told | None] = ContextVar("WAITING", default=None)  # whom to tell, if anybody waits


@contextmanager
def waiting(tell: Told) -> Iterator[None]:
    """Tell how far every fit inside the block has come: a share from 0 to 1 that never falls within a fit.

    Parameters
    ----------
    tell : callable
        Told the share, a few times a second, by whichever thread does the work.
    """
    token = WAITING.set(tell)
    try:
        yield
    finally:
        WAITING.reset(token)


def share_of_way(first: float, now: float, target: float) -> float:
    """Return how much of the way from one size to a smaller one is done, in digits.

    Parameters
    ----------
    first, now, target : float
        Where the way began, where it is, where it ends.
    """
    if now <= target:
        return 1.0
    if not (math.isfinite(first) and first > target > 0):
        return 0.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / target)))


class Nearing:
    """How far a fit of one or several problems has come.

    Violations do not fall steadily, so what is told is the best of them so far. It says how many of the
    digits are there; the time that the others take is a guess, as it is with every bar.

    Parameters
    ----------
    tell : callable
        Told the share of the fit that is done.
    problems : int
        How many problems the fit consists of; each counts the same.
    tol : float
        The user's tolerance.
    criterion : str
        What it measures.
    """

    def __init__(self, tell: Told, problems: int, tol: float, criterion: str) -> None:
        self.tell, self.tol, self.criterion = tell, tol, criterion
        self.first = [0.0] * problems
        self.shares = [0.0] * problems
        self._lock = threading.Lock()

    def listener(self, number: int) -> Onlooker:
        """Return what a solver calls while it solves one of the problems."""
        return Onlooker(lambda p: self._hear(number, p), PAUSE)

    def _hear(self, number: int, p: Progress) -> None:
        size, target = p.violation, p.target if math.isfinite(p.target) else self.tol
        if self.criterion == "gap":
            size, target = relative(p.gap, p.primal, p.dual), self.tol
        with self._lock:
            if not math.isfinite(size):
                return
            self.first[number] = max(self.first[number], size)
            share = share_of_way(self.first[number], size, target)
            self._step(number, min(share, 0.99))  # the last digits are computed anew before it is done

    def done(self, number: int) -> None:
        """Say that one of the problems is solved."""
        with self._lock:
            self._step(number, 1.0)

    def _step(self, number: int, share: float) -> None:
        if share > self.shares[number]:
            self.shares[number] = share
            self.tell(sum(self.shares) / len(self.shares))


def paced(tell: Told) -> Told:
    """Return a teller that passes on a few shares a second, never a smaller one than before."""
    last = [-math.inf, 0.0]

    def pass_on(share: float) -> None:
        now = time.perf_counter()
        if share > last[1] and now - last[0] >= PAUSE:
            last[:] = now, share
            tell(share)

    return pass_on
