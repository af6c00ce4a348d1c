"""Numbering the substrings of fixed lengths: exactly, for any alphabet, by ranking pairs of ranks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Index
from mercer.kernels.strings.sequences import Sequences


@dataclass(frozen=True)
class Level:
    """Substrings of one length, numbered by their value.

    Attributes
    ----------
    length : int
        Of the substrings.
    halves : tuple of int
        Lengths of the two substrings that make one up; (0, 0) for single symbols.
    table : int64 array
        Sorted codes of the substrings: of symbols, or first * (number of seconds) + second.
    """

    length: int
    halves: tuple[int, int]
    table: Index

    def find(self, codes: Index) -> Index:
        """Return the numbers of codes, -1 for those that are not in the table."""
        if not self.table.size:
            return np.full(codes.shape, -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.table, codes), self.table.size - 1)
        return np.where(self.table[at] == codes, at, -1)


@dataclass(frozen=True)
class Vocabulary:
    """The substrings of some lengths that occur in a data set, each with a number.

    Attributes
    ----------
    levels : dict
        By length: the wanted lengths and those on the way to them.
    """

    levels: dict[int, Level] = field(default_factory=dict)

    def size(self, length: int) -> int:
        """Return how many substrings of a length there are."""
        return int(self.levels[length].table.size)

    def spelled(self, length: int, numbers: Index) -> Index:
        """Return the codes of the symbols of substrings, a row for each."""
        level = self.levels[length]
        codes = level.table[numbers]
        if length == 1:
            return codes[:, None]
        first, second = level.halves
        rest = self.size(second)
        return np.hstack([self.spelled(first, codes // rest), self.spelled(second, codes % rest)])


def ranked(
    sequences: Sequences, lengths: list[int], known: Vocabulary | None = None
) -> tuple[dict[int, Index], Vocabulary]:
    """Return, for each length, the number of the substring that begins at each symbol, and what numbers mean.

    A substring that would run over the end of its sequence, or that a given vocabulary does not have, has the
    number -1.

    Parameters
    ----------
    sequences : Sequences
        The data.
    lengths : list of int
        Wanted lengths, at least 1.
    known : Vocabulary, optional
        Numbers to use; if not given, substrings are numbered in the order of their codes.
    """
    codes = sequences.codes
    room = np.repeat(sequences.starts[1:], sequences.lengths) - np.arange(codes.size)
    found: dict[int, Index] = {}
    levels: dict[int, Level] = {}

    def number(length: int, halves: tuple[int, int], values: Index, valid: Index) -> None:
        ranks = np.full(codes.size, -1, dtype=np.int64)
        if known is not None:
            level = known.levels[length]
            ranks[valid] = level.find(values[valid])
        else:
            table, ranks[valid] = _numbered(values[valid])
            level = Level(length, halves, table)
        found[length], levels[length] = ranks, level

    number(1, (0, 0), codes, np.arange(codes.size))
    for length in _plan(lengths) if known is None else sorted(known.levels)[1:]:
        first, second = _halves(length, found) if known is None else known.levels[length].halves
        fits = np.flatnonzero(room >= length)
        one, two = found[first][fits], found[second][fits + first]
        both = (one >= 0) & (two >= 0)
        values = np.zeros(codes.size, dtype=np.int64)
        fits = fits[both]
        values[fits] = one[both] * levels[second].table.size + two[both]
        number(length, (first, second), values, fits)
    return found, Vocabulary(levels) if known is None else known


def _numbered(values: Index) -> tuple[Index, Index]:
    """Return the different values, sorted, and the place of each value among them."""
    if not values.size or values.max() > 4 * values.size or values.min() < 0:
        table, places = np.unique(values, return_inverse=True)
        return table, places
    there = np.zeros(int(values.max()) + 1, dtype=bool)  # counting beats sorting
    there[values] = True
    place = np.cumsum(there) - 1
    return np.flatnonzero(there), place[values]


def _plan(lengths: list[int]) -> list[int]:
    """Return the lengths to number, shortest first, so that each is the sum of two that come before it."""
    wanted: set[int] = set()
    open_ = {length for length in lengths if length > 1}
    while open_:
        length = open_.pop()
        if length in wanted or length == 1:
            continue
        wanted.add(length)
        if length - 1 not in wanted and length - 1 not in lengths:
            half = length // 2
            open_ |= {half, length - half} - {1}
    return sorted(wanted)


def _halves(length: int, known: dict[int, Index]) -> tuple[int, int]:
    """Return two known lengths that make up another one."""
    if length - 1 in known:
        return length - 1, 1
    half = length // 2
    return half, length - half
