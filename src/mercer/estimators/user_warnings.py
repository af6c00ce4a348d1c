"""Warnings that point at the user's own line, however deep they arise."""

from __future__ import annotations

import sys
import warnings


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn about the call in the user's code that led here: the first frame that is not of a library.

    Parameters
    ----------
    message : str
        What to say.
    category : type
        The warning's class.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_library(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in ("mercer", "sklearn", "joblib")
