"""What the walk along a path is made of: its ground and state, and the moves of single variables.

See :mod:`mercer._jit.path_walk` for the problem.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.free_factor import append, backward, delete, schur

# Typed, because numba would compile everything once more for each literal.
ENTER: Any = np.int64(0)  # what happens at a knot
LEAVE: Any = np.int64(1)
EXCHANGE: Any = np.int64(2)
NOBODY: Any = np.int64(-1)
FIRST: Any = np.int64(0)
EPS = 2.2e-16
RANK = 1e-13  # share of a diagonal entry below which what is left of it is rounding


class Ground(NamedTuple):
    """What does not change along the path."""

    K: np.ndarray
    rests: np.ndarray
    slopes: np.ndarray
    bias: bool
    level: float
    tilt: float
    kappa: float
    largest: float  # diagonal entry before centring: the entries' rounding is EPS of it


class Walker(NamedTuple):
    """Where the walk stands.

    ``scalars`` are t, the bias, and the size of the sums at the last fresh product; ``counts`` are members,
    idle events, events since the last fresh product, and whether a has jumped since the last knot.
    """

    a: np.ndarray
    base: np.ndarray
    state: np.ndarray
    members: np.ndarray
    R: np.ndarray
    scalars: np.ndarray
    counts: np.ndarray


class Log(NamedTuple):
    """Knots and events; ``filled`` says how many of each."""

    knot_t: np.ndarray
    knot_a: np.ndarray
    knot_base: np.ndarray
    event_t: np.ndarray
    event: np.ndarray
    filled: np.ndarray


@compiled(fastmath=CONTRACT, inner=True)
def add_rows(K: np.ndarray, rows: np.ndarray, m: int, coef: np.ndarray, out: np.ndarray) -> None:
    """Out += sum_e coef[e] K[rows[e]]."""
    prefer_wide_vectors()
    n = out.size
    e = 0
    while e + 4 <= m:
        w0, w1, w2, w3 = coef[e], coef[e + 1], coef[e + 2], coef[e + 3]
        r0, r1, r2, r3 = K[rows[e]], K[rows[e + 1]], K[rows[e + 2]], K[rows[e + 3]]
        for j in range(n):
            out[j] += (w0 * r0[j] + w1 * r1[j]) + (w2 * r2[j] + w3 * r3[j])
        e += 4
    while e < m:
        w0 = coef[e]
        r0 = K[rows[e]]
        for j in range(n):
            out[j] += w0 * r0[j]
        e += 1


@compiled(inner=True)
def write_event(log: Log, t: float, kind: int, i: int) -> None:
    k = log.filled[1]
    if k < log.event_t.size:
        log.event_t[k] = t
        log.event[k, 0], log.event[k, 1] = kind, i
        log.filled[1] = k + 1


@compiled(inner=True)
def write_knot(g: Ground, log: Log, w: Walker) -> None:
    k = log.filled[0]
    log.knot_t[k] = w.scalars[0]
    for i in range(w.a.size):
        log.knot_a[k, i], log.knot_base[k, i] = w.a[i], w.base[i]
    for e in range(w.counts[0]):  # what rounding puts beyond the end of a piece would seem to be on another
        i = w.members[e]
        j = w.state[i] // 2
        log.knot_a[k, i] = min(max(w.a[i], g.rests[i, j]), g.rests[i, j + 1])
    log.filled[0] = k + 1
    w.counts[3] = 0


@compiled
def refresh(g: Ground, w: Walker) -> None:
    """Recompute K a from nothing but a."""
    n = w.a.size
    rows, coef, m = np.empty(n, dtype=np.int64), np.empty(n), FIRST
    for i in range(n):
        w.base[i] = 0.0
        if w.a[i] != 0.0:
            rows[m], coef[m] = i, w.a[i]
            m += 1
    add_rows(g.K, rows, m, coef, w.base)
    w.counts[2] = 0
    w.scalars[2] = 0.0


@compiled(inner=True)
def leave(g: Ground, w: Walker, k: int, upper: bool) -> None:
    """Put member k to rest at the upper or lower end of its piece."""
    i, m = w.members[k], w.counts[0]
    piece = w.state[i] // 2
    j = piece + 1 if upper else piece
    change = g.rests[i, j] - w.a[i]
    w.a[i] = g.rests[i, j]
    if change != 0.0:
        row = g.K[i]
        for q in range(w.base.size):
            w.base[q] += change * row[q]
    w.state[i] = 2 * j
    delete(w.R, m, k)
    for e in range(k, m - 1):
        w.members[e] = w.members[e + 1]
    w.counts[0] = m - 1


@compiled
def enter(
    g: Ground, w: Walker, log: Log, i: int, piece: int, sign: float, x: np.ndarray, z: np.ndarray
) -> None:
    """Make variable i a member of the elbow, going up (sign 1) or down (-1) along its piece.

    Where the elbow's system would become singular there is a direction in which nothing but a changes: follow
    it until a member, or i itself, comes to rest. That is an exchange.
    """
    while True:
        m = w.counts[0]
        for e in range(m):
            x[e] = g.K[w.members[e], i] + g.kappa
        corner = g.K[i, i] + g.kappa
        left = schur(w.R, m, x, corner)
        if left > RANK * corner + 8.0 * EPS * g.largest:
            append(w.R, m, x, left)
            w.members[m] = i
            w.counts[0] = m + 1
            w.state[i] = 2 * piece + 1
            return
        write_event(log, w.scalars[0], EXCHANGE, i)
        w.counts[3] = 1
        backward(w.R, m, x)
        largest = 1.0
        for e in range(m):
            x[e] = -sign * x[e]
            largest = max(largest, abs(x[e]))
        step = g.rests[i, piece + 1] - w.a[i] if sign > 0 else w.a[i] - g.rests[i, piece]
        step = max(step, 0.0)
        blocker, upper = NOBODY, sign > 0
        for e in range(m):
            q = w.members[e]
            j = w.state[q] // 2
            if x[e] > 1e-8 * largest:
                room = max(0.0, (g.rests[q, j + 1] - w.a[q]) / x[e])
                if room < step:
                    step, blocker, upper = room, e, True
            elif x[e] < -1e-8 * largest:
                room = max(0.0, (w.a[q] - g.rests[q, j]) / -x[e])
                if room < step:
                    step, blocker, upper = room, e, False
        row = g.K[i]
        for q in range(z.size):
            z[q] = sign * row[q]
        add_rows(g.K, w.members, m, x, z)
        for q in range(z.size):
            w.base[q] += step * z[q]
        for e in range(m):
            w.a[w.members[e]] += step * x[e]
        w.a[i] += sign * step
        if blocker < 0:
            j = piece + 1 if upper else piece
            w.a[i] = g.rests[i, j]
            w.state[i] = 2 * j
            return
        leave(g, w, blocker, upper)
