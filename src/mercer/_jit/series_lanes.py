"""Several pairs of time series side by side, each in its own lane of the registers.

A data set is one array of points (n, channels) with the begin and the end of each series. Pairs are given by
two arrays of numbers of series. The recursions over two series wait for their own last step, so LANES pairs
are computed together. Their points lie in the order (channel, time, lane): whatever is done at all times and
in all lanes is one loop over neighbours in memory, which is what LLVM vectorises.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled

LANES = 8
# One point of each lane is compared with BLOCK times of the other series in one loop.
BLOCK = 8 * LANES


@compiled(inner=True)
def longest(begins: np.ndarray, ends: np.ndarray, which: np.ndarray) -> int:
    """Return the length of the longest of some series."""
    most = 0
    for p in range(which.size):
        most = max(most, ends[which[p]] - begins[which[p]])
    return most


@compiled(inner=True)
def room_for(length: int, channels: int) -> np.ndarray:
    """Return room for series of some length in all lanes, whole blocks."""
    blocks = (length * LANES + BLOCK - 1) // BLOCK
    return np.empty((channels, max(1, blocks) * BLOCK))


@compiled(inner=True)
def into_lanes(
    points: np.ndarray, begins: np.ndarray, ends: np.ndarray, which: np.ndarray, start: int, lanes: np.ndarray
) -> int:
    """Copy LANES series, or the last one again, to (channel, time and lane); return the longest length."""
    length = 0
    for w in range(LANES):
        i = which[min(start + w, which.size - 1)]
        n = ends[i] - begins[i]
        length = max(length, n)
        for c in range(points.shape[1]):
            for t in range(n):
                lanes[c, t * LANES + w] = points[begins[i] + t, c]
            last = points[ends[i] - 1, c] if n > 0 else 0.0
            for k in range(n * LANES + w, lanes.shape[1], LANES):
                lanes[c, k] = last  # what another series has left might be far away
    return length


@compiled(inner=True)
def repeated(lanes: np.ndarray, time: int, out: np.ndarray) -> None:
    """Fill ``out`` (channel, BLOCK) with the points of all lanes at one time, again and again."""
    for c in range(lanes.shape[0]):
        now = lanes[c, time * LANES : (time + 1) * LANES]
        for start in range(0, BLOCK, LANES):
            out[c, start : start + LANES] = now


@compiled(fastmath=CONTRACT, inner=True)
def squared_distances(x: np.ndarray, z: np.ndarray, low: int, high: int, out: np.ndarray) -> None:
    """Fill out[low:high] with squared distances of `repeated` points and those of the other series.

    ``low`` and ``high`` are places in ``z``; whole blocks that hold them are filled.
    """
    prefer_wide_vectors()
    for c in range(z.shape[0]):
        own = x[c]
        for start in range(low // BLOCK * BLOCK, high, BLOCK):
            others = z[c, start : start + BLOCK]
            sums = out[start : start + BLOCK]
            if c == 0:
                for k in range(others.size):
                    gap = own[k] - others[k]
                    sums[k] = gap * gap
            else:
                for k in range(others.size):
                    gap = own[k] - others[k]
                    sums[k] += gap * gap


@compiled(inner=True)
def farthest(x: np.ndarray, z: np.ndarray) -> float:
    """Return a bound on the squared distances of all points of two sets of series in lanes."""
    total = 0.0
    for c in range(x.shape[0]):
        gap = max(x[c].max() - z[c].min(), z[c].max() - x[c].min())
        total += gap * gap
    return total
