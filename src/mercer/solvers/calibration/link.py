"""Fitting the link of a two-class machine to decision values of points that were held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.bernoulli_fit import platt_targets
from mercer.problems.calibration import PIECES, link_side, mean, rise
from mercer.solvers.calibration.projected_newton import projected_newton


def fit_link(f: Float64, positive: NDArray[np.bool_], weight: Float64) -> tuple[Float64, Float64]:
    r"""Return the knots and slopes of the link for decision values and the classes that they had.

    Each side of zero minimises, over slopes s_k >= floor of its pieces,

    .. math::
        \sum_i w_i \left[ \log(1 + e^{z_i}) - t_i z_i \right]
        + \tfrac12 \sum_k \left( (s_{k+1} - s_k) \min(h_k, h_{k+1}) \right)^2 ,
        \qquad z_i = \sum_k s_k \, \mathrm{length}([0, |f_i|] \cap \mathrm{piece}_k)

    where h_k are the pieces' widths and the targets t are Platt's (W+ + 1) / (W+ + 2) and 1 / (W- + 2), which
    keep the slopes of separable data finite. The problem is convex.

    Parameters
    ----------
    f : (n,) float64
        Decision values of points that the machine was not trained on.
    positive : (n,) bool
        Whether the point is of the class that positive decisions mean.
    weight : (n,) float64
        Sample weights; 2 equals the row twice.

    Returns
    -------
    knots, slopes : (2, PIECES) float64
        Row 0 for f < 0, row 1 for f > 0: where in |f| a piece begins (it ends where the next begins, the last
        never), and its slope. Pieces may be empty.

    References
    ----------
    Platt (2000), Probabilities for SV machines, in Advances in Large Margin Classifiers. Lin, Lin and Weng
    (2007), A note on Platt's probabilistic outputs for support vector machines, Machine Learning 68.
    """
    one, zero = float(weight[positive].sum()), float(weight[~positive].sum())
    target = platt_targets(positive, one, zero)
    knots, slopes = np.zeros((2, PIECES)), np.ones((2, PIECES))
    seen = [False, False]
    for side, there in enumerate((f < 0, f > 0)):
        there = there & (weight > 0)
        if there.any():
            agrees = positive[there] == bool(side)
            aim = target[there] if side else 1.0 - target[there]
            found = link_side(np.abs(f[there]), agrees, aim, weight[there])
            rises = projected_newton(found.problem, np.maximum(found.problem.least, 1.0))
            knots[side], slopes[side] = found.knots, found.slopes(rises)
            seen[side] = True
    for side in (0, 1):
        if not seen[side] and seen[1 - side]:
            # Nothing was seen here: as steep as the other side is on average.
            there = (f != 0) & (weight > 0)
            u = mean(np.abs(f[there]), weight[there])
            slopes[side] = float(rise(np.array([u]), knots[1 - side], slopes[1 - side])[0]) / u
    return knots, slopes
