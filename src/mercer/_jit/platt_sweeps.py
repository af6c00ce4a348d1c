"""Sequential minimal optimisation with the two heuristics of its first publication.

    minimise 1/2 beta'K beta + 1/2 sum_t r_t b_t^2 + p'b   subject to  lo <= b <= hi,  the groups' sums fixed

Variables come in ``copies`` of the points; variable t belongs to point t modulo n. Where one point has two
variables of one group (regression), a pair of points is a choice between four pairs of variables, the
quadrants of their signs; only quadrants that contain the present values are looked at.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled

SIGNIFICANT = 1e-12  # relative size of a step that counts as progress


@compiled(fastmath=CONTRACT, inner=True)
def _add_rows(f: np.ndarray, row_i: np.ndarray, row_j: np.ndarray, step: float) -> None:
    prefer_wide_vectors()
    for q in range(f.size):
        f[q] += step * (row_i[q] - row_j[q])


@compiled(inner=True)
def _value(t: int, b: np.ndarray, f: np.ndarray, p: np.ndarray, r: np.ndarray) -> float:
    """Return minus the gradient: the errors E of the books, with the sign of the bias that mends them."""
    return -(f[t % f.size] + p[t] + r[t] * b[t])  # type: ignore[no-any-return]


@compiled(inner=True)
def _outside(t: int, b: np.ndarray, n: int, exclusive: bool) -> bool:
    """Return whether the variable is in a quadrant that does not contain the point's present value."""
    return exclusive and b[t] == 0.0 and b[(t + n) % b.size] != 0.0


@compiled(inner=True)
def _try(
    rows: np.ndarray,
    slot: np.ndarray,
    diag: np.ndarray,
    b: np.ndarray,
    f: np.ndarray,
    p: np.ndarray,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    group: np.ndarray,
    bias: np.ndarray,
    i: int,
    j: int,
    exclusive: bool,
    floor: float,
) -> int:
    """Optimise two points over the quadrants that contain them.

    Returns 1 if that was progress, 0 if not, and -1 if it would be and the row of j is not there.
    """
    if i == j:
        return 0
    n = f.size
    row = rows[slot[i]]
    copies = b.size // n
    best, best_s, best_t, best_step = 0.0, -1, -1, 0.0
    for c in range(copies):
        s = c * n + i
        if _outside(s, b, n, exclusive):
            continue
        v_s = _value(s, b, f, p, r)
        for d in range(copies):
            t = d * n + j
            if group[s] != group[t] or _outside(t, b, n, exclusive):
                continue
            slope = v_s - _value(t, b, f, p, r)
            kappa = max(diag[i] + diag[j] - 2.0 * row[j] + r[s] + r[t], floor)
            least = max(lo[s] - b[s], b[t] - hi[t])
            most = min(hi[s] - b[s], b[t] - lo[t])
            step = min(max(slope / kappa, least), most)
            gain = step * (slope - 0.5 * kappa * step)
            if gain > best:
                best, best_s, best_t, best_step = gain, s, t, step
    if best_s < 0:
        return 0
    s, t, step = best_s, best_t, best_step
    if abs(step) <= SIGNIFICANT * (abs(b[s]) + abs(b[t])):
        return 0
    if slot[j] < 0:
        return -1
    b[s] = min(max(b[s] + step, lo[s]), hi[s])
    b[t] = min(max(b[t] - step, lo[t]), hi[t])
    _add_rows(f, row, rows[slot[j]], step)
    v_s, v_t = _value(s, b, f, p, r), _value(t, b, f, p, r)
    if lo[s] < b[s] < hi[s]:
        bias[group[s]] = v_s
    elif lo[t] < b[t] < hi[t]:
        bias[group[s]] = v_t
    else:
        bias[group[s]] = 0.5 * (v_s + v_t)
    return 1


@compiled(inner=True)
def _next(state: int) -> int:
    """Return the next number of a linear congruential generator."""
    return (1103515245 * state + 12345) % 2147483648


@compiled(inner=True)
def _nonbound(i: int, b: np.ndarray, lo: np.ndarray, hi: np.ndarray, n: int) -> bool:
    for c in range(b.size // n):
        t = c * n + i
        if lo[t] < b[t] < hi[t]:
            return True
    return False


def sweep(
    K: np.ndarray,
    b: np.ndarray,
    f: np.ndarray,
    p: np.ndarray,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    group: np.ndarray,
    bias: np.ndarray,
    exclusive: bool,
    everything: bool,
    tol: float,
    floor: float,
    max_steps: int,
    state: int,
) -> tuple[int, int]:
    """Sweep with the whole kernel matrix in memory; see `sweep_rows` for the arguments."""
    every = np.arange(f.size)
    diag = np.ascontiguousarray(np.diagonal(K))
    clock, stamp = np.zeros(1, dtype=np.int64), np.zeros(f.size, dtype=np.int64)
    done, state, _, _ = sweep_rows(
        K, every, diag, clock, stamp, b, f, p, r, lo, hi, group, bias, exclusive, everything, tol, floor,
        max_steps, state, 0,
    )  # fmt: skip
    return done, state


@compiled
def sweep_rows(
    rows: np.ndarray,
    slot: np.ndarray,
    diag: np.ndarray,
    clock: np.ndarray,
    stamp: np.ndarray,
    b: np.ndarray,
    f: np.ndarray,
    p: np.ndarray,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    group: np.ndarray,
    bias: np.ndarray,
    exclusive: bool,
    everything: bool,
    tol: float,
    floor: float,
    max_steps: int,
    state: int,
    first: int,
) -> tuple[int, int, int, int]:
    """Examine all points from ``first`` on, or those strictly inside their box, until a row is missing.

    First heuristic: a point whose optimality condition is violated by more than ``tol`` under the present
    bias. Second: the point inside its box with the most different error; if that is no progress, every point
    inside its box from a random one on; then every point.

    Parameters
    ----------
    rows : (m, n) float64
        Rows of the kernel matrix that are there.
    slot : (n,) intp
        Where the row of each point is, -1 where it is not there.
    diag : (n,) float64
        The diagonal.
    clock, stamp : (1,), (m,) int64
        The number of the last use of any row, and of each: updated in place.
    b, f, bias : (copies n,), (n,), (groups,) float64
        Variables, K beta and the groups' multipliers, all updated in place.
    p, r, lo, hi, group : (copies n,)
        Linear term, shift, box, group of each variable.
    exclusive : bool
        Whether at most one variable of a point may differ from zero.
    everything : bool
        All points, or those inside their box.
    tol, floor : float
        Violation that counts; least curvature of a pair.
    max_steps, state : int
        Most steps; state of the generator of random places.
    first : int
        The point to begin with.

    Returns
    -------
    steps, state, place, missing : int
        Steps taken, the random state, and if a row is missing (else -1) that row and the point at which to
        go on once it is there.
    """
    n = f.size
    copies = b.size // n
    steps = 0
    for i in range(first, n):
        if steps >= max_steps:
            break
        if not everything and not _nonbound(i, b, lo, hi, n):
            continue
        worst, s = tol, -1
        for c in range(copies):
            t = c * n + i
            if _outside(t, b, n, exclusive):
                continue
            distance = _value(t, b, f, p, r) - bias[group[t]]
            size = distance if b[t] < hi[t] else 0.0
            if b[t] > lo[t]:
                size = max(size, -distance)
            if size > worst:
                worst, s = size, t
        if s < 0:
            continue
        if slot[i] < 0:
            return steps, state, i, i
        clock[0] += 1
        stamp[slot[i]] = clock[0]
        v_s = _value(s, b, f, p, r)
        far, j = 0.0, -1
        for t in range(b.size):
            if group[t] == group[s] and lo[t] < b[t] < hi[t]:
                size = abs(v_s - _value(t, b, f, p, r))
                if size > far:
                    far, j = size, t % n
        before, found = state, 0
        if j >= 0:
            found = _try(rows, slot, diag, b, f, p, r, lo, hi, group, bias, i, j, exclusive, floor)
        if found == 0:
            state = _next(state)
            for q in range(n):
                j = (state + q) % n
                if _nonbound(j, b, lo, hi, n):
                    found = _try(rows, slot, diag, b, f, p, r, lo, hi, group, bias, i, j, exclusive, floor)
                    if found != 0:
                        break
        if found == 0:
            state = _next(state)
            for q in range(n):
                j = (state + q) % n
                found = _try(rows, slot, diag, b, f, p, r, lo, hi, group, bias, i, j, exclusive, floor)
                if found != 0:
                    break
        if found < 0:
            return steps, before, i, j  # nothing has changed: the same choices lead here again
        if found > 0:
            clock[0] += 1
            stamp[slot[j]] = clock[0]
            steps += 1
    return steps, state, n, -1
