"""Ctrl-C, one rule for every command: nothing is written, or, if asked for, what was reached so far.

A Ctrl-C raises KeyboardInterrupt wherever the program is. Somebody else's code may swallow that, so it is
also noted, and looked up before anything is written. From then on it comes too late and is ignored: files
are whole, or not there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_asked = threading.Event()


def _note(number: int, frame: FrameType | None) -> None:
    _asked.set()
    raise KeyboardInterrupt


def _ours() -> bool:
    """Return whether Ctrl-C is ours to handle: in the main thread of a program without a way of its own."""
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _note)


def note_interrupts() -> None:
    """Note every Ctrl-C from here to the end of the program."""
    if _ours():
        _asked.clear()
        signal.signal(signal.SIGINT, _note)


@contextmanager
def interruptible(keep: bool = False) -> Iterator[None]:
    """Run a command in the block.

    Parameters
    ----------
    keep : bool
        Whether what is reached before a Ctrl-C is wanted. Then fits see it for themselves, as their
        ``on_interrupt="keep"`` does.
    """
    if not _ours():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if before is not _note:
        _asked.clear()
    signal.signal(signal.SIGINT, signal.default_int_handler if keep else _note)
    try:
        yield
    finally:
        # Of a program that notes them until its end, a result that is written stays out of danger.
        if before is not _note or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, before)


def ignore_interrupts() -> None:
    """Let Ctrl-C do nothing from here on."""
    if _ours():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def begin_to_write() -> None:
    """Go beyond the point of no return: an earlier Ctrl-C still counts, a later one is ignored."""
    if _asked.is_set():
        raise KeyboardInterrupt
    ignore_interrupts()


@contextmanager
def finishing_the_batch() -> Iterator[Callable[[], bool]]:
    """Give a question, whether somebody pressed Ctrl-C in the block; a second one raises as usual."""
    pressed = threading.Event()
    if not _ours():
        yield pressed.is_set
        return

    def wait(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
