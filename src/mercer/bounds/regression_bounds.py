"""Regressors: the squared error, and the chance of a large error, of new points.

Both statements are about functions <w, phi(x)> with ||w|| <= B for a B fixed beforehand; a B chosen
afterwards is paid for by :func:`mercer.bounds.best_of_grid`, a bias by one more coordinate of fixed size tau.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mercer.bounds.checks import deviation, numbers, positive
from mercer.bounds.rademacher import trace_complexity


def squared_error(
    residuals: ArrayLike, y: ArrayLike, *, norm_bound: float, radius: float, trace: float, delta: float = 0.05
) -> float:
    r"""Bound the expected squared error of a linear function of bounded norm.

    .. math::
        \mathbb{E}[(y - g(x))^2] \le \frac1n \sum_i (y_i - g(x_i))^2 + \frac{16 R B}{n} \left( B
        \sqrt{\mathrm{tr} K} + \|y\|_2 \right) + 12 (RB)^2 \sqrt{\frac{\ln(2/\delta)}{2n}}

    with probability 1 - delta, for all g of norm at most B, if the distribution lies within R of the origin
    of feature space and y within [-BR, BR]. Each error is then at most (2BR)^2: a bound above that says
    nothing.

    Parameters
    ----------
    residuals : array of shape (n,)
        y_i - g(x_i).
    y : array of shape (n,)
        Targets.
    norm_bound : float
        B, fixed before the data are seen.
    radius : float
        R, of the distribution's support.
    trace : float
        tr K.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.39.
    """
    errors, target = numbers("residuals", residuals), numbers("y", y)
    B, R = positive("norm_bound", norm_bound), positive("radius", radius)
    if errors.size != target.size:
        raise ValueError(f"residuals has {errors.size} entries, y has {target.size}")
    if np.abs(target).max() > B * R * (1.0 + 1e-12):
        raise ValueError(
            f"y reaches {np.abs(target).max():.6g}, beyond norm_bound * radius = {B * R:.6g}: take a larger "
            "norm_bound"
        )
    n = errors.size
    capacity = 8.0 * R * B * trace_complexity(norm=B, trace=trace, n=n)
    targets = 16.0 * R * B * float(np.linalg.norm(target)) / n
    return float(np.square(errors).mean()) + capacity + targets + 4.0 * (R * B) ** 2 * deviation(n, delta)


def large_error_rate(
    residuals: ArrayLike,
    *,
    tolerance: float,
    epsilon: float = 0.0,
    norm_bound: float,
    trace: float,
    delta: float = 0.05,
) -> float:
    r"""Bound the chance that a linear function of bounded norm errs by more than a tolerance.

    .. math::
        P(|y - g(x)| > \gamma) \le \frac{1}{n (\gamma - \varepsilon)} \sum_i \max(0, |y_i - g(x_i)| -
        \varepsilon) + \frac{4 B \sqrt{\mathrm{tr} K}}{n (\gamma - \varepsilon)} + 3
        \sqrt{\frac{\ln(2/\delta)}{2n}}

    with probability 1 - delta, for all g of norm at most B.

    Parameters
    ----------
    residuals : array of shape (n,)
        y_i - g(x_i).
    tolerance : float
        gamma.
    epsilon : float
        Half width of the tube, less than the tolerance; like it, fixed before the data are seen.
    norm_bound : float
        B, fixed before the data are seen.
    trace : float
        tr K.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.49.
    """
    errors = numbers("residuals", residuals)
    if not (0.0 <= epsilon < tolerance and math.isfinite(tolerance)):
        raise ValueError(f"epsilon={epsilon} must be at least 0 and less than tolerance={tolerance}")
    width = tolerance - epsilon
    slack = float(np.maximum(np.abs(errors) - epsilon, 0.0).mean())
    B = positive("norm_bound", norm_bound)
    capacity = 2.0 * trace_complexity(norm=B, trace=trace, n=errors.size)
    return (slack + capacity) / width + deviation(errors.size, delta)
