"""Time series as one array of points, as the compiled loops take them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.kernels.prepared import Prepared


class FlatSeries(Prepared):
    """Series one after the other.

    Attributes
    ----------
    items : list of (times, channels) arrays
        The series.
    points : (all times, channels) array
        Of all series that were prepared together; parts share it.
    begins, ends : int64 arrays of shape (n,)
        Where each series begins and ends in ``points``.
    own : tuple or None
        What a kernel knows of each item: by what it is, and an array of shape (n,).
    """

    def __init__(
        self, items: list[Float64], points: Float64, begins: Index, ends: Index,
        own: tuple[Hashable, Float64] | None = None,
    ) -> None:  # fmt: skip
        self.items, self.points, self.begins, self.ends, self.own = items, points, begins, ends, own

    @classmethod
    def of(cls, items: list[Float64]) -> FlatSeries:
        """Return canonical series, one after the other."""
        ends = np.cumsum([len(item) for item in items], dtype=np.int64)
        lengths = np.array([len(item) for item in items], dtype=np.int64)
        return cls(items, np.concatenate(items), ends - lengths, ends)

    @property
    def lengths(self) -> Index:
        """Numbers of times."""
        return self.ends - self.begins

    @property
    def channels(self) -> int:
        """Numbers at each time."""
        return int(self.points.shape[1])

    @property
    def arrays(self) -> tuple[Float64, Index, Index]:
        """What compiled loops take."""
        return self.points, self.begins, self.ends

    def taken(self, idx: Any) -> FlatSeries:
        """Return some of the series; the points are shared."""
        idx = np.asarray(idx)
        own = None if self.own is None else (self.own[0], self.own[1][idx])
        items = [self.items[i] for i in idx.tolist()]
        return FlatSeries(items, self.points, self.begins[idx], self.ends[idx], own)
