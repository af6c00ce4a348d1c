"""Coordinate descent on the dual of a machine on features, dense or CSR, with shrinking.

The dual of  1/2 ||w||^2 + 1/2 (b/s)^2 + sum_i C_i L(y_i, <w, z_i> + b)  is, over multipliers beta,

    minimise  1/2 ||Z'beta||^2 + s^2/2 (sum beta)^2 + sum_i -p_i beta_i + e |beta_i| + r_i beta_i^2 / 2

in a box. w = Z'beta and b = s^2 sum beta are kept up to date, so that a step costs one row of Z.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import REASSOCIATE, compiled


@compiled(fastmath=REASSOCIATE, inner=True)
def _dense_dot(Z: np.ndarray, i: int, w: np.ndarray) -> float:
    total = 0.0
    for j in range(w.size):
        total += np.float64(Z[i, j]) * w[j]
    return total


@compiled(inner=True)
def _dense_add(Z: np.ndarray, i: int, step: float, w: np.ndarray) -> None:
    for j in range(w.size):
        w[j] += step * np.float64(Z[i, j])


@compiled(fastmath=REASSOCIATE, inner=True)
def _sparse_dot(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, i: int, w: np.ndarray) -> float:
    total = 0.0
    for t in range(indptr[i], indptr[i + 1]):
        total += np.float64(data[t]) * w[indices[t]]
    return total


@compiled(inner=True)
def _sparse_add(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, i: int, step: float, w: np.ndarray
) -> None:
    for t in range(indptr[i], indptr[i + 1]):
        w[indices[t]] += step * np.float64(data[t])


@compiled(inner=True)
def _shuffle(order: np.ndarray, active: int, state: np.ndarray) -> None:
    """Put the first entries into a new random order (xorshift)."""
    x = state[0]
    for k in range(active - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = np.int64(x % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]
    state[0] = x


@compiled(inner=True)
def _step(
    value: float, slope: float, q: float, e: float, r: float, lo: float, hi: float
) -> tuple[float, float, float]:
    """Return the best value of one multiplier, its violation, and how firmly a bound (or 0) holds it.

    ``slope`` is f - p at the point, ``q`` the squared length of its row, that of the bias included.
    """
    bent = q + r
    aim = q * value - slope
    if e > 0.0:
        aim = aim - e if aim > e else (aim + e if aim < -e else 0.0)
    if bent > 0.0:
        new = min(max(aim / bent, lo), hi)
    else:
        new = hi if aim > 0.0 else (lo if aim < 0.0 else min(max(0.0, lo), hi))
    right = slope + r * value + (e if value >= 0.0 else -e)  # derivatives to the right and to the left
    left = slope + r * value + (e if value > 0.0 else -e)
    violation, firm = 0.0, 0.0
    if right < 0.0 and value < hi:
        violation = -right
    elif left > 0.0 and value > lo:
        violation = left
    else:
        away = np.inf
        if value < hi:
            away = right
        if value > lo:
            away = min(away, -left)
        firm = away
    return new, violation, firm


@compiled
def sweep_dense(
    Z: np.ndarray,
    squares: np.ndarray,
    p: np.ndarray,
    e: float,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    beta: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray,
    square_scale: float,
    order: np.ndarray,
    active: int,
    limit: float,
    state: np.ndarray,
) -> tuple[int, float, float]:
    """Go once through the active multipliers.

    Returns how many stay active, the largest violation, and a lower bound on the growth of the dual.

    Parameters
    ----------
    Z, squares
        Rows, and their squared lengths.
    p, e, r, lo, hi
        The dual.
    beta, w, bias
        Multipliers, Z'beta, and [b]; updated in place.
    square_scale : float
        s^2; 0 without a bias.
    order, active
        The first ``active`` entries of ``order`` are the multipliers in play; the others are left alone.
    limit : float
        A multiplier that a bound holds more firmly than this leaves play.
    state : (1,) uint64
        Of the random order.
    """
    _shuffle(order, active, state)
    worst, growth, k = 0.0, 0.0, 0
    while k < active:
        i = order[k]
        slope = _dense_dot(Z, i, w) + bias[0] - p[i]
        new, violation, firm = _step(beta[i], slope, squares[i] + square_scale, e, r[i], lo[i], hi[i])
        if firm > limit:
            active -= 1
            order[k], order[active] = order[active], order[k]
            continue
        worst = max(worst, violation)
        step = new - beta[i]
        if step != 0.0:
            beta[i] = new
            growth += 0.5 * (squares[i] + square_scale + r[i]) * step * step
            _dense_add(Z, i, step, w)
            bias[0] += square_scale * step
        k += 1
    return active, worst, growth


@compiled
def sweep_sparse(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    squares: np.ndarray,
    p: np.ndarray,
    e: float,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    beta: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray,
    square_scale: float,
    order: np.ndarray,
    active: int,
    limit: float,
    state: np.ndarray,
) -> tuple[int, float, float]:
    """Do what ``sweep_dense`` does, on the rows of a CSR matrix."""
    _shuffle(order, active, state)
    worst, growth, k = 0.0, 0.0, 0
    while k < active:
        i = order[k]
        slope = _sparse_dot(indptr, indices, data, i, w) + bias[0] - p[i]
        new, violation, firm = _step(beta[i], slope, squares[i] + square_scale, e, r[i], lo[i], hi[i])
        if firm > limit:
            active -= 1
            order[k], order[active] = order[active], order[k]
            continue
        worst = max(worst, violation)
        step = new - beta[i]
        if step != 0.0:
            beta[i] = new
            growth += 0.5 * (squares[i] + square_scale + r[i]) * step * step
            _sparse_add(indptr, indices, data, i, step, w)
            bias[0] += square_scale * step
        k += 1
    return active, worst, growth
