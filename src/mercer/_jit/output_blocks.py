"""Steps on the multipliers of outputs, a row at a time: the dual of structured machines."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled(inner=True)
def _score(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, losses: np.ndarray, w: np.ndarray, k: int
) -> float:
    """Return the loss of an output, less the margin that the true one has over it."""
    total = 0.0
    for t in range(indptr[k], indptr[k + 1]):
        total -= data[t] * w[indices[t]]
    return total + losses[k]  # type: ignore[no-any-return]


@compiled(inner=True)
def _move(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, w: np.ndarray, k: int, step: float
) -> None:
    """Add a multiple of an output's difference of features to the weights."""
    for t in range(indptr[k], indptr[k + 1]):
        w[indices[t]] += step * data[t]


@compiled(inner=True)
def _product(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, scratch: np.ndarray, a: int, b: int
) -> float:
    """Return the inner product of two outputs' differences of features; ``scratch`` is zero, and stays so."""
    for t in range(indptr[a], indptr[a + 1]):
        scratch[indices[t]] = data[t]
    total = 0.0
    for t in range(indptr[b], indptr[b + 1]):
        total += data[t] * scratch[indices[t]]
    for t in range(indptr[a], indptr[a + 1]):
        scratch[indices[t]] = 0.0
    return total


@compiled
def pairwise(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    losses: np.ndarray,
    squares: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    prices: np.ndarray,
    rows: np.ndarray,
    steps: int,
    alpha: np.ndarray,
    w: np.ndarray,
    scratch: np.ndarray,
    scores: np.ndarray,
    gaps: np.ndarray,
) -> None:
    """Move multipliers of rows from their worst outputs to their best, each step to its best length.

    Parameters
    ----------
    indptr, indices, data
        The differences of features.
    losses, squares : (m,) float64
        Losses, and squared lengths of the differences.
    starts, members : (n + 1,), (m,) int64
        Where the outputs of each row begin, and their numbers.
    prices : (n,) float64
        What the multipliers of a row may sum to; what they lack is that of the true output.
    rows : (r,) intp
        Which rows to visit, in this order.
    steps : int
        Most steps on a row.
    alpha, w : float64
        Changed: multipliers and weights.
    scratch, scores : (width,), (m,) float64
        To work with; the first is zero, and stays so.
    gaps : (n,) float64
        Written: the gap of each row as it was visited, over these outputs alone.
    """
    for i in rows:
        first, last = starts[i], starts[i + 1]
        gaps[i] = 0.0
        if first == last:
            continue
        sums, mean, top = 0.0, 0.0, 0.0
        for j in range(first, last):
            k = members[j]
            scores[j] = _score(indptr, indices, data, losses, w, k)
            sums += alpha[k]
            mean += alpha[k] * scores[j]
            top = max(top, scores[j])
        gaps[i] = prices[i] * top - mean
        for step in range(steps):
            # The true output, number -1, has score zero and what is left of the price.
            best, worst = -1, -1
            high, low = 0.0, 0.0 if sums < prices[i] else np.inf
            for j in range(first, last):
                k = members[j]
                if step > 0:
                    scores[j] = _score(indptr, indices, data, losses, w, k)
                if scores[j] > high:
                    best, high = k, scores[j]
                if alpha[k] > 0.0 and scores[j] < low:
                    worst, low = k, scores[j]
            if low == np.inf or high - low <= 1e-12 * (abs(high) + abs(low)):
                break
            curvature = 0.0
            if best >= 0:
                curvature += squares[best]
            if worst >= 0:
                curvature += squares[worst]
                if best >= 0:
                    curvature -= 2.0 * _product(indptr, indices, data, scratch, best, worst)
            room = alpha[worst] if worst >= 0 else prices[i] - sums
            size = room
            if curvature > 0.0:
                size = min(room, (high - low) / curvature)
            if size <= 0.0:
                break
            if best >= 0:
                alpha[best] += size
                sums += size
                _move(indptr, indices, data, w, best, size)
            if worst >= 0:
                alpha[worst] = 0.0 if size >= room else alpha[worst] - size
                sums -= size
                _move(indptr, indices, data, w, worst, -size)
            sums = min(sums, prices[i])


@compiled
def toward(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    losses: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    prices: np.ndarray,
    rows: np.ndarray,
    corners: np.ndarray,
    alpha: np.ndarray,
    w: np.ndarray,
    scratch: np.ndarray,
    marked: np.ndarray,
) -> float:
    """Move the multipliers of rows towards a corner of their simplex, each step to its best length.

    Parameters
    ----------
    indptr, indices, data, losses, starts, members, prices, rows, alpha, w, scratch
        As in ``pairwise``.
    corners : (r,) int64
        The output of each of the rows that is to have all of the price; -1 for the true one.
    marked : (width,) bool
        To work with; false, and stays so.

    Returns
    -------
    float
        The gap of the rows as they were visited, towards these corners.
    """
    gap = 0.0
    for r in range(rows.size):
        i, corner = rows[r], corners[r]
        slope, room = 0.0, 0
        for j in range(starts[i] - 1, starts[i + 1]):
            k = corner if j < starts[i] else members[j]
            room += indptr[k + 1] - indptr[k] if k >= 0 else 0
        touched, count = np.empty(room, dtype=np.int64), 0
        for j in range(starts[i] - 1, starts[i + 1]):
            k = corner if j < starts[i] else members[j]
            if k < 0:
                continue
            share = prices[i] if j < starts[i] else -alpha[k]
            if share == 0.0:
                continue
            slope += share * _score(indptr, indices, data, losses, w, k)
            for t in range(indptr[k], indptr[k + 1]):
                if not marked[indices[t]]:
                    marked[indices[t]] = True
                    touched[count] = indices[t]
                    count += 1
                scratch[indices[t]] += share * data[t]
        curvature = 0.0
        for t in range(count):
            curvature += scratch[touched[t]] ** 2
        size = 0.0
        if slope > 0.0:
            gap += slope
            size = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
        for t in range(count):
            w[touched[t]] += size * scratch[touched[t]]
            scratch[touched[t]] = 0.0
            marked[touched[t]] = False
        if size > 0.0:
            for j in range(starts[i], starts[i + 1]):
                alpha[members[j]] *= 1.0 - size
            if corner >= 0:
                alpha[corner] += size * prices[i]
    return gap
