"""Sequences of symbols as flat arrays of codes: equal symbols have equal codes, and nothing else is asked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from mercer.arrays import Index
from mercer.kernels.data import estimator_name
from mercer.kernels.prepared import Prepared

KINDS = "a str, bytes, or a list, tuple or 1-D array of hashable tokens"


def check_sequences(X: Any, *, estimator: Any = None, name: str = "X") -> list[Any]:
    """Return a list of sequences of one kind, or say which item is none.

    Parameters
    ----------
    X : sequence, array, series of a data frame
        The items: str, bytes, or sequences of hashable tokens. The rows of a 2-D array of integers are such.
    estimator : object or str, optional
        Whose data they are, for messages.
    name : str
        What the data are called in messages.
    """
    whom = f" by {estimator_name(estimator)}" if estimator is not None else ""
    if isinstance(X, str | bytes | Mapping | set | frozenset) or not (
        isinstance(X, Sized) or hasattr(X, "shape")
    ):
        raise TypeError(
            f"{name} must be a list or array of sequences{whom}; it is a {type(X).__name__}. Put a single "
            "sequence into a list."
        )
    if len(getattr(X, "shape", ())) == 2 and X.shape[1] == 1 and not isinstance(X, np.ndarray):
        X = np.asarray(X)[:, 0]  # a data frame of one column
    items = list(X) if not isinstance(X, np.ndarray) else _of_array(X, name)
    if not items:
        raise ValueError(f"Found array with 0 sample(s) in {name} while a minimum of 1 is required{whom}.")
    first = _kind(items[0])
    for i, item in enumerate(items):
        kind = _kind(item)
        if kind is None:
            raise TypeError(f"{name}[{i}] is {_shown(item)}; a string kernel compares sequences: {KINDS}.")
        if kind is not first:
            raise TypeError(
                f"{name}[{i}] is a {type(item).__name__}, but {name}[0] a {type(items[0]).__name__}: all "
                "items must be of one kind."
            )
    return items


def _of_array(X: np.ndarray, name: str) -> list[Any]:
    if X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUS":
        X = X[:, 0]
    if X.ndim == 2 and X.dtype.kind not in "biu":
        raise TypeError(
            f"{name} is a table of {X.dtype} with {X.shape[1]} columns; a string kernel compares sequences: "
            f"{KINDS}."
        )
    if X.ndim not in (1, 2):
        raise ValueError(f"{name} has {X.ndim} dimensions; it must be a sequence of items.")
    return X.tolist() if X.dtype.kind in "US" else list(X)


def _kind(item: Any) -> type | None:
    for kind in (str, bytes):
        if isinstance(item, kind):
            return kind
    if isinstance(item, np.ndarray):
        return list if item.ndim == 1 else None
    return list if isinstance(item, Sequence) else None


def _shown(item: Any) -> str:
    missing = item is None or (isinstance(item, float) and item != item)
    return f"missing ({item!r})" if missing else f"a {type(item).__name__}"


class Sequences(Prepared):
    """Sequences as codes of their symbols, one after the other.

    The codes of characters and bytes are their own, the same in every data set. Other tokens are numbered in
    the order in which they are met; ``like`` goes on with the numbers of another data set.

    Attributes
    ----------
    items : list
        The sequences as they came.
    codes : int64 array
        Of all symbols.
    starts : int64 array of shape (n + 1,)
        Where each sequence begins, and where the last one ends.
    table : dict or None
        Numbers of tokens; None for characters and bytes.
    """

    def __init__(
        self, items: list[Any], codes: Index, starts: Index, table: dict[Hashable, int] | None = None
    ) -> None:
        self.items, self.codes, self.starts, self.table = items, codes, starts, table

    @classmethod
    def of(cls, items: list[Any], like: Sequences | None = None) -> Sequences:
        """Return checked items as codes."""
        starts = np.zeros(len(items) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in items], out=starts[1:])
        if isinstance(items[0], str):
            text = "".join(items).encode("utf-32-le", "surrogatepass")
            return cls(items, np.frombuffer(text, dtype=np.uint32).astype(np.int64), starts)
        if isinstance(items[0], bytes):
            return cls(items, np.frombuffer(b"".join(items), dtype=np.uint8).astype(np.int64), starts)
        table = {} if like is None or like.table is None else dict(like.table)
        codes = np.empty(int(starts[-1]), dtype=np.int64)
        for i, item in enumerate(items):
            tokens = item.tolist() if isinstance(item, np.ndarray) else item
            try:
                codes[starts[i] : starts[i + 1]] = [table.setdefault(token, len(table)) for token in tokens]
            except TypeError:
                token = next(t for t in tokens if not isinstance(t, Hashable) or not _hashes(t))
                raise TypeError(
                    f"X[{i}] holds a {type(token).__name__}, which cannot be a token: it is not hashable."
                ) from None
        return cls(items, codes, starts, table)

    @property
    def lengths(self) -> Index:
        """Numbers of symbols."""
        return np.diff(self.starts)

    def taken(self, idx: Any) -> Sequences:
        """Return some of the sequences."""
        idx = np.asarray(idx)
        if idx.size == len(self) and (idx == np.arange(idx.size)).all():
            return self
        lengths = self.lengths[idx]
        starts = np.zeros(idx.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        shift = np.repeat(self.starts[idx] - starts[:-1], lengths)
        codes = self.codes[np.arange(starts[-1]) + shift]
        return self._like([self.items[i] for i in idx.tolist()], codes, starts)

    def _like(self, items: list[Any], codes: Index, starts: Index) -> Sequences:
        """Return other sequences with the same codes of symbols."""
        return Sequences(items, codes, starts, self.table)

    def symbol(self, code: int) -> Any:
        """Return the symbol behind a code."""
        if self.table is None:
            return chr(code) if isinstance(self.items[0], str) else bytes([code])
        return list(self.table)[code]


def _hashes(token: Any) -> bool:
    try:
        hash(token)
    except TypeError:
        return False
    return True
