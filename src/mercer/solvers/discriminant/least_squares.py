"""Two classes by least squares, with the cut-point that makes the fewest training errors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer.arrays import Float64


def log_odds_direction(Z: Float64, second: npt.NDArray[np.bool_]) -> Float64:
    r"""Direction of the two-class discriminant from a regression of the labels, scaled to log-odds.

    The coefficients of least squares with targets -1 and +1 are :math:`T^{-1} \operatorname{cov}(z, t)` with
    :math:`T = W + \pi_1 \pi_2 \Delta \Delta^T` and :math:`\operatorname{cov}(z, t) = 2 \pi_1 \pi_2 \Delta`,
    where :math:`\Delta` is the difference of the means. By the rank-one update of the inverse they equal
    :math:`2 \pi_1 \pi_2 (1 - R^2) W^{-1} \Delta`, with :math:`R^2` the squared multiple correlation of the
    fit.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The data, of full rank within the classes.
    second : ndarray of bool of shape (n,)
        The rows of the second class.

    Returns
    -------
    direction : ndarray of shape (r,)
        The vector :math:`W^{-1} \Delta`.
    """
    target = np.where(second, 1.0, -1.0)
    centred_target = target - target.mean()
    centred = Z - Z.mean(axis=0)
    beta = np.linalg.lstsq(centred, centred_target, rcond=None)[0]
    residual = centred_target - centred @ beta
    unexplained = float(residual @ residual) / float(centred_target @ centred_target)
    variance = float(target.var())  # 4 pi_1 pi_2
    direction: Float64 = beta / (0.5 * variance * unexplained)
    return direction


def best_cut(scores: Float64, second: npt.NDArray[np.bool_], weight: Float64, prefer: float) -> float:
    """Cut-point c for which the rule "second class if score > c" errs least on the weighted rows.

    Candidates lie half-way between neighbouring distinct scores and one unit outside the extremes; among
    equals the one nearest to ``prefer`` is taken.
    """
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    # errors[j]: the first j rows are called first class, the others second.
    cost = np.where(second, weight, -weight)[order]
    errors = weight[~second].sum() + np.concatenate([[0.0], np.cumsum(cost)])
    cuts = np.concatenate([[ranked[0] - 1.0], 0.5 * (ranked[1:] + ranked[:-1]), [ranked[-1] + 1.0]])
    possible = np.concatenate([[True], ranked[1:] > ranked[:-1], [True]])
    errors, cuts = errors[possible], cuts[possible]
    # Sums of the same weights in another order differ in their last digits; that is no difference.
    best = cuts[errors <= errors.min() + 1e-12 * weight.sum()]
    near = min(max(prefer, cuts[0]), cuts[-1])
    return float(best[np.abs(best - near).argmin()])
