"""Products of the kernel between new points and a few kept ones with one or many coefficient vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Floats
from mercer.gram.vectors import Layout, add_panel_products, fill_panel
from mercer.kernels import FromFunction, Kernel, Linear, Precomputed
from mercer.kernels.data import safe_centre, size
from mercer.threads import Workers

TILE_VALUES = 1 << 21  # kernel values in memory at a time, per thread


@dataclass(frozen=True)
class Segment:
    """A run of kept points, their coefficients, and the outputs that these feed.

    With many classes a support vector takes part only in the pairs of its class.
    """

    start: int
    stop: int
    coef: Float64  # (stop - start, number of outputs fed)
    outputs: np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class AmongAll:
    """Kept points as columns of all training items.

    A user's function of two sets of items is called with all of them, as scikit-learn calls it: it may fill a
    square matrix, or know the items that it was called with.
    """

    items: Any
    columns: np.ndarray[Any, np.dtype[np.intp]]

    def __len__(self) -> int:
        """Return the number of kept points."""
        return int(self.columns.size)


def cross_products(
    kernel: Kernel, X: Any, Z: Any, segments: list[Segment], n_outputs: int, workers: Workers
) -> Float64:
    """Return F (n, n_outputs) with F[:, s.outputs] = sum over segments s of K(X, Z[s]) s.coef, in float64.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array, CSR or sequence
        New points (rows of kernel values for ``Precomputed``).
    Z : array, CSR, sequence or AmongAll
        Kept points (their column numbers for ``Precomputed``).
    segments : list of Segment
        Coefficients.
    n_outputs : int
        Number of columns of the result.
    workers : Workers
        Threads.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    m = Z.shape[0] if hasattr(Z, "shape") else len(Z)
    out = np.zeros((n, n_outputs))
    if n == 0 or m == 0:
        return out
    if isinstance(kernel, Linear):
        return _through_weights(X, Z, segments, out, workers)
    fused = None if isinstance(kernel, Precomputed) else kernel.fused()
    single = n_outputs == 1 and len(segments) == 1
    if fused is not None and sp.issparse(X) == sp.issparse(Z):
        few = _layout(Z, fused, None)
        many = _layout(X, fused, few.centre)
        if single:
            flat = out[:, 0].copy()
            coef = np.ascontiguousarray(segments[0].coef[:, 0])
            add_panel_products(few, many, np.arange(m), coef, flat, workers)
            out[:, 0] = flat
            return out

    if isinstance(Z, AmongAll):
        reference = in_double(Z.items)
    else:
        reference = Z if isinstance(kernel, Precomputed) else kernel.prepare(in_double(Z))
    if reference is not Z and not isinstance(Z, AmongAll):
        X = kernel.prepare(X, reference)

    wide = size(Z.items) if isinstance(Z, AmongAll) else m

    def work(start: int, stop: int) -> None:
        step = max(1, TILE_VALUES // wide)
        for s in range(start, stop, step):
            e = min(s + step, stop)
            if isinstance(kernel, Precomputed):
                K = np.asarray(X[s:e][:, Z], dtype=np.float64)
                values: Floats = K.T
            elif fused is not None and sp.issparse(X) == sp.issparse(Z):
                values = np.empty((m, e - s))
                part = Layout(X[s:e], fused, np.float64, centre=few.centre)
                fill_panel(few, part, np.arange(m), values, Workers(1))
            else:
                rows = in_double(kernel.take(X, np.arange(s, e)))
                values = np.asarray(kernel.evaluate(rows, reference), dtype=np.float64).T
                values = values[Z.columns] if isinstance(Z, AmongAll) else values
            for segment in segments:
                out[s:e, segment.outputs] += values[segment.start : segment.stop].T @ segment.coef

    if isinstance(kernel, FromFunction):
        work(0, n)  # a user's function need not be safe to call from several threads
    else:
        workers.ranges(n, work)
    return out


def _through_weights(X: Any, Z: Any, segments: list[Segment], out: Float64, workers: Workers) -> Float64:
    """Return X (Z' coef): the weights of the features first, then one product with them."""
    weights = np.zeros((X.shape[1], out.shape[1]))
    for segment in segments:
        weights[:, segment.outputs] += in_double(Z[segment.start : segment.stop]).T @ segment.coef
    step = max(1, TILE_VALUES // X.shape[1])

    def work(start: int, stop: int) -> None:
        for s in range(start, stop, step):
            e = min(s + step, stop)
            out[s:e] = in_double(X[s:e]) @ weights

    with workers.one_blas_thread():
        workers.ranges(X.shape[0], work)
    return out


def in_double(X: Any) -> Any:
    """Return single-precision numbers in double precision, anything else as it is."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


def _layout(X: Any, fused: Any, centre: Float64 | None) -> Layout:
    if centre is None and not sp.issparse(X) and fused.statistic == "sqdist":
        centre = safe_centre(X, np.float64)
    return Layout(X, fused, np.float64, keep=False, centre=centre)
