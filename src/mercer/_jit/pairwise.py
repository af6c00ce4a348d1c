"""Statistics of all pairs of rows that are no matrix product: sums over the features of g(x_j, z_j).

Every loop has the same shape. The second set comes transposed, so that the innermost loop runs along a row of
the result, which the compiler turns into vector instructions without being allowed to reorder sums: a value
does not depend on the block in which it was computed. Columns are taken in strips that stay in the cache.
"""

from __future__ import annotations

import math
from typing import Any

from mercer._jit.compiler import compiled

STRIP = 1024


@compiled
def l1(X: Any, Zt: Any, out: Any) -> None:
    """out[i, j] = sum_k |x_ik - z_jk|."""
    n, d = X.shape
    m = Zt.shape[1]
    for start in range(0, m, STRIP):
        stop = min(m, start + STRIP)
        for i in range(n):
            row = out[i, start:stop]
            row[:] = 0
            for k in range(d):
                x = X[i, k]
                z = Zt[k, start:stop]
                for j in range(stop - start):
                    row[j] += abs(x - z[j])


@compiled
def chi2(X: Any, Zt: Any, tiny: Any, out: Any) -> None:
    """out[i, j] = sum_k (x_ik - z_jk)^2 / (x_ik + z_jk), where 0/0 is 0.

    ``tiny`` is the smallest normal number of the data's type: added to the denominator it changes nothing
    but 0/0.
    """
    n, d = X.shape
    m = Zt.shape[1]
    for start in range(0, m, STRIP):
        stop = min(m, start + STRIP)
        for i in range(n):
            row = out[i, start:stop]
            row[:] = 0
            for k in range(d):
                x = X[i, k]
                z = Zt[k, start:stop]
                for j in range(stop - start):
                    difference = x - z[j]
                    row[j] += difference * (difference / (x + z[j] + tiny))


@compiled
def minimum(X: Any, Zt: Any, out: Any) -> None:
    """out[i, j] = sum_k min(x_ik, z_jk)."""
    n, d = X.shape
    m = Zt.shape[1]
    for start in range(0, m, STRIP):
        stop = min(m, start + STRIP)
        for i in range(n):
            row = out[i, start:stop]
            row[:] = 0
            for k in range(d):
                x = X[i, k]
                z = Zt[k, start:stop]
                for j in range(stop - start):
                    row[j] += x if x < z[j] else z[j]


@compiled
def gaussians(X: Any, Zt: Any, gamma: Any, out: Any) -> None:
    """out[i, j] = sum_k exp(-gamma (x_ik - z_jk)^2)."""
    n, d = X.shape
    m = Zt.shape[1]
    for start in range(0, m, STRIP):
        stop = min(m, start + STRIP)
        for i in range(n):
            row = out[i, start:stop]
            row[:] = 0
            for k in range(d):
                x = X[i, k]
                z = Zt[k, start:stop]
                for j in range(stop - start):
                    difference = x - z[j]
                    row[j] += math.exp(-gamma * (difference * difference))


@compiled
def cubic_splines(X: Any, Zt: Any, anchor: Any, out: Any) -> None:
    """out[i, j] = sum_k [1 + s t + m^2 (3 M - m) / 6], s = x_ik - anchor_k, t = z_jk - anchor_k.

    m and M are the smaller and the larger of |s| and |t| if s and t lie on the same side of 0, else m = 0.
    """
    n, d = X.shape
    m = Zt.shape[1]
    for start in range(0, m, STRIP):
        stop = min(m, start + STRIP)
        for i in range(n):
            row = out[i, start:stop]
            row[:] = 0
            for k in range(d):
                s = X[i, k] - anchor[k]
                z = Zt[k, start:stop]
                for j in range(stop - start):
                    t = z[j] - anchor[k]
                    a, b = abs(s), abs(t)
                    low = (a if a < b else b) if (s > 0) == (t > 0) else s - s
                    high = b if a < b else a
                    row[j] += 1 + s * t + low * low * (3 * high - low) / 6
