# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that count substrings and their like."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Index
from mercer.kernels.counted import CountedKernel
from mercer.kernels.data import size
from mercer.kernels.strings.base import KernelOfSequences
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Counting:
    """What numbers the features of one kernel on one data set.

    Attributes
    ----------
    sequences : Sequences
        A few of the training sequences: tokens have their numbers there.
    vocabulary : Any
        As the kernel likes it.
    width : int
        Number of features.
    """

    sequences: Sequences
    vocabulary: Any
    width: int

    def _key(self) -> Hashable:
        return self.width, content(self.vocabulary), content(self.sequences.table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counting) and (self is other or self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())


class CountingKernel(KernelOfSequences, CountedKernel):
    """Base of kernels between sequences whose features are counted one by one."""

    @abstractmethod
    def count(self, sequences: Sequences, known: Counting | None) -> tuple[Any, Index | None, Counting]:
        """Return the features of sequences.

        Parameters
        ----------
        sequences : Sequences
            The data.
        known : Counting, optional
            The columns to use; new ones if not given.

        Returns
        -------
        matrix : CSR, float64
            Complete: all features of these sequences, with square roots of weights.
        column : int64 array or None
            The column of ``known`` of each of the matrix's, -1 for features that it does not have; None
            without ``known``.
        counting : Counting
            What the columns mean (those of ``known`` if it was given).
        """

    def count_items(self, items: list[Any], known: Any) -> tuple[Any, Index | None, Any]:
        return self.count(Sequences.of(items, None if known is None else known.sequences), known)


def content(vocabulary: Any) -> Hashable:
    """Return something hashable that is equal exactly when two vocabularies number the same things."""
    if isinstance(vocabulary, np.ndarray):
        return vocabulary.shape, vocabulary.tobytes()
    if isinstance(vocabulary, Vocabulary):
        return tuple(
            (level.length, level.halves, content(level.table)) for level in vocabulary.levels.values()
        )
    if isinstance(vocabulary, list | tuple):
        return tuple(content(part) for part in vocabulary)
    return tuple(vocabulary) if isinstance(vocabulary, dict) else vocabulary


def counted_rows(sequences: Sequences, ranks: Index, width: int, weight: float = 1.0) -> Any:
    """Return how often each number stands at a sequence's symbols (-1: nothing does), times a weight."""
    valid = ranks >= 0
    totals = np.zeros(valid.size + 1, dtype=np.int64)
    np.cumsum(valid, out=totals[1:])
    columns = ranks[valid]
    counts = sp.csr_matrix(
        (np.full(columns.size, weight), columns, totals[sequences.starts]), shape=(size(sequences), width)
    )
    counts.sum_duplicates()
    return counts
