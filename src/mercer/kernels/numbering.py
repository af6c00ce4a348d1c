"""Numbers for labels and their like, which go on from one data set to the next."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Numbering:
    """Numbers of things in the order in which they were met, going on where another numbering ended.

    Parameters
    ----------
    before : Numbering, optional
        Complete: nothing is added to it any more.
    """

    def __init__(self, before: Numbering | None = None) -> None:
        self.before = before
        self.first = 0 if before is None else len(before)
        self.own: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return self.first + len(self.own)

    def number(self, thing: Hashable) -> int:
        """Return the number of a thing, a new one if it has none."""
        before = self.before
        while before is not None:
            found = before.own.get(thing)
            if found is not None:
                return found
            before = before.before
        return self.own.setdefault(thing, self.first + len(self.own))

    def things(self) -> list[Any]:
        """Return what has been numbered, in order."""
        chain: list[Numbering] = [self]
        while chain[-1].before is not None:
            chain.append(chain[-1].before)
        return [thing for numbering in reversed(chain) for thing in numbering.own]

    def begins(self, other: Numbering) -> bool:
        """Return whether another numbering is this one, or goes on from it."""
        later: Numbering | None = other
        while later is not None:
            if later is self:
                return True
            later = later.before
        return False
