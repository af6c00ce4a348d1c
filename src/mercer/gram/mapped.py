# ruff: noqa: D102  what overrides a method is documented in the base class
"""Features that are made again, a block of rows at a time, whenever a product asks for them.

Nyström's features are z(x) = k(x) R with the kernel values k(x) of the landmarks and a root R of the inverse
of their own kernel matrix. Multiplying every row by R would cost m^2 operations each; products with vectors
apply R to the vector instead, and Z'DZ is R'(K'DK)R. Where the raw values fit into the memory that is allowed
they are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import UNIT
from mercer.gram.cross_products import in_double
from mercer.gram.features import Features
from mercer.gram.landmarks import spectral_norm
from mercer.gram.vectors import Layout, fill_panel
from mercer.kernels import Kernel
from mercer.kernels.data import safe_centre, size, take
from mercer.threads import Workers

NUMBERS = 1 << 19  # of raw values in a block: 4 MB


@dataclass(frozen=True)
class RowMap:
    """How items become features: z(x) = raw(x) root.

    Parameters
    ----------
    raw : callable
        Given some items, returns a float64 array with a row for each; called by several threads at once.
    prepare : callable or None
        Given all items, returns them in the form that ``raw`` reads fastest.
    width : int
        Number of raw values and of features.
    root : (width, width) float64, optional
        The identity when not given.
    """

    raw: Callable[[Any], Float64]
    prepare: Callable[[Any], Any] | None
    width: int
    root: Float64 | None = None

    def inward(self, w: Float64) -> Float64:
        """Return the weights of the raw values, given those of the features."""
        return w if self.root is None else self.root @ w

    def outward(self, v: Float64) -> Float64:
        """Return Z'u, given the same sum of raw values."""
        return v if self.root is None else self.root.T @ v


def landmark_values(
    kernel: Kernel, X: Any, landmarks: Any
) -> tuple[Callable[[Any], Float64], Callable[[Any], Any] | None]:
    """Return what computes the kernel values of items with landmarks, and what prepares items for it.

    Parameters
    ----------
    kernel : Kernel
        Resolved, not ``Precomputed``.
    X : array, CSR or sequence
        The kind of items.
    landmarks : array, CSR or sequence
        m items.
    """
    fused = kernel.fused()
    if fused is not None and sp.issparse(X) == sp.issparse(landmarks):
        centre = None
        if not sp.issparse(landmarks) and fused.statistic == "sqdist":
            centre = safe_centre(landmarks, np.float64)
        few = Layout(landmarks, fused, np.float64, keep=False, centre=centre)
        everything = np.arange(landmarks.shape[0])

        def compiled(items: Any) -> Float64:
            values = np.empty((everything.size, items.shape[0]))
            part = Layout(items, fused, np.float64, centre=few.centre)
            fill_panel(few, part, everything, values, Workers(1))
            return values.T

        return compiled, None
    points = in_double(landmarks)
    reference = kernel.prepare(points)

    def evaluated(items: Any) -> Float64:
        return np.asarray(kernel.evaluate(in_double(items), reference), dtype=np.float64)

    return evaluated, None if reference is points else lambda items: kernel.prepare(items, reference)


class MappedFeatures(Features):
    r"""The matrix :math:`K = Z Z^T` of features that a map makes of items.

    Parameters
    ----------
    X : array, CSR or sequence
        Items, as the kernel's ``check`` returns them.
    rows : RowMap
        The map.
    lengths : (n,) float64
        The lengths of the features of each item, or bounds on them.
    raw_lengths : (n,) float64
        The same of the raw values: what the rounding of products is measured by.
    workers : Workers, optional
        Threads; one when not given.
    cache_bytes : int
        Memory that kept raw values may take.
    """

    def __init__(
        self,
        X: Any,
        rows: RowMap,
        lengths: Float64,
        raw_lengths: Float64,
        workers: Workers | None = None,
        cache_bytes: int = 0,
    ) -> None:
        self.X = X if rows.prepare is None else rows.prepare(X)
        self.map, self.workers = replace(rows, prepare=None), workers or Workers(1)
        self.n, self.width = size(X), rows.width
        self.dtype = np.dtype(np.float64)
        self.is_psd, self.sparse = True, False
        self.stored = self.n * self.width
        self.lengths, self.raw_lengths = lengths, raw_lengths
        self.stretch = 1.0 if rows.root is None else spectral_norm(rows.root)
        self.cache_bytes = cache_bytes
        self.kept: Float64 | None = None
        if 8 * self.stored <= cache_bytes:
            kept = np.empty((self.n, self.width))

            def part(start: int, stop: int) -> None:
                for a, b in self._blocks(start, stop):
                    kept[a:b] = self._dense(a, b)

            self.workers.ranges(self.n, part)
            self.kept = kept

    # -- products --------------------------------------------------------------------------------------------

    def times(self, w: Float64) -> Float64:
        return super().times(self.map.inward(w))

    def rows_times(self, rows: Index, w: Float64) -> Float64:
        return super().rows_times(rows, self.map.inward(w))

    def transposed_times(self, v: Float64) -> Float64:
        return self.map.outward(super().transposed_times(v))

    def curved_times(self, d: Float64, w: Float64, shift: float = 0.0) -> tuple[Float64, float]:
        c, curved = self.map.inward(w), np.flatnonzero(d)

        def part(start: int, stop: int) -> Float64:
            out = np.zeros(self.width + 1)
            for a, b in self._blocks(start, stop):
                rows = curved[a:b]
                block = self._taken(rows)
                u = d[rows] * (block @ c + shift)
                out[:-1] += block.T @ u
                out[-1] += u.sum()
            return out

        out = self._summed(part, curved.size)
        return self.map.outward(out[:-1]), float(out[-1])

    def gram_of_columns(
        self, d: Float64, v: Float64 | None = None, rows: Index | None = None
    ) -> tuple[Float64, Float64, Float64]:
        if v is not None and rows is None and 2 * np.count_nonzero(d) < self.n:
            # Two looks at the rows, of which the second is at those that count.
            H, line, _ = super().gram_of_columns(d, None, np.flatnonzero(d))
            product = super().transposed_times(v)
        else:
            H, line, product = super().gram_of_columns(d, v, rows)
        if self.map.root is not None:
            H = self.map.root.T @ H @ self.map.root
            H = 0.5 * (H + H.T)
        return H, self.map.outward(line), self.map.outward(product)

    def column_squares(self, d: Float64) -> Float64:
        def part(start: int, stop: int) -> Float64:
            out = np.zeros(self.width)
            for a, b in self._blocks(start, stop):
                block = self._features(self._dense(a, b))
                out += d[a:b] @ (block * block)
            return out

        return self._summed(part)

    # -- the features themselves -----------------------------------------------------------------------------

    def explicit_sums(self, Y: Float64) -> tuple[Float64, Float64]:
        """Return Z'Z and Z'Y; no root is applied to the rounding errors of a product, as in Z'DZ above."""

        def part(start: int, stop: int) -> Float64:
            out = np.zeros((self.width, self.width + Y.shape[1]))
            for a, b in self._blocks(start, stop):
                block = self._features(self._dense(a, b))
                out[:, : self.width] += block.T @ block
                out[:, self.width :] += block.T @ Y[a:b]
            return out

        out = self._summed(part)
        return np.ascontiguousarray(out[:, : self.width]), np.ascontiguousarray(out[:, self.width :])

    def explicit_each(
        self, work: Callable[[int, int, Float64], tuple[Float64, float]]
    ) -> tuple[Float64, float]:
        """Return the sums of what ``work(start, stop, features)`` returns for blocks of rows."""

        def part(start: int, stop: int) -> Float64:
            out: Any = 0.0
            for a, b in self._blocks(start, stop):
                vector, number = work(a, b, self._features(self._dense(a, b)))
                out = out + np.append(vector, number)
            return np.asarray(out)

        out = self._summed(part)
        return out[:-1], float(out[-1])

    def items(self, start: int, stop: int) -> Any:
        """Return the items of some rows."""
        return self.X[start:stop] if hasattr(self.X, "shape") else take(self.X, np.arange(start, stop))

    # -- the kernel matrix -----------------------------------------------------------------------------------

    def features(self) -> Any:
        return None  # nobody may ask for all of them at once

    def diag(self) -> Float64:
        squares = np.empty(self.n)

        def part(start: int, stop: int) -> None:
            for a, b in self._blocks(start, stop):
                block = self._features(self._dense(a, b))
                np.einsum("ij,ij->i", block, block, out=squares[a:b])

        self.workers.ranges(self.n, part)
        return squares

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        values = self._features(self._taken(idx)) @ self._features(self._taken(jdx)).T
        if out is None:
            return np.asarray(values)
        out[...] = values
        return out

    def combined(self, idx: Index, coef: Float64) -> Float64:
        v = np.zeros(self.n)
        np.add.at(v, idx, coef)
        return self.transposed_times(v)

    def subset(self, idx: Index, workers: Workers | None = None) -> MappedFeatures:
        budget = 0 if self.kept is not None else self.cache_bytes
        lengths = self.lengths[idx], self.raw_lengths[idx]
        part = MappedFeatures(take(self.X, idx), self.map, *lengths, workers or self.workers, budget)
        if self.kept is not None:
            part.kept = self.kept[idx]
        return part

    # -- rounding --------------------------------------------------------------------------------------------

    @property
    def norms(self) -> Float64:
        return self.lengths

    def weight_noise(self, w: Float64) -> Float64:
        return (UNIT * float(np.linalg.norm(self.map.inward(w)))) * self.raw_lengths

    def sum_noise(self, v: Float64) -> float:
        return 2 * UNIT * self.stretch * float(np.abs(v) @ self.raw_lengths)

    # -- blocks ----------------------------------------------------------------------------------------------

    def _blocks(self, start: int, stop: int) -> list[tuple[int, int]]:
        step = max(16, NUMBERS // max(1, self.width))
        return [(a, min(a + step, stop)) for a in range(start, stop, step)]

    def _features(self, raw: Float64) -> Float64:
        return raw if self.map.root is None else raw @ self.map.root

    def _dense(self, start: int, stop: int) -> Float64:
        if self.kept is not None:
            return self.kept[start:stop]
        return self.map.raw(self.items(start, stop))

    def _taken(self, rows: Index) -> Float64:
        return self.map.raw(take(self.X, rows)) if self.kept is None else self.kept[rows]
