"""Training rows that are kept: more are put behind them, some are taken out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Index
from mercer.kernels.data import is_sparse, size, take
from mercer.kernels.mixed_columns import MixedColumns


def joined(first: Any, second: Any) -> Any:
    """Return the rows of one data set and behind them those of another of the same kind.

    Parameters
    ----------
    first, second : array, CSR, MixedColumns or sequence
        Canonical data.
    """
    if isinstance(first, MixedColumns):
        columns = tuple(
            None if a is None else joined(a, b) for a, b in zip(first.columns, second.columns, strict=True)
        )
        return MixedColumns(first.rows + second.rows, first.names, columns)
    if is_sparse(first) or is_sparse(second):
        kind = sp.csr_array if isinstance(first, sp.sparray) else sp.csr_matrix
        return kind(sp.vstack([first, second], format="csr"))
    if isinstance(first, np.ndarray):
        if isinstance(second, np.ndarray):
            return np.concatenate([first, second])
        more = np.empty(len(second), dtype=object)
        more[:] = list(second)
        return np.concatenate([first, more])
    return [*first, *second]


class Rows:
    """All that is known of the training rows, in order of arrival.

    Parameters
    ----------
    X : array, CSR or sequence
        Canonical data.
    y : array or None
        Targets, as they were given.
    weight : (n,) float64
        Sample weights.
    """

    def __init__(self, X: Any, y: Any, weight: Float64) -> None:
        self.X, self.y, self.weight = X, y, weight

    @property
    def n(self) -> int:
        """How many there are."""
        return size(self.X)

    def with_more(self, other: Rows) -> Rows:
        """Return these rows and others behind them."""
        y = None if self.y is None else np.concatenate([self.y, other.y])
        return Rows(joined(self.X, other.X), y, np.concatenate([self.weight, other.weight]))

    def only(self, kept: Index) -> Rows:
        """Return some of the rows, as copies."""
        return Rows(take(self.X, kept), None if self.y is None else self.y[kept], self.weight[kept])
