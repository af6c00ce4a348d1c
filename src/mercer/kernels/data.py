"""The data kernels take, in canonical form: float arrays, CSR matrices, or sequences of any items."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Sequence, Sized
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from mercer.kernels.mixed_columns import MixedColumns
from mercer.kernels.prepared import Prepared, raw

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Data: TypeAlias = Any  # an Array, a CSR matrix, or a sequence of items

FLOATS = [np.float64, np.float32]  # anything else becomes the first
TILE_ENTRIES = 1 << 22  # numbers in a dense copy of some rows


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array."""
    return bool(sp.issparse(X))


@contextmanager
def naming(name: str, data: Any = None) -> Iterator[None]:
    """Say which argument, and which column of a frame, it was that holds text: NumPy does not."""
    try:
        yield
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        dtypes = getattr(data, "dtypes", None)
        texts = (
            []
            if dtypes is None or not hasattr(dtypes, "items")
            else [c for c, d in dtypes.items() if d.kind == "O"]
        )
        where = f" (column {texts[0]!r})" if texts else ""
        raise ValueError(f"{name} must hold numbers{where}: {error}") from error


def check_vectors(X: Any, *, sparse: bool, estimator: Any, name: str) -> Data:
    """Return X as a finite C-contiguous float array or a canonical CSR matrix; float32 stays float32."""
    with np.errstate(over="ignore", invalid="ignore"):  # of the sum by which finite values are told
        if _is_plain(X) and np.isfinite(X.sum()):  # the long look would find nothing
            return X
        X = check_array(
            X,
            accept_sparse="csr" if sparse else False,
            dtype=FLOATS,
            order="C",
            input_name=name,
            estimator=estimator,
        )
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()  # the caller's matrix is not ours to sort
        X.sum_duplicates()
    return X


def _is_plain(X: Any) -> bool:
    """Return whether X is an array in the form that is wanted; its numbers may still not be finite."""
    return bool(
        type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype in FLOATS and X.flags.c_contiguous
    )


def check_items(X: Any, *, sparse: bool, estimator: Any, name: str) -> Data:
    """Return X as `check_vectors` does if it is a table of numbers, else as a list or an array of items."""
    whom = f" by {estimator_name(estimator)}" if estimator is not None else ""
    if isinstance(X, str | bytes | dict | set | frozenset) or not isinstance(X, Sized):
        if not is_sparse(X):
            raise TypeError(
                f"{name} must be a sequence of items or a table of numbers{whom}; it is a {type(X).__name__}."
            )
    elif not hasattr(X, "shape"):
        X = X if isinstance(X, list) else list(X)  # type: ignore[call-overload]
    elif not isinstance(X, np.ndarray) and not is_sparse(X):  # data frames and series of any library
        X = np.asarray(X)
    if is_sparse(X) or _is_table(X):
        return check_vectors(X, sparse=sparse, estimator=estimator, name=name)
    if isinstance(X, np.ndarray) and X.ndim == 0:
        raise ValueError(f"{name} must be a sequence of items{whom}; it is a scalar.")
    if len(X) == 0:
        raise ValueError(f"Found array with 0 sample(s) in {name} while a minimum of 1 is required{whom}.")
    return X


def check_matrix(K: Any, *, estimator: Any, name: str) -> Data:
    """Return K as a finite 2-D float array."""
    with np.errstate(over="ignore", invalid="ignore"):  # as above
        return check_array(K, dtype=FLOATS, order="C", input_name=name, estimator=estimator)


def _is_table(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "biufc"
    first = X[0] if len(X) else None
    if first is None or isinstance(first, str | bytes) or not isinstance(first, Sequence | np.ndarray):
        return False
    if any(not isinstance(x, Sequence | np.ndarray) or len(x) != len(first) for x in X):
        return False
    try:
        table = np.asarray(X)
    except ValueError:  # ragged further down
        return False
    return table.ndim == 2 and table.dtype.kind in "biuf"


def estimator_name(estimator: Any) -> str:
    """Return what an estimator, or its name, is called in messages."""
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def size(X: Data) -> int:
    """Return the number of items."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Data, idx: Any) -> Data:
    """Return the items with these integer indices, in the same kind of container."""
    if isinstance(X, Prepared):
        return X.taken(idx)
    if hasattr(X, "shape"):
        return X[idx]
    return [X[int(i)] for i in idx]


def keys(X: Data) -> list[Hashable]:
    """Return what only the same item has: a digest of a row, the identity of an object."""
    X = raw(X)
    if isinstance(X, MixedColumns):
        parts = [keys(column) for column in X.columns if column is not None]
        return list(zip(*parts, strict=True)) if parts else [()] * X.rows
    if is_sparse(X):
        return [_digest(X.indices[s:e], X.data[s:e]) for s, e in pairwise(X.indptr.tolist())]
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return [_digest(x) for x in X]
    return [id(x) for x in X]


def content_ranks(X: Data) -> npt.NDArray[np.intp]:
    """Return a number for each item, equal for equal items, in an order that depends on the items alone.

    Rows of numbers and strings are told by what they hold. Other objects have no order of their own: each is
    another item, in the order given.
    """
    X = raw(X)
    if is_sparse(X):
        X = X.astype(np.float64, copy=True)
        X.eliminate_zeros()
        names = keys(X)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        names = keys(X.astype(np.float64) + 0.0)  # -0.0 is 0.0
    elif not isinstance(X, MixedColumns) and all(isinstance(x, str) for x in X):
        names = [str(x) for x in X]
    else:
        return np.arange(size(X))
    order = {name: i for i, name in enumerate(sorted(set(names)))}  # type: ignore[type-var]
    return np.array([order[name] for name in names], dtype=np.intp)


def _digest(*arrays: npt.NDArray[Any]) -> bytes:
    return hashlib.blake2b(b"".join(a.tobytes() for a in arrays), digest_size=16).digest()


def tiles(n: int, width: int) -> Iterator[slice]:
    """Cut n rows of ``width`` numbers into runs whose dense copy stays small."""
    step = max(1, TILE_ENTRIES // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))


def dense(X: Data) -> Array:
    """Return rows as an array, copied only if they are sparse."""
    return np.ascontiguousarray(X.toarray()) if is_sparse(X) else X


def result_dtype(X: Data, Z: Data | None) -> type[np.floating[Any]]:
    """Return float32 if all the data is float32, else float64."""
    single = all(getattr(D, "dtype", None) == np.float32 for D in ([X] if Z is None else [X, Z]))
    return np.float32 if single else np.float64


def columns_of(X: Data, columns: Any) -> Data:
    """Return some columns in canonical form."""
    if isinstance(X, MixedColumns):
        return X.numbers(columns)
    part = X[:, columns]
    if is_sparse(part):
        part.sum_duplicates()  # sorts
        return part
    return np.ascontiguousarray(part)


def variance(X: Data, sample_weight: npt.NDArray[np.float64] | None = None) -> float:
    """Return the variance of all entries, row i counted ``sample_weight[i]`` times.

    Two passes in float64 over small tiles: neither cancellation (data far from 0) nor a float64 copy of
    float32 data. Constant data give exactly 0 although their mean is rounded.
    """
    n, d = X.shape
    w = np.ones(n) if sample_weight is None else sample_weight
    total = float(w.sum()) * d
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by the kernel
        mean = sum(float(w[t] @ _row_sums(X[t], 0.0, 1)) for t in tiles(n, d)) / total
        spread = sum(float(w[t] @ _row_sums(X[t], mean, 2)) for t in tiles(n, d)) / total
    noise = 16 * float(np.finfo(np.float64).eps) * abs(float(mean))
    return spread if spread > noise * noise or not np.isfinite(spread) else 0.0


def _row_sums(X: Data, shift: float, power: int) -> npt.NDArray[np.float64]:
    """Return sum_j (x_ij - shift)^power for each row."""
    if not is_sparse(X):
        shifted = X.astype(np.float64)
        shifted -= shift
        return np.asarray((shifted**power).sum(axis=1))
    n, d = X.shape
    stored = np.diff(X.indptr)
    rows = np.repeat(np.arange(n), stored)
    values = (X.data.astype(np.float64) - shift) ** power
    sums = np.bincount(rows, weights=values, minlength=n)
    if shift:  # zeros that are not stored; a float of Python's would raise where its power overflows
        few = stored < d
        sums[few] += (d - stored[few]) * np.float64(-shift) ** power
    return np.asarray(sums)


def safe_centre(X: Array, dtype: Any) -> npt.NDArray[np.float64]:
    """Return what may be subtracted from rows before their distances are computed without losing digits.

    That is the mean of a column whose numbers are all alike, and 0 otherwise: beside one number of 1e130, the
    others less their mean would all be the same. Single precision takes the mean always: it is chosen where
    that is good enough.
    """
    if not X.shape[0]:
        return np.zeros(X.shape[1])
    mean: npt.NDArray[np.float64] = X.mean(axis=0, dtype=np.float64)
    if np.dtype(dtype) == np.float32:
        return mean
    high, low = X.max(axis=0).astype(np.float64), X.min(axis=0).astype(np.float64)
    alike = np.maximum(high - mean, mean - low) <= 0.1 * np.maximum(np.abs(high), np.abs(low))
    return np.where(alike, mean, 0.0)


def fits_single(X: Data | None) -> bool:
    """Return whether inner products and squared distances of these rows are far from overflow in float32."""
    if X is None:
        return True
    values = X.data if is_sparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return bool(16.0 * X.shape[1] * largest**2 < float(np.finfo(np.float32).max))
