"""Alignments of two time series: a recursion over both, for several pairs of series side by side.

A data set is one array of points (n, channels) with the begin and the end of each series. Pairs are given by
two arrays of numbers of series. LANES pairs are computed together, each in its own lane of the registers, so
that the recursion, whose steps wait for each other, keeps the processor busy.
"""

from __future__ import annotations

import math

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.exponential import exp_nonpositive

LANES = 8
# There are at most (1 + sqrt(2))^(n + m) alignments of series of n and m points. Each step of the recursion
# is multiplied by SHRINK for each point it takes, so that all sums stay at most START, whatever the lengths.
SHRINK = math.sqrt(2.0) - 1.0
START = 2.0**1000
LOG_START = 1000.0 * math.log(2.0)
LOG_SHRINK = math.log(SHRINK)
# What is below the smallest normal number is lost. The rest of an alignment multiplies it by at most 1, so a
# result that is LOST times the number of cells has lost nothing that counts.
LOST = 2.0**-1022 * 2.0**60
DEEPEST = 700.0  # exponents beyond are not for exp_nonpositive


@compiled(inner=True)
def longest(begins: np.ndarray, ends: np.ndarray, which: np.ndarray) -> int:
    """Return the length of the longest of some series."""
    most = 0
    for p in range(which.size):
        most = max(most, ends[which[p]] - begins[which[p]])
    return most


@compiled(inner=True)
def into_lanes(
    points: np.ndarray, begins: np.ndarray, ends: np.ndarray, which: np.ndarray, start: int, lanes: np.ndarray
) -> int:
    """Copy LANES series, or the last one again, to (time, channel, lane); return the longest length."""
    length = 0
    for w in range(LANES):
        i = which[min(start + w, which.size - 1)]
        n = ends[i] - begins[i]
        length = max(length, n)
        for t in range(n):
            for c in range(points.shape[1]):
                lanes[t, c, w] = points[begins[i] + t, c]
        for t in range(n, lanes.shape[0]):  # old values might be far away
            for c in range(points.shape[1]):
                lanes[t, c, w] = points[ends[i] - 1, c] if n > 0 else 0.0
    return length


@compiled(fastmath=CONTRACT, inner=True)
def _squared_distances(x: np.ndarray, z: np.ndarray, low: int, high: int, out: np.ndarray) -> None:
    """Fill out[low:high] with the squared distances of a point of each lane and points of others."""
    for t in range(low, high):
        for w in range(LANES):
            gap = x[0, w] - z[t, 0, w]
            out[t, w] = gap * gap
    for t in range(low, high):
        for c in range(1, x.shape[0]):
            for w in range(LANES):
                gap = x[c, w] - z[t, c, w]
                out[t, w] += gap * gap


@compiled(fastmath=CONTRACT, inner=True)
def _local_kernel(flat: np.ndarray, rate: float) -> None:
    """Turn squared distances into g / (2 - g) with g = exp(-rate distance)."""
    prefer_wide_vectors()
    for k in range(flat.size):
        g = exp_nonpositive(-rate * flat[k])
        flat[k] = g / (2.0 - g)


@compiled(fastmath=CONTRACT, inner=True)
def _triangular_kernel(near: np.ndarray, rate: float, s: int, low: int, high: int, band: int) -> None:
    """Turn squared distances into w g / (2 - w g) with w falling linearly with the difference of times."""
    flat = near.reshape(-1)
    prefer_wide_vectors()
    for k in range(low * LANES, high * LANES):
        flat[k] = exp_nonpositive(-rate * flat[k])
    for t in range(low, high):
        weight = 1.0 - abs(s - t) / band
        for w in range(LANES):
            g = weight * near[t, w]
            near[t, w] = g / (2.0 - g)


@compiled(inner=True)
def _in_logarithms(
    x: np.ndarray, z: np.ndarray, n: int, m: int, lane: int, rate: float, band: int, row: np.ndarray
) -> float:
    """Return what `global_alignments` does of one pair, in logarithms: slow, but nothing is too small."""
    row[: m + 1] = -np.inf
    row[0] = LOG_START
    for s in range(n):
        diagonal, left = row[0], -np.inf
        row[0] = -np.inf
        for t in range(m):
            up = row[t + 1]
            local = -np.inf
            if band == 0 or abs(s - t) < band:
                distance = 0.0
                for c in range(x.shape[1]):
                    distance += (x[s, c, lane] - z[t, c, lane]) ** 2
                local = -rate * distance
                if band > 0:
                    local += math.log1p(-abs(s - t) / band)
                local -= math.log(2.0 - math.exp(local))
            most = max(diagonal + LOG_SHRINK, max(up, left))
            value = -np.inf
            if most > -np.inf and local > -np.inf:
                total = math.exp(diagonal + LOG_SHRINK - most) + math.exp(up - most) + math.exp(left - most)
                value = most + math.log(total) + LOG_SHRINK + local
            diagonal, left = up, value
            row[t + 1] = value
    return float(row[m])


@compiled(fastmath=CONTRACT)
def global_alignments(
    points: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    other: np.ndarray,
    other_begins: np.ndarray,
    other_ends: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rate: float,
    band: int,
    out: np.ndarray,
) -> None:
    """Fill ``out[p]`` with log(START SHRINK^(n + m) k), k the sum over all alignments of a pair of series.

    An alignment's term is the product of the local kernel over its pairs of points. ``rate`` is
    1 / (2 sigma^2); ``band`` is that of the triangular weights, 0 for none. Two empty series have k = 1.
    """
    channels = points.shape[1]
    rows, width = longest(begins, ends, first), longest(other_begins, other_ends, second)
    x, z = np.empty((rows, channels, LANES)), np.empty((width, channels, LANES))
    near, cells = np.empty((width, LANES)), np.empty((width + 1, LANES))
    diagonal, left = np.empty(LANES), np.empty(LANES)
    row = np.empty(width + 1)
    square = SHRINK * SHRINK
    for start in range(0, first.size, LANES):
        inside = min(LANES, first.size - start)
        n = into_lanes(points, begins, ends, first, start, x)
        m = into_lanes(other, other_begins, other_ends, second, start, z)
        cells[: m + 1] = 0.0
        cells[0] = START
        for w in range(inside):
            i, j = first[start + w], second[start + w]
            empty = begins[i] == ends[i], other_begins[j] == other_ends[j]
            out[start + w] = LOG_START if empty[0] and empty[1] else -np.inf
        deepest = 0.0
        for s in range(n):
            low = max(0, s - band + 1) if band > 0 else 0
            high = min(m, s + band) if band > 0 else m
            if low >= high:
                break
            _squared_distances(x[s], z, low, high, near)
            for t in range(low, high):
                for w in range(LANES):
                    deepest = max(deepest, near[t, w])
            if band > 0:
                _triangular_kernel(near, rate, s, low, high, band)
            else:
                _local_kernel(near.reshape(-1)[: m * LANES], rate)
            for w in range(LANES):
                diagonal[w] = cells[low, w]
                left[w] = 0.0
                cells[low, w] = 0.0
            for t in range(low, high):
                for w in range(LANES):
                    up = cells[t + 1, w]
                    value = near[t, w] * (SHRINK * (up + left[w]) + square * diagonal[w])
                    diagonal[w] = up
                    left[w] = value
                    cells[t + 1, w] = value
            for w in range(inside):
                if s == ends[first[start + w]] - begins[first[start + w]] - 1:
                    j = second[start + w]
                    length = other_ends[j] - other_begins[j]
                    if length > 0 and (band == 0 or abs(s + 1 - length) < band):
                        total = cells[length, w]
                        if total >= LOST * (s + 1) * length:
                            out[start + w] = math.log(total)
                        else:
                            out[start + w] = np.nan  # to be done again
        for w in range(inside):
            p = start + w
            length = ends[first[p]] - begins[first[p]]
            other_length = other_ends[second[p]] - other_begins[second[p]]
            reached = length > 0 and other_length > 0 and (band == 0 or abs(length - other_length) < band)
            if reached and (np.isnan(out[p]) or rate * deepest > DEEPEST):
                out[p] = _in_logarithms(x, z, length, other_length, w, rate, band, row)


@compiled(fastmath=CONTRACT)
def warping_costs(
    points: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    other: np.ndarray,
    other_begins: np.ndarray,
    other_ends: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    window: int,
    out: np.ndarray,
) -> None:
    """Fill ``out[p]`` with the least sum of squared distances over all alignments of a pair of series.

    Times may differ by ``window``, beyond the difference of the lengths; a negative one means no limit. Two
    empty series cost 0, an empty one and another infinitely much.
    """
    channels = points.shape[1]
    rows, width = longest(begins, ends, first), longest(other_begins, other_ends, second)
    x, z = np.empty((rows, channels, LANES)), np.empty((width, channels, LANES))
    near, cells = np.empty((width, LANES)), np.empty((width + 1, LANES))
    diagonal, left = np.empty(LANES), np.empty(LANES)
    lowest, highest = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.int64)
    for start in range(0, first.size, LANES):
        inside = min(LANES, first.size - start)
        n = into_lanes(points, begins, ends, first, start, x)
        m = into_lanes(other, other_begins, other_ends, second, start, z)
        cells[: m + 1] = np.inf
        cells[0] = 0.0
        for w in range(LANES):
            p = min(start + w, first.size - 1)
            length = ends[first[p]] - begins[first[p]]
            other_length = other_ends[second[p]] - other_begins[second[p]]
            lowest[w] = min(0, other_length - length) - window
            highest[w] = max(0, other_length - length) + window
            if w < inside:
                out[p] = 0.0 if length == 0 and other_length == 0 else np.inf
        for s in range(n):
            low, high = 0, m
            if window >= 0:
                low, high = max(0, s + lowest.min()), min(m, s + highest.max() + 1)
            if low >= high:
                break
            _squared_distances(x[s], z, low, high, near)
            if window >= 0:
                for t in range(low, high):
                    for w in range(LANES):
                        if t - s < lowest[w] or t - s > highest[w]:
                            near[t, w] = np.inf
            for w in range(LANES):
                diagonal[w] = cells[low, w]
                left[w] = np.inf
                cells[low, w] = np.inf
            for t in range(low, high):
                for w in range(LANES):
                    up = cells[t + 1, w]
                    least = up if up < left[w] else left[w]
                    least = diagonal[w] if diagonal[w] < least else least
                    value = near[t, w] + least
                    diagonal[w] = up
                    left[w] = value
                    cells[t + 1, w] = value
            for w in range(inside):
                if s == ends[first[start + w]] - begins[first[start + w]] - 1:
                    j = second[start + w]
                    length = other_ends[j] - other_begins[j]
                    if length > 0:
                        out[start + w] = cells[length, w]
