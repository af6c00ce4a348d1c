"""Global alignments of two time series: a recursion over both, for several pairs of series side by side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer._jit.bits import bits_of_float64, float64_from_bits, prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.series_lanes import (
    BLOCK,
    LANES,
    farthest,
    into_lanes,
    longest,
    repeated,
    room_for,
    squared_distances,
)

# There are at most (1 + sqrt(2))^(n + m) alignments of series of n and m points. Each step of the recursion
# is multiplied by SHRINK for each point it takes, so that all sums stay at most START, whatever the lengths.
SHRINK = math.sqrt(2.0) - 1.0
START = 2.0**1000
LOG_START = 1000.0 * math.log(2.0)
LOG_SHRINK = math.log(SHRINK)
# What is below the smallest normal number is lost. The rest of an alignment multiplies it by at most 1, so a
# result that is LOST times the number of cells has lost nothing that counts.
LOST = 2.0**-1022 * 2.0**60
# Exponentials below exp(-DEEPEST) are computed as about that, which adds as much to a sum as this, at most.
DEEPEST = 708.0
WRONG = START * math.exp(-DEEPEST) * 2.0**60

# exp(r) = (q + u) / (q - u) with u = r P(r^2), q = Q(r^2) for |r| <= ln(2)/2, to 2e-16 (S. L. Moshier,
# "Methods and Programs for Mathematical Functions", 1989). g / (2 - g) then takes a single division.
P0, P1, P2 = 1.0, 3.02994407707441961300e-2, 1.26177193074810590878e-4
Q0, Q1, Q2, Q3 = 2.0, 2.27265548208155028766e-1, 2.52448340349684104192e-3, 3.00198505138664455042e-6
LOG2E = 1.4426950408889634
LN2_HI, LN2_LO = 6.93145751953125e-1, 1.42860682030941723212e-6
ROUND = 1.5 * 2.0**52  # added and subtracted, it rounds; the whole number is in the last bits of the sum
BIAS, SHIFT = np.int64(1023), np.int64(52)


@compiled(fastmath=CONTRACT, inline=True)
def soft_match(x: Any, weight: Any) -> Any:
    """Return g / (2 - g) with g = weight exp(x), for x <= 0."""
    x = max(x, -DEEPEST)
    shifted = x * LOG2E + ROUND
    k = shifted - ROUND
    r = (x - k * LN2_HI) - k * LN2_LO
    square = r * r
    u = r * ((P2 * square + P1) * square + P0)
    q = ((Q3 * square + Q2) * square + Q1) * square + Q0
    g = weight * float64_from_bits((bits_of_float64(shifted) + BIAS) << SHIFT) * (q + u)
    return g / (2.0 * (q - u) - g)


@compiled(fastmath=CONTRACT, inner=True)
def _local_kernel(near: np.ndarray, rate: float) -> None:
    """Turn squared distances into SHRINK g / (2 - g) with g = exp(-rate distance)."""
    prefer_wide_vectors()
    for k in range(near.size):
        near[k] = SHRINK * soft_match(-rate * near[k], 1.0)


@compiled(fastmath=CONTRACT, inner=True)
def _triangular_kernel(near: np.ndarray, rate: float, weights: np.ndarray) -> None:
    """Turn squared distances into SHRINK w g / (2 - w g)."""
    prefer_wide_vectors()
    for k in range(near.size):
        near[k] = SHRINK * soft_match(-rate * near[k], weights[k])


@compiled(fastmath=CONTRACT, inner=True)
def _next_row(near: np.ndarray, before: np.ndarray, row: np.ndarray) -> None:
    """Fill a row of sums from the second time on; its first time is given, and the row before it."""
    prefer_wide_vectors()
    for k in range(near.size):
        row[k + LANES] = near[k] * ((before[k + LANES] + SHRINK * before[k]) + row[k])


@compiled(inner=True)
def _weights(band: int) -> np.ndarray:
    """Return w of all differences of times from 1 - band to band - 1, in all lanes."""
    weights = np.empty(max(0, 2 * band - 1) * LANES)
    for k in range(weights.size):
        weights[k] = 1.0 - abs(k // LANES - (band - 1)) / band
    return weights


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
                for c in range(x.shape[0]):
                    distance += (x[c, s * LANES + lane] - z[c, t * LANES + lane]) ** 2
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
    x = room_for(longest(begins, ends, first), channels)
    z = room_for(longest(other_begins, other_ends, second), channels)
    now, near = np.empty((channels, BLOCK)), np.empty(z.shape[1])
    # Sums up to time t are at t + 1; what is outside of the band reads as zero.
    before, row = np.empty(z.shape[1] + LANES), np.empty(z.shape[1] + LANES)
    weights, logarithms = _weights(band), np.empty(z.shape[1] // LANES + 1)
    for start in range(0, first.size, LANES):
        inside = min(LANES, first.size - start)
        n = into_lanes(points, begins, ends, first, start, x)
        m = into_lanes(other, other_begins, other_ends, second, start, z)
        least = WRONG if rate * farthest(x, z) > DEEPEST else LOST
        before[:] = 0.0
        before[:LANES] = START
        for w in range(inside):
            i, j = first[start + w], second[start + w]
            empty = begins[i] == ends[i], other_begins[j] == other_ends[j]
            out[start + w] = LOG_START if empty[0] and empty[1] else -np.inf
        for s in range(n):
            low = max(0, s - band + 1) if band > 0 else 0
            high = min(m, s + band) if band > 0 else m
            if low >= high:
                break
            a, b = low * LANES, high * LANES
            repeated(x, s, now)
            squared_distances(now, z, a, b, near)
            if band > 0:
                skipped = (low - s + band - 1) * LANES
                _triangular_kernel(near[a:b], rate, weights[skipped : skipped + b - a])
            else:
                _local_kernel(near[a:b], rate)
            row[a : a + LANES] = 0.0
            row[b + LANES : b + 2 * LANES] = 0.0
            _next_row(near[a:b], before[a : b + LANES], row[a : b + LANES])
            for w in range(inside):
                if s == ends[first[start + w]] - begins[first[start + w]] - 1:
                    j = second[start + w]
                    length = other_ends[j] - other_begins[j]
                    if length > 0 and (band == 0 or abs(s + 1 - length) < band):
                        total = row[length * LANES + w]
                        if total >= least * (s + 1) * length:
                            out[start + w] = math.log(total)
                        else:
                            out[start + w] = _in_logarithms(x, z, s + 1, length, w, rate, band, logarithms)
            before, row = row, before
