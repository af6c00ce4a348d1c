"""The principal axes of weighted points in feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram, Workers
from mercer.gram.base import whole
from mercer.gram.tiled import TiledProduct
from mercer.solvers.linear_algebra.spectral import dense_eigenpairs, leading_eigenpairs

DENSE = 1000  # points up to which the whole matrix is decomposed
RESIDUAL = 1e-8  # of an axis, relative to the largest variance
RANK = 1e-12  # variance of an axis, relative to the first, below which there is no axis
NOISE = 1e-14  # the same, relative to the squared norms that the variance is a difference of


@dataclass(frozen=True)
class Axes:
    r"""The mean mu = sum_i p_i phi(x_i) and the first principal axes v_j = sum_i a_ij phi(x_i) of points.

    Attributes
    ----------
    coef : (n, k + 1) float64
        [a, p].
    products : (n, k + 1) float64
        K [a, p]: the points' inner products with the axes and with the mean.
    variances : (k,) float64
        Variance along each axis, descending.
    """

    coef: Float64
    products: Float64
    variances: Float64


def principal_axes(gram: Gram, p: Float64, k: int, workers: Workers, keep_bytes: int = 0) -> Axes:
    r"""Return the first k principal axes of points with weights p.

    They are the eigenvectors of  sum_i p_i (phi(x_i) - mu)(phi(x_i) - mu)', found through those of the matrix
    D K_c D with D = diag(sqrt(p)) and K_c the kernel matrix of the centred points: u of norm one with
    eigenvalue l gives a = D u / sqrt(l).

    Parameters
    ----------
    gram : Gram
        The kernel matrix; it must not use ``workers`` itself.
    p : (n,) float64
        Weights above 0 that sum to 1.
    k : int
        Number of axes; fewer where the points span fewer.
    workers : Workers
        Threads.
    keep_bytes : int
        Memory for the matrix; where it needs more, its parts are computed anew in every pass.

    References
    ----------
    Schoelkopf, Smola and Mueller (1998), Nonlinear component analysis as a kernel eigenvalue problem, Neural
    Computation 10.
    """
    n = gram.n
    root = np.sqrt(p)
    K = whole(gram) if n <= DENSE or 8 * n * n <= keep_bytes else None

    def multiply(V: Float64) -> Float64:
        return K @ V if K is not None else TiledProduct(gram, workers)(V)

    means = multiply(p[:, None])[:, 0]
    mean = float(p @ means)

    def centred(V: Float64) -> Float64:
        V = root[:, None] * V
        totals = V.sum(axis=0)
        out = multiply(V) - np.outer(means, totals) - (means @ V - mean * totals)
        return np.asarray(root[:, None] * out)

    k = min(k, n - 1)
    if k < 1:
        return Axes(p[:, None], means[:, None], np.zeros(0))
    if K is not None and n <= DENSE:
        matrix = root[:, None] * (K - means[:, None] - means[None, :] + mean) * root[None, :]
        pairs = dense_eigenpairs(0.5 * (matrix + matrix.T), k)
    else:
        seed = np.random.default_rng(0)
        pairs = leading_eigenpairs(centred, n, k, method="randomized", tol=RESIDUAL, max_iter=None, seed=seed)
    noise = NOISE * float(p @ np.abs(gram.diag()))
    kept = pairs.values > max(RANK * float(pairs.values.max(initial=0.0)), noise)
    variances = np.asarray(pairs.values[kept])
    axes = root[:, None] * pairs.vectors[:, kept] / np.sqrt(variances)
    axes -= p[:, None] * axes.sum(axis=0)  # zero but for rounding: the axes are those of centred points
    coef = np.column_stack([axes, p])
    return Axes(
        coef, np.column_stack([multiply(axes), means]) if variances.size else means[:, None], variances
    )
