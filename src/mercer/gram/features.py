# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix known by its factor, K = Z Z': products with Z are all that is ever computed.

Nothing here copies Z. It is read in blocks of rows that fit a processor's cache, each turned into float64
(and dense, where a dense result is asked for) on the way; threads share the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import UNIT, Gram
from mercer.threads import Workers

BLOCK = 1 << 17  # numbers of Z in a block: a megabyte of float64


class Features(Gram):
    r"""The matrix :math:`K = Z Z^T` of explicit features.

    Parameters
    ----------
    Z : array or CSR of shape (n, width)
        Features, in single or double precision. Sums are float64.
    workers : Workers, optional
        Threads; one when not given.
    """

    def __init__(self, Z: Any, workers: Workers | None = None) -> None:
        self.Z, self.workers = Z, workers or Workers(1)
        self.n, self.width = Z.shape
        self.dtype = Z.dtype
        self.is_psd = True
        self.sparse = bool(sp.issparse(Z))
        self.stored = int(Z.nnz) if self.sparse else self.n * self.width
        self._norms: Float64 | None = None

    # -- products --------------------------------------------------------------------------------------------

    def times(self, w: Float64) -> Float64:
        """Return Z w, for one vector or a column for each of several."""
        if self.sparse and w.ndim == 2:
            return np.stack([self.times(np.ascontiguousarray(column)) for column in w.T], axis=1)
        out = np.empty((self.n, *w.shape[1:]))

        def part(start: int, stop: int) -> None:
            if self.sparse:
                _jit.csr_products.times(*self._csr, w, start, stop, out)
                return
            for a, b in self._blocks(start, stop):
                np.dot(self._dense(a, b), w, out=out[a:b])

        self.workers.ranges(self.n, part)
        return out

    def rows_times(self, rows: Index, w: Float64) -> Float64:
        """Return some rows of Z times w."""
        return np.asarray(self._taken(rows) @ w)

    def transposed_times(self, v: Float64) -> Float64:
        """Return Z' v."""

        def part(start: int, stop: int) -> Float64:
            out = np.zeros(self.width)
            if self.sparse:
                _jit.csr_products.transposed_times(*self._csr, v, start, stop, out)
                return out
            for a, b in self._blocks(start, stop):
                out += self._dense(a, b).T @ v[a:b]
            return out

        return self._summed(part)

    def curved_times(self, d: Float64, w: Float64, shift: float = 0.0) -> tuple[Float64, float]:
        """Return Z' u and the sum of u = d (Z w + shift), in one look at Z."""

        def part(start: int, stop: int) -> Float64:
            out = np.zeros(self.width + 1)
            if self.sparse:
                _jit.csr_products.curved_times(*self._csr, d, w, shift, start, stop, out)
                return out
            for a, b in self._blocks(start, stop):
                block = self._dense(a, b)
                u = block @ w
                u += shift
                u *= d[a:b]
                out[:-1] += block.T @ u
                out[-1] += u.sum()
            return out

        out = self._summed(part)
        return out[:-1], float(out[-1])

    def gram_of_columns(
        self, d: Float64, v: Float64 | None = None, rows: Index | None = None
    ) -> tuple[Float64, Float64, Float64]:
        """Return Z' diag(d) Z, Z' d and Z' v, in one look at Z; rows without d or v cost nothing.

        Parameters
        ----------
        d : (n,) float64
            Non-negative weights.
        v : (n,) float64, optional
            What the last result is made of; nothing when not given.
        rows : (m,) intp, optional
            Rows, in ascending order, to which the sums are restricted.
        """
        width = self.width

        def part(start: int, stop: int) -> Float64:
            out = np.zeros((width + 2, width))
            H, line, product = out[:width], out[width], out[width + 1]
            for a, b in self._blocks(start, stop):
                if rows is None:
                    block, weight = self._dense(a, b), d[a:b]
                    if v is not None:
                        product += block.T @ v[a:b]
                else:
                    few = rows[a:b]
                    block, weight = self._taken(few), d[few]
                curved = np.flatnonzero(weight)
                if curved.size == 0:
                    continue
                root = np.sqrt(weight[curved])
                # Taking rows out holds the interpreter's lock, which the other threads want.
                scaled = (block if curved.size == weight.size else block[curved]) * root[:, None]
                H += scaled.T @ scaled
                line += scaled.T @ root
            return out

        out = self._summed(part, self.n if rows is None else rows.size)
        return out[:width], out[width], out[width + 1]

    def column_squares(self, d: Float64) -> Float64:
        """Return the diagonal of Z' diag(d) Z."""

        def part(start: int, stop: int) -> Float64:
            out = np.zeros(self.width)
            if self.sparse:
                _jit.csr_products.column_squares(*self._csr, d, start, stop, out)
                return out
            for a, b in self._blocks(start, stop):
                block = self._dense(a, b)
                out += d[a:b] @ (block * block)
            return out

        return self._summed(part)

    @property
    def norms(self) -> Float64:
        """The lengths of the rows."""
        if self._norms is None:
            squares = np.empty(self.n)

            def part(start: int, stop: int) -> None:
                if self.sparse:
                    _jit.csr_products.row_squares(*self._csr, start, stop, squares)
                    return
                for a, b in self._blocks(start, stop):
                    block = self._dense(a, b)
                    np.einsum("ij,ij->i", block, block, out=squares[a:b])

            self.workers.ranges(self.n, part)
            self._norms = np.sqrt(squares)
        return self._norms

    # -- the kernel matrix -----------------------------------------------------------------------------------

    def features(self) -> Any:
        return self.Z

    def diag(self) -> Float64:
        return np.asarray(self.norms**2)

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        values = self._taken(idx) @ self._taken(jdx).T
        if out is None:
            return np.asarray(values)
        out[...] = values
        return out

    def combined(self, idx: Index, coef: Float64) -> Float64:
        """Return Z[idx]' coef, the weights of some rows."""
        if 2 * idx.size > self.n:
            v = np.zeros(self.n)
            np.add.at(v, idx, coef)
            return self.transposed_times(v)
        out = np.zeros(self.width)
        for a, b in self._blocks(0, idx.size):
            part = self.Z[idx[a:b]]
            out += np.asarray(part.T.astype(np.float64, copy=False) @ coef[a:b]).ravel()
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        out += self.times(self.combined(idx, coef))

    def exact(self) -> Gram:
        return self

    def subset(self, idx: Index, workers: Workers | None = None) -> Features:
        return Features(self.Z[idx], workers or self.workers)

    def weight_noise(self, w: Float64) -> Float64:
        """Return a bound on the rounding error of each entry of Z w, for weights w of the features."""
        return (UNIT * float(np.linalg.norm(w))) * self.norms

    def sum_noise(self, v: Float64) -> float:
        """Return a bound on the length of the rounding error of Z' v."""
        return 2 * UNIT * float(np.abs(v) @ self.norms)

    # -- blocks ----------------------------------------------------------------------------------------------

    @property
    def _csr(self) -> tuple[Any, Any, Any]:
        return self.Z.indptr, self.Z.indices, self.Z.data

    def _blocks(self, start: int, stop: int) -> list[tuple[int, int]]:
        step = max(16, BLOCK // max(1, self.width))
        return [(a, min(a + step, stop)) for a in range(start, stop, step)]

    def _dense(self, start: int, stop: int) -> Float64:
        """Return rows as a float64 array: a view where they are one."""
        rows = self.Z[start:stop]
        if self.sparse:
            rows = rows.toarray()
        return np.asarray(rows, dtype=np.float64)

    def _taken(self, rows: Index) -> Float64:
        part = self.Z[rows]
        return np.asarray(part.toarray() if self.sparse else part, dtype=np.float64)

    def _summed(self, part: Callable[[int, int], Float64], n: int | None = None) -> Float64:
        """Return the sum of what the threads make of their rows, always in the same order."""
        found: dict[int, Float64] = {}

        def work(start: int, stop: int) -> None:
            found[start] = part(start, stop)

        self.workers.ranges(self.n if n is None else n, work)
        # Where no row counts, the sum is that over an empty range.
        ordered = [found[start] for start in sorted(found)] or [part(0, 0)]
        total = ordered[0]
        for more in ordered[1:]:
            total += more
        return total
