"""A kernel's eigenfunctions, as sums of kernel values at a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.arrays import Float64

NOTHING = 1e-12  # eigenvalues, relative to the largest, that are rounding


class MercerExpansion(NamedTuple):
    r"""Eigenvalues, unit eigenvectors, and coefficients of the features :math:`\sqrt{\lambda_j} \phi_j`."""

    values: Float64
    vectors: Float64
    coef: Float64


def mercer_expansion(values: Float64, vectors: Float64) -> MercerExpansion:
    r"""Return the expansion that the leading eigenpairs of K stand for; what is rounding is left out.

    K u = l u gives the eigenvalue l / n of the kernel's operator on the sample, and the feature
    :math:`\sqrt{l / n} \cdot \sqrt n \, u_i = \sqrt l \, u_i` at the points, which :math:`l^{-1/2} \sum_i u_i
    k(x_i, x)` continues to all others.

    Parameters
    ----------
    values : (k,) float64
        l, falling.
    vectors : (n, k) float64
        u.
    """
    kept = values > NOTHING * max(float(values[0]), 0.0)
    if not kept.any():
        raise ValueError("the kernel matrix has no positive eigenvalue: there are no features")
    values, vectors = values[kept], np.ascontiguousarray(vectors[:, kept])
    return MercerExpansion(values / vectors.shape[0], vectors, vectors / np.sqrt(values))
