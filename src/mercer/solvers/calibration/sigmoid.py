"""Platt's sigmoid: the one that fits decision values, and the one nearest to a link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.platt_sigmoid import nearness_problem, sigmoid_problem
from mercer.solvers.calibration.projected_newton import projected_newton


def fit_sigmoid(f: Float64, positive: NDArray[np.bool_]) -> tuple[float, float]:
    r"""Return A and B of P(y = +1 | f) = 1 / (1 + exp(A f + B)).

    .. math::
        \min_{A, B} \sum_i \log(1 + e^{z_i}) - (1 - t_i) z_i, \qquad z_i = A f_i + B,

    with the targets t = (n+ + 1) / (n+ + 2) for positive points and 1 / (n- + 2) for the others.

    Parameters
    ----------
    f : (n,) float64
        Decision values of points that the machine was not trained on.
    positive : (n,) bool
        Whether the point is of the class that positive decisions mean.

    Returns
    -------
    A, B : float
        The sigmoid; A is negative where decisions say anything.

    References
    ----------
    Platt (2000), Probabilities for SV machines, in Advances in Large Margin Classifiers. Lin, Lin and Weng
    (2007), A note on Platt's probabilistic outputs for support vector machines, Machine Learning 68.
    """
    # A is found for f / size, so that both unknowns are alike.
    size = float(np.abs(f).max(initial=0.0)) or 1.0
    n_plus = int(positive.sum())
    start = np.array([0.0, np.log((f.size - n_plus + 1.0) / (n_plus + 1.0))])
    A, B = projected_newton(sigmoid_problem(f / size, positive), start)
    return float(A) / size, float(B)


def nearest_sigmoid(knots: Float64, slopes: Float64) -> tuple[float, float]:
    r"""Return A and B of the sigmoid that is nearest to a link.

    .. math::
        \min_{A, B} \sum_j \mathrm{KL}\left( \sigma(z(f_j)) \,\big\|\, \sigma(-A f_j - B) \right)

    over decision values f_j from -3 to 3; convex.

    Parameters
    ----------
    knots, slopes : (2, PIECES) float64
        The link, as ``fit_link`` returns it.

    References
    ----------
    Platt (2000), Probabilities for SV machines, in Advances in Large Margin Classifiers.
    """
    A, B = projected_newton(nearness_problem(knots, slopes), np.array([-1.0, 0.0]))
    return float(A), float(B)
