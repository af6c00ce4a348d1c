"""The spread of residuals, whatever a few of them do."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64

GAUSSIAN = 1.482602218505602  # one over the upper quartile of the standard normal distribution
SETTLED = 1e-3  # relative change of the scale at which it has settled
ROUNDS = 30  # most fits


def median_absolute_deviation(residuals: Float64, weight: Float64) -> float:
    """Return the median of the absolute residuals, as a standard deviation of Gaussian noise.

    Parameters
    ----------
    residuals : (n,) or (n, outputs) float64
        Differences of targets and predictions.
    weight : (n,) float64
        Weights; a weight of 2 equals the row twice.

    References
    ----------
    Hampel (1974), The influence curve and its role in robust estimation, Journal of the American Statistical
    Association 69.
    """
    size = np.abs(residuals.reshape(len(residuals), -1))
    w = np.repeat(weight, size.shape[1])
    return GAUSSIAN * weighted_median(size.ravel(), w)


def weighted_median(values: Float64, weight: Float64) -> float:
    """Return the middle of values, each counted by its weight; of two middles, their mean."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order])
    half = 0.5 * float(share[-1])
    low = int(np.searchsorted(share, half * (1 - 1e-12)))
    high = int(np.searchsorted(share, half * (1 + 1e-12), side="right"))
    high = min(high, values.size - 1)
    return 0.5 * float(values[order[low]] + values[order[high]])
