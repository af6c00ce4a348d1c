# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that count: a sparse row of features for each item; values are products of rows."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Index
from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data
from mercer.kernels.feature_map import FeatureMap
from mercer.kernels.prepared import Prepared, raw
from mercer.threads import Workers

FEW_FEATURES = 4096  # dense products of so many columns beat sparse ones, unless most of them are empty
DENSE_SHARE = 0.05
SMALL_PRODUCT = 1 << 28  # multiplications for which waking the threads of BLAS takes longer than it saves
EXACT = 1 << 24  # integers below are exact in single precision


class Counts(Prepared):
    """Items as weighted counts of their features.

    Attributes
    ----------
    items : list
        The items as they came.
    counting : Counting
        What the columns mean; it has a ``width``, and equals another that means the same.
    matrix : CSR of shape (n, counting.width), float64
        Square roots of weights times counts: inner products of rows are kernel values.
    squares : float64 array of shape (n,)
        k(x, x), features included that ``counting`` does not know.
    complete : bool
        Whether it knows them all.
    """

    def __init__(
        self, items: list[Any], counting: Any, matrix: Any, squares: Float64, complete: bool
    ) -> None:
        self.items, self.counting, self.matrix = items, counting, matrix
        self.squares, self.complete = squares, complete

    def taken(self, idx: Any) -> Counts:
        """Return the counts of some items."""
        idx = np.asarray(idx)
        items = [self.items[i] for i in idx.tolist()]
        return Counts(items, self.counting, self.matrix[idx], self.squares[idx], self.complete)


@dataclass(frozen=True)
class CountingMap(FeatureMap):
    """The features of a counting kernel, fitted on training items."""

    kernel: CountedKernel
    counting: Any

    @property
    def names(self) -> tuple[str, ...]:
        return self.kernel.feature_names(self.counting)

    def transform(self, Z: Data) -> Data:
        return self.kernel.counted(raw(Z), self.counting).matrix

    def squared_norms(self, Z: Data) -> Array:
        return self.kernel.counted(raw(Z), self.counting).squares


class CountedKernel(Kernel):
    """Base of kernels between items whose features are counted one by one."""

    @abstractmethod
    def count_items(self, items: list[Any], known: Any) -> tuple[Any, Index | None, Any]:
        """Return the features of items.

        Parameters
        ----------
        items : list
            Canonical data.
        known : Any
            What the columns of another data set mean, to be used again; None for new columns.

        Returns
        -------
        matrix : CSR, float64
            Complete: all features of these items, with square roots of weights.
        column : int64 array or None
            The column of ``known`` of each of the matrix's, -1 for features that it does not have; None
            without ``known``.
        counting : Any
            What the columns mean (``known`` if it was given).
        """

    @abstractmethod
    def feature_names(self, counting: Any) -> tuple[str, ...]:
        """Return what each column is called."""

    def counted(self, items: list[Any], known: Any = None) -> Counts:
        """Return canonical items as counts, in columns of their own or in given ones."""
        matrix, column, counting = self.count_items(items, known)
        squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
        complete = True
        if column is not None and known is not None:
            complete = bool((column >= 0).all())
            matrix = renumbered(matrix, column, known.width)
        return Counts(items, counting, matrix, squares, complete)

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        if isinstance(X, Counts) and (like is None or X.counting is like.counting):
            return X
        return self.counted(raw(X), like.counting if isinstance(like, Counts) else None)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        if Z is None:
            X = self.prepare(X)
            if not X.complete:  # two new items may share what the training data do not have
                X = self.counted(X.items)
            K = _product(X.matrix, X.matrix)
            np.fill_diagonal(K, X.squares)
            return K
        if isinstance(Z, Counts):
            X = self.prepare(X, Z)
        else:
            X = self.prepare(X)
            Z = self.prepare(Z, X)
        if not (X.complete or Z.complete):
            Z = self.counted(Z.items)
            X = self.counted(X.items, Z.counting)
        return _product(X.matrix, Z.matrix)

    def evaluate_diag(self, X: Data) -> Array:
        return np.array(self.prepare(X).squares)

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        return CountingMap(self, self.prepare(X).counting)


def _product(A: Any, B: Any) -> Float64:
    """Return A B' as an array, by whichever product is quicker."""
    width = A.shape[1]
    if width <= FEW_FEATURES and min(A.nnz / A.shape[0], B.nnz / B.shape[0]) > DENSE_SHARE * width:
        if _small_integers(A) and (B is A or _small_integers(B)):  # single precision loses nothing
            A, B = A.astype(np.float32), None if B is A else B.astype(np.float32)
        elif B is A:
            B = None
        first = A.toarray()
        second = first if B is None else B.toarray()
        small = first.size * second.shape[0] <= SMALL_PRODUCT
        with Workers(1).one_blas_thread() if small else nullcontext():
            product = first @ second.T
        return np.asarray(product, dtype=np.float64)
    return np.asarray((A @ B.T).toarray())


def _small_integers(A: Any) -> bool:
    """Return whether all sums in products of rows are integers that single precision has."""
    squares = np.add.reduceat(np.append(A.data**2, 0.0), A.indptr[:-1]) if A.nnz else np.zeros(1)
    return bool(squares.max() < EXACT and (A.data == np.rint(A.data)).all())


def renumbered(matrix: Any, column: Index, width: int) -> Any:
    """Return a CSR matrix with other column numbers; columns with the number -1 are dropped."""
    numbers = column[matrix.indices]
    kept = numbers >= 0
    totals = np.zeros(kept.size + 1, dtype=np.int64)
    np.cumsum(kept, out=totals[1:])
    out = sp.csr_matrix(
        (matrix.data[kept], numbers[kept], totals[matrix.indptr]), shape=(matrix.shape[0], width)
    )
    out.sort_indices()
    return out
