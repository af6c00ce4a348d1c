"""Choosing how a kernel matrix is served: layout, precision, threads."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from mercer.gram.base import Gram, MatrixGram
from mercer.gram.generic import GenericGram
from mercer.gram.vectors import SPARSE_DENSITY, VectorGram
from mercer.kernels import FromFunction, Kernel, Precomputed
from mercer.kernels.data import fits_single, is_sparse, size
from mercer.threads import Workers

SAMPLE = 48  # points on which single precision is tried
LOSS_ALLOWED = 1e-5  # error of single precision, in units of the spread of the points in feature space
SMALL_N = 1024  # so few points cost nothing in double precision

Precision = Literal["auto", "single", "double"]


def gram(
    kernel: Kernel,
    X: Any,
    *,
    precision: Precision = "auto",
    tol: float = 1e-3,
    cache_bytes: int = 200_000_000,
    workers: Workers | None = None,
) -> Gram:
    """Return the Gram of resolved ``kernel`` on checked data ``X``.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array, CSR or sequence
        As ``kernel.check`` returns it.
    precision : {"auto", "single", "double"}
        "auto" takes float32 values unless the problem is small, ``tol`` is tight, or a trial on a few points
        shows that float32 would lose the answer. Numbers whose squares overflow float32 take float64 always.
    tol : float
        The tolerance the solver is asked for.
    cache_bytes : int
        Memory that kernel values may take.
    workers : Workers, optional
        Threads; one when not given.
    """
    workers = workers or Workers(1)
    if isinstance(kernel, Precomputed):
        return MatrixGram(X, kernel.is_psd)
    if isinstance(kernel, FromFunction) and 8 * size(X) ** 2 <= cache_bytes:
        return MatrixGram(_called_once(kernel, X, precision), kernel.is_psd)
    fused = kernel.fused()
    if fused is None:
        dtype = np.float32 if precision == "single" else np.float64
        if precision == "auto" and not _needs_double(kernel, X, tol):
            dtype = np.float32
        return GenericGram(kernel, X, dtype, workers, cache_bytes)
    X = suitable_layout(X, cache_bytes)
    small = X.shape[0] <= SMALL_N and precision == "auto"
    if small or (precision != "double" and not fits_single(X)):
        precision = "double"
    if precision == "double" or (precision == "auto" and _needs_double(kernel, X, tol)):
        return VectorGram(kernel, X, np.float64, workers, cache_bytes=cache_bytes)
    return VectorGram(kernel, X, np.float32, workers, cache_bytes=cache_bytes)


def _called_once(kernel: FromFunction, X: Any, precision: Precision) -> Any:
    """Return the matrix of a user's function, called with all items as scikit-learn does.

    Some such functions fill a square matrix, and some keep what they were called with: parts break them.
    """
    narrow = getattr(X, "dtype", None) == np.float32
    K = kernel.fresh(X.astype(np.float64) if narrow and precision != "single" else X)
    if np.isfinite(np.diagonal(K)).all() and not np.isfinite(K).all():  # a bad diagonal is told of elsewhere
        raise ValueError(f"kernel={kernel!r} returned NaN or infinity for some pairs of rows of X")
    return K


def suitable_layout(X: Any, cache_bytes: int) -> Any:
    """Return mostly-zero dense data as CSR and mostly-full sparse data as an array."""
    n, d = X.shape
    if is_sparse(X):
        if X.nnz > SPARSE_DENSITY * n * d and n * d * X.dtype.itemsize <= cache_bytes // 2:
            return X.toarray()
        return X
    if d <= 32 or n < 256:
        return X
    sample = X[:: max(1, n // 256)]
    if np.count_nonzero(sample) > 0.5 * SPARSE_DENSITY * sample.size:
        return X
    return sp.csr_matrix(X) if np.count_nonzero(X) <= SPARSE_DENSITY * n * d else X


def _needs_double(kernel: Kernel, X: Any, tol: float) -> bool:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n <= SMALL_N or tol < 1e-4:
        return True
    idx = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.intp))
    few = kernel.take(X, idx)
    if kernel.fused() is not None:
        everything = np.arange(idx.size)
        K = np.asarray(kernel.evaluate(few.astype(np.float64)))
        K32 = VectorGram(kernel, few, np.float32, Workers(1)).block(everything, everything)
        error = float(np.abs(K - K32).max())
    else:
        K = np.asarray(kernel.evaluate(few), dtype=np.float64)
        error = float(np.abs(K - K.astype(np.float32)).max())
    diagonal = np.diagonal(K)
    spread = float(np.mean(diagonal[:, None] + diagonal[None, :] - 2 * K))
    return not error <= LOSS_ALLOWED * spread
