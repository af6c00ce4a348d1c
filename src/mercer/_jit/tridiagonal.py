"""Diagonals of many shifted inverses from one tridiagonal matrix."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled

STRIPE = 128  # rows whose running solutions for all shifts stay in cache


@compiled(fastmath=CONTRACT)
def add_squares(
    Qt: np.ndarray, ratio: np.ndarray, weight: np.ndarray, i0: int, i1: int, out: np.ndarray
) -> None:
    """out[a, i] += sum_j weight[a, j] z_j^2 with z_j = Qt[j, i] - ratio[a, j] z_(j-1), for i0 <= i < i1."""
    prefer_wide_vectors()
    n, shifts = Qt.shape[0], ratio.shape[0]
    z = np.zeros((shifts, STRIPE))
    for s in range(i0, i1, STRIPE):
        e = min(s + STRIPE, i1)
        z[:] = 0.0
        for j in range(n):
            q = Qt[j, s:e]
            for a in range(shifts):
                r, w = ratio[a, j], weight[a, j]
                za, total = z[a], out[a, s:e]
                for t in range(e - s):
                    v = q[t] - r * za[t]
                    za[t] = v
                    total[t] += w * v * v
