# ruff: noqa: D102  what overrides a method is documented in the base class
"""Substrings that may differ in a few places."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Index
from mercer.kernels.data import Array, Data
from mercer.kernels.prepared import Prepared, raw
from mercer.kernels.strings.counting import Counting, CountingKernel, counted_rows
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.vocabulary import ranked
from mercer.kernels.vector import check_number

MOST_BYTES = 1 << 28  # of counts that are kept; beyond, they are made anew for each tile
MOST_WORDS = 1 << 62  # that codes of 64 bits tell apart


class Mismatch(CountingKernel):
    r""":math:`k(x, z) = \sum_{u \in A^k} c_u(x) \, c_u(z)`, counting what differs from u in at most m places.

    :math:`c_u(x)` is the number of substrings of x of length k within m mismatches of the word u over the
    alphabet A.

    Parameters
    ----------
    k : int, default=5
        Length of the words.
    m : int, default=1
        Mismatches that are allowed, fewer than k.
    alphabet : "auto" or sequence of symbols, default="auto"
        The letters A; "auto" takes those of the training data. A symbol outside of A matches no letter.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble, "Mismatch string kernels for
       discriminative protein classification", Bioinformatics 20, 2004.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(2, 1, alphabet="ab")(["ab", "ba", "aa"]).tolist()
    [[3.0, 2.0, 2.0], [2.0, 3.0, 2.0], [2.0, 2.0, 3.0]]
    """

    def __init__(self, k: int = 5, m: int = 1, alphabet: Any = "auto") -> None:
        self.k = k
        self.m = m
        self.alphabet = alphabet

    @property
    def is_resolved(self) -> bool:
        return not (isinstance(self.alphabet, str) and self.alphabet == "auto")

    def validate(self) -> None:
        check_number(self, "k", least=1, integer=True)
        check_number(self, "m", least=0, integer=True)
        if self.m >= self.k:
            self._refuse(
                "m", self.m, f"less than k={self.k}: with k mismatches every word matches every other"
            )
        if self.is_resolved:
            try:
                letters = len(self.alphabet)
            except TypeError:
                self._refuse("alphabet", self.alphabet, "'auto', a str, bytes or a sequence of tokens")
            if letters == 0 or letters != len(set(self.alphabet)):
                self._refuse("alphabet", self.alphabet, "made of different letters, at least one")
            if letters ** int(self.k) > MOST_WORDS:
                self._refuse("k", self.k, f"at most {int(62 / math.log2(letters))} for {letters} letters")

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        if self.is_resolved:
            return self.replaced()
        items = raw(X)
        letters = sorted(set().union(*items), key=lambda token: (str(type(token)), token))
        if isinstance(items[0], str):
            alphabet: Any = "".join(letters)
        else:
            alphabet = bytes(letters) if isinstance(items[0], bytes) else tuple(letters)
        made = self.replaced(alphabet=alphabet if len(letters) else "-")  # only empty sequences: any letter
        made.validate()
        return made

    def _bytes(self, symbols: int) -> int:
        """Return about how many bytes the counts of sequences of so many symbols take."""
        each = sum(math.comb(int(self.k), j) * (len(self.alphabet) - 1) ** j for j in range(int(self.m) + 1))
        return int(12 * each * symbols)

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        # A word has hundreds of neighbours, so counts may be far larger than the sequences that they are of.
        if not isinstance(X, Prepared) and self._bytes(sum(map(len, X))) > MOST_BYTES:
            return X
        return super().prepare(X, like)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        if isinstance(X, Prepared) and (Z is None or isinstance(Z, Prepared)):
            return super().evaluate(X, Z)
        rows, columns = self._pieces(raw(X)), self._pieces(raw(X if Z is None else Z))
        if len(rows) == len(columns) == 1:
            return super().evaluate(X, Z)
        return np.block([[self._between(a, b) for b in columns] for a in rows])

    def evaluate_diag(self, X: Data) -> Array:
        if isinstance(X, Prepared):
            return super().evaluate_diag(X)
        return np.concatenate([self.counted(piece).squares for piece in self._pieces(X)])

    def _between(self, X: list[Any], Z: list[Any]) -> Array:
        first = self.counted(X)
        return super().evaluate(first, self.counted(Z, first.counting))

    def _pieces(self, items: list[Any]) -> list[list[Any]]:
        """Return the sequences in runs whose counts stay small."""
        pieces: list[list[Any]] = [[]]
        symbols = 0
        for item in items:
            if pieces[-1] and self._bytes(symbols + len(item)) > MOST_BYTES // 4:
                pieces.append([])
                symbols = 0
            pieces[-1].append(item)
            symbols += len(item)
        return pieces

    def _words(self, sequences: Sequences) -> tuple[Index, Index]:
        """Return the number of the word at each symbol, and the words, as numbers of letters."""
        k = int(self.k)
        found, vocabulary = ranked(sequences, [k])
        spelled = vocabulary.spelled(k, np.arange(vocabulary.size(k)))
        if sequences.table is None:
            letters = [ord(a) if isinstance(a, str) else int(a) for a in self.alphabet]
        else:
            letters = [sequences.table.get(a, -1) for a in self.alphabet]
        order = np.argsort(letters)
        codes = np.asarray(letters, dtype=np.int64)[order]
        at = np.minimum(np.searchsorted(codes, spelled), codes.size - 1)
        return found[k], np.where(codes[at] == spelled, order[at], -1)

    def count(self, sequences: Sequences, known: Counting | None) -> tuple[Any, Index | None, Counting]:
        k, m, letters = int(self.k), int(self.m), len(self.alphabet)
        ranks, words = self._words(sequences)
        own = counted_rows(sequences, ranks, words.shape[0])
        most = sum(math.comb(k, j) * letters**j for j in range(m + 1))
        places = letters ** np.arange(k - 1, -1, -1, dtype=np.int64)
        near = np.empty((words.shape[0], most), dtype=np.int64)
        counts = _jit.neighbourhoods.neighbours(words, letters, m, places, near)
        codes, columns = np.unique(near[near >= 0], return_inverse=True)
        starts = np.concatenate([[0], np.cumsum(counts)])
        spread = sp.csr_matrix((np.ones(columns.size), columns, starts), shape=(words.shape[0], codes.size))
        matrix = (own @ spread).tocsr()
        matrix.sort_indices()
        if known is None:
            return matrix, None, Counting(sequences.taken([0]), codes, codes.size)
        at = np.minimum(np.searchsorted(known.vocabulary, codes), max(0, known.width - 1))
        hit = known.vocabulary[at] == codes if known.width else np.zeros(codes.size, dtype=bool)
        return matrix, np.where(hit, at, -1), known

    def feature_names(self, counting: Counting) -> tuple[str, ...]:
        letters = len(self.alphabet)
        places = letters ** np.arange(int(self.k) - 1, -1, -1, dtype=np.int64)
        digits = counting.vocabulary[:, None] // places % letters
        between = "" if isinstance(self.alphabet, str | bytes) else " "
        shown = [chr(a) if isinstance(self.alphabet, bytes) else str(a) for a in self.alphabet]
        return tuple(between.join(shown[d] for d in row) for row in digits.tolist())
