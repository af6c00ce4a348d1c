"""The sum of the largest eigenvalues of a weighted kernel matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from mercer.arrays import Float64
from mercer.gram import Gram, Workers
from mercer.gram.base import whole
from mercer.gram.tiled import TiledProduct
from mercer.solvers.linear_algebra.spectral import leading_eigenpairs

DENSE = 1000  # points up to which all eigenvalues cost little
ACCURATE = 1e-4  # residual, relative to the largest eigenvalue
MOST = 40  # products with blocks of vectors


def leading_sum(matrix: Gram, weight: Float64, k: int, workers: Workers) -> tuple[float, float]:
    """Return the sum of the k largest eigenvalues of DKD, D = diag(weight)^(1/2), and a bound on its error.

    Parameters
    ----------
    matrix : Gram
        K; it must not use these threads itself.
    weight : (n,) float64
        Weights of the points.
    k : int
        How many.
    workers : Workers
        Threads.
    """
    root, n = np.sqrt(weight), matrix.n
    k = min(k, n)
    if n <= DENSE or 10 * k > n:
        K = whole(matrix.exact()) * root[:, None] * root
        values = eigvalsh(0.5 * (K + K.T), subset_by_index=(n - k, n - 1))
        return float(values.sum()), 64 * np.finfo(np.float64).eps * float(np.abs(values).max(initial=0.0)) * k
    product = TiledProduct(matrix, workers)
    found = leading_eigenpairs(
        lambda V: root[:, None] * product(root[:, None] * V), n, k, method="randomized", tol=ACCURATE,
        max_iter=MOST, seed=np.random.default_rng(0),
    )  # fmt: skip
    return float(found.values.sum()), float(found.residuals.sum())
