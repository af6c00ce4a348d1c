"""Medians by which the scales of kernels between time series are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from mercer.arrays import Float64, Index

TIMES = 16  # of each series
SERIES = 128


def weighted_median(values: Float64, weights: Float64) -> float:
    """Return the median of numbers of which each counts ``weights`` times.

    If exactly half of the weight is below a number and half above, it is the mean of both neighbours.
    """
    order = np.argsort(values, kind="stable")
    values, total = values[order], np.cumsum(weights[order])
    half = 0.5 * total[-1]
    low = int(np.searchsorted(total, half * (1 - 1e-12)))
    high = int(np.searchsorted(total, half * (1 + 1e-12)))
    return float(0.5 * (values[low] + values[min(high, values.size - 1)]))


def some_series(n: int, sample_weight: Any, most: int = SERIES) -> tuple[Index, Float64]:
    """Return numbers and weights of at most some series, evenly among those that count."""
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    there = np.flatnonzero(weights > 0)
    if there.size > most:
        there = there[np.linspace(0, there.size - 1, most).round().astype(np.intp)]
    return there, weights[there]


def of_positive(values: Float64, weights: Float64) -> float | None:
    """Return the weighted median of the positive ones among finite numbers; None if there is none."""
    good = (values > 0) & np.isfinite(values) & (weights > 0)
    return weighted_median(values[good], weights[good]) if good.any() else None


def median_width(series: list[Float64], sample_weight: Any) -> float:
    """Return the median distance of two points times the square root of the median length.

    Of long series some times are taken, evenly from the first to the last; points that are equal do not
    count. The result is 1 if all are.
    """
    chosen, weights = some_series(len(series), sample_weight)
    some = [(series[i], w) for i, w in zip(chosen, weights, strict=True) if len(series[i])]
    if not some:
        return 1.0
    points, masses = [], []
    for one, weight in some:
        times = np.unique(np.linspace(0, len(one) - 1, TIMES).round().astype(np.intp))
        points.append(one[times])
        masses.append(np.full(times.size, weight / times.size))
    mass = np.concatenate(masses)
    first, second = np.triu_indices(mass.size, 1)
    distance = of_positive(pdist(np.concatenate(points)), mass[first] * mass[second])
    length = weighted_median(np.array([len(one) for one, _ in some], float), np.array([w for _, w in some]))
    return 1.0 if distance is None else distance * float(np.sqrt(length))
