"""The evidence of a Gaussian process: what the data say about kernel and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from mercer.arrays import Float64


@dataclass(frozen=True)
class Evidence:
    r"""The logarithm of the probability of the outputs, integrated over all functions.

    .. math::
        \log p(y) = -\tfrac12 y^T S^{-1} y - \tfrac12 \log\det S - \tfrac n2 \log 2\pi,
        \qquad S = K + \Sigma

    summed over independent outputs.

    Attributes
    ----------
    value : float
        The logarithm.
    error : float
        One standard error of it, where the determinant was estimated; 0 where it was computed.
    lower, upper : float
        Bounds between which :math:`y^T S^{-1} y` lies for certain; equal where it was computed.
    gradient : (p,) array
        By the logarithms of the kernel's parameters, then by that of the noise.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams (2006). *Gaussian Processes for Machine Learning*, section
       5.4. MIT Press.
    """

    value: float
    error: float
    lower: float
    upper: float
    gradient: Float64


def log_evidence(quadratic: float, log_determinant: float, n: int, outputs: int) -> float:
    """Return the logarithm of the evidence from its parts, the quadratic form summed over the outputs."""
    return -0.5 * (quadratic + outputs * (log_determinant + n * math.log(2.0 * math.pi)))


def pair_weights(
    A: Float64, inverse: Float64, left: Float64 | None = None, right: Float64 | None = None
) -> Float64:
    r"""Return the derivatives of the log evidence by the entries of the (symmetric) kernel matrix.

    Parameters
    ----------
    A : (n, t) array
        :math:`S^{-1} Y`.
    inverse : (n, n) array
        :math:`S^{-1}`, of which only the lower triangle is looked at, counting columns first; overwritten.
    left, right : (n,) array, optional
        Vectors u, v of a further term :math:`\tfrac12 (u v^T + v u^T)`.

    Returns
    -------
    (n, n) array
        :math:`\tfrac12 (A A^T - t S^{-1})`, with what belongs above the diagonal added below it: sums with
        symmetric matrices are the same.
    """
    n, outputs = A.shape
    G = inverse
    diagonal = np.diagonal(G).copy()
    for j in range(1, n):  # in place: memory of this size is dear to get
        G[:j, j] = 0.0
    G *= -float(outputs)
    G[np.diag_indices(n)] = -0.5 * outputs * diagonal
    one, two = A, A
    if left is not None and right is not None:
        one, two = np.column_stack([A, left, right]), np.column_stack([A, right, left])
    return np.asarray(blas.dgemm(0.5, one, two, beta=1.0, c=G, trans_b=True, overwrite_c=True))
