# ruff: noqa: D102  what overrides a method is documented in the base class
"""What a solver may ask of a kernel matrix; and the one that is in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Floats, Index
from mercer.threads import Workers

GATHERED = 4_000_000  # entries of a copy of some rows
PANEL = 256  # rows of the matrix in memory at a time, for products with several vectors
UNIT = 4 * float(np.finfo(np.float64).eps)  # of a kernel value and of a sum of many, generously


class Gram(ABC):
    """The n by n matrix K with K_ij = k(x_i, x_j), of which only asked-for parts exist in memory.

    Attributes
    ----------
    n : int
        Number of points.
    dtype : numpy.dtype
        Precision of the entries; sums are always float64.
    evaluations : int
        Kernel values computed so far.
    is_psd : bool or None
        Whether the kernel is known to be positive semi-definite (None: unknown).
    """

    n: int
    dtype: np.dtype[Any]
    evaluations: int = 0
    is_psd: bool | None = None
    independent_subsets: bool = True  # whether subsets may be used from several threads at once

    @abstractmethod
    def diag(self) -> Float64:
        """Return the diagonal, exact to float64 rounding of the kernel in this precision."""

    @abstractmethod
    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        """Return K[idx][:, jdx] (written to ``out`` when given); not to be changed: it may be kept."""

    @abstractmethod
    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        """Add K[:, idx] @ coef to ``out`` (length n, float64), in place."""

    def add_products(self, idx: Index, coef: Float64, out: Float64) -> None:
        """Add K[:, idx] @ coef to ``out`` (n, m), in place: products with m vectors, in float64 sums."""
        every = np.arange(self.n)
        for s in range(0, idx.size, PANEL):
            rows = self.block(idx[s : s + PANEL], every)
            out += rows.T.astype(np.float64, copy=False) @ coef[s : s + PANEL]

    @abstractmethod
    def exact(self) -> Gram:
        """Return the same matrix in float64."""

    @abstractmethod
    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        """Return the matrix restricted to the points ``idx`` (with its own threads when they are given)."""

    @property
    def is_exact(self) -> bool:
        """Whether ``exact()`` is this very matrix."""
        return self.exact() is self

    def magnitude(self) -> Float64:
        r"""Return :math:`m_i`: the entries are what is left of numbers of at most :math:`m_i m_j`.

        :math:`|K_{ij}| \le \sqrt{K_{ii} K_{jj}}` where nothing has cancelled before.
        """
        return np.sqrt(np.abs(self.diag()))

    def noise(self, coef: Float64) -> Float64:
        r"""Return a bound on the rounding error of each entry of K coef, summed in float64.

        The entries come from numbers of at most :math:`m_i m_j` (:meth:`magnitude`), so that is a few units
        of rounding times :math:`m_i \sum_j |c_j| m_j`: large where big terms cancel.
        """
        root = self.magnitude()
        size = np.abs(coef) if coef.ndim == 1 else np.add.reduce(np.abs(coef), axis=1)
        return (UNIT * float(size @ root)) * root

    def features(self) -> Any:
        """Return rows (array or CSR) whose inner products are K, or None where no such rows are known."""
        return None

    def exact_block(self, idx: Index, jdx: Index) -> Float64:
        """Return K[idx][:, jdx] in float64, for a modest number of entries."""
        return np.asarray(self.exact().block(idx, jdx), dtype=np.float64)

    def shared(self, budget: int) -> Gram:
        """Return a Gram for many overlapping subsets: one that keeps its values, where that pays and fits."""
        return self

    def rows(self, idx: Index) -> Floats:
        """Return K[idx, :]."""
        return self.block(np.asarray(idx, dtype=np.intp), np.arange(self.n))

    def matvec(self, v: Float64) -> Float64:
        """Return K @ v in float64 sums; zeros in ``v`` cost nothing."""
        idx = np.flatnonzero(v)
        out = np.zeros(self.n)
        if idx.size:
            self.add_product(idx, np.ascontiguousarray(v[idx], dtype=np.float64), out)
        return out

    def products(self, V: Float64) -> Float64:
        """Return K @ V for a few vectors, the columns of V."""
        return np.stack([self.matvec(np.ascontiguousarray(column)) for column in V.T], axis=1)


class DerivedGram(Gram):
    """A matrix that is made of another one, entry by entry.

    Parameters
    ----------
    gram : Gram
        The other.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram, self.n, self.dtype, self.is_psd = gram, gram.n, gram.dtype, gram.is_psd
        self.independent_subsets = gram.independent_subsets

    @property
    def evaluations(self) -> int:  # type: ignore[override]
        """Kernel values computed so far."""
        return self.gram.evaluations


# -- a matrix in memory --------------------------------------------------------------------------------------


class MatrixGram(Gram):
    """A symmetric matrix in memory, or some of its points: a subset shares the matrix and copies nothing.

    All of it is handed out itself, not as a copy, so that nobody may write to what :meth:`block` returns.

    Parameters
    ----------
    K : (m, m) array or None
        The matrix. None for that of ``origin``, which is kept once somebody has asked for all of it, as
        solvers do for small problems only.
    is_psd : bool or None
        Whether it is known to be positive semi-definite; ``origin`` knows better.
    idx : (n,) intp, optional
        The points that this Gram, and its origin, are about; all when not given.
    origin : Gram, optional
        Where the values come from: it has the diagonal and, if K is in single precision, the exact values.
        The entries of a matrix without one are what they are.
    diag : (n,) float64, optional
        The diagonal in full precision, where K has been rounded.
    """

    def __init__(
        self,
        K: Floats | None,
        is_psd: bool | None = None,
        idx: Index | None = None,
        *,
        origin: Gram | None = None,
        diag: Float64 | None = None,
    ) -> None:
        self.K, self.idx, self.origin, self._diag = K, idx, origin, diag
        self.is_psd = is_psd
        if origin is not None:
            self.n, self.dtype, self.is_psd = origin.n, origin.dtype, origin.is_psd
            self.independent_subsets = origin.independent_subsets
        if K is not None:
            self.n, self.dtype = K.shape[0] if idx is None else idx.size, K.dtype

    @property
    def evaluations(self) -> int:  # type: ignore[override]
        """Kernel values computed so far."""
        return 0 if self.origin is None else self.origin.evaluations

    def _points(self, idx: Index) -> Index:
        return np.asarray(idx if self.idx is None else self.idx[idx], dtype=np.intp)

    def diag(self) -> Float64:
        if self._diag is None:
            if self.origin is not None:
                return self.origin.diag()
            diagonal = np.diagonal(self.K)  # type: ignore[arg-type]
            self._diag = (diagonal if self.idx is None else diagonal[self.idx]).astype(np.float64)
        return self._diag

    def magnitude(self) -> Float64:
        return super().magnitude() if self.origin is None else self.origin.magnitude()

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        everything = out is None and self.idx is None and _is_all(idx, self.n) and _is_all(jdx, self.n)
        if self.K is None:
            part = self.origin.block(idx, jdx, out)  # type: ignore[union-attr]
            if everything:
                self.K = part
            return part
        if everything and self.K.flags.carray:  # compiled loops know no other order
            return self.K
        part = self.K[np.ix_(self._points(idx), self._points(jdx))]
        if out is None:
            return part
        out[...] = part
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        if self.K is None:
            self.origin.add_product(idx, coef, out)  # type: ignore[union-attr]
        elif self.idx is None:
            _jit.row_products.fold_rows(self.K, np.asarray(idx, dtype=np.intp), coef, 0, self.n, out)
        else:
            # A few columns at a time: the gathered copy stays small, and is summed in float64.
            step = max(1, GATHERED // max(1, self.n))
            for s in range(0, idx.size, step):
                rows = self.K[np.ix_(self._points(idx[s : s + step]), self.idx)]
                out += coef[s : s + step] @ rows.astype(np.float64, copy=False)

    def products(self, V: Float64) -> Float64:
        if self.K is not None and self.idx is None and self.dtype == np.float64:
            return np.asarray(self.K @ V)
        return super().products(V)

    def exact(self) -> Gram:
        return self if self.is_exact else self.origin.exact()  # type: ignore[union-attr]

    @property
    def is_exact(self) -> bool:
        return self.origin is None or bool(self.dtype == np.float64)

    def exact_block(self, idx: Index, jdx: Index) -> Float64:
        return super().exact_block(idx, jdx) if self.origin is None else self.origin.exact_block(idx, jdx)

    def features(self) -> Any:
        return None if self.origin is None else self.origin.features()

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        origin = None if self.origin is None else self.origin.subset(idx, workers)
        if self.K is None and origin is not None:
            return origin
        diag = None if self._diag is None else self._diag[idx]
        return MatrixGram(self.K, self.is_psd, self._points(idx), origin=origin, diag=diag)


def _is_all(idx: Index, n: int) -> bool:
    return idx.size == n and bool(np.array_equal(idx, np.arange(n)))


def whole(gram: Gram) -> Float64:
    """Return all of K in float64; only rounding may tell K from its transpose afterwards.

    Parameters
    ----------
    gram : Gram
        K.

    Returns
    -------
    (n, n) float64 array
        Fresh: the caller may change it.
    """
    everything = np.arange(gram.n)
    K = gram.block(everything, everything)
    return np.array(K, dtype=np.float64, copy=True if isinstance(gram, MatrixGram) else None)


def kept(gram: Gram, memory: int) -> Gram:
    """Return K in memory, in float64, if it takes no more than so many bytes; else the Gram as it is.

    Parameters
    ----------
    gram : Gram
        K.
    memory : int
        Bytes.
    """
    exact = gram.exact()
    if isinstance(exact, MatrixGram) and exact.idx is None and exact.dtype == np.float64:
        held = exact
    elif 8 * gram.n**2 <= memory:
        held = MatrixGram(whole(exact), origin=exact)
    else:
        return gram
    if held.K is not None and not np.isfinite(float(held.K.sum())):
        raise ValueError(
            "the kernel matrix holds NaN or infinity: scale the features, or choose a kernel that does not "
            "overflow on them"
        )
    return held
