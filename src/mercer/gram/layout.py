"""The data of a vector kernel in the order and precision in which its values are computed.

Three layouts, chosen once:

- *columns*: few dense features. Differences are taken feature by feature, so squared distances do not cancel.
- *rows*: many dense features. Inner products come from a matrix product of a tile.
- *sparse*: mostly zeros (given as CSR or found so). Each row meets a dense panel of the few other points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Floats, Index
from mercer.kernels import Fused
from mercer.kernels.fused import RBF

MOST_COLUMNS = 24  # dense features up to which differences beat a matrix product
SPARSE_DENSITY = 0.25  # share of non-zeros up to which sparse rows beat a matrix product
TILE_ROWS = 2048  # rows of X per matrix product or converted tile


class Layout:
    """The data in the order and precision in which kernel values are computed.

    Parameters
    ----------
    X : ndarray or CSR
        The points.
    fused : Fused
        The elementwise line and its statistic.
    dtype : dtype
        Precision of the kernel values.
    keep : bool
        Hold a converted copy; otherwise convert tiles on the way (for the occasional pass in float64).
    centre : ndarray or None
        Subtracted from each row for squared distances, so that far-away data loses no digits.
    """

    def __init__(
        self, X: Any, fused: Fused, dtype: Any, *, keep: bool = True, centre: Float64 | None = None
    ) -> None:
        self.fused = fused
        self.dtype = np.dtype(dtype)
        self.n, self.d = X.shape
        self.squared = fused.statistic == "sqdist"
        one = self.dtype.type
        self.line: tuple[Any, ...] = (self.squared, int(fused.code), one(fused.a), one(fused.b), one(fused.c))
        if fused.code == RBF:
            self.line = (one(fused.a),)
        self.sparse = sp.issparse(X)
        self.columns = not self.sparse and self.d <= MOST_COLUMNS
        self.centre = centre if self.squared and not self.sparse else None
        self.X = X
        self.norms: Floats = np.zeros(0, dtype=self.dtype)
        self.kept: Any = None
        if self.sparse:
            self.kept = X if X.dtype == self.dtype else X.astype(self.dtype)
            if self.squared:
                self.norms = sparse_norms(X).astype(self.dtype)
        elif keep:
            self.kept = self._convert(0, self.n)
        if self.squared and not self.sparse and not self.columns:
            self.norms = np.empty(self.n, dtype=self.dtype)
            for s in range(0, self.n, TILE_ROWS):
                tile = self.rows(s, min(s + TILE_ROWS, self.n)).astype(np.float64, copy=False)
                self.norms[s : s + TILE_ROWS] = np.einsum("ij,ij->i", tile, tile)

    @property
    def cost(self) -> float:
        """Return the multiplications that a kernel value takes."""
        return self.kept.nnz / max(1, self.n) if self.sparse else float(self.d)

    def _convert(self, start: int, stop: int) -> Floats:
        n = stop - start
        out = np.empty((self.d, n) if self.columns else (n, self.d), dtype=self.dtype)
        target = out.T if self.columns else out
        for s in range(0, n, TILE_ROWS):
            tile = self.X[start + s : min(start + s + TILE_ROWS, stop)]
            if self.centre is None:
                target[s : s + TILE_ROWS] = tile
            else:  # in float64, without a copy of the rows in it
                np.subtract(
                    tile, self.centre, out=target[s : s + TILE_ROWS], dtype=np.float64, casting="same_kind"
                )
        return out

    def _centred(self, rows: Floats) -> Floats:
        return rows if self.centre is None else rows.astype(np.float64) - self.centre

    def tile(self, start: int, stop: int) -> tuple[Floats, int]:
        """Return the features-by-points array that holds the range, and where the range begins in it."""
        if self.kept is not None:
            return self.kept, start
        return self._convert(start, stop), 0

    def rows(self, start: int, stop: int) -> Floats:
        """Return the points-by-features rows of the range (layout *rows*)."""
        if self.kept is not None:
            part: Floats = self.kept[start:stop]
            return part
        return self._convert(start, stop)

    def take(self, idx: Index) -> Layout:
        """Return the layout of some of the points, in the precision already converted to."""
        part = object.__new__(Layout)
        part.__dict__.update(self.__dict__)
        part.n = idx.size
        part.norms = self.norms[idx] if self.norms.size else self.norms
        if self.kept is None:
            part.X = self.X[idx]
            part.kept = part._convert(0, part.n)
        else:
            part.kept = np.ascontiguousarray(self.kept[:, idx]) if self.columns else self.kept[idx]
            part.X = None
        return part

    def few(self, idx: Index) -> tuple[Floats, Floats]:
        """Return a few points, dense, in the order the panels want, and their squared norms."""
        if self.sparse:
            panel = np.ascontiguousarray(self.kept[idx].toarray().T)
            return panel, self.norms[idx] if self.squared else self.norms
        if self.kept is not None:
            Z = np.ascontiguousarray(self.kept[:, idx].T if self.columns else self.kept[idx])
        else:
            Z = np.ascontiguousarray(self._centred(self.X[idx]), dtype=self.dtype)
        return Z, self.norms[idx] if self.norms.size else self.norms


def sparse_norms(X: Any) -> Float64:
    """Return the squared norms of the rows of a CSR array, summed in float64."""
    squares = np.asarray(X.data, dtype=np.float64) ** 2
    sums = np.zeros(X.shape[0] + 1)
    np.cumsum(np.add.reduceat(np.append(squares, 0.0), np.minimum(X.indptr[:-1], squares.size)), out=sums[1:])
    return np.where(np.diff(X.indptr) > 0, np.diff(sums), 0.0)
