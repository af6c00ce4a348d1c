"""A bar with the time left, for people who wait."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from mercer.solvers.completion import waiting

Told = Callable[[float, int], None]

_LISTENING: ContextVar[Told | None] = ContextVar("_LISTENING", default=None)


@contextmanager
def listening(tell: Told) -> Iterator[None]:
    """Tell how far every search inside the block has come, instead of a bar of its own.

    Parameters
    ----------
    tell : callable
        Told how many pieces are done, parts of them included, and how many there are.
    """
    token = _LISTENING.set(tell)
    try:
        yield
    finally:
        _LISTENING.reset(token)


class Progress:
    """Counts finished pieces of work, and shows them when asked to.

    With ``rich`` installed it is a bar with the time left; without it, a line about every two seconds. A
    fit that takes long moves the bar, too.

    Parameters
    ----------
    total : int
        Pieces of work.
    what : str
        What is done.
    show : bool
        Whether anybody wants to see it.
    """

    def __init__(self, total: int, what: str, show: bool) -> None:
        self.total, self.what, self.show = total, what, show
        self.done = 0
        self._lock = threading.Lock()
        self._bar: Any = None
        self._task: Any = None
        self._started = self._told = time.perf_counter()
        self._listener = _LISTENING.get()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self._listener is not None:
            self._listener(0.0, self.total)
        if self.show or self._listener is not None:
            self._stack.enter_context(waiting(self.part))
        if self.show and self._listener is None:
            try:
                rich = importlib.import_module("rich.progress")
            except ImportError:
                return self
            self._bar = rich.Progress(
                rich.TextColumn("{task.description}"),
                rich.BarColumn(),
                rich.MofNCompleteColumn(),
                rich.TimeElapsedColumn(),
                rich.TextColumn("left"),
                rich.TimeRemainingColumn(),
            )
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=self.total)
        return self

    def advance(self, pieces: int = 1) -> None:
        """Say that so many more pieces are done; any thread may."""
        with self._lock:
            self.done += pieces
            if self._listener is not None:
                self._listener(float(self.done), self.total)
            elif self._bar is not None:
                self._bar.update(self._task, completed=self.done)
            elif self.show and time.perf_counter() - self._told > 2.0:
                self._told = time.perf_counter()
                left = (self._told - self._started) * (self.total - self.done) / max(1, self.done)
                sys.stdout.write(f"{self.what}: {self.done} of {self.total}, {left:.0f} s left\n")

    def part(self, share: float) -> None:
        """Say how much of the next piece is done: 0 to 1."""
        with self._lock:
            now = min(self.done + share, float(self.total))
            if self._listener is not None:
                self._listener(now, self.total)
            elif self._bar is not None:
                self._bar.update(self._task, completed=now)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        if self._bar is not None:
            self._bar.stop()
