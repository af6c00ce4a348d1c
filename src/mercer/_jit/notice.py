"""A word while nothing seems to happen: the first use of a loop compiles it."""

from __future__ import annotations

import logging
import sys

WAIT = "compiling code for its first use on this computer (up to half a minute"


def words(kept: bool) -> str:
    """Return what the wait is for.

    Parameters
    ----------
    kept : bool
        Whether the result is kept for the next run.
    """
    if kept:
        return f"{WAIT}, once) ..."
    return f"{WAIT}, in every run: no folder is writable to keep it in; name one in NUMBA_CACHE_DIR) ..."


def tell_of_compiling(kept: bool) -> None:
    """Say it on standard error."""
    sys.stderr.write(f"{words(kept)}\n")
    sys.stderr.flush()


def tell_a_programmer(kept: bool) -> None:
    """Say it in the log ``mercer``, and on standard error if somebody sits in front of it."""
    logging.getLogger("mercer").info(words(kept))
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("mercer: ")
        tell_of_compiling(kept)
