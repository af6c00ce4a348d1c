"""Sphering: coordinates in which a covariance is the identity, from its eigendecomposition."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgWarning

from mercer.estimators.discriminant._checks import Floats

_EPS = float(np.finfo(np.float64).eps)


def right_singular(rows: Floats, *, full: bool = False) -> tuple[Floats, Floats]:
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


@dataclass(frozen=True)
class Sphering:
    r"""A linear map A with :math:`A^T \Sigma A = I_r` for a covariance of rank r.

    Attributes
    ----------
    forward : ndarray of shape (p, r)
        A: a row x becomes x A.
    backward : ndarray of shape (r, p)
        The way back, ``backward @ forward = I``.
    log_det : float
        The logarithm of the determinant of the covariance (of its part of full rank).
    """

    forward: Floats
    backward: Floats
    log_det: float

    @property
    def rank(self) -> int:
        """The number of directions kept."""
        return int(self.forward.shape[1])

    @property
    def n_features(self) -> int:
        """The number of directions there were."""
        return int(self.forward.shape[0])

    @classmethod
    def of_rows(cls, rows: Floats, tol: float) -> Sphering:
        """Sphere ``rows.T @ rows``.

        Directions whose standard deviation is at most ``tol``, after each column was scaled to deviation one,
        are left out. Scaling first makes the rank, and with it every result, independent of the units of the
        columns.
        """
        deviation = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        scale = np.where(deviation > 0.0, deviation, 1.0)
        values, vectors = right_singular(rows / scale)
        threshold = max(tol, _EPS * max(rows.shape) * float(values[0]))
        kept = values > threshold
        values, vectors = values[kept], vectors[kept]
        forward = (vectors / scale).T / values
        backward = values[:, None] * vectors * scale
        # The scale of columns that never vary is no part of the determinant.
        log_det = 2.0 * float(np.log(values).sum() + np.log(scale).sum())
        return cls(forward, backward, log_det)

    def require_variation(self) -> None:
        """Refuse data in which nothing varies within the classes: there is no distance to measure with."""
        if self.rank == 0:
            raise ValueError(
                "X has no variation within any class: every feature is constant in each class, so the "
                "within-class covariance is zero and distances to the class means are undefined"
            )

    def warn_if_singular(self, what: str) -> None:
        """Warn, naming the covariance, when directions were left out."""
        if self.rank < self.n_features:
            warnings.warn(
                f"{what} is singular: rank {self.rank} for {self.n_features} features. The directions in "
                "which no class varies are left out (pseudo-inverse)",
                LinAlgWarning,
                stacklevel=3,
            )
