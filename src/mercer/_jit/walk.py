"""The walk along a path of solutions of a parametric quadratic problem.

    minimise    1/2 a'K a + sum_i phi_i(a_i; t)    subject to    sum a = level + tilt t

phi_i is convex and piecewise linear: between its resting points ``rests[i, j]`` and ``rests[i, j + 1]`` it
has the slope t ``slopes[i, j]``; outside the first and last it is infinite. As t falls, the solution is
piecewise linear in t. A variable is at rest (``state`` 2 j), free between two resting points (2 j + 1, a
member of the elbow) or does not take part (-1). At rest the marginal cost ``K a + t slope + bias`` is not
negative on the way up and not positive on the way down; at the elbow it is zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.elbow import append, backward, delete, schur, solve_with_sum

END, SLICE, GROW, STUCK, DRIFT = 0, 1, 2, 3, 4  # why a walk pauses
ENTER, LEAVE, EXCHANGE = 0, 1, 2  # what happens at a knot

RANK = 1e-13  # share of a diagonal entry below which what is left of it is rounding
EPS = 2.2e-16
SAME = 1e-13  # relative change of t that is none
NOISE = 1e-13  # relative size of a rate that is rounding
EXACT = 16.0  # residual at the elbow, in units of rounding, that needs no correction
WRONG = 256.0  # violation, in units of rounding, that is mended at once
LOST = 1e6  # residual, in units of rounding, that corrections must not leave
OUTSIDE = 1e-11  # share of a piece by which a member may be beyond its end
REFRESH = 64  # events between two fresh products K a
PATIENCE = 8  # events without progress after which the least index goes first


class Ground(NamedTuple):
    """What does not change along the path."""

    K: np.ndarray
    rests: np.ndarray
    slopes: np.ndarray
    bias: bool
    level: float
    tilt: float
    kappa: float
    floor: float  # what rounding leaves in a diagonal entry


class Walker(NamedTuple):
    """Where the walk stands.

    ``scalars`` are t and the bias; ``counts`` are members, idle events, events since the last fresh product,
    and whether a has jumped since the last knot.
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
def _add_rows(K: np.ndarray, rows: np.ndarray, m: int, coef: np.ndarray, out: np.ndarray) -> None:
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
def _write_event(log: Log, t: float, kind: int, i: int) -> None:
    k = log.filled[1]
    if k < log.event_t.size:
        log.event_t[k] = t
        log.event[k, 0], log.event[k, 1] = kind, i
        log.filled[1] = k + 1


@compiled(inner=True)
def _write_knot(g: Ground, log: Log, w: Walker) -> None:
    k = log.filled[0]
    log.knot_t[k] = w.scalars[0]
    log.knot_a[k] = w.a
    for e in range(w.counts[0]):  # what rounding puts beyond the end of a piece would seem to be on another
        i = w.members[e]
        j = w.state[i] // 2
        log.knot_a[k, i] = min(max(w.a[i], g.rests[i, j]), g.rests[i, j + 1])
    log.knot_base[k] = w.base
    log.filled[0] = k + 1
    w.counts[3] = 0


@compiled
def refresh(g: Ground, w: Walker) -> None:
    """Recompute K a from nothing but a."""
    rows = np.flatnonzero(w.a)
    w.base[:] = 0.0
    _add_rows(g.K, rows, rows.size, w.a[rows], w.base)
    w.counts[2] = 0


@compiled(inner=True)
def _leave(g: Ground, w: Walker, k: int, upper: bool) -> None:
    """Put member k to rest at the upper or lower end of its piece."""
    i, m = w.members[k], w.counts[0]
    piece = w.state[i] // 2
    j = piece + 1 if upper else piece
    change = g.rests[i, j] - w.a[i]
    w.a[i] = g.rests[i, j]
    if change != 0.0:
        w.base[:] += change * g.K[i]
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
        if left > RANK * corner + g.floor:
            append(w.R, m, x, left)
            w.members[m] = i
            w.counts[0] = m + 1
            w.state[i] = 2 * piece + 1
            return
        _write_event(log, w.scalars[0], EXCHANGE, i)
        w.counts[3] = 1
        backward(w.R, m, x)
        largest = 1.0
        for e in range(m):
            x[e] = -sign * x[e]
            largest = max(largest, abs(x[e]))
        step = g.rests[i, piece + 1] - w.a[i] if sign > 0 else w.a[i] - g.rests[i, piece]
        step = max(step, 0.0)
        blocker, upper = -1, sign > 0
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
        z[:] = 0.0
        _add_rows(g.K, w.members, m, x, z)
        z += sign * g.K[i]
        w.base[:] += step * z
        for e in range(m):
            w.a[w.members[e]] += step * x[e]
        w.a[i] += sign * step
        if blocker < 0:
            j = piece + 1 if upper else piece
            w.a[i] = g.rests[i, j]
            w.state[i] = 2 * j
            return
        _leave(g, w, blocker, upper)


@compiled(inner=True)
def _residual(g: Ground, w: Walker) -> float:
    """Return the largest marginal cost at the elbow, and how far the sum is off (in units of cost)."""
    t, bias = w.scalars[0], w.scalars[1]
    worst = 0.0
    for e in range(w.counts[0]):
        i = w.members[e]
        worst = max(worst, abs(w.base[i] + t * g.slopes[i, w.state[i] // 2] + bias))
    if g.bias:
        worst = max(worst, g.kappa * abs(w.a.sum() - g.level - g.tilt * t))
    return worst


@compiled(inner=True)
def _correct(g: Ground, w: Walker, x: np.ndarray, u: np.ndarray) -> None:
    """Take a Newton step that makes the marginal costs at the elbow zero and the sum right."""
    t, bias, m = w.scalars[0], w.scalars[1], w.counts[0]
    for e in range(m):
        i = w.members[e]
        x[e] = -(w.base[i] + t * g.slopes[i, w.state[i] // 2] + bias)
    total = g.level + g.tilt * t - w.a.sum() if g.bias else 0.0
    w.scalars[1] += solve_with_sum(w.R, m, g.bias, g.kappa, total, x, u)
    for e in range(m):
        w.a[w.members[e]] += x[e]
    _add_rows(g.K, w.members, m, x, w.base)


@compiled(inner=True)
def _pin(g: Ground, w: Walker) -> tuple[int, int, float]:
    """Without a member the bias is free within an interval: return who marks an end, and its way."""
    t = w.scalars[0]
    best_up, up, up_piece = -np.inf, -1, 0
    best_down, down, down_piece = np.inf, -1, 0
    for i in range(w.a.size):
        j = w.state[i] // 2
        if w.state[i] < 0:
            continue
        if j < g.slopes.shape[1]:
            v = -(w.base[i] + t * g.slopes[i, j])
            if v > best_up:
                best_up, up, up_piece = v, i, j
        if j > 0:
            v = -(w.base[i] + t * g.slopes[i, j - 1])
            if v < best_down:
                best_down, down, down_piece = v, i, j - 1
    if up < 0 or (g.tilt > 0 and down >= 0):
        w.scalars[1] = best_down
        return down, down_piece, -1.0
    w.scalars[1] = best_up
    return up, up_piece, 1.0


@compiled(inner=True)
def _scale(w: Walker, largest_K: float, largest_slope: float) -> float:
    """Return the size of the numbers whose sums are K a and the costs: their rounding is EPS of it."""
    largest, squares = max(abs(w.scalars[1]), abs(w.scalars[0]) * largest_slope), 0.0
    for i in range(w.base.size):
        largest = max(largest, abs(w.base[i]))
        squares += w.a[i] * w.a[i]
    return max(largest, largest_K * np.sqrt(squares))  # type: ignore[no-any-return]


@compiled
def walk(g: Ground, w: Walker, log: Log, t_end: float, x: np.ndarray, u: np.ndarray, rate: np.ndarray) -> int:
    """Go on until t_end, a full log, a full elbow, or trouble; return which."""
    n, pieces = w.a.size, g.slopes.shape[1]
    largest_K = 0.0
    for i in range(n):
        largest_K = max(largest_K, g.K[i, i])
    largest_slope = np.abs(g.slopes).max()
    while True:
        if log.filled[0] + 2 >= log.knot_t.size or log.filled[1] + 4 >= log.event_t.size:
            return SLICE
        if w.counts[0] + 1 >= w.R.shape[0]:
            return GROW
        if w.counts[1] > 200 + 2 * w.counts[0]:
            return STUCK
        if w.counts[2] >= REFRESH:
            refresh(g, w)
        w.counts[2] += 1
        if g.bias and w.counts[0] == 0:
            i, piece, sign = _pin(g, w)
            if i < 0:
                return STUCK
            _write_event(log, w.scalars[0], ENTER, i)
            enter(g, w, log, i, piece, sign, x, rate)
        scale = _scale(w, largest_K, largest_slope)
        wrong = WRONG * EPS * scale
        for attempt in range(3):
            worst = _residual(g, w)
            if worst <= EXACT * EPS * scale:
                break
            if attempt == 2 and worst > LOST * EPS * scale:
                return DRIFT
            if attempt < 2:
                _correct(g, w, x, u)

        # The direction in which the solution moves as t falls by one.
        t, bias, m = w.scalars[0], w.scalars[1], w.counts[0]
        for e in range(m):
            i = w.members[e]
            x[e] = g.slopes[i, w.state[i] // 2]
        drift_of_bias = solve_with_sum(w.R, m, g.bias, g.kappa, -g.tilt, x, u)
        rate[:] = 0.0
        _add_rows(g.K, w.members, m, x, rate)
        size = 0.0
        for e in range(m):
            size += abs(x[e])
        quiet = NOISE * max(size * largest_K + abs(drift_of_bias), scale / max(t - t_end, 1e-300))

        # The first event on the way: who, where to, after how long.
        step, who, where, kind = t - t_end, -1, 0, END
        idle = w.counts[1] > PATIENCE
        zero = SAME * max(abs(t), abs(t_end))
        ahead = t - t_end
        for e in range(m):
            i = w.members[e]
            j = w.state[i] // 2
            low, high = g.rests[i, j], g.rests[i, j + 1]
            wide = high - low
            room, target = np.inf, 0
            if w.a[i] > high + OUTSIDE * wide:
                room, target = 0.0, j + 1
            elif w.a[i] < low - OUTSIDE * wide:
                room, target = 0.0, j
            elif x[e] * ahead > NOISE * wide:
                room, target = max(0.0, (high - w.a[i]) / x[e]), j + 1
            elif x[e] * ahead < -NOISE * wide:
                room, target = max(0.0, (w.a[i] - low) / -x[e]), j
            if room < step or (idle and room <= zero and step <= zero and who >= 0 and i < who):
                step, who, where, kind = room, i, target, LEAVE
        for i in range(n):
            s = w.state[i]
            if s < 0 or s % 2 == 1:
                continue
            j = s // 2
            if j < pieces:
                cost = w.base[i] + t * g.slopes[i, j] + bias
                slope = rate[i] + drift_of_bias - g.slopes[i, j]
                if slope < -quiet or cost < -wrong:
                    room = max(0.0, cost / -slope) if slope < -quiet and cost > -wrong else 0.0
                    if room < step or (idle and room <= zero and step <= zero and who >= 0 and i < who):
                        step, who, where, kind = room, i, j, ENTER
            if j > 0:
                cost = w.base[i] + t * g.slopes[i, j - 1] + bias
                slope = rate[i] + drift_of_bias - g.slopes[i, j - 1]
                if slope > quiet or cost > wrong:
                    room = max(0.0, -cost / slope) if slope > quiet and cost < wrong else 0.0
                    if room < step or (idle and room <= zero and step <= zero and who >= 0 and i < who):
                        step, who, where, kind = room, i, j - 1, ENTER

        if step > zero:
            if w.counts[3] == 1:
                _write_knot(g, log, w)
            w.counts[1] = 0
        else:
            w.counts[1] += 1
        w.scalars[0] = t - step if who >= 0 else t_end
        w.scalars[1] = bias + step * drift_of_bias
        for e in range(m):
            w.a[w.members[e]] += step * x[e]
        if kind == LEAVE:
            w.a[who] = g.rests[who, where]  # to the last bit: what rests must not look free
        for i in range(n):
            w.base[i] += step * rate[i]
        if who < 0:  # the last piece may be long: its end is made as good as its beginning
            refresh(g, w)
            _correct(g, w, x, u)
            refresh(g, w)
        if step > zero:
            _write_knot(g, log, w)
        if who < 0:
            return END
        _write_event(log, w.scalars[0], kind, who)
        if kind == LEAVE:
            if step <= zero and log.filled[0] > 0 and w.counts[3] == 0:
                last = log.filled[0] - 1
                if log.knot_t[last] - t <= zero:
                    log.knot_a[last, who] = g.rests[who, where]
            place = 0
            while w.members[place] != who:
                place += 1
            _leave(g, w, place, where > w.state[who] // 2)
        else:
            enter(g, w, log, who, where, 1.0 if where == w.state[who] // 2 else -1.0, x, rate)
