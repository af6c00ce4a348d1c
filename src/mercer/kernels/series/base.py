# ruff: noqa: D102  what overrides a method is documented in the base class
"""What kernels between time series share: their data, and loops over pairs of series."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, size
from mercer.kernels.prepared import raw
from mercer.kernels.series.flat import FlatSeries
from mercer.kernels.series.reading import check_series

CELLS_AT_ONCE = 1 << 25  # pairs of points between two looks at Ctrl-C: a tenth of a second


def check_channels(X: int, Z: int) -> None:
    """Raise if series of two data sets have different numbers of channels."""
    if X != Z:
        raise ValueError(f"the series of X have {X} channel(s), those of Z {Z}; they must have as many.")


class SeriesKernel(Kernel):
    """Base of kernels between time series."""

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        return check_series(X, estimator=estimator, name=input_name)

    def check_pair(self, X: Data, Z: Data) -> None:
        check_channels(raw(X)[0].shape[-1], raw(Z)[0].shape[-1])


class PairedSeriesKernel(SeriesKernel):
    """Base of kernels whose values come from a compiled loop over pairs of series."""

    @property
    def by_pairs(self) -> bool:
        return True

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        return X if isinstance(X, FlatSeries) else FlatSeries.of(check_series(raw(X)))

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        X = self.prepare(X)
        if Z is not None:
            Z = self.prepare(Z)
            check_channels(X.channels, Z.channels)
            n, m = size(X), size(Z)
            first, second = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
            return self.of_pairs(X, Z, first, second).reshape(n, m)
        first, second = np.triu_indices(size(X))
        out = np.empty((size(X), size(X)))
        out[first, second] = out[second, first] = self.of_pairs(X, X, first, second)
        return out

    def evaluate_diag(self, X: Data) -> Array:
        X = self.prepare(X)
        every = np.arange(size(X))
        return self.of_pairs(X, X, every, every)

    @abstractmethod
    def of_pairs(self, X: FlatSeries, Z: FlatSeries, first: Index, second: Index) -> Float64:
        """Return the values of pairs of series, by their numbers in X and Z."""


def in_slices(X: FlatSeries, Z: FlatSeries, first: Index, second: Index, fill: Any, cost: int = 1) -> Float64:
    """Return a number for each pair, computed for some pairs at a time.

    Pairs of like lengths come together: they share a recursion, which goes on to the end of the longest.

    Parameters
    ----------
    X, Z : FlatSeries
        The series.
    first, second : int64 arrays
        The pairs.
    fill : callable
        ``fill(first, second, out)`` writes to ``out``, an array with an entry for each pair.
    cost : int
        How long a pair of points takes, in units of an alignment's.
    """
    rows, columns = X.lengths[first], Z.lengths[second]
    order = None
    if first.size and (np.ptp(rows) or np.ptp(columns)):
        order = np.lexsort((columns, rows))
        first, second = first[order], second[order]
    cells = cost * max(1.0, float(np.mean(rows * columns.astype(np.float64)))) if first.size else 1.0
    step = max(8, int(CELLS_AT_ONCE / cells) // 8 * 8)
    out = np.empty(first.size)
    for start in range(0, first.size, step):
        part = slice(start, start + step)
        fill(np.ascontiguousarray(first[part]), np.ascontiguousarray(second[part]), out[part])
    if order is None:
        return out
    back = np.empty_like(out)
    back[order] = out
    return back
