"""Weights of kernels by centred alignment with a target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from mercer.arrays import Float64
from mercer.gram import Gram

PANEL = 256  # rows of all matrices in memory at a time


def aligned_weights(grams: Sequence[Gram], Y: Float64, weight: Float64) -> Float64:
    r"""Return the non-negative weights whose kernel is most similar to that of the target.

    .. math::
        \max_{v \ge 0} \; \frac{\langle \sum_j v_j \bar K_j, \bar Y \bar Y' \rangle}{\|\sum_j v_j \bar K_j\|}

    with centred matrices and Frobenius' inner product. Up to a factor v minimises v'Mv - 2 v'a with
    :math:`M_{jl} = \langle \bar K_j, \bar K_l \rangle` and :math:`a_j = \langle \bar K_j, \bar Y \bar Y'
    \rangle`: non-negative least squares.

    Parameters
    ----------
    grams : sequence of Gram
        The matrices.
    Y : (n, t) float64
        A column for each output; indicators for classes.
    weight : (n,) float64
        Sample weights: a weight of 2 equals the row twice.

    References
    ----------
    C. Cortes, M. Mohri and A. Rostamizadeh (2012). Algorithms for learning kernels based on centered
    alignment. *Journal of Machine Learning Research* 13, 795-828.
    """
    n, m, total = grams[0].n, len(grams), float(weight.sum())
    centred = Y - weight @ Y / total
    root = np.sqrt(weight)
    products, sums, fits = np.zeros((m, m)), np.zeros((m, n)), np.zeros(m)
    every = np.arange(n)
    for start in range(0, n, PANEL):
        rows = every[start : start + PANEL]
        panels = np.stack([np.asarray(gram.block(rows, every), dtype=np.float64) for gram in grams])
        sums[:, rows] = panels @ weight
        against = panels @ (weight[:, None] * centred)
        fits += np.einsum("it,jit->j", weight[rows, None] * centred[rows], against)
        flat = (panels * root[rows, None] * root).reshape(m, -1)
        products += flat @ flat.T
    means = sums @ weight
    products += np.outer(means, means) / total**2 - 2.0 * (sums * weight) @ sums.T / total
    if not (fits > 0).any():
        raise ValueError(
            "MultipleKernel(weights='alignment'): no kernel is aligned with y, not even slightly; use "
            "weights='learned'"
        )
    values, vectors = np.linalg.eigh(products)
    known = values > 1e-12 * values[-1]
    half = vectors[:, known] * np.sqrt(values[known])  # M = half half'
    right = (vectors[:, known].T @ fits) / np.sqrt(values[known])
    return np.asarray(nnls(half.T, right)[0])
