"""Items in the form that a kernel computes with, made once per data set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self


class Prepared(ABC):
    """What `Kernel.prepare` makes of a data set: the items, and whatever saves looking at them again.

    It stands wherever canonical data may stand: it has a length, and `kernels.data.take` takes some of it.

    Attributes
    ----------
    items : sequence, array or data frame
        The canonical data.
    """

    items: Any

    def __len__(self) -> int:
        return int(self.items.shape[0]) if hasattr(self.items, "shape") else len(self.items)

    @abstractmethod
    def taken(self, idx: Any) -> Self:
        """Return the items with these integer indices, prepared like the whole."""


class PreparedParts(Prepared):
    """One data set, prepared for each part of a composite kernel.

    Parameters
    ----------
    items : sequence, array or data frame
        The canonical data.
    parts : tuple
        What each part's `Kernel.prepare` made of them, in the order of the parts.
    """

    def __init__(self, items: Any, parts: tuple[Any, ...]) -> None:
        self.items, self.parts = items, parts

    def taken(self, idx: Any) -> PreparedParts:
        """Return some items, prepared for each part."""
        from mercer.kernels.data import take

        return PreparedParts(take(self.items, idx), tuple(take(part, idx) for part in self.parts))


class PreparedLengths(PreparedParts):
    """One data set, prepared for a kernel that is divided by lengths.

    Parameters
    ----------
    items, parts
        As for `PreparedParts`.
    inverse : array of shape (n,)
        1 / sqrt(k(x, x)) of each item, 0 for an item without length.
    """

    def __init__(self, items: Any, parts: tuple[Any, ...], inverse: Any) -> None:
        super().__init__(items, parts)
        self.inverse = inverse

    def taken(self, idx: Any) -> PreparedLengths:
        """Return some items with their lengths."""
        part = super().taken(idx)
        return PreparedLengths(part.items, part.parts, self.inverse[idx])


def raw(X: Any) -> Any:
    """Return the canonical data behind prepared ones, and others as they are."""
    return X.items if isinstance(X, Prepared) else X
