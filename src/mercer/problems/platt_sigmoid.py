"""Platt's sigmoid (LIBSVM, scikit-learn) and our piecewise linear link, each in terms of the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mercer.arrays import Float64
from mercer.problems.bernoulli_fit import BernoulliFit, platt_targets
from mercer.problems.calibration import LARGEST_LOGIT, PIECES, link_logits

GRID = np.linspace(-3.0, 3.0, 121)  # decision values at which two links are compared: the margin is at 1
STEP = 1e-9  # width of what stands for a jump, in units of the margin


def sigmoid_problem(f: Float64, positive: NDArray[np.bool_]) -> BernoulliFit:
    """Return the problem of Platt's sigmoid: A f + B are the log-odds of the other class."""
    n_plus, n_minus = int(positive.sum()), int((~positive).sum())
    target = platt_targets(positive, n_plus, n_minus)
    return BernoulliFit.free(np.column_stack([f, np.ones(f.size)]), 1.0 - target)


def nearness_problem(knots: Float64, slopes: Float64) -> BernoulliFit:
    """Return the problem of the sigmoid that is nearest to a link, over decision values from -3 to 3."""
    target = expit(link_logits(GRID[:, None], knots[None], slopes[None])[:, 0])
    return BernoulliFit.free(np.stack([-GRID, -np.ones_like(GRID)], axis=1), target)


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
        As ``fit_link`` of the solvers returns them.
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
