"""Signatures of piecewise-linear paths: their entries, and inner products of two without the entries.

A data set is one array of points (n, channels) with the begin and the end of each path.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import CONTRACT, compiled


@compiled(fastmath=CONTRACT)
def signatures(points: np.ndarray, begins: np.ndarray, ends: np.ndarray, level: int, out: np.ndarray) -> None:
    """Fill ``out[i]`` with 1 and the iterated integrals of path i up to a level, words in order of numbers.

    A straight piece with increment v multiplies the signature by 1 + v + v v / 2 + v v v / 6 + ...; the terms
    of each level are summed by Horner's rule, from the last level to the first.
    """
    d = points.shape[1]
    offsets = np.zeros(level + 2, dtype=np.int64)
    width = 1
    for k in range(level + 1):
        offsets[k + 1] = offsets[k] + width
        width *= d
    widest = width // d if level > 0 else 1  # d^level
    step = np.empty(d)
    part, more = np.empty(widest), np.empty(widest)
    for i in range(begins.size):
        row = out[i]
        row[:] = 0.0
        row[0] = 1.0
        for t in range(begins[i] + 1, ends[i]):
            for c in range(d):
                step[c] = points[t, c] - points[t - 1, c]
            for k in range(level, 0, -1):
                for c in range(d):
                    part[c] = step[c] / k
                size = d
                for lower in range(1, k):
                    factor = 1.0 / (k - lower)
                    for a in range(size):
                        value = factor * (row[offsets[lower] + a] + part[a])
                        for c in range(d):
                            more[a * d + c] = value * step[c]
                    size *= d
                    part, more = more, part
                for a in range(size):
                    row[offsets[k] + a] += part[a]


@compiled(fastmath=CONTRACT)
def signature_products(
    points: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    other: np.ndarray,
    other_begins: np.ndarray,
    other_ends: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    level: int,
    out: np.ndarray,
) -> None:
    """Fill ``out[p]`` with the inner product of the truncated signatures of two paths.

    It sums, over sequences of pieces of both paths that never go back, the products of the increments' inner
    products, divided by the factorials of how often each piece is repeated. ``cell[l, p, q]`` sums those of l
    pieces that end here, p times here in the one path and q times in the other. They go on from all that
    ended before (``before``), in this row (``rows``), in this column (``columns``) or here.
    """
    d = points.shape[1]
    most = 0
    for p in range(second.size):
        most = max(most, other_ends[second[p]] - other_begins[second[p]])
    cell = np.zeros((level + 1, level + 1, level + 1))
    before, rows = np.zeros(level + 1), np.zeros((level + 1, level + 1))
    columns = np.zeros((max(1, most), level + 1, level + 1))
    step, steps = np.empty(d), np.empty((max(1, most), d))
    for pair in range(first.size):
        i, j = first[pair], second[pair]
        n, m = ends[i] - begins[i] - 1, other_ends[j] - other_begins[j] - 1
        total = 1.0
        for t in range(m):
            columns[t] = 0.0
            for c in range(d):
                steps[t, c] = other[other_begins[j] + t + 1, c] - other[other_begins[j] + t, c]
        for s in range(n):
            for c in range(d):
                step[c] = points[begins[i] + s + 1, c] - points[begins[i] + s, c]
            before[:] = 0.0
            rows[:] = 0.0
            for t in range(m):
                product = 0.0
                for c in range(d):
                    product += step[c] * steps[t, c]
                column = columns[t]
                cell[1, 1, 1] = product
                for k in range(2, level + 1):
                    cell[k, 1, 1] = product * before[k - 1]
                    for p in range(2, k + 1):
                        cell[k, p, 1] = product / p * rows[k - 1, p - 1]
                        cell[k, 1, p] = product / p * column[k - 1, p - 1]
                        for q in range(2, k + 1):
                            cell[k, p, q] = product / (p * q) * cell[k - 1, p - 1, q - 1]
                for k in range(1, level + 1):
                    for q in range(1, k + 1):
                        before[k] += column[k, q]
                    for p in range(1, k + 1):
                        for q in range(1, k + 1):
                            value = cell[k, p, q]
                            total += value
                            rows[k, p] += value
                            column[k, q] += value
        out[pair] = total
