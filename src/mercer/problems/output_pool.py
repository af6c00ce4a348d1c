"""Outputs that were met on the way to a structured machine: the variables that may be positive."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.arrays import Float64, Index, Ints
from mercer.structured import Examples

TRUE = -1  # the number of an output that is the true one: it has no variable


class OutputPool:
    """Wrong outputs of rows, with their differences of features in sparse rows, and their losses.

    Parameters
    ----------
    examples : Examples
        Inputs with their true outputs.

    Attributes
    ----------
    owners : (m,) int64
        The row of each output.
    losses : (m,) float64
        Its loss.
    squares : (m,) float64
        The squared length of its difference of features.
    outputs : list
        The outputs.
    """

    def __init__(self, examples: Examples) -> None:
        self.examples = examples
        self.outputs: list[Any] = []
        self.size = 0
        self._numbers: list[dict[Hashable, int]] = [{} for _ in range(examples.n)]
        self._owners = np.zeros(16, dtype=np.int64)
        self._losses = np.zeros(16)
        self._squares = np.zeros(16)
        self._indptr = np.zeros(17, dtype=np.int64)
        self._indices = np.zeros(256, dtype=np.int32)
        self._data = np.zeros(256)

    @property
    def owners(self) -> Ints:
        """The row of each output."""
        return self._owners[: self.size]

    @property
    def losses(self) -> Float64:
        """The loss of each output."""
        return self._losses[: self.size]

    @property
    def squares(self) -> Float64:
        """The squared length of each difference of features."""
        return self._squares[: self.size]

    @property
    def arrays(self) -> tuple[Ints, NDArray[np.int32], Float64]:
        """The sparse rows: where each begins, places, values."""
        end = int(self._indptr[self.size])
        return self._indptr[: self.size + 1], self._indices[:end], self._data[:end]

    @property
    def table(self) -> sp.csr_array:
        """The differences of features."""
        indptr, indices, data = self.arrays
        return sp.csr_array((data, indices, indptr), shape=(self.size, self.examples.width))

    def add(self, rows: Index, outputs: Sequence[Any]) -> Ints:
        """Return the number of each output, taking in new ones; ``TRUE`` for those that are true."""
        numbers = np.full(rows.size, TRUE, dtype=np.int64)
        fresh: list[int] = []
        size = self.size
        for k, key in enumerate(self.examples.keys(rows, outputs)):
            if key is None:
                continue
            known = self._numbers[rows[k]]
            number = known.get(key)
            if number is None:
                number = known[key] = size + len(fresh)
                fresh.append(k)
            numbers[k] = number
        if fresh:
            whole = len(fresh) == rows.size
            chosen = [outputs[k] for k in fresh]
            self._append(rows if whole else rows[fresh], outputs if whole else chosen)
            self.outputs.extend(np.array(y) if isinstance(y, np.ndarray) else y for y in chosen)
        return numbers

    def _append(self, rows: Index, outputs: Sequence[Any]) -> None:
        table, losses = self.examples.differences(rows, outputs)
        size, end = self.size + rows.size, int(self._indptr[self.size])
        self._owners = _grown(self._owners, size)
        self._losses, self._squares = _grown(self._losses, size), _grown(self._squares, size)
        self._indptr = _grown(self._indptr, size + 1)
        self._indices, self._data = (
            _grown(self._indices, end + table.nnz),
            _grown(self._data, end + table.nnz),
        )
        here = slice(self.size, size)
        self._owners[here], self._losses[here] = rows, losses
        self._squares[here] = np.asarray(table.multiply(table).sum(axis=1)).ravel()
        self._indptr[self.size + 1 : size + 1] = end + table.indptr[1:]
        self._indices[end : end + table.nnz], self._data[end : end + table.nnz] = table.indices, table.data
        self.size = size

    def keep(self, kept: NDArray[np.bool_]) -> Ints:
        """Forget the other outputs; return the new number of each, ``TRUE`` for those forgotten."""
        numbers = np.where(kept, np.cumsum(kept) - 1, TRUE).astype(np.int64)
        table = self.table[np.flatnonzero(kept)]
        self._owners, self._losses = self.owners[kept], self.losses[kept]
        self._squares = self.squares[kept]
        self._indptr = table.indptr.astype(np.int64)
        self._indices, self._data = table.indices.astype(np.int32), table.data
        self.outputs = [y for y, stays in zip(self.outputs, kept, strict=True) if stays]
        self.size = len(self.outputs)
        self._numbers = [
            {key: int(numbers[k]) for key, k in known.items() if kept[k]} for known in self._numbers
        ]
        return numbers

    def scores(self, w: Float64) -> Float64:
        """Return s of all outputs: loss less the margin of the true output."""
        return np.asarray(self.losses - self.table @ w)

    def weights(self, alpha: Float64) -> Float64:
        """Return the weights that multipliers stand for."""
        return np.asarray(self.table.T @ alpha)

    def totals(self, values: Float64) -> Float64:
        """Return the sum of values over the outputs of each row."""
        return summed(self.owners, values, self.examples.n)


def summed(numbers: Ints, values: Float64, size: int) -> Float64:
    """Return the sums of the values that have the same number, for all numbers below ``size``."""
    return np.asarray(np.bincount(numbers, weights=values, minlength=size), dtype=np.float64)


def _grown(array: Any, size: int) -> Any:
    """Return an array of at least some length that begins with another."""
    if array.size >= size:
        return array
    out = np.zeros(max(size, 2 * array.size), dtype=array.dtype)
    out[: array.size] = array
    return out
