"""From decision values to probabilities: a link whose 0.5 lies at decision 0.

    P(y = +1 | f) = 1 / (1 + exp(-z(f)))

with z continuous, strictly increasing and z(0) = 0, so that the more probable class is the predicted one.
On each side of zero z is a straight line whose slope may change at a few knots. Two slopes, one on each
side, already keep unbalanced classes calibrated in most cases; the knots serve fits whose decision values
crowd far from zero (strong regularisation, class weights).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mercer.arrays import Float64

QUANTILES = (0.1, 0.3, 0.6)  # of |f| on a side, both classes counting the same: where the slope may change
KINK = 1.0  # price of a change of slope: half this times the square of what it changes in the logit
FLOOR = 1e-3  # least slope, per mean |f| of the side: equal probabilities only for equal decisions
LARGEST_LOGIT = 30.0  # no sample supports more
ROUNDS = 100  # of Newton's method; a dozen are usual
PIECES = len(QUANTILES) + 1


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
    target = np.where(positive, (one + 1.0) / (one + 2.0), 1.0 / (zero + 2.0))
    knots, slopes = np.zeros((2, PIECES)), np.ones((2, PIECES))
    seen = [False, False]
    for side, there in enumerate((f < 0, f > 0)):
        there = there & (weight > 0)
        if there.any():
            agrees = positive[there] == bool(side)
            aim = target[there] if side else 1.0 - target[there]
            knots[side], slopes[side] = _fit_side(np.abs(f[there]), agrees, aim, weight[there])
            seen[side] = True
    for side in (0, 1):
        if not seen[side] and seen[1 - side]:
            # Nothing was seen here: as steep as the other side is on average.
            there = (f != 0) & (weight > 0)
            u = float(np.average(np.abs(f[there]), weights=weight[there]))
            slopes[side] = float(_rise(np.array([u]), knots[1 - side], slopes[1 - side])[0]) / u
    return knots, slopes


def link_logits(F: Float64, knots: Float64, slopes: Float64) -> Float64:
    """Return z(f) of many machines.

    Parameters
    ----------
    F : (n, m) float64
        Decision values, one column per machine.
    knots, slopes : (m, 2, PIECES) float64
        The links, as :func:`fit_link` returns them.

    Returns
    -------
    (n, m) float64
        Logits of the probability of the positive class.
    """
    z = np.empty_like(F)
    for k in range(F.shape[1]):
        f = F[:, k]
        up = _rise(np.maximum(f, 0.0), knots[k, 1], slopes[k, 1])
        down = _rise(np.maximum(-f, 0.0), knots[k, 0], slopes[k, 0])
        z[:, k] = up - down
    return np.clip(z, -LARGEST_LOGIT, LARGEST_LOGIT, out=z)


def _rise(u: Float64, knots: Float64, slopes: Float64) -> Float64:
    # A sum of non-decreasing terms stays non-decreasing under rounding.
    widths = np.append(np.diff(knots), np.inf)
    total = np.zeros(u.size)
    for knot, width, slope in zip(knots, widths, slopes, strict=True):
        total += slope * np.clip(u - knot, 0.0, width)
    return total


def _fit_side(
    u: Float64, agrees: NDArray[np.bool_], target: Float64, weight: Float64
) -> tuple[Float64, Float64]:
    """Fit one side, with u = |f| and the targets of the class that this side predicts."""
    both = weight.copy()
    for of_class in (agrees, ~agrees):
        if of_class.any():
            both[of_class] /= weight[of_class].sum()
    inner = np.unique(_quantiles(u, both, np.array(QUANTILES)))
    knots = np.concatenate([np.zeros(PIECES - inner.size), inner])
    first = PIECES - 1 - inner.size  # the pieces before are empty
    begin = knots[first:]
    beyond = u > begin[-1]
    tail = float(np.average(u[beyond] - begin[-1], weights=weight[beyond])) if beyond.any() else begin[-1]
    widths = np.append(np.diff(begin), tail)
    # In the pieces' rises c_k = s_k h_k the problem is well scaled whatever the scale of f.
    B = np.clip(u[:, None] - begin, 0.0, np.append(widths[:-1], np.inf)) / widths
    change = np.zeros((widths.size - 1, widths.size))
    for k in range(widths.size - 1):
        narrow = min(widths[k], widths[k + 1])
        change[k, k : k + 2] = -narrow / widths[k], narrow / widths[k + 1]
    least = FLOOR * widths / float(np.average(u, weights=weight))
    rises = _newton(B, target, weight, KINK * change.T @ change, least)
    slopes = np.zeros(PIECES)
    slopes[first:] = rises / widths
    return knots, slopes


def _quantiles(u: Float64, weight: Float64, levels: Float64) -> Float64:
    order = np.argsort(u, kind="stable")
    share = np.cumsum(weight[order])
    reached = np.minimum(np.searchsorted(share, levels * share[-1]), u.size - 1)
    values: Float64 = u[order[reached]]
    return values


def _newton(B: Float64, target: Float64, weight: Float64, penalty: Float64, least: Float64) -> Float64:
    """Minimise sum w [log(1 + exp(Bc)) - t Bc] + c'Pc / 2 over c >= least by projected Newton steps.

    References
    ----------
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints, SIAM J.
    Control and Optimization 20.
    """

    def value(c: Float64, z: Float64) -> float:
        return float(weight @ (np.logaddexp(0.0, z) - target * z) + 0.5 * c @ penalty @ c)

    c = np.maximum(least, 1.0)
    z = B @ c
    now = value(c, z)
    for _ in range(ROUNDS):
        p = expit(z)
        gradient = B.T @ (weight * (p - target)) + penalty @ c
        hessian = (B.T * (weight * p * (1.0 - p))) @ B + penalty
        hessian[np.diag_indices_from(hessian)] += 1e-12 * (1.0 + hessian.trace())
        free = (c > least) | (gradient <= 0)
        step = np.zeros(c.size)
        step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        if -float(gradient @ step) <= 1e-14 * (1.0 + abs(now)):
            break
        length = 1.0
        while True:
            moved = np.maximum(c + length * step, least)
            z = B @ moved
            then = value(moved, z)
            if then <= now + 1e-4 * float(gradient @ (moved - c)) or length < 1e-12:
                break
            length *= 0.5
        if then >= now:
            break  # rounding forbids any further step
        c, now = moved, then
    return c
