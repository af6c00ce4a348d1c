"""Many small problems over parts of one kernel matrix, one after the other without leaving compiled code."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled
from mercer._jit.smo import pairs


@compiled
def pairs_of_many(
    K: np.ndarray,
    rows: np.ndarray,
    ends: np.ndarray,
    p: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    tol: float,
    max_steps: int,
    floor: float,
    b: np.ndarray,
    f: np.ndarray,
    steps: np.ndarray,
) -> None:
    """Minimise 1/2 b'K b + p'b with lo <= b <= hi and sum 0, for each of many runs of variables.

    Parameters
    ----------
    K : (n, n) float64
        The whole matrix.
    rows : (m,) int64
        The point of each variable.
    ends : (problems + 1,) int64
        Where the runs begin and end.
    p, lo, hi : (m,) float64
        Linear term and box; 0 is inside.
    tol, max_steps, floor
        As for `pairs`.
    b, f : (m,) float64
        Written: the variables and K b of their own run, summed afresh.
    steps : (problems,) int64
        Written: steps taken.
    """
    for t in range(ends.size - 1):
        s, m = ends[t], ends[t + 1] - ends[t]
        block = np.empty((m, m))
        for i in range(m):
            for j in range(m):
                block[i, j] = K[rows[s + i], rows[s + j]]
        v, curvature = np.empty(m), np.empty(m)
        for i in range(m):
            v[i] = -p[s + i]
            curvature[i] = block[i, i]
        x = np.zeros(m)
        low, high = lo[s : s + m].copy(), hi[s : s + m].copy()
        starts = np.array([0, m])
        steps[t], _ = pairs(block, x, v, low, high, np.zeros(m), curvature, starts, tol, max_steps, floor)
        roomiest, most, total = 0, -1.0, 0.0
        for i in range(m):
            total += x[i]
            room = min(x[i] - low[i], high[i] - x[i])
            if room > most:
                roomiest, most = i, room
        if abs(total) < most:  # the rounding that many steps leave in the sum
            x[roomiest] -= total
        for i in range(m):
            value = 0.0
            for j in range(m):
                value += block[i, j] * x[j]
            b[s + i] = x[i]
            f[s + i] = value
