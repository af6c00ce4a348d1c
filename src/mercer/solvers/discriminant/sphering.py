"""Sphering: coordinates in which a covariance is the identity, from a singular value decomposition."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.problems.discriminant.spectra import Sphering

_EPS = float(np.finfo(np.float64).eps)


def right_singular(rows: Float64, *, full: bool = False) -> tuple[Float64, Float64]:
    """Singular values and right singular vectors (as rows) of ``rows``.

    They are the square roots of the eigenvalues of ``rows.T @ rows``, and its eigenvectors. The triangular
    factor stands in for tall data: the cost is that of forming the covariance, and its condition is not
    squared.
    """
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
    values, vectors = right_singular(rows[:, varying] / scale)
    kept = values > max(tol, _EPS * max(rows.shape) * float(values.max(initial=0.0)))
    values, vectors = values[kept], vectors[kept]
    forward = np.zeros((rows.shape[1], values.size))
    forward[varying] = (vectors / scale).T / values
    backward = np.zeros((values.size, rows.shape[1]))
    backward[:, varying] = values[:, None] * vectors * scale
    log_det = 2.0 * float(np.log(values).sum() + np.log(scale).sum())
    return Sphering(forward, backward, log_det)
