"""Products with rows of a kernel matrix that are kept in memory."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled

STRIPE = 4096  # the part of the result that stays in cache while rows stream past: 32 kB of float64


@compiled(fastmath=CONTRACT)
def fold_rows(
    store: np.ndarray, slots: np.ndarray, coef: np.ndarray, j0: int, j1: int, out: np.ndarray
) -> None:
    """out[j] += sum_i coef[i] store[slots[i], j] for j0 <= j < j1, summed in float64."""
    prefer_wide_vectors()
    for s in range(j0, j1, STRIPE):
        e = min(s + STRIPE, j1)
        o = out[s:e]
        i = 0
        while i + 4 <= slots.size:
            w0, w1, w2, w3 = coef[i], coef[i + 1], coef[i + 2], coef[i + 3]
            r0, r1 = store[slots[i], s:e], store[slots[i + 1], s:e]
            r2, r3 = store[slots[i + 2], s:e], store[slots[i + 3], s:e]
            for t in range(e - s):
                o[t] += (w0 * r0[t] + w1 * r1[t]) + (w2 * r2[t] + w3 * r3[t])
            i += 4
        while i < slots.size:
            w0 = coef[i]
            r0 = store[slots[i], s:e]
            for t in range(e - s):
                o[t] += w0 * r0[t]
            i += 1
