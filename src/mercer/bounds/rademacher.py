"""How well linear functions can fit pure noise: the empirical Rademacher complexity."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mercer.bounds.checks import count, not_negative


class Estimate(NamedTuple):
    """A Monte Carlo mean and its standard error."""

    mean: float
    error: float


def trace_complexity(*, norm: float, trace: float, n: int) -> float:
    r"""Bound the Rademacher complexity of linear functions by the trace of the kernel matrix.

    .. math::
        \hat R_n = \mathbb{E}_\sigma \sup_{\|w\| \le B} \frac2n \sum_i \sigma_i \langle w, \phi(x_i) \rangle
        = \frac{2B}{n} \mathbb{E}_\sigma \sqrt{\sigma' K \sigma} \le \frac{2B}{n} \sqrt{\mathrm{tr} K}

    Parameters
    ----------
    norm : float
        B.
    trace : float
        tr K over the n points.
    n : int
        Number of points.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 4.12.
    """
    return 2.0 * not_negative("norm", norm) * math.sqrt(not_negative("trace", trace)) / count("n", n)


def sampled_complexity(
    K: ArrayLike, *, norm: float = 1.0, draws: int = 1000, random_state: int | None = 0
) -> Estimate:
    r"""Estimate :math:`\frac{2B}{n} \mathbb{E}_\sigma \sqrt{\sigma' K \sigma}` by drawing signs.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel matrix, positive semi-definite.
    norm : float
        B.
    draws : int
        How many vectors of signs to draw.
    random_state : int, optional
        Seed.

    Returns
    -------
    Estimate
        Mean and standard error.
    """
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"K must be a square matrix, its shape is {matrix.shape}")
    n = matrix.shape[0]
    signs = np.random.default_rng(random_state).choice([-1.0, 1.0], size=(count("draws", draws, 2), n))
    squares = np.maximum(np.einsum("ij,ij->i", signs @ matrix, signs), 0.0)
    values = 2.0 * not_negative("norm", norm) * np.sqrt(squares) / n
    return Estimate(float(values.mean()), float(values.std(ddof=1) / math.sqrt(draws)))
