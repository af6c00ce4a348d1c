"""The two statistics that most vector kernels are a line of: inner products and squared distances."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.kernels.data import Array, Data, dense, fits_single, is_sparse, safe_centre

CHUNK = 1 << 18  # numbers looked at together when distances are computed again
_KEPT: ContextVar[list[Any] | None] = ContextVar("kept distances", default=None)  # a data set, its distances


def dots(X: Data, Z: Data | None = None) -> Array:
    """Return <x_i, z_j> by one matrix product."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by whoever needs it
        return dense(X @ (X if Z is None else Z).T)


def squared_norms(X: Data) -> Array:
    """Return <x_i, x_i>."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def sparse_norms(X: Data) -> npt.NDArray[np.float64]:
    """Return the squared norms of the rows of a CSR array, summed in float64."""
    squares = np.asarray(X.data, dtype=np.float64) ** 2
    # reduceat wants a place for every row; what it gives to an empty one is its neighbour's.
    sums = np.add.reduceat(np.append(squares, 0.0), np.minimum(X.indptr[:-1], squares.size))
    return np.where(np.diff(X.indptr) > 0, sums, 0.0)


@contextmanager
def distances_kept(X: Data) -> Iterator[None]:
    """Compute the squared distances of one data set once for all kernels that ask for them inside.

    Parameters
    ----------
    X : array or CSR matrix
        The data set, by its identity; it must not change.
    """
    before = _KEPT.set([X, None])
    try:
        yield
    finally:
        _KEPT.reset(before)


def squared_distances(X: Data, Z: Data | None = None) -> Array:
    """Return ||x_i - z_j||^2 = ||x_i||^2 + ||z_j||^2 - 2 <x_i, z_j> by one matrix product.

    The three terms cancel when the data lie far from the origin, so dense data are centred first. The smaller
    set gives the centre: that is cheaper, and one row against many is then exact. Sparse data are left alone:
    centring would fill them. Distances that are small against the norms all the same are computed once more,
    by differences: equal rows have distance 0 however they are given, and kernels with a cusp at 0 need all
    digits there.

    Parameters
    ----------
    X, Z : array or CSR matrix
        The rows; Z is X if not given, and then the diagonal is exactly 0.

    Returns
    -------
    ndarray
        Never negative.
    """
    kept = _KEPT.get()
    if kept is not None and Z is None and X is kept[0]:
        if kept[1] is None:
            kept[1] = _squared_distances(X, None)
        return np.array(kept[1])
    return _squared_distances(X, Z)


def _squared_distances(X: Data, Z: Data | None) -> Array:
    if Z is not None and X.dtype != Z.dtype:  # else the norms of one would be too coarse for the other
        X, Z = X.astype(np.float64), Z.astype(np.float64)
    if X.dtype == np.float32 and not (fits_single(X) and fits_single(Z)):
        S = squared_distances(X.astype(np.float64), None if Z is None else Z.astype(np.float64))
        return np.minimum(S, np.finfo(np.float32).max).astype(np.float32)
    if not (is_sparse(X) or is_sparse(Z)):
        few = X if Z is None or X.shape[0] <= Z.shape[0] else Z
        centre = safe_centre(few, X.dtype)
        X = X - centre.astype(X.dtype)
        Z = None if Z is None else Z - centre.astype(Z.dtype)
    rows = squared_norms(X)
    columns = rows if Z is None else squared_norms(Z)
    S = dots(X, Z)
    S *= -2.0
    S += rows[:, None]
    S += columns[None, :]
    np.maximum(S, 0.0, out=S)
    _again(S, X, X if Z is None else Z, rows, columns)
    if Z is None:
        np.fill_diagonal(S, 0.0)
    return S


def _again(S: Array, X: Data, Z: Data, rows: Array, columns: Array) -> None:
    """Replace the distances that lost half of their digits or more to cancellation."""
    small = np.sqrt(np.finfo(S.dtype).eps)
    step = max(1, CHUNK // max(1, S.shape[1]))
    for start in range(0, S.shape[0], step):
        part = S[start : start + step]
        i, j = np.nonzero(part < small * (rows[start : start + step, None] + columns[None, :]))
        batch = max(1, CHUNK // max(1, X.shape[1]))
        for t in range(0, i.size, batch):
            a, b = i[t : t + batch], j[t : t + batch]
            part[a, b] = squared_norms(X[start + a] - Z[b])


def scaled_columns(X: Data, scale: Any) -> Data:
    """Return X with column j multiplied by ``scale[j]``, in the precision of X."""
    scale = np.asarray(scale).astype(X.dtype)
    if is_sparse(X):
        scaled = X.copy()
        scaled.data *= scale[X.indices]
        return scaled
    return X * scale


def scaled_rows(X: Data, scale: Array) -> Data:
    """Return X with row i multiplied by ``scale[i]``, in the precision of X."""
    scale = scale.astype(X.dtype, copy=False)
    if is_sparse(X):
        scaled = X.copy()
        scaled.data *= np.repeat(scale, np.diff(X.indptr))
        return scaled
    return X * scale[:, None]


def weighted_squares(B: Array, X: Data, Z: Data | None = None) -> Array:
    r"""Return :math:`\sum_{ij} B_{ij} (x_{if} - z_{jf})^2` for each feature f, by one matrix product.

    Dense data are centred first: the terms cancel when the data lie far from the origin.
    """
    if not (is_sparse(X) or is_sparse(Z)):
        centre = X.mean(axis=0, dtype=np.float64)
        X = X - centre
        Z = None if Z is None else Z - centre
    Z = X if Z is None else Z
    square = (lambda D: D.multiply(D)) if is_sparse(X) else np.square
    cross = X.multiply(B @ Z) if is_sparse(X) else X * (B @ Z)
    total = square(X).T @ B.sum(axis=1) + square(Z).T @ B.sum(axis=0)
    return np.asarray(total - 2.0 * np.asarray(cross.sum(axis=0)).ravel(), dtype=np.float64)


def distance_slopes(X: Data, Z: Data | None, G: Array, width: Any, power: int, line: Any) -> Array:
    r"""Return the slopes by log width of :math:`k = \varphi(u)`, :math:`u = \sum_f w_f^p (x_f - z_f)^2`.

    Parameters
    ----------
    X, Z : array or CSR matrix
        The rows; Z is X if it is None.
    G : ndarray
        Weights of the pairs.
    width : float or array of shape (n_features,)
        The widths w, or one for all.
    power : int
        The power p.
    line : callable
        U -> the derivatives of phi at U, which it may overwrite.

    Returns
    -------
    ndarray of the shape of ``width``
    """
    if np.ndim(width) == 0:
        U = squared_distances(X, Z)
        U *= float(width) ** power
        B = line(U.copy())
        B *= G
        return np.asarray(power * np.vdot(B, U))
    scale = np.asarray(width, dtype=np.float64) ** (power / 2)
    X, Z = scaled_columns(X, scale), None if Z is None else scaled_columns(Z, scale)
    B = line(squared_distances(X, Z))
    B *= G
    return power * weighted_squares(B, X, Z)


def positive(**parameters: Any) -> dict[str, Array]:
    """Return the parameters that have a logarithm, as arrays."""
    given = {name: np.asarray(value) for name, value in parameters.items()}
    return {
        name: value.astype(np.float64)
        for name, value in given.items()
        if value.dtype.kind in "iuf" and (value > 0).all()
    }


def power_is_nonnegative(exponent: float) -> bool | None:
    """Return True if no power of any number is negative (or there is none); None if that depends on it."""
    return True if not float(exponent).is_integer() or float(exponent) % 2 == 0 else None


def integer_power(S: Array, exponent: int) -> Array:
    """Raise to a non-negative integer power in place, by squaring (``np.power`` takes logarithms).

    What overflows is infinite, without a warning: whoever asks for the values refuses them by name.
    """
    if exponent == 0:
        S.fill(1.0)
        return S
    result: Array | None = None
    with np.errstate(over="ignore", invalid="ignore"):
        while True:
            if exponent & 1:
                if exponent == 1:
                    if result is not None:
                        S *= result
                    return S
                if result is None:
                    result = S.copy()
                else:
                    result *= S
            S *= S
            exponent >>= 1
