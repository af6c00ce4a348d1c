# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that count substrings: of one length, of all up to one, in pairs with a gap between."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Index
from mercer.kernels.strings.counting import Counting, CountingKernel, counted_rows
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.vocabulary import Vocabulary, ranked
from mercer.kernels.vector import check_number


class BlendedSpectrum(CountingKernel):
    r""":math:`k(x, z) = \sum_{j=1}^{k} \lambda^{2j} \sum_{|u| = j} c_u(x) \, c_u(z)`.

    :math:`c_u(x)` is how often the substring u occurs in x. Each feature weighs :math:`\lambda^{|u|}`,
    so that a decay below 1 favours short substrings.

    Parameters
    ----------
    k : int, default=3
        The longest substrings.
    decay : float, default=1.0
        :math:`\lambda > 0`.

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel Methods for Pattern Analysis", Cambridge University
       Press, 2004, chapter 11.

    Examples
    --------
    >>> from mercer.kernels import BlendedSpectrum
    >>> BlendedSpectrum(2)(["statistics", "computation"]).tolist()
    [[37.0, 14.0], [14.0, 25.0]]
    """

    def __init__(self, k: int = 3, decay: float = 1.0) -> None:
        self.k = k
        self.decay = decay

    def validate(self) -> None:
        check_number(self, "k", least=1, integer=True)
        check_number(self, "decay", above=0)

    def _lengths(self) -> list[int]:
        return list(range(1, int(self.k) + 1))

    def _weight(self, length: int) -> float:
        return float(self.decay) ** length

    def count(self, sequences: Sequences, known: Counting | None) -> tuple[Any, Index | None, Counting]:
        lengths = self._lengths()
        found, vocabulary = ranked(sequences, lengths)
        widths = [vocabulary.size(length) for length in lengths]
        parts = [
            counted_rows(sequences, found[length], width, self._weight(length))
            for length, width in zip(lengths, widths, strict=True)
        ]
        matrix = parts[0] if len(parts) == 1 else sp.hstack(parts, format="csr")
        if known is None:
            return matrix, None, Counting(sequences.taken([0]), vocabulary, sum(widths))
        column, before = [], 0
        for length, width in zip(lengths, widths, strict=True):
            numbers = looked_up(vocabulary, known.vocabulary, length, width)
            column.append(np.where(numbers >= 0, numbers + before, -1))
            before += known.vocabulary.size(length)
        return matrix, np.concatenate(column), known

    def feature_names(self, counting: Counting) -> tuple[str, ...]:
        names: list[str] = []
        for length in self._lengths():
            names += spelled(counting.vocabulary, length, counting.sequences)
        return tuple(names)


class Spectrum(BlendedSpectrum):
    r""":math:`k(x, z) = \sum_{|u| = k} c_u(x) \, c_u(z)`, with :math:`c_u(x)` how often u occurs in x.

    The cost is linear in the lengths of the sequences. A sequence shorter than k has no features.

    Parameters
    ----------
    k : int, default=3
        Length of the substrings.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM protein
       classification", Pacific Symposium on Biocomputing, 2002.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2)(["statistics", "computation"]).tolist()
    [[13.0, 4.0], [4.0, 10.0]]
    """

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def validate(self) -> None:
        check_number(self, "k", least=1, integer=True)

    def _lengths(self) -> list[int]:
        return [int(self.k)]

    def _weight(self, length: int) -> float:
        return 1.0


class GappyPairs(CountingKernel):
    r""":math:`k(x, z) = \sum_{d=0}^{g} \sum_{u, v} c_{u, d, v}(x) \, c_{u, d, v}(z)`.

    :math:`c_{u, d, v}(x)` is how often the substring u of length k is followed, after any d symbols, by the
    substring v of length k.

    Parameters
    ----------
    k : int, default=1
        Length of each of the two substrings.
    g : int, default=2
        The longest gap between them.

    References
    ----------
    .. [1] P. Kuksa, P.-H. Huang and V. Pavlovic, "Fast protein homology and fold detection with sparse
       spatial sample kernels", International Conference on Pattern Recognition, 2008.
    """

    def __init__(self, k: int = 1, g: int = 2) -> None:
        self.k = k
        self.g = g

    def validate(self) -> None:
        check_number(self, "k", least=1, integer=True)
        check_number(self, "g", least=0, integer=True)

    def count(self, sequences: Sequences, known: Counting | None) -> tuple[Any, Index | None, Counting]:
        k = int(self.k)
        found, vocabulary = ranked(sequences, [k])
        width = vocabulary.size(k)
        room = np.repeat(sequences.starts[1:], sequences.lengths) - np.arange(sequences.codes.size)
        tables, parts = [], []
        for gap in range(int(self.g) + 1):
            ranks = np.full(room.size, -1, dtype=np.int64)
            fits = np.flatnonzero(room >= 2 * k + gap)
            pairs = found[k][fits] * width + found[k][fits + k + gap]
            table, ranks[fits] = np.unique(pairs, return_inverse=True)
            tables.append(table)
            parts.append(counted_rows(sequences, ranks, table.size))
        matrix = sp.hstack(parts, format="csr")
        if known is None:
            return matrix, None, Counting(sequences.taken([0]), (vocabulary, tables), matrix.shape[1])
        theirs, their_tables = known.vocabulary
        number, their_width = looked_up(vocabulary, theirs, k, width), theirs.size(k)
        column, before = [], 0
        for table, their_table in zip(tables, their_tables, strict=True):
            first, second = number[table // max(1, width)], number[table % max(1, width)]
            pairs = np.where((first >= 0) & (second >= 0), first * their_width + second, -1)
            at = np.searchsorted(their_table, pairs)
            hit = at < their_table.size
            hit[hit] = their_table[at[hit]] == pairs[hit]
            column.append(np.where(hit & (pairs >= 0), at + before, -1))
            before += their_table.size
        return matrix, np.concatenate(column), known

    def feature_names(self, counting: Counting) -> tuple[str, ...]:
        vocabulary, tables = counting.vocabulary
        parts = spelled(vocabulary, int(self.k), counting.sequences)
        return tuple(
            f"{parts[pair // len(parts)]}{'.' * gap}{parts[pair % len(parts)]}"
            for gap, table in enumerate(tables)
            for pair in table.tolist()
        )


def looked_up(ours: Vocabulary, theirs: Vocabulary, length: int, width: int) -> Index:
    """Return the numbers in another vocabulary of all our substrings of a length, -1 where it has none."""
    rows = ours.spelled(length, np.arange(width))
    starts = np.arange(width + 1, dtype=np.int64) * length
    words = Sequences([], np.ascontiguousarray(rows).ravel(), starts)
    found, _ = ranked(words, [length], theirs)
    return found[length][starts[:-1]]


def spelled(vocabulary: Vocabulary, length: int, sequences: Sequences) -> list[str]:
    """Return the substrings of a length as text: strings as they are, other symbols with blanks between."""
    codes = vocabulary.spelled(length, np.arange(vocabulary.size(length)))
    if sequences.table is None:
        return [
            bytes(row.tolist()).decode("ascii", "backslashreplace")
            if isinstance(sequences.items[0], bytes)
            else "".join(map(chr, row.tolist()))
            for row in codes
        ]
    tokens = [str(token) for token in sequences.table]
    return [" ".join(tokens[code] for code in row) for row in codes.tolist()]
