"""Platt's sigmoid (LIBSVM, scikit-learn) and our piecewise linear link, each in terms of the other."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mercer.arrays import Float64
from mercer.problems.calibration import LARGEST_LOGIT, PIECES, link_logits

GRID = np.linspace(-3.0, 3.0, 121)  # decision values at which two links are compared: the margin is at 1
ROUNDS = 100
STEP = 1e-9  # width of what stands for a jump, in units of the margin


def nearest_sigmoid(knots: Float64, slopes: Float64) -> tuple[float, float]:
    r"""Return A and B of the sigmoid that is nearest to a link.

    .. math::
        \min_{A, B} \sum_j \mathrm{KL}\left( \sigma(z(f_j)) \,\big\|\, \sigma(-A f_j - B) \right)

    over decision values f_j from -3 to 3; convex, solved by Newton's method.

    Parameters
    ----------
    knots, slopes : (2, PIECES) float64
        The link, as `fit_link` returns it.

    References
    ----------
    Platt (2000), Probabilities for SV machines, in Advances in Large Margin Classifiers.
    """
    target = expit(link_logits(GRID[:, None], knots[None], slopes[None])[:, 0])
    design = np.stack([-GRID, -np.ones_like(GRID)], axis=1)
    x = np.array([-1.0, 0.0])

    def loss(at: Float64) -> float:
        z = design @ at
        return float((np.logaddexp(0.0, z) - target * z).sum())

    for _ in range(ROUNDS):
        p = expit(design @ x)
        gradient = design.T @ (p - target)
        curvature = (design * (p * (1.0 - p))[:, None]).T @ design + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        length, here = 1.0, loss(x)
        while loss(x - length * step) > here and length > 1e-10:
            length /= 2
        x = x - length * step
        if np.abs(step).max() < 1e-12 * max(1.0, np.abs(x).max()):
            break
    return float(x[0]), float(x[1])


def link_of_sigmoid(A: float, B: float) -> tuple[Float64, Float64]:
    r"""Return the link nearest to the sigmoid :math:`P(+1 | f) = 1 / (1 + e^{A f + B})`.

    The logit is -A f - B wherever that has the sign of f, and 0 elsewhere: a link never contradicts the
    prediction. Where it jumps at f = 0, the jump is a steep piece.

    Parameters
    ----------
    A, B : float
        Parameters of the sigmoid; a sigmoid that falls (A > 0) is taken for constant.

    Returns
    -------
    knots, slopes : (2, PIECES) float64
        As `fit_link` returns them.
    """
    slope = max(-A, 0.0)
    knots, slopes = np.zeros((2, PIECES)), np.zeros((2, PIECES))
    for side, jump in ((0, B), (1, -B)):  # the logit at u = |f| is jump + slope u in favour of the side
        if jump > 0:
            start, first = STEP, min(jump, LARGEST_LOGIT) / STEP
        else:
            start, first = (-jump / slope if slope > 0 else 0.0), 0.0
        knots[side] = [0.0] * (PIECES - 1) + [start]
        slopes[side, -2], slopes[side, -1] = first, slope
    return knots, slopes
