"""A word while nothing seems to happen: the first use of a loop compiles it."""

from __future__ import annotations

import sys

WAIT = "compiling what has not been used on this computer before (up to half a minute"


def tell_of_compiling(kept: bool) -> None:
    """Say, on standard error, what the wait is for.

    Parameters
    ----------
    kept : bool
        Whether the result is kept for the next run.
    """
    if kept:
        sys.stderr.write(f"{WAIT}, once) ...\n")
    else:
        sys.stderr.write(
            f"{WAIT}, in every run: no folder is writable to keep it in; name one in NUMBA_CACHE_DIR) ...\n"
        )
    sys.stderr.flush()
