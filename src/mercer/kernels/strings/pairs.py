# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels between sequences that are computed pair by pair, by a recursion over both."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.data import Array, Data, size
from mercer.kernels.prepared import raw
from mercer.kernels.strings.base import KernelOfSequences
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.vector import check_number


class SequenceKernel(KernelOfSequences):
    """Base of kernels whose values come from a compiled loop over pairs of sequences."""

    @property
    def by_pairs(self) -> bool:
        return True

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        other = like if isinstance(like, Sequences) else None
        if isinstance(X, Sequences) and (other is None or X.table is other.table):
            return X
        return Sequences.of(raw(X), other)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        if Z is None:
            X = self.prepare(X)
            return self._filled(X, X, True)
        if isinstance(Z, Sequences):
            return self._filled(self.prepare(X, Z), Z, False)
        X = self.prepare(X)
        return self._filled(X, self.prepare(Z, X), False)

    def evaluate_diag(self, X: Data) -> Array:
        X = self.prepare(X)
        out = np.empty(size(X))
        for i in range(out.size):
            one = X.taken([i])
            out[i] = self._filled(one, one, True)[0, 0]
        return out

    def _filled(self, X: Sequences, Z: Sequences, symmetric: bool) -> Float64:
        out = np.empty((size(X), size(Z)))
        with np.errstate(over="ignore"):
            self.fill(X, Z, symmetric, out)
        return out

    @abstractmethod
    def fill(self, X: Sequences, Z: Sequences, symmetric: bool, out: Float64) -> None:
        """Write k(X, Z) into ``out``; with ``symmetric``, X is Z and half of it may be computed."""


class Subsequence(SequenceKernel):
    r""":math:`k(x, z) = \sum_{j=1}^{p} \sum_{|u| = j} \; \sum_{i: x_i = u} \; \sum_{i': z_{i'} = u} \lambda^{l(i) + l(i')}`.

    The inner sums go over all places i and i' at which u is a subsequence, with gaps, of x and z; l(i) is the
    length of the stretch from its first symbol to its last. Gaps thus cost :math:`\lambda` for each symbol.
    A pair costs :math:`p \, |x| \, |z|` operations.

    Parameters
    ----------
    length : int, default=3
        The longest subsequences, p.
    decay : float, default=0.5
        :math:`0 < \lambda \le 1`.
    exactly : bool, default=False
        Whether only subsequences of length p count.

    References
    ----------
    .. [1] H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, "Text classification using
       string kernels", Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> Subsequence(2, decay=0.5, exactly=True)(["cat", "car"]).tolist()
    [[0.140625, 0.0625], [0.0625, 0.140625]]
    """  # noqa: E501

    def __init__(self, length: int = 3, decay: float = 0.5, exactly: bool = False) -> None:
        self.length = length
        self.decay = decay
        self.exactly = exactly

    def validate(self) -> None:
        check_number(self, "length", least=1, integer=True)
        check_number(self, "decay", above=0)
        if self.decay > 1:
            self._refuse("decay", self.decay, "at most 1: longer gaps would count more")

    def fill(self, X: Sequences, Z: Sequences, symmetric: bool, out: Float64) -> None:
        order = np.argsort(Z.lengths, kind="stable")
        _jit.sequence_pairs.subsequences(
            X.codes, X.starts, Z.codes, Z.starts, order if symmetric else np.arange(size(X)), order,
            int(self.length), float(self.decay), bool(self.exactly), symmetric, out,
        )  # fmt: skip


class AllSubstrings(SequenceKernel):
    r""":math:`k(x, z) = \sum_{u} w_{|u|} \, c_u(x) \, c_u(z)`, over all substrings u that both have.

    :math:`c_u(x)` is how often u occurs in x. A suffix automaton finds all in time linear in the lengths.

    Parameters
    ----------
    weighting : {"constant", "exponential", "bounded"}, default="constant"
        :math:`w_j = 1`; :math:`w_j = \lambda^{-j}`, for ``decay`` :math:`\lambda > 1`; or :math:`w_j = 1` up
        to length ``most`` and 0 beyond.
    decay : float, default=1.1
        :math:`\lambda` of the exponential weighting.
    most : int, default=5
        Longest substrings of the bounded weighting.

    References
    ----------
    .. [1] S. V. N. Vishwanathan and A. Smola, "Fast kernels for string and tree matching", Advances in
       Neural Information Processing Systems 15, 2003.

    Examples
    --------
    >>> from mercer.kernels import AllSubstrings
    >>> AllSubstrings()(["aba", "ab"]).tolist()
    [[8.0, 4.0], [4.0, 3.0]]
    """

    def __init__(self, weighting: str = "constant", decay: float = 1.1, most: int = 5) -> None:
        self.weighting = weighting
        self.decay = decay
        self.most = most

    def validate(self) -> None:
        if self.weighting not in ("constant", "exponential", "bounded"):
            self._refuse("weighting", self.weighting, "'constant', 'exponential' or 'bounded'")
        check_number(self, "decay", above=0)
        check_number(self, "most", least=1, integer=True)

    def fill(self, X: Sequences, Z: Sequences, symmetric: bool, out: Float64) -> None:
        longest = int(max(X.lengths.max(), Z.lengths.max()))
        lengths = np.arange(1, longest + 1)
        if self.weighting == "exponential":
            weights = np.exp(-math.log(float(self.decay)) * lengths)
        else:
            weights = (lengths <= (self.most if self.weighting == "bounded" else longest)).astype(np.float64)
        cumulative = np.concatenate([[0.0], np.cumsum(weights)])
        _jit.suffix_automaton.common_substrings(
            X.codes, X.starts, Z.codes, Z.starts, cumulative, symmetric, out
        )


class WeightedDegree(SequenceKernel):
    r""":math:`k(x, z) = \sum_{d=1}^{D} \beta_d \sum_{i} [x_{i..i+d} = z_{i..i+d}]` for aligned sequences.

    :math:`\beta_d = 2 (D - d + 1) / (D (D + 1))`. With shifts, blocks may be up to S places apart; a shift by
    s, in either direction, counts :math:`1 / (2 (s + 1))`, no shift 1.

    Parameters
    ----------
    degree : int, default=5
        Longest blocks D.
    shift : int, default=0
        Largest shift S. Kernels with shifts are not known to be positive semi-definite.

    References
    ----------
    .. [1] G. Ratsch and S. Sonnenburg, "Accurate splice site detection for Caenorhabditis elegans", in Kernel
       Methods in Computational Biology, MIT Press, 2004.

    Examples
    --------
    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(2)(["aab", "abb"]).round(4).tolist()
    [[2.6667, 1.3333], [1.3333, 2.6667]]
    """

    def __init__(self, degree: int = 5, shift: int = 0) -> None:
        self.degree = degree
        self.shift = shift

    @property
    def is_psd(self) -> bool | None:
        return True if self.shift == 0 else None

    def validate(self) -> None:
        check_number(self, "degree", least=1, integer=True)
        check_number(self, "shift", least=0, integer=True)

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        items = super().check(X, estimator=estimator, input_name=input_name)
        for i, item in enumerate(items):
            if len(item) != len(items[0]):
                raise ValueError(
                    f"WeightedDegree compares sequences of one length: {input_name}[{i}] has {len(item)} "
                    f"symbols, {input_name}[0] has {len(items[0])}."
                )
        return items

    def check_pair(self, X: Data, Z: Data) -> None:
        if len(raw(X)[0]) != len(raw(Z)[0]):
            raise ValueError(
                f"WeightedDegree compares sequences of one length: those of X have {len(raw(X)[0])} symbols, "
                f"those of Z {len(raw(Z)[0])}."
            )

    def fill(self, X: Sequences, Z: Sequences, symmetric: bool, out: Float64) -> None:
        self.check_pair(X, Z)
        length, degree = int(X.lengths[0]), int(self.degree)
        blocks = np.arange(1, degree + 1)
        beta = 2.0 * (degree - blocks + 1) / (degree * (degree + 1))
        runs = np.arange(length + 1)
        cumulative = (np.maximum(runs[:, None] - blocks + 1, 0) * beta).sum(axis=1)
        shifts = np.array([1.0, *(1.0 / (2 * (s + 1)) for s in range(1, min(int(self.shift), length) + 1))])
        shape = (-1, length)
        rows: Index = X.codes.reshape(shape) if length else np.empty((size(X), 0), dtype=np.int64)
        others: Index = Z.codes.reshape(shape) if length else np.empty((size(Z), 0), dtype=np.int64)
        _jit.sequence_pairs.weighted_degree(rows, others, cumulative, shifts, symmetric, out)


class Edit(SequenceKernel):
    r""":math:`k(x, z) = \exp(-\gamma \, d(x, z))`, with d the least cost of edits that turn x into z.

    Such kernels are not positive semi-definite in general; fits report the smallest eigenvalue.

    Parameters
    ----------
    gamma : float, default=0.1
        :math:`\gamma \ge 0`.
    indel : float, default=1.0
        Cost of inserting or deleting a symbol.
    substitution : float, default=1.0
        Cost of replacing one.

    Examples
    --------
    >>> from mercer.kernels import Edit
    >>> Edit(gamma=1.0)(["kitten"], ["sitting"]).round(4).tolist()
    [[0.0498]]
    """

    def __init__(self, gamma: float = 0.1, indel: float = 1.0, substitution: float = 1.0) -> None:
        self.gamma = gamma
        self.indel = indel
        self.substitution = substitution

    @property
    def is_psd(self) -> bool | None:
        return None

    @property
    def diagonal_bound(self) -> float | None:
        return 1.0

    def validate(self) -> None:
        check_number(self, "gamma", least=0)
        check_number(self, "indel", above=0)
        check_number(self, "substitution", above=0)

    def fill(self, X: Sequences, Z: Sequences, symmetric: bool, out: Float64) -> None:
        _jit.sequence_pairs.edit_distances(
            X.codes, X.starts, Z.codes, Z.starts, float(self.indel), float(self.substitution), symmetric, out
        )
        np.exp(np.multiply(out, -float(self.gamma), out=out), out=out)
