"""Ridge regression with a bound on the norm, instead of a penalty."""

from __future__ import annotations

import math

from scipy.linalg import eigh
from scipy.optimize import brentq

from mercer.arrays import Float64

NOTHING = 1e-12  # eigenvalues, relative to the largest, that are rounding


def penalty_for_norm(K: Float64, y: Float64, norm: float, *, fit_intercept: bool) -> float:
    r"""Return the alpha with which ridge regression solves the problem that is bounded in norm.

    .. math::
        \min_w \sum_i (y_i - \langle w, \phi(x_i) \rangle - b)^2 \quad \text{subject to} \quad \|w\| \le B

    With K = U diag(l) U' (centred where there is a bias) and c = U'y, the machine of a penalty alpha has
    :math:`\|w\|^2 = \sum_j l_j c_j^2 / (l_j + \alpha)^2`, which falls with alpha. Where the least squares fit
    of least norm stays within B, the answer is 0.

    Parameters
    ----------
    K : (n, n) float64
        The kernel matrix.
    y : (n,) float64
        Targets.
    norm : float
        B.
    fit_intercept : bool
        Whether there is an unpenalised b.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Computation 7.40.
    """
    if fit_intercept:
        means = K.mean(axis=0)
        K = K - means[None, :] - means[:, None] + means.mean()
        y = y - y.mean()
    values, U = eigh(K)
    kept = values > NOTHING * max(float(values[-1]), 0.0)
    values, c = values[kept], (U.T @ y)[kept]

    def excess(log_alpha: float) -> float:
        return math.sqrt(float((values * (c / (values + math.exp(log_alpha))) ** 2).sum())) - norm

    if math.sqrt(float((c**2 / values).sum())) <= norm:
        return 0.0
    low, high = math.log(values[0]) - 40.0, math.log(values[-1]) + 1.0
    while excess(high) > 0.0:
        high += 5.0
    while excess(low) < 0.0:
        low -= 5.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-14, rtol=1e-15)))
