"""Sequential minimal optimisation on a small dense block.

    minimise 1/2 b'(K + diag(r)) b + p'b   subject to  lo <= b <= hi,  the sum over each group fixed

The gradient's negative ``v = -(K b + r b + p)`` is kept as two arrays: ``up`` holds v where b may grow and
-inf elsewhere, ``down`` holds v where b may shrink and +inf elsewhere. All loops over the block are then free
of branches. Maxima are taken by a halving tree, which vectorises where a running maximum does not.

Variables come in ``copies`` of the block's points (two for regression: one for each side of the tube); the
variable q of copy c is number c w + q.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled


@compiled(fastmath=CONTRACT, inner=True)
def _tree_max(s: np.ndarray, n: int) -> float:
    """Return max(s[:n]), destroying s."""
    prefer_wide_vectors()
    while n > 16:
        h = (n + 1) // 2
        for t in range(n - h):
            s[t] = max(s[t], s[t + h])
        n = h
    best = s[0]
    for t in range(1, n):
        best = max(best, s[t])
    return best  # type: ignore[no-any-return]


@compiled(fastmath=CONTRACT, inner=True)
def _tree_max_of(source: np.ndarray, start: int, n: int, s: np.ndarray) -> float:
    """Return max(source[start : start + n]); s is scratch."""
    prefer_wide_vectors()
    x = source[start : start + n]
    if n == 1:
        return x[0]  # type: ignore[no-any-return]
    h = (n + 1) // 2
    for t in range(n - h):
        s[t] = max(x[t], x[t + h])
    if n - h < h:
        s[h - 1] = x[h - 1]
    return _tree_max(s, h)  # type: ignore[no-any-return]


@compiled(inner=True)
def _find(s: np.ndarray, start: int, stop: int, value: float) -> int:
    """Return the first position of ``value``; whole chunks are counted, which vectorises, before a scan."""
    t = start
    while t + 128 < stop:
        hits = 0
        chunk = s[t : t + 128]
        for q in range(128):
            hits += chunk[q] == value
        if hits > 0:
            break
        t += 128
    while t < stop:
        if s[t] == value:
            return t
        t += 1
    return start


@compiled(fastmath=CONTRACT, inner=True)
def _copy(s: np.ndarray, start: int, stop: int, scratch: np.ndarray) -> None:
    prefer_wide_vectors()
    for t in range(stop - start):
        scratch[t] = s[start + t]


@compiled(fastmath=CONTRACT, inner=True)
def _negate(s: np.ndarray, start: int, stop: int, scratch: np.ndarray) -> None:
    prefer_wide_vectors()
    for t in range(stop - start):
        scratch[t] = -s[start + t]


@compiled(fastmath=CONTRACT, inner=True)
def _scores(
    row: np.ndarray,
    down: np.ndarray,
    curvature: np.ndarray,
    q0: int,
    start: int,
    m: int,
    top: float,
    unit: float,
    own: float,
    floor: float,
    score: np.ndarray,
) -> None:
    """Give score = ((top - down) / unit)^2 / (own + curvature - 2 row): the gain with each partner.

    In the precision of the block: it only ranks. The unit keeps the squares of tiny differences from
    vanishing.
    """
    prefer_wide_vectors()
    k = row[q0 : q0 + m]
    d = down[start : start + m]
    u = curvature[start : start + m]
    s = score[start : start + m]
    number = score.dtype.type
    inverse = 1.0 / unit
    self_curvature = number(own)
    least = number(floor)
    zero = number(0)
    for t in range(m):
        difference = max(number((top - d[t]) * inverse), zero)
        s[t] = difference * difference / max(self_curvature + u[t] - (k[t] + k[t]), least)


@compiled(fastmath=CONTRACT, inner=True)
def _shift(
    up: np.ndarray, down: np.ndarray, start: int, w: int, row_i: np.ndarray, row_j: np.ndarray, delta: float
) -> None:
    prefer_wide_vectors()
    u = up[start : start + w]
    d = down[start : start + w]
    for t in range(w):
        change = delta * (row_i[t] - row_j[t])
        u[t] -= change
        d[t] -= change


@compiled(fastmath=CONTRACT, inner=True)
def _shift_one(up: np.ndarray, down: np.ndarray, start: int, w: int, row: np.ndarray, delta: float) -> None:
    prefer_wide_vectors()
    u = up[start : start + w]
    d = down[start : start + w]
    for t in range(w):
        change = delta * row[t]
        u[t] -= change
        d[t] -= change


@compiled(inner=True)
def _place(
    t: int, value: float, b: np.ndarray, lo: np.ndarray, hi: np.ndarray, up: np.ndarray, down: np.ndarray
) -> None:
    up[t] = value if b[t] < hi[t] else -np.inf
    down[t] = value if b[t] > lo[t] else np.inf


@compiled(inner=True)
def _move(t: int, delta: float, b: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
    """b[t] += delta, landing on a bound exactly when within rounding of it."""
    value = b[t] + delta
    if value >= hi[t]:
        value = hi[t]
    elif value <= lo[t]:
        value = lo[t]
    b[t] = value


@compiled
def pairs(
    K: np.ndarray,
    b: np.ndarray,
    v: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    r: np.ndarray,
    curvature: np.ndarray,
    starts: np.ndarray,
    tol: float,
    max_steps: int,
    floor: float,
) -> tuple[int, float]:
    """Change two variables of one group at a time, chosen by the second-order rule, until no pair violates.

    Parameters
    ----------
    K : (w, w) float
        Block of kernel values.
    b, v, lo, hi, r : (copies w,) float64
        Variables, negative gradient (both updated in place), box, diagonal shift.
    curvature : (copies w,) float64
        K_ii + r_i.
    starts : (groups + 1,) int64
        Where the groups begin among the variables.
    tol : float
        Stop when the largest violation is at most this.
    max_steps : int
        Most steps in this call.
    floor : float
        Least curvature of a pair.

    Returns
    -------
    steps : int
        Steps taken.
    violation : float
        Largest violation of the block when it stopped.
    """
    w = K.shape[0]
    m = b.size
    copies = m // w
    up = np.empty(m)
    down = np.empty(m)
    for t in range(m):
        _place(t, v[t], b, lo, hi, up, down)
    scratch = np.empty(m)
    score = np.zeros(m, K.dtype)
    rank = np.empty(m, K.dtype)
    low_curvature = curvature.astype(K.dtype)
    groups = starts.size - 1
    unit = max(_largest(up, down, starts, scratch), 1e-300)
    steps = 0
    violation = np.inf
    while True:
        best_i = -1
        best_j = -1
        best_gain = rank.dtype.type(0)
        for g in range(groups):
            s, e = starts[g], starts[g + 1]
            if e == s:
                continue
            top = _tree_max_of(up, s, e - s, scratch)
            if top == -np.inf:
                continue
            i = _find(up, s, e, top)
            row = K[i % w]
            # A group is a run of variables, perhaps across copies: walk the copies' pieces.
            t = s
            while t < e:
                piece = min(e, (t // w + 1) * w) - t
                _scores(row, down, low_curvature, t % w, t, piece, top, unit, curvature[i], floor, score)
                t += piece
            gain = _tree_max_of(score, s, e - s, rank)
            if gain > best_gain:
                best_gain = gain
                best_i = i
                best_j = _find(score, s, e, gain)
        if best_i < 0:
            violation = _largest(up, down, starts, scratch)
            break
        i, j = best_i, best_j
        difference = up[i] - down[j]
        unit = max(difference, 1e-300)
        if difference <= tol:
            # The partner of largest gain need not be the worst violator: measure before stopping.
            violation = _largest(up, down, starts, scratch)
            if violation <= tol:
                break
        if steps >= max_steps:
            violation = _largest(up, down, starts, scratch)
            break
        row_i = K[i % w]
        row_j = K[j % w]
        quad = max(curvature[i] + curvature[j] - 2.0 * row_i[j % w], floor)
        delta = min(difference / quad, hi[i] - b[i], b[j] - lo[j])
        v_i = up[i]
        v_j = down[j]
        old_i, old_j = b[i], b[j]
        _move(i, delta, b, lo, hi)
        _move(j, -delta, b, lo, hi)
        if b[i] == old_i and b[j] == old_j:
            # The step is below rounding: nothing more can be gained here.
            violation = _largest(up, down, starts, scratch)
            break
        for c in range(copies):
            _shift(up, down, c * w, w, row_i, row_j, delta)
        change_i = delta * (row_i[i % w] - row_j[i % w])
        change_j = delta * (row_i[j % w] - row_j[j % w])
        _place(i, v_i - change_i - r[i] * delta, b, lo, hi, up, down)
        _place(j, v_j - change_j + r[j] * delta, b, lo, hi, up, down)
        steps += 1
    for t in range(m):
        if up[t] != -np.inf:
            v[t] = up[t]
        elif down[t] != np.inf:
            v[t] = down[t]
    return steps, violation


@compiled(inner=True)
def _largest(up: np.ndarray, down: np.ndarray, starts: np.ndarray, scratch: np.ndarray) -> float:
    worst = 0.0
    for g in range(starts.size - 1):
        s, e = starts[g], starts[g + 1]
        if e > s:
            top = _tree_max_of(up, s, e - s, scratch)
            _negate(down, s, e, scratch)
            bottom = -_tree_max(scratch, e - s)
            if top - bottom > worst:
                worst = top - bottom
    return worst


@compiled(fastmath=CONTRACT, inner=True)
def _single_scores(
    up: np.ndarray, down: np.ndarray, curvature: np.ndarray, floor: float, score: np.ndarray
) -> None:
    prefer_wide_vectors()
    for t in range(up.size):
        g = max(up[t], -down[t])
        g = max(g, 0.0)
        score[t] = g * g / max(curvature[t], floor)


@compiled
def singles(
    K: np.ndarray,
    b: np.ndarray,
    v: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    r: np.ndarray,
    curvature: np.ndarray,
    tol: float,
    max_steps: int,
    floor: float,
) -> tuple[int, float]:
    """Change one variable at a time, that of largest gain: without a bias there are no groups."""
    w = K.shape[0]
    m = b.size
    copies = m // w
    up = np.empty(m)
    down = np.empty(m)
    for t in range(m):
        _place(t, v[t], b, lo, hi, up, down)
    scratch = np.empty(m)
    score = np.empty(m)
    steps = 0
    violation = np.inf
    while True:
        _single_scores(up, down, curvature, floor, score)
        _copy(score, 0, m, scratch)
        gain = _tree_max(scratch, m)
        i = _find(score, 0, m, gain)
        value = up[i] if up[i] > 0 else down[i]
        if gain <= 0.0 or abs(value) <= tol or steps >= max_steps:
            _copy(up, 0, m, scratch)
            top = _tree_max(scratch, m)
            _negate(down, 0, m, scratch)
            violation = max(0.0, top, _tree_max(scratch, m))
            if violation <= tol or gain <= 0.0 or steps >= max_steps:
                break
        delta = value / max(curvature[i], floor)
        delta = min(max(delta, lo[i] - b[i]), hi[i] - b[i])
        old = b[i]
        _move(i, delta, b, lo, hi)
        if b[i] == old:
            violation = abs(value)
            break
        row = K[i % w]
        for c in range(copies):
            _shift_one(up, down, c * w, w, row, delta)
        _place(i, value - delta * (row[i % w] + r[i]), b, lo, hi, up, down)
        steps += 1
    for t in range(m):
        if up[t] != -np.inf:
            v[t] = up[t]
        elif down[t] != np.inf:
            v[t] = down[t]
    return steps, violation
