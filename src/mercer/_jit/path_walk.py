"""The walk along a path of solutions of a parametric quadratic problem.

    minimise    1/2 a'K a + sum_i phi_i(a_i; t)    subject to    sum a = level + tilt t

phi_i is convex and piecewise linear: between its resting points ``rests[i, j]`` and ``rests[i, j + 1]`` it
has the slope t ``slopes[i, j]``; outside the first and last it is infinite. As t falls, the solution is
piecewise linear in t. A variable is at rest (``state`` 2 j), free between two resting points (2 j + 1, a
member of the elbow) or does not take part (-1). At rest the marginal cost ``K a + t slope + bias`` is not
negative on the way up and not positive on the way down; at the elbow it is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit.compiler import compiled
from mercer._jit.free_factor import solve_with_sum
from mercer._jit.path_pivots import (
    ENTER,
    EPS,
    FIRST,
    LEAVE,
    NOBODY,
    Ground,
    Log,
    Walker,
    add_rows,
    enter,
    leave,
    refresh,
    write_event,
    write_knot,
)

END: Any = np.int64(0)  # why a walk pauses
SLICE: Any = np.int64(1)
GROW: Any = np.int64(2)
STUCK: Any = np.int64(3)
DRIFT: Any = np.int64(4)
UNSOLVABLE: Any = np.int64(-2)

SAME = 1e-13  # relative change of t that is none
NOISE = 1e-13  # relative size of a rate that is rounding
EXACT = 16.0  # residual at the elbow, in units of rounding, that needs no correction
WRONG = 256.0  # violation, in units of rounding, that is mended at once
LOST = 1e6  # residual, in units of rounding, that corrections must not leave
OUTSIDE = 1e-11  # share of a piece by which a member may be beyond its end
FADED = 0.25  # fall of the sums' size after which a fresh product is due
REFRESH = 64  # events between two fresh products K a
PATIENCE = 8  # events without progress after which the least index goes first


@compiled(inner=True)
def _residual(g: Ground, w: Walker) -> float:
    """Return the largest marginal cost at the elbow, and how far the sum is off (in units of cost)."""
    t, bias = w.scalars[0], w.scalars[1]
    worst = 0.0
    for e in range(w.counts[0]):
        i = w.members[e]
        worst = max(worst, abs(w.base[i] + t * g.slopes[i, w.state[i] // 2] + bias))
    if g.bias:
        total = g.level + g.tilt * t
        for i in range(w.a.size):
            total -= w.a[i]
        worst = max(worst, g.kappa * abs(total))
    return worst


@compiled(inner=True)
def _correct(g: Ground, w: Walker, x: np.ndarray, u: np.ndarray) -> tuple[int, bool]:
    """Take a Newton step that makes the marginal costs at the elbow zero and the sum right.

    It ends where a member reaches the end of its piece: return that member's place and whether it is the
    upper end. The place is -1 if there is none, and -2 if the system cannot be solved.
    """
    t, bias, m = w.scalars[0], w.scalars[1], w.counts[0]
    total = g.level + g.tilt * t
    for e in range(m):
        i = w.members[e]
        x[e] = -(w.base[i] + t * g.slopes[i, w.state[i] // 2] + bias)
    for i in range(w.a.size):
        total -= w.a[i]
    change = solve_with_sum(w.R, m, g.bias, g.kappa, total, x, u)
    share, place, upper = 1.0, NOBODY, False
    for e in range(m):
        if not np.isfinite(x[e]):
            return UNSOLVABLE, False
        i = w.members[e]
        j = w.state[i] // 2
        low, high = g.rests[i, j], g.rests[i, j + 1]
        beyond = OUTSIDE * (high - low)
        if w.a[i] + x[e] > high + beyond and (high - w.a[i]) < share * x[e]:
            share, place, upper = max(0.0, (high - w.a[i]) / x[e]), e, True
        elif w.a[i] + x[e] < low - beyond and (w.a[i] - low) < -share * x[e]:
            share, place, upper = max(0.0, (w.a[i] - low) / -x[e]), e, False
    w.scalars[1] += share * change
    for e in range(m):
        x[e] *= share
        w.a[w.members[e]] += x[e]
    add_rows(g.K, w.members, m, x, w.base)
    return place, upper


@compiled(inner=True)
def _pin(g: Ground, w: Walker) -> tuple[int, int, float]:
    """Without a member the bias is free within an interval: return who marks an end, and its way."""
    t = w.scalars[0]
    best_up, up, up_piece = -np.inf, NOBODY, FIRST
    best_down, down, down_piece = np.inf, NOBODY, FIRST
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
def _scale(w: Walker, entry: float, slope: float) -> float:
    """Return the size of the numbers whose sums are K a and the costs: their rounding is EPS of it."""
    largest, squares = max(abs(w.scalars[1]), abs(w.scalars[0]) * slope), 0.0
    for i in range(w.base.size):
        largest = max(largest, abs(w.base[i]))
        squares += w.a[i] * w.a[i]
    return max(largest, entry * np.sqrt(squares))  # type: ignore[no-any-return]


@compiled
def walk(g: Ground, w: Walker, log: Log, t_end: float, x: np.ndarray, u: np.ndarray, rate: np.ndarray) -> Any:
    """Go on until t_end, a full log, a full elbow, or trouble; return which."""
    n, pieces = w.a.size, g.slopes.shape[1]
    largest_slope = 0.0
    for i in range(n):
        for j in range(pieces):
            largest_slope = max(largest_slope, abs(g.slopes[i, j]))
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
            write_event(log, w.scalars[0], ENTER, i)
            enter(g, w, log, i, piece, sign, x, rate)
        scale = _scale(w, g.largest, largest_slope)
        if scale < FADED * w.scalars[2]:  # what larger numbers left of rounding would now count
            refresh(g, w)
            scale = _scale(w, g.largest, largest_slope)
            w.scalars[2] = scale
        w.scalars[2] = max(scale, w.scalars[2])
        wrong = WRONG * EPS * scale
        blocked = NOBODY
        for attempt in range(3):
            worst = _residual(g, w)
            if worst <= EXACT * EPS * scale:
                break
            if attempt == 2:
                if worst > LOST * EPS * scale:
                    return DRIFT
                break
            blocked, upper = _correct(g, w, x, u)
            if blocked >= 0:
                write_event(log, w.scalars[0], LEAVE, w.members[blocked])
                leave(g, w, blocked, upper)
                w.counts[1] += 1
            if blocked != -1:
                break
        if blocked == UNSOLVABLE:
            return DRIFT
        if blocked >= 0:
            continue

        # The direction in which the solution moves as t falls by one.
        t, bias, m = w.scalars[0], w.scalars[1], w.counts[0]
        for e in range(m):
            i = w.members[e]
            x[e] = g.slopes[i, w.state[i] // 2]
        drift_of_bias = solve_with_sum(w.R, m, g.bias, g.kappa, -g.tilt, x, u)
        for i in range(n):
            rate[i] = 0.0
        add_rows(g.K, w.members, m, x, rate)
        size = 0.0
        for e in range(m):
            size += abs(x[e])
        quiet = NOISE * max(size * g.largest + abs(drift_of_bias), scale / max(t - t_end, 1e-300))

        # The first event on the way: who, where to, after how long.
        step, who, where, kind = t - t_end, NOBODY, FIRST, END
        idle = w.counts[1] > PATIENCE
        zero = SAME * max(abs(t), abs(t_end))
        ahead = t - t_end
        for e in range(m):
            i = w.members[e]
            j = w.state[i] // 2
            low, high = g.rests[i, j], g.rests[i, j + 1]
            wide = high - low
            room, target = np.inf, FIRST
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
                write_knot(g, log, w)
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
            write_knot(g, log, w)
        if who < 0:
            return END
        write_event(log, w.scalars[0], kind, who)
        if kind == LEAVE:
            if step <= zero and log.filled[0] > 0 and w.counts[3] == 0:
                last = log.filled[0] - 1
                off = abs(log.knot_a[last, who] - g.rests[who, where])
                if log.knot_t[last] - t <= zero and off <= OUTSIDE * (g.rests[who, -1] - g.rests[who, 0]):
                    log.knot_a[last, who] = g.rests[who, where]
            place = 0
            while w.members[place] != who:
                place += 1
            leave(g, w, place, where > w.state[who] // 2)
        else:
            enter(g, w, log, who, where, 1.0 if where == w.state[who] // 2 else -1.0, x, rate)
