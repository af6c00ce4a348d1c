"""Blocks of variables in simplices, one block for each row: exact steps, and sweeps over a working set.

Row i of the coefficients B holds, for each class k other than its own, minus a share u_k >= 0 with
sum_k u_k / S[y_i, k] <= C_i, and the sum of these shares for its own class.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled

NOTHING = 1e-14  # share of the price below which a multiplier counts as zero
ROUNDING = 4e-16  # of a difference, relative to its terms
UNKNOWN = 1e-13  # violations below this share of the values are rounding
BISECTIONS = 200


@compiled(fastmath=CONTRACT, inner=True)
def _add_row(f: np.ndarray, row: np.ndarray, step: float) -> None:
    prefer_wide_vectors()
    for j in range(f.size):
        f[j] += step * row[j]


@compiled(inner=True)
def row_state(
    values: np.ndarray, coef: np.ndarray, own: int, price: float, costs: np.ndarray, scales: np.ndarray
) -> tuple[float, float, float]:
    """Return a row's slack, its part of the gap and its violation.

    Parameters
    ----------
    values, coef : (k,) float64
        The functions of all classes at the row, and the row's coefficients in them.
    own : int
        The row's class.
    price : float
        Of a unit of slack.
    costs, scales : (k,) float64
        Loss of class k: costs[k] + scales[k] (values[k] - values[own]); a scale of zero is no constraint.
    """
    if price <= 0.0:
        return 0.0, 0.0, 0.0
    slack = 0.0
    for k in range(values.size):
        if k != own and scales[k] > 0.0:
            slack = max(slack, costs[k] + scales[k] * (values[k] - values[own]))
    rest, gap, least = price, 0.0, slack
    for k in range(values.size):
        if k != own and scales[k] > 0.0:
            share = -coef[k] / scales[k]
            if share > NOTHING * price:
                loss = costs[k] + scales[k] * (values[k] - values[own])
                rest -= share
                gap += share * (slack - loss)
                least = min(least, loss)
    if rest > NOTHING * price:
        gap += rest * slack
        least = min(least, 0.0)
    return slack, gap, slack - least


@compiled
def judge(
    F: np.ndarray,
    B: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    D: np.ndarray,
    S: np.ndarray,
    slack: np.ndarray,
    gap: np.ndarray,
    violation: np.ndarray,
) -> None:
    """Fill in every row's slack, gap and violation.

    Parameters
    ----------
    F, B : (n, k) float64
        The functions of all classes at the rows, and their coefficients.
    y : (n,) int64
        Classes.
    C : (n,) float64
        Prices.
    D, S : (k, k) float64
        Costs and scales, by the row's class and the other one.
    slack, gap, violation : (n,) float64
        Filled.
    """
    for i in range(y.size):
        slack[i], gap[i], violation[i] = row_state(F[i], B[i], y[i], C[i], D[y[i]], S[y[i]])


@compiled(inner=True)
def project(z: np.ndarray, total: float) -> None:
    """Replace z by the nearest point of the simplex: no entry below zero, and a given sum."""
    tau, count, before = -np.inf, z.size + 1, z.size + 2
    while count < before:  # entries only leave; at a tie, rounding could bring one back for ever
        before, count, mass = count, 0, 0.0
        for k in range(z.size):
            if z[k] > tau:
                count += 1
                mass += z[k]
        tau = (mass - total) / count
    for k in range(z.size):
        rest = z[k] - tau
        z[k] = rest if rest > ROUNDING * abs(tau) else 0.0


@compiled(inner=True)
def _shares(c: np.ndarray, weights: np.ndarray, multiplier: float, u: np.ndarray) -> float:
    """Fill u = max(0, c - U - multiplier * weights), U the sum of u; return sum u * weights."""
    total, count, before = 0.0, c.size + 1, c.size + 2
    while count < before:
        before, count, sums = count, 0, 0.0
        for k in range(c.size):
            z = c[k] - multiplier * weights[k]
            if weights[k] < np.inf and z > total:
                count += 1
                sums += z
        total = sums / (1 + count)
    used = 0.0
    for k in range(c.size):
        u[k] = 0.0
        if weights[k] < np.inf:
            u[k] = max(c[k] - multiplier * weights[k] - total, 0.0)
            used += u[k] * weights[k]
    return used


@compiled(inner=True)
def scaled_step(c: np.ndarray, weights: np.ndarray, price: float, u: np.ndarray) -> None:
    """Fill u with the minimiser of 1/2 (|u|^2 + (sum u)^2) - c'u over u >= 0, weights'u <= price.

    An infinite weight keeps an entry at zero. The multiplier of the last constraint is bracketed, and found
    by secants and halving: what the weights use falls as it grows, piecewise linearly.
    """
    if _shares(c, weights, 0.0, u) <= price:
        return
    low, high = 0.0, 1.0
    while _shares(c, weights, high, u) > price:
        low, high = high, 2.0 * high
    over, under = _shares(c, weights, low, u) - price, _shares(c, weights, high, u) - price
    for turn in range(BISECTIONS):
        middle = low + (high - low) * (over / (over - under))
        if turn % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        excess = _shares(c, weights, middle, u) - price
        if excess > 0.0:
            low, over = middle, excess
        else:
            high, under = middle, excess
        if under >= -1e-15 * price:
            break
    _shares(c, weights, high, u)


@compiled
def row_step(
    values: np.ndarray,
    coef: np.ndarray,
    curvature: float,
    own: int,
    price: float,
    costs: np.ndarray,
    scales: np.ndarray,
    weights: np.ndarray,
    uniform: bool,
    new: np.ndarray,
    c: np.ndarray,
) -> None:
    """Fill ``new`` with the coefficients of a row that are best while all other rows stay as they are."""
    k_classes = values.size
    if curvature <= 0.0:  # the row's coefficients change nothing: all of its price goes to its worst class
        best, at = 0.0, own
        for k in range(k_classes):
            new[k] = 0.0
            if k != own and scales[k] > 0.0:
                loss = costs[k] + scales[k] * (values[k] - values[own])
                if loss > best:
                    best, at = loss, k
        if at != own:
            new[at] = -price * scales[at]
            new[own] = price * scales[at]
        return
    if uniform:
        for k in range(k_classes):
            new[k] = -coef[k] + (costs[k] + values[k]) / curvature
        new[own] = price - coef[own] + values[own] / curvature
        project(new, price)
        used = 0.0
        for k in range(k_classes):
            if k != own:
                new[k] = -new[k]
                used -= new[k]
        new[own] = used
        return
    for k in range(k_classes):
        c[k] = 0.0
        if k != own and scales[k] > 0.0:
            c[k] = coef[own] - coef[k] + (costs[k] * weights[k] + values[k] - values[own]) / curvature
    scaled_step(c, weights, price, new)
    used = 0.0
    for k in range(k_classes):
        new[k] = 0.0 if k == own else -new[k]
        used -= new[k]
    new[own] = used


@compiled
def sweeps(
    K: np.ndarray,
    f: np.ndarray,
    B: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    D: np.ndarray,
    S: np.ndarray,
    weights: np.ndarray,
    uniform: bool,
    goal: float,
    goal_gap: float,
    greed: float,
    max_steps: int,
    work: float,
) -> tuple[int, float]:
    """Take exact steps of one row after the other until no row violates its conditions by more than a goal.

    Parameters
    ----------
    K : (m, m) float32 or float64
        The kernel matrix of the rows.
    f : (k, m) float64
        The functions at the rows, updated.
    B : (m, k) float64
        Coefficients, updated.
    y, C, D, S
        As for `judge`.
    weights : (k, k) float64
        1 / S, infinite where S is zero or the classes are the same.
    uniform : bool
        Whether all scales are one: a step is then the projection onto a simplex.
    goal, goal_gap : float
        The violation to reach, or the sum of the rows' gaps: either will do.
    greed : float
        A sweep passes over rows whose violation is below this share of the largest one of the sweep before.
    max_steps : int
        Most steps.
    work : float
        Entries of K to touch before the caller wants to look at the clock.

    Returns
    -------
    steps, violation : int, float
        Steps taken, and the largest violation that the last whole sweep met; infinity where there was none.
    """
    m, k_classes = B.shape
    values, new, c = np.empty(k_classes), np.empty(k_classes), np.empty(k_classes)
    rows = np.empty(m, dtype=np.int64)
    violations = np.empty(m)
    steps = 0
    while True:
        goal = max(goal, UNKNOWN * (np.abs(f).max() + D.max()))
        worst, total = 0.0, 0.0
        for i in range(m):
            for k in range(k_classes):
                values[k] = f[k, i]
            _, gap, violations[i] = row_state(values, B[i], y[i], C[i], D[y[i]], S[y[i]])
            worst = max(worst, violations[i])
            total += gap
        work -= m * k_classes
        if worst <= goal or total <= goal_gap:
            return steps, worst
        bar = max(goal, greed * worst)
        count = 0
        for i in range(m):
            if violations[i] > bar:
                rows[count] = i
                count += 1
        moved = True
        while moved:  # the few that violate most, until none of them does: looking at all takes longer
            moved = False
            for q in range(count):
                i = rows[q]
                own = y[i]
                for k in range(k_classes):
                    values[k] = f[k, i]
                _, _, violation = row_state(values, B[i], own, C[i], D[own], S[own])
                if violation <= bar:
                    continue
                if steps >= max_steps or work <= 0.0:
                    return steps, np.inf
                row_step(values, B[i], K[i, i], own, C[i], D[own], S[own], weights[own], uniform, new, c)
                for k in range(k_classes):
                    change = new[k] - B[i, k]
                    if change != 0.0:
                        _add_row(f[k], K[i], change)
                        B[i, k] = new[k]
                        work -= m
                steps += 1
                work -= 4 * k_classes
                moved = True
