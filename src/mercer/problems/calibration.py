"""From decision values to probabilities: a link whose 0.5 lies at decision 0.

    P(y = +1 | f) = 1 / (1 + exp(-z(f)))

with z continuous, strictly increasing and z(0) = 0, so that the more probable class is the predicted one.
On each side of zero z is a straight line whose slope may change at a few knots. Two slopes, one on each
side, already keep unbalanced classes calibrated in most cases; the knots serve fits whose decision values
crowd far from zero (strong regularisation, class weights).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.bernoulli_fit import BernoulliFit

QUANTILES = (0.1, 0.3, 0.6)  # of |f| on a side, both classes counting the same: where the slope may change
KINK = 1.0  # price of a change of slope: half this times the square of what it changes in the logit
FLOOR = 1e-3  # least slope, per mean |f| of the side: equal probabilities only for equal decisions
LARGEST_LOGIT = 30.0  # no sample supports more
PIECES = len(QUANTILES) + 1


@dataclass(frozen=True)
class Side:
    """One side of zero: where its pieces begin, how wide they are, and the problem of their rises.

    Attributes
    ----------
    knots : (PIECES,) float64
        Where in abs(f) a piece begins; the pieces before ``first`` are empty.
    widths : (pieces,) float64
        Widths of the others; of the last, which never ends, a typical length.
    problem : BernoulliFit
        In the rises c = slope * width, in which it is well scaled whatever the scale of f.
    """

    knots: Float64
    widths: Float64
    problem: BernoulliFit

    def slopes(self, rises: Float64) -> Float64:
        """Return the slopes (PIECES,) that these rises stand for."""
        out = np.zeros(PIECES)
        out[PIECES - rises.size :] = rises / self.widths
        return out


def link_side(u: Float64, agrees: NDArray[np.bool_], target: Float64, weight: Float64) -> Side:
    """Return one side, with u = abs(f) and the targets of the class that this side predicts."""
    both = weight.copy()
    for of_class in (agrees, ~agrees):
        if of_class.any():
            both[of_class] /= weight[of_class].sum()
    inner = np.unique(_quantiles(u, both, np.array(QUANTILES)))
    knots = np.concatenate([np.zeros(PIECES - inner.size), inner])
    first = PIECES - 1 - inner.size  # the pieces before are empty
    begin = knots[first:]
    beyond = u > begin[-1]
    tail = mean(u[beyond] - begin[-1], weight[beyond]) if beyond.any() else begin[-1]
    widths = np.append(np.diff(begin), tail)
    B = np.clip(u[:, None] - begin, 0.0, np.append(widths[:-1], np.inf)) / widths
    change = np.zeros((widths.size - 1, widths.size))
    for k in range(widths.size - 1):
        narrow = min(widths[k], widths[k + 1])
        change[k, k : k + 2] = -narrow / widths[k], narrow / widths[k + 1]
    least = FLOOR * widths / mean(u, weight)
    return Side(knots, widths, BernoulliFit(B, target, weight, KINK * change.T @ change, least))


def mean(u: Float64, weight: Float64) -> float:
    """Return the weighted mean; products of tiny weights and tiny numbers do not underflow."""
    return float(np.average(u, weights=weight / weight.max()))


def _quantiles(u: Float64, weight: Float64, levels: Float64) -> Float64:
    order = np.argsort(u, kind="stable")
    share = np.cumsum(weight[order])
    reached = np.minimum(np.searchsorted(share, levels * share[-1]), u.size - 1)
    values: Float64 = u[order[reached]]
    return values


def link_logits(F: Float64, knots: Float64, slopes: Float64) -> Float64:
    """Return z(f) of many machines.

    Parameters
    ----------
    F : (n, m) float64
        Decision values, one column per machine.
    knots, slopes : (m, 2, PIECES) float64
        The links, as ``fit_link`` of the solvers returns them.

    Returns
    -------
    (n, m) float64
        Logits of the probability of the positive class.
    """
    z = np.empty_like(F)
    for k in range(F.shape[1]):
        f = F[:, k]
        up = rise(np.maximum(f, 0.0), knots[k, 1], slopes[k, 1])
        down = rise(np.maximum(-f, 0.0), knots[k, 0], slopes[k, 0])
        z[:, k] = up - down
    return np.clip(z, -LARGEST_LOGIT, LARGEST_LOGIT, out=z)


def rise(u: Float64, knots: Float64, slopes: Float64) -> Float64:
    """Return the logit at u = abs(f) on one side, in favour of that side."""
    # A sum of non-decreasing terms stays non-decreasing under rounding.
    widths = np.append(np.diff(knots), np.inf)
    total = np.zeros(u.size)
    for knot, width, slope in zip(knots, widths, slopes, strict=True):
        total += slope * np.clip(u - knot, 0.0, width)
    return total
