"""A symmetric positive definite system in the memory of one triangle, for large matrices."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import LinAlgError, lapack
from scipy.sparse.linalg import LinearOperator, onenormest

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.tiled import TiledProduct
from mercer.solvers.linear_algebra.factored import NOT_FINITE
from mercer.threads import Workers

COLUMNS = 64  # of the matrix that are computed together
FORM = {"transr": "N", "uplo": "L"}


class PackedFactored:
    r"""The Cholesky factor of S = K + shift I in rectangular full packed form, half the memory of a matrix.

    LAPACK's routines for this form work on its rectangular blocks, nearly as fast as those for whole
    matrices.
    S itself is not kept: products with it compute the kernel anew, tile by tile.

    Parameters
    ----------
    gram : Gram
        K, in float64; it must not use ``workers`` itself.
    shift : float or (n,) array
        Added to the diagonal.
    workers : Workers
        Threads.

    Raises
    ------
    LinAlgError
        If S is not positive definite to working precision.

    References
    ----------
    .. [1] F. G. Gustavson, J. Wasniewski, J. J. Dongarra and J. Langou (2010). Rectangular full packed format
       for Cholesky's algorithm. *ACM Transactions on Mathematical Software* 37(2).
    """

    def __init__(self, gram: Gram, shift: float | Float64, workers: Workers) -> None:
        self.n = gram.n
        self._gram, self._workers, self._shift = gram, workers, shift
        self._packed, norm = self._filled(gram, shift)
        if not math.isfinite(norm):
            raise ValueError(NOT_FINITE)
        self._packed, info = lapack.dpftrf(self.n, self._packed, overwrite_a=1, **FORM)
        if info > 0:
            raise LinAlgError(f"the leading minor of order {info} is not positive definite")
        inverse = LinearOperator(
            (self.n, self.n), matvec=self._solve, rmatvec=self._solve, matmat=self._solve, dtype=np.float64
        )
        self.condition = norm * float(onenormest(inverse))

    def _filled(self, gram: Gram, shift: float | Float64) -> tuple[Float64, float]:
        """Return S in packed form, and its norm."""
        n = gram.n
        first = n - n // 2  # columns of the trapezium; the triangle behind them stands above it, turned
        packed = np.empty(n * (n + 1) // 2)
        A = packed.reshape((-1, first), order="F")
        down, right = 1 - n % 2, n % 2  # where the trapezium and the triangle begin
        everything, behind = np.arange(n), np.arange(first, n)
        shifts = np.broadcast_to(np.asarray(shift, dtype=np.float64), (n,))
        sums = np.zeros(n)
        for start in range(0, first, COLUMNS):
            columns = np.arange(start, min(start + COLUMNS, first))
            B = np.array(gram.block(columns, everything), dtype=np.float64)
            B[np.arange(columns.size), columns] += shifts[columns]
            size = np.abs(B)
            sums[columns] = size.sum(axis=1)
            sums[behind] += size[:, behind].sum(axis=0)
            for k, j in enumerate(columns):
                A[j + down :, j] = B[k, j:]
        for start in range(0, behind.size, COLUMNS):
            rows = behind[start : start + COLUMNS]
            B = np.array(gram.block(rows, behind), dtype=np.float64)
            B[np.arange(rows.size), rows - first] += shifts[rows]
            sums[rows] += np.abs(B).sum(axis=1)
            for k, row in enumerate(rows):
                j = row - first
                A[: j + 1, j + right] = B[k, : j + 1]
        return packed, float(sums.max())

    @property
    def log_determinant(self) -> float:
        """The logarithm of det S."""
        first = self.n - self.n // 2
        A = self._packed.reshape((-1, first), order="F")
        down, right = 1 - self.n % 2, self.n % 2
        front, back = np.arange(first), np.arange(self.n - first)
        logs = np.log(A[front + down, front]).sum() + np.log(A[back, back + right]).sum()
        return 2.0 * float(logs)

    def times(self, V: Float64) -> Float64:
        """Return S V."""
        product = TiledProduct(self._gram, self._workers)
        return product(V) + np.reshape(self._shift, (-1, 1)) * V

    def solve(self, B: Float64, *, refine: bool = True) -> Float64:
        """Return S^-1 B, once refined where that makes the residual smaller; arguments as of `Factored`."""
        X = self._solve(B)
        if not refine:
            return X
        residual = B - self.times(X)
        better = X + self._solve(residual)
        left = B - self.times(better)
        return better if np.linalg.norm(left) < np.linalg.norm(residual) else X

    def _solve(self, B: Float64) -> Float64:
        X, _ = lapack.dpftrs(self.n, self._packed, np.reshape(B, (self.n, -1)), **FORM)
        return np.asarray(X).reshape(np.shape(B))

    def half_solve(self, B: Float64) -> Float64:
        """Return L^-1 B, whose columns' squared lengths are b' S^-1 b."""
        return np.asarray(lapack.dtfsm(1.0, self._packed, B, side="L", trans="N", diag="N", **FORM))

    def triangle(self) -> Float64:
        """Return Cholesky's factor, with zeros above its diagonal."""
        L, _ = lapack.dtfttr(self.n, self._packed, **FORM)
        return np.tril(L)

    def forget(self) -> None:
        """Drop what products and refinement need: a model keeps its data, and no threads."""
        del self._gram, self._workers, self._shift
