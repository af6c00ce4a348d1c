"""Sphering: coordinates in which a covariance is the identity, from a singular value decomposition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer.arrays import Float64
from mercer.problems.discriminant.spectra import Sphering

TALL = 20  # rows per column from which the product of columns is much cheaper than a factor
WELL_CONDITIONED = 1e-3  # share of the largest variance: squaring costs three of sixteen digits
_EPS = float(np.finfo(np.float64).eps)


def from_products(products: Float64) -> tuple[Float64, Float64] | None:
    """Singular values and right singular vectors (as rows) of rows whose products of columns are given.

    None where squares have lost too many digits: the rows themselves are needed then.
    """
    squares, axes = np.linalg.eigh(products)
    if squares.size and squares[0] > WELL_CONDITIONED * squares[-1]:  # squares lose little
        return np.sqrt(squares[::-1]), axes.T[::-1]
    return None


def right_singular(rows: Float64, *, full: bool = False) -> tuple[Float64, Float64]:
    """Singular values and right singular vectors (as rows) of ``rows``.

    They are the square roots of the eigenvalues of ``rows.T @ rows``, and its eigenvectors. The triangular
    factor stands in for tall data: the cost is that of forming the covariance, and its condition is not
    squared.
    """
    if not full and rows.shape[0] > TALL * rows.shape[1]:
        found = from_products(rows.T @ rows)
        if found is not None:
            return found
    triangle = np.linalg.qr(rows, mode="r") if rows.shape[0] > rows.shape[1] else rows
    _, values, vectors = np.linalg.svd(triangle, full_matrices=full)
    if full and len(values) < rows.shape[1]:
        values = np.concatenate([values, np.zeros(rows.shape[1] - len(values))])
    return values, vectors


def sphere(rows: Float64, tol: float) -> Sphering:
    """Sphere ``rows.T @ rows``.

    Directions whose standard deviation is at most ``tol``, after each column was scaled to deviation one,
    are left out. Scaling first makes the rank, and with it every result, independent of the units of the
    columns.
    """
    deviation = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    # Columns that never vary stay out of the decomposition: its rounding there would be measured in units of
    # theirs, which may be far smaller than those of the others.
    varying = deviation > 0.0
    scale = deviation[varying]
    values, vectors = right_singular((rows if varying.all() else rows[:, varying]) / scale)
    return _sphering(values, vectors, varying, scale, max(tol, _EPS * max(rows.shape) * _largest(values)))


def sphere_products(products: Float64, n: int, tol: float) -> Sphering | None:
    """Sphere the covariance ``products`` of ``n`` rows, where it tells as much as the rows themselves.

    None where they are few, or the covariance is near singular: :func:`sphere` has the digits then.
    """
    deviation = np.sqrt(np.diagonal(products))
    if n <= TALL * len(products) or not deviation.all():
        return None
    found = from_products(products / np.outer(deviation, deviation))
    if found is None:
        return None
    return _sphering(*found, deviation > 0.0, deviation, max(tol, _EPS * n * _largest(found[0])))


def _largest(values: Float64) -> float:
    return float(values.max(initial=0.0))


def _sphering(
    values: Float64, vectors: Float64, varying: npt.NDArray[np.bool_], scale: Float64, least: float
) -> Sphering:
    """Return the sphering along the directions whose deviation is above ``least``."""
    kept = values > least
    values, vectors = values[kept], vectors[kept]
    forward = np.zeros((varying.size, values.size))
    forward[varying] = (vectors / scale).T / values
    backward = np.zeros((values.size, varying.size))
    backward[:, varying] = values[:, None] * vectors * scale
    log_det = 2.0 * float(np.log(values).sum() + np.log(scale).sum())
    return Sphering(forward, backward, log_det)
