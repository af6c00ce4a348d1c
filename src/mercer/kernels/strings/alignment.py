# ruff: noqa: D102  what overrides a method is documented in the base class
"""Local alignments of sequences, all of them at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.data import Data
from mercer.kernels.prepared import raw
from mercer.kernels.strings.pairs import SequenceKernel
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.substitutions import LETTERS, TABLES, table
from mercer.kernels.vector import check_number


class ScoredSequences(Sequences):
    """Sequences whose codes are the places of their symbols in a table of scores.

    Attributes
    ----------
    factors : (s, s) array
        exp(beta score) of all pairs of symbols.
    """

    def __init__(self, items: list[Any], codes: Index, starts: Index, factors: Float64) -> None:
        super().__init__(items, codes, starts)
        self.factors = factors

    def _like(self, items: list[Any], codes: Index, starts: Index) -> ScoredSequences:
        return ScoredSequences(items, codes, starts, self.factors)


class LocalAlignment(SequenceKernel):
    r""":math:`k(x, z) = 1 + \sum_{\pi} e^{\beta \, s(\pi)}`, over all local alignments of two sequences.

    An alignment :math:`\pi` pairs some symbols of x with as many of z, in order. Its score is the sum of the
    substitution scores of the pairs, minus ``gap_open + gap_extend (l - 1)`` for each gap of l symbols
    between two of them. The best alignment alone would not give a kernel; the sum does.

    The kernel is positive semi-definite if the matrix :math:`e^{\beta S}` of all substitutions is. That of
    BLOSUM62 is for :math:`\beta \ge 0.2`, that of PAM250 for :math:`\beta = 1`, but not for 0.5. Values grow
    exponentially with the length of what is similar: use it normalised.

    Parameters
    ----------
    substitution : {"BLOSUM62", "PAM250"} or mapping, default="BLOSUM62"
        Scores of pairs of symbols: a table by name, for proteins in capital letters, or a dictionary with
        pairs of symbols as keys. One order of each pair is enough; a pair without a score is refused.
    gap_open : float, default=11.0
        Cost of a gap's first symbol.
    gap_extend : float, default=1.0
        Cost of each further one.
    beta : float, default=0.5
        :math:`\beta > 0`; the larger, the more the best alignments count.

    References
    ----------
    .. [1] H. Saigo, J.-P. Vert, N. Ueda and T. Akutsu, "Protein homology detection using string alignment
       kernels", Bioinformatics 20, 2004.

    Examples
    --------
    >>> from mercer.kernels import LocalAlignment
    >>> LocalAlignment().normalized()(["HEAGAWGHEE", "PAWHEAE"]).round(4).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        substitution: str | Mapping[Any, float] = "BLOSUM62",
        gap_open: float = 11.0,
        gap_extend: float = 1.0,
        beta: float = 0.5,
    ) -> None:
        self.substitution = substitution
        self.gap_open = gap_open
        self.gap_extend = gap_extend
        self.beta = beta

    def validate(self) -> None:
        allowed = f"one of {', '.join(map(repr, TABLES))}, or a dictionary with pairs of symbols as keys"
        if isinstance(self.substitution, str):
            if self.substitution not in TABLES:
                self._refuse("substitution", self.substitution, allowed)
        elif not isinstance(self.substitution, Mapping) or not self.substitution:
            self._refuse("substitution", self.substitution, allowed)
        check_number(self, "gap_open", least=0)
        check_number(self, "gap_extend", least=0)
        check_number(self, "beta", above=0)
        self._scores()

    @property
    def is_psd(self) -> bool | None:
        scores = self._scores()[1]
        values = np.linalg.eigvalsh(np.exp(float(self.beta) * scores))
        return True if values[0] >= -8 * scores.shape[0] * np.finfo(float).eps * values[-1] else None

    def _scores(self) -> tuple[list[Hashable], Float64]:
        """Return the symbols and the scores of all their pairs."""
        if isinstance(self.substitution, str):
            return list(LETTERS), table(self.substitution)
        symbols = list(dict.fromkeys(symbol for pair in self.substitution for symbol in pair))
        number = {symbol: i for i, symbol in enumerate(symbols)}
        scores = np.full((len(symbols), len(symbols)), np.nan)
        for (a, b), score in self.substitution.items():
            i, j = number[a], number[b]
            if not np.isnan(scores[i, j]) and scores[i, j] != score:
                self._refuse("substitution", self.substitution, f"symmetric: ({a!r}, {b!r}) has two scores")
            scores[i, j] = scores[j, i] = score
        if np.isnan(scores).any():
            i, j = (int(k) for k in np.argwhere(np.isnan(scores))[0])
            self._refuse(
                "substitution", self.substitution, f"complete: ({symbols[i]!r}, {symbols[j]!r}) is missing"
            )
        return symbols, scores

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        items = super().check(X, estimator=estimator, input_name=input_name)
        self.validate()
        known = set(self._scores()[0])
        for i, item in enumerate(items):
            symbols = [bytes([c]).decode("latin-1") for c in item] if isinstance(item, bytes) else item
            for symbol in symbols:
                if symbol not in known:
                    raise ValueError(
                        f"{input_name}[{i}] holds {symbol!r}, for which "
                        f"substitution={self.substitution!r} has no score."
                    )
        return items

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        if isinstance(X, ScoredSequences):
            return X
        symbols, scores = self._scores()
        place = {symbol: i for i, symbol in enumerate(symbols)}
        plain = X if isinstance(X, Sequences) else Sequences.of(raw(X))
        if plain.table is not None:
            codes = np.array([place[symbol] for symbol in plain.table], dtype=np.int64)[plain.codes]
        else:
            letters = np.array([ord(str(symbol)) for symbol in symbols], dtype=np.int64)
            order = np.argsort(letters)
            codes = order[np.searchsorted(letters[order], plain.codes)]
        return ScoredSequences(plain.items, codes, plain.starts, np.exp(float(self.beta) * scores))

    def fill(self, X: Sequences, Z: Sequences, symmetric: bool, out: Float64) -> None:
        assert isinstance(Z, ScoredSequences), "prepare comes first"
        opening, extending = (np.exp(-float(self.beta) * float(g)) for g in (self.gap_open, self.gap_extend))
        _jit.sequence_pairs.local_alignments(
            X.codes, X.starts, Z.codes, Z.starts, Z.factors, opening, extending, symmetric, out
        )
        if not np.isfinite(out).all():
            i, j = (int(k) for k in np.argwhere(~np.isfinite(out))[0])
            raise ValueError(
                f"LocalAlignment: the sum over alignments of two sequences of {X.lengths[i]} and "
                f"{Z.lengths[j]} symbols exceeds {np.finfo(float).max:.0e}; lower beta={self.beta!r}."
            )
