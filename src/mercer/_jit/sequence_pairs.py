"""Kernels between two sequences of codes: a loop over pairs of sequences around one recursion each."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import CONTRACT, compiled

LANES = 16  # pairs of sequences that are computed side by side: four registers of AVX2, two of AVX-512


@compiled(inner=True)
def _longest(starts: np.ndarray) -> int:
    """Return the length of the longest sequence."""
    longest = 0
    for j in range(starts.size - 1):
        longest = max(longest, starts[j + 1] - starts[j])
    return longest


@compiled(fastmath=CONTRACT)
def subsequences(
    codes: np.ndarray,
    starts: np.ndarray,
    other: np.ndarray,
    other_starts: np.ndarray,
    order: np.ndarray,
    other_order: np.ndarray,
    length: int,
    decay: float,
    exactly: bool,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with gap-weighted counts of common subsequences of up to (or exactly) some length.

    One sequence meets LANES others at a time, a number of each in one register. ``order`` and ``other_order``
    say in which order the sequences come (with ``symmetric`` the same): others of like lengths side by side.
    """
    m = _longest(other_starts)
    lanes = np.empty((m, LANES), dtype=np.int64)
    # ending[l, t + 1]: weighted matches of l symbols inside what was read of the one and the first t + 1
    # symbols of the other; the empty match, l = 0, is everywhere. run: what the symbol at hand adds.
    ending = np.empty((length + 1, m + 1, LANES))
    ending[0] = 1.0
    run = np.empty(LANES)
    total = np.empty(LANES)
    square = decay * decay
    for block in range(0, other_order.size, LANES):
        inside = min(LANES, other_order.size - block)
        width = 0
        for w in range(inside):
            j = other_order[block + w]
            width = max(width, other_starts[j + 1] - other_starts[j])
        lanes[:width] = -1  # no symbol: what is shorter than the longest matches nothing there
        for w in range(inside):
            j = other_order[block + w]
            for t in range(other_starts[j + 1] - other_starts[j]):
                lanes[t, w] = other[other_starts[j] + t]
        for a in range(min(order.size, block + inside) if symmetric else order.size):
            i = order[a]
            ending[1:, : width + 1] = 0.0
            total[:] = 0.0
            for s in range(starts[i], starts[i + 1]):
                symbol = codes[s]
                for layer in range(length, 0, -1):  # from the top: the layer below is still that of s - 1
                    counts = layer == length or not exactly
                    run[:] = 0.0
                    for t in range(width):
                        for w in range(LANES):
                            new = square * ending[layer - 1, t, w] if lanes[t, w] == symbol else 0.0
                            run[w] = decay * run[w] + new
                            ending[layer, t + 1, w] = decay * ending[layer, t + 1, w] + run[w]
                            if counts:
                                total[w] += new
            for w in range(inside):
                j = other_order[block + w]
                out[i, j] = total[w]
                if symmetric:
                    out[j, i] = total[w]


@compiled
def weighted_degree(
    rows: np.ndarray,
    others: np.ndarray,
    cumulative: np.ndarray,
    shifts: np.ndarray,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with sums over runs of equal symbols at equal (or shifted) places.

    ``rows`` and ``others`` are (n, L) codes; ``cumulative[r]`` is what all blocks inside a run of r symbols
    weigh; ``shifts[s]`` is the weight of a shift by s.
    """
    length = rows.shape[1]
    for i in range(rows.shape[0]):
        for j in range(i if symmetric else 0, others.shape[0]):
            total = 0.0
            for s in range(shifts.size):
                for side in range(2):
                    if s == 0 and side == 1:
                        break
                    first = s if side == 0 else 0
                    second = 0 if side == 0 else s
                    run = 0
                    part = 0.0
                    for p in range(length - s):
                        if rows[i, first + p] == others[j, second + p]:
                            run += 1
                        else:
                            part += cumulative[run]
                            run = 0
                    total += shifts[s] * (part + cumulative[run])
            out[i, j] = total
            if symmetric:
                out[j, i] = total


@compiled
def local_alignments(
    codes: np.ndarray,
    starts: np.ndarray,
    other: np.ndarray,
    other_starts: np.ndarray,
    scores: np.ndarray,
    opening: float,
    extending: float,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with sums of exp(beta score) over local alignments; scores and gaps come exponentiated."""
    width = _longest(other_starts) + 1
    match, new_match = np.empty(width), np.empty(width)
    gap_x, new_gap_x = np.empty(width), np.empty(width)
    gap_y, new_gap_y = np.empty(width), np.empty(width)
    for i in range(starts.size - 1):
        for j in range(i if symmetric else 0, other_starts.size - 1):
            m = other_starts[j + 1] - other_starts[j]
            match[: m + 1] = 0.0
            gap_x[: m + 1] = 0.0
            gap_y[: m + 1] = 0.0
            total = 1.0
            for s in range(starts[i], starts[i + 1]):
                new_match[0] = 0.0
                new_gap_x[0] = 0.0
                new_gap_y[0] = 0.0
                row = scores[codes[s]]
                for t in range(1, m + 1):
                    value = row[other[other_starts[j] + t - 1]] * (
                        1.0 + match[t - 1] + gap_x[t - 1] + gap_y[t - 1]
                    )
                    new_match[t] = value
                    total += value
                    new_gap_x[t] = opening * match[t] + extending * gap_x[t]
                    new_gap_y[t] = (
                        opening * (new_match[t - 1] + new_gap_x[t - 1]) + extending * new_gap_y[t - 1]
                    )
                match, new_match = new_match, match
                gap_x, new_gap_x = new_gap_x, gap_x
                gap_y, new_gap_y = new_gap_y, gap_y
            out[i, j] = total
            if symmetric:
                out[j, i] = total


@compiled
def edit_distances(
    codes: np.ndarray,
    starts: np.ndarray,
    other: np.ndarray,
    other_starts: np.ndarray,
    indel: float,
    substitution: float,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with the least cost of insertions, deletions and substitutions between two sequences."""
    row = np.empty(_longest(other_starts) + 1)
    for i in range(starts.size - 1):
        for j in range(i if symmetric else 0, other_starts.size - 1):
            m = other_starts[j + 1] - other_starts[j]
            for t in range(m + 1):
                row[t] = t * indel
            for s in range(starts[i], starts[i + 1]):
                diagonal = row[0]
                row[0] += indel
                for t in range(1, m + 1):
                    change = diagonal
                    if codes[s] != other[other_starts[j] + t - 1]:
                        change += substitution
                    diagonal = row[t]
                    row[t] = min(change, min(diagonal, row[t - 1]) + indel)
            out[i, j] = row[m]
            if symmetric:
                out[j, i] = row[m]
