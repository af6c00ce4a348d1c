"""On-line learning: predict, see the truth, lose, change the coefficient of the example at hand.

A function f_o(x) = sum_j coef[j, o] k(z_j, x) + bias[o] for each output o lives in ``size`` slots. The kernel
values of a step come from one of two sources: computed here, from the kept examples in the columns of ``ZT``,
or looked up in a matrix ``G`` that was computed before. Sums run over the slots in their order, one after the
other, so that a step does not depend on how the stream was cut into pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.elementwise import is_squared, transform
from mercer._jit.online_rules import ADATRON, OLDEST, ORDERED, PERCEPTRON, TUBE


@compiled(fastmath=CONTRACT, inner=True)
def _distances(ZT: np.ndarray, m: int, x: np.ndarray, out: np.ndarray) -> None:
    """out[j] = |z_j - x|^2, differences first, so nothing cancels."""
    prefer_wide_vectors()
    d = ZT.shape[0]
    for j in range(m):
        out[j] = 0.0
    k = 0
    while k + 4 <= d:
        z0, z1, z2, z3 = ZT[k], ZT[k + 1], ZT[k + 2], ZT[k + 3]
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        for j in range(m):
            p0, p1, p2, p3 = z0[j] - x0, z1[j] - x1, z2[j] - x2, z3[j] - x3
            out[j] += (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
        k += 4
    while k < d:
        z0, x0 = ZT[k], x[k]
        for j in range(m):
            p0 = z0[j] - x0
            out[j] += p0 * p0
        k += 1


@compiled(fastmath=CONTRACT, inner=True)
def _products(ZT: np.ndarray, m: int, x: np.ndarray, out: np.ndarray) -> None:
    """out[j] = <z_j, x>."""
    prefer_wide_vectors()
    d = ZT.shape[0]
    for j in range(m):
        out[j] = 0.0
    k = 0
    while k + 4 <= d:
        z0, z1, z2, z3 = ZT[k], ZT[k + 1], ZT[k + 2], ZT[k + 3]
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        for j in range(m):
            out[j] += (z0[j] * x0 + z1[j] * x1) + (z2[j] * x2 + z3[j] * x3)
        k += 4
    while k < d:
        z0, x0 = ZT[k], x[k]
        for j in range(m):
            out[j] += z0[j] * x0
        k += 1


@compiled
def kernel_row(ZT: np.ndarray, m: int, x: np.ndarray, line: tuple[Any, ...], out: np.ndarray) -> None:
    """out[j] = k(z_j, x) for the first m columns of ZT, in float64."""
    if is_squared(line):
        _distances(ZT, m, x, out)
    else:
        _products(ZT, m, x, out)
    transform(out[:m], line)


@compiled
def kernel_rows(ZT: np.ndarray, X: np.ndarray, line: tuple[Any, ...], out: np.ndarray) -> None:
    """out[i, j] = k(z_j, x_i), each value as `kernel_row` computes it."""
    for i in range(X.shape[0]):
        kernel_row(ZT, ZT.shape[1], X[i], line, out[i])


@compiled
def loss_of(rule: int, f: float, y: float, shift: float, epsilon: float) -> float:
    """Return what is lost by having said f where y is true; squared where the rule has a diagonal shift."""
    if rule in (PERCEPTRON, ORDERED):
        return 1.0 if y * f <= 0.0 else 0.0
    if rule == ADATRON:
        short = max(0.0, 1.0 - y * f)
        return short * short if shift > 0.0 else short
    short = max(0.0, abs(y - f) - epsilon)
    return short if rule == TUBE and shift == 0.0 else short * short


@compiled
def renewed(
    rule: int,
    beta: float,
    f: float,
    y: float,
    own: float,
    rate: float,
    most: float,
    shift: float,
    epsilon: float,
) -> float:
    """Return the new coefficient of an example whose output is f and whose k(x, x) is ``own``."""
    if rule in (PERCEPTRON, ORDERED):
        return beta + y if y * f <= 0.0 else beta
    curvature = own + shift
    if rule == ADATRON:
        alpha = y * beta
        slope = 1.0 - y * f - shift * alpha
        if curvature > 0.0:
            alpha += rate * slope / curvature
        elif slope > 0.0 and most < np.inf and rate > 0.0:  # at the origin: all its slack is paid
            alpha = most
        return y * min(max(alpha, 0.0), most)
    error = y - f - shift * beta
    if rule == TUBE:
        if beta > 0.0:
            error -= epsilon
        elif beta < 0.0:
            error += epsilon
        else:  # the sign of zero is the number in [-1, 1] that moves least
            error = max(error - epsilon, 0.0) + min(error + epsilon, 0.0)
    if curvature > 0.0:
        new = beta + rate * error / curvature
    elif rule == TUBE and most < np.inf and error != 0.0 and rate > 0.0:
        new = most if error > 0.0 else -most
    else:
        new = beta
    if rule == TUBE and beta * new < 0.0:
        return 0.0
    return min(max(new, -most), most)


@compiled(inner=True)
def _violation(
    rule: int, beta: float, f: float, y: float, most: float, shift: float, epsilon: float
) -> float:
    """Return how far the example is from what holds at the optimum of the rule's problem."""
    if rule in (PERCEPTRON, ORDERED):
        return 1.0 if y * f <= 0.0 else 0.0
    if rule == ADATRON:
        alpha = y * beta
        slope = 1.0 - y * f - shift * alpha
        if alpha <= 0.0:
            return max(slope, 0.0)
        return max(-slope, 0.0) if alpha >= most else abs(slope)
    error = y - f - shift * beta
    if rule != TUBE:
        return abs(error)
    if beta == 0.0:
        return max(abs(error) - epsilon, 0.0)
    slope = error - epsilon if beta > 0.0 else -error - epsilon
    return max(-slope, 0.0) if abs(beta) >= most else abs(slope)


@compiled(inner=True)
def _victim(coef: np.ndarray, born: np.ndarray, norm: np.ndarray, size: int, removal: int) -> int:
    """Return the slot to give up: the weakest (the oldest of equals), or the oldest."""
    best = 0
    least = np.inf
    for j in range(size):
        weight = 0.0
        if removal != OLDEST:
            for o in range(coef.shape[1]):
                weight += coef[j, o] * coef[j, o]
            weight *= norm[j]
        if weight < least or (weight == least and born[j] < born[best]):
            least = weight
            best = j
    return best


@compiled
def run(
    start: int,
    stop: int,
    order: np.ndarray,
    X: np.ndarray,
    ZT: np.ndarray,
    G: np.ndarray,
    lines: np.ndarray,
    sources: np.ndarray,
    lookup: bool,
    line: tuple[Any, ...],
    own: np.ndarray,
    target: np.ndarray,
    truth: np.ndarray,
    slot_of: np.ndarray,
    coef: np.ndarray,
    source: np.ndarray,
    tag: np.ndarray,
    born: np.ndarray,
    norm: np.ndarray,
    bias: np.ndarray,
    size: int,
    budget: int,
    removal: int,
    rule: int,
    rate: float,
    most: float,
    shift: float,
    epsilon: float,
    bias_step: float,
    first_tag: int,
    first_step: int,
    loss: np.ndarray,
    mistake: np.ndarray,
    updates: np.ndarray,
) -> tuple[int, float]:
    """Show the examples order[start:stop] to the learner, one after the other.

    Parameters
    ----------
    start, stop : int
        Which positions of ``order``.
    order : (n,) int64
        Numbers of the examples.
    X : (n, d) float64
        The examples (not looked at with ``lookup``).
    ZT : (d, capacity) float64
        The kept examples, one a column (not used with ``lookup``).
    G : (lines, columns) float64
        Kernel values: k of the example at position p and the one in slot j is G[lines[p], source[j]].
    lines, sources : (n,) int64
        Row of G of each position; what ``source`` becomes when its example is kept.
    lookup : bool
        Whether kernel values are taken from G.
    line : tuple
        The kernel's line over squared distances or inner products (without ``lookup``).
    own : (n,) float64
        k(x, x) of the examples.
    target : (n, outputs) float64
        Signs +1 and -1, or values.
    truth : (n,) int64
        Class numbers (more than one output).
    slot_of : (n,) int64
        Slot in which an example is kept, -1 if in none; updated.
    coef, source, tag, born, norm : (capacity, ...)
        Per slot: coefficients, place, number of the example, step at which it came, k(z, z); updated.
    bias : (outputs,) float64
        Updated.
    size, budget, removal
        Slots in use, most slots, what to give up.
    rule, rate, most, shift, epsilon, bias_step
        The rule.
    first_tag, first_step : int
        Number of example 0, and of the step at ``start``.
    loss, mistake, updates
        Loss and wrongness of each position, changes of each output; written to.

    Returns
    -------
    size : int
        Slots in use.
    violation : float
        Largest violation of the optimality conditions that was met, each before its example was learned.
    """
    outputs = target.shape[1]
    row = np.empty(coef.shape[0])
    F = np.empty(outputs)
    fresh = np.empty(outputs)
    worst = 0.0
    for p in range(start, stop):
        i = order[p]
        if lookup:
            values = G[lines[p]]
            for j in range(size):
                row[j] = values[source[j]]
        else:
            kernel_row(ZT, size, X[i], line, row)
        for o in range(outputs):
            F[o] = 0.0
        for j in range(size):
            for o in range(outputs):
                F[o] += coef[j, o] * row[j]
        if rule == ORDERED:
            shared = 0.0
            for o in range(outputs):
                shared += F[o]
            for o in range(outputs):
                F[o] = shared
        slot = slot_of[i]
        lost = 0.0
        changed = False
        for o in range(outputs):
            F[o] += bias[o]
            y = target[i, o]
            beta = coef[slot, o] if slot >= 0 else 0.0
            lost += loss_of(rule, F[o], y, shift, epsilon)
            worst = max(worst, _violation(rule, beta, F[o], y, most, shift, epsilon))
            fresh[o] = renewed(rule, beta, F[o], y, own[i], rate, most, shift, epsilon)
            if fresh[o] != beta:
                changed = True
                updates[o] += 1
                bias[o] += bias_step * y
        loss[p] = lost
        wrong = lost > 0.0
        if outputs > 1 and rule != ORDERED:
            wrong = False
            for o in range(outputs):
                if o != truth[i] and F[o] >= F[truth[i]]:
                    wrong = True
        elif rule == ADATRON:
            wrong = target[i, 0] * F[0] <= 0.0
        mistake[p] = wrong
        if not changed:
            continue
        if slot < 0:
            if size < budget:
                slot = size
                size += 1
            else:
                slot = _victim(coef, born, norm, size, removal)
                if tag[slot] >= first_tag:
                    slot_of[tag[slot] - first_tag] = -1
            slot_of[i] = slot
            tag[slot] = first_tag + i
            born[slot] = first_step + p - start
            norm[slot] = own[i]
            source[slot] = sources[p]
            if not lookup:
                for k in range(ZT.shape[0]):
                    ZT[k, slot] = X[i, k]
        for o in range(outputs):
            coef[slot, o] = fresh[o]
    return size, worst
