"""The best alignment of two time series: a recursion over both, for several pairs of series side by side."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.series_lanes import (
    BLOCK,
    LANES,
    into_lanes,
    longest,
    repeated,
    room_for,
    squared_distances,
)


@compiled(fastmath=CONTRACT, inner=True)
def _next_row(near: np.ndarray, before: np.ndarray, row: np.ndarray) -> None:
    """Fill a row of least costs from the second time on; its first time is given, and the row before it."""
    prefer_wide_vectors()
    for k in range(near.size):
        least = before[k] if before[k] < before[k + LANES] else before[k + LANES]
        row[k + LANES] = near[k] + (least if least < row[k] else row[k])


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
    x = room_for(longest(begins, ends, first), channels)
    z = room_for(longest(other_begins, other_ends, second), channels)
    now, near = np.empty((channels, BLOCK)), np.empty(z.shape[1])
    # Costs up to time t are at t + 1; what is outside of the window reads as infinite.
    before, row = np.empty(z.shape[1] + LANES), np.empty(z.shape[1] + LANES)
    lowest, highest = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.int64)
    for start in range(0, first.size, LANES):
        inside = min(LANES, first.size - start)
        n = into_lanes(points, begins, ends, first, start, x)
        m = into_lanes(other, other_begins, other_ends, second, start, z)
        before[:] = np.inf
        before[:LANES] = 0.0
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
            a, b = low * LANES, high * LANES
            repeated(x, s, now)
            squared_distances(now, z, a, b, near)
            if window >= 0:
                for w in range(LANES):
                    for t in range(low, min(high, s + lowest[w])):
                        near[t * LANES + w] = np.inf
                    for t in range(max(low, s + highest[w] + 1), high):
                        near[t * LANES + w] = np.inf
            row[a : a + LANES] = np.inf
            row[b + LANES : b + 2 * LANES] = np.inf
            _next_row(near[a:b], before[a : b + LANES], row[a : b + LANES])
            for w in range(inside):
                if s == ends[first[start + w]] - begins[first[start + w]] - 1:
                    j = second[start + w]
                    length = other_ends[j] - other_begins[j]
                    if length > 0:
                        out[start + w] = row[length * LANES + w]
            before, row = row, before
