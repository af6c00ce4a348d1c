"""Sequences of unequal length in one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Index, Ints


@dataclass(frozen=True)
class Ragged:
    """Sequences of whole numbers, one after the other.

    Attributes
    ----------
    values : (total,) int64
        All entries.
    offsets : (n + 1,) int64
        Where each sequence begins; the last is the total.
    """

    values: Ints
    offsets: Ints

    @staticmethod
    def of(sequences: Sequence[Any]) -> Ragged:
        """Return sequences in one array."""
        lengths = np.array([len(s) for s in sequences], dtype=np.int64)
        parts = [np.asarray(s, dtype=np.int64) for s in sequences]
        values = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        return Ragged(values, offsets_of(lengths))

    @property
    def lengths(self) -> Ints:
        """The lengths of the sequences."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, k: int) -> Ints:
        if not -len(self) <= k < len(self):
            raise IndexError(k)
        k = k % len(self)
        return self.values[self.offsets[k] : self.offsets[k + 1]]

    def __iter__(self) -> Iterator[Ints]:
        return (self[k] for k in range(len(self)))

    def take(self, rows: Index) -> Ragged:
        """Return some of the sequences."""
        return Ragged(self.values[positions(self.offsets, rows)], offsets_of(self.lengths[rows]))


def offsets_of(lengths: Ints) -> Ints:
    """Return where sequences of given lengths begin, and the total."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def positions(offsets: Ints, rows: Index) -> Index:
    """Return the places of the entries of some sequences, one sequence after the other."""
    lengths = offsets[rows + 1] - offsets[rows]
    begins = offsets_of(lengths)
    return np.arange(int(begins[-1])) + np.repeat(offsets[rows] - begins[:-1], lengths)
