"""Names and numbers in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any


def counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names in quotes, separated by commas, cut short."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return a question such as ``Did you mean 'price'?`` with a space before it; "" if nothing is near.

    Parameters
    ----------
    name : Any
        What was written.
    known : iterable
        The names that exist.
    """
    plain = {str(one).casefold(): one for one in known}
    near = get_close_matches(str(name).casefold(), plain, n=1)
    return f" Did you mean {plain[near[0]]!r}?" if near else ""
