"""Ctrl-C during a fit: a request that running solves notice between slices of compiled work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from mercer.solvers import Limits


class Stop:
    """A request to stop, seen by every solve that shares the limits.

    Parameters
    ----------
    limits : Limits
        Shared by all solves of one fit. A request leaves them no more time.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.requested = False
        self.asked_by_callback = False  # then what was reached is wanted, whatever Ctrl-C would do

    def __call__(self) -> None:
        """Ask all solves to stop."""
        self.requested = True
        self.limits.time_limit = 0.0


@contextmanager
def stoppable(limits: Limits, keep: bool) -> Iterator[Stop]:
    """Turn the first Ctrl-C inside the block into a request to stop, and the second into the usual exception.

    Only when what was reached is to be kept. Otherwise, outside the main thread (where no signal arrives),
    and where the program has a handler of its own, Ctrl-C does what it always does.

    Parameters
    ----------
    limits : Limits
        Limits of the solves.
    keep : bool
        Whether an unfinished model is wanted.
    """
    stop = Stop(limits)
    ours = (
        keep
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield stop
        return

    def request(number: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop()

    signal.signal(signal.SIGINT, request)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
