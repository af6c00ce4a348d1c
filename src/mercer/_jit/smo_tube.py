"""Sequential minimal optimisation for regression, on signed coefficients with a kink at zero.

    minimise 1/2 beta'(K + diag(r)) beta + p'beta + sum_i kink_i max(-beta_i, 0)
    subject to lo <= beta <= hi,  the sum of beta fixed

The two variables of a point, b+ >= 0 and b- <= 0, are never both at work: beta = b+ + b-, whose price p+
falls to p- = p+ - ``kink`` (by twice the tube's half width) below zero. Arrays are half as long as with both
variables, and so is the time of a step. Zero is one more place where a step ends; the next may cross it.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled
from mercer._jit.smo import _find, _largest, _move, _scores, _shift, _tree_max_of


@compiled(inner=True)
def _set(
    t: int,
    s: float,
    beta: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    r: np.ndarray,
    kink: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
) -> None:
    """Write the gains of growing and of shrinking beta[t]; s is the gain of growing from zero, less r's."""
    value = s - r[t] * beta[t]
    up[t] = -np.inf
    down[t] = np.inf
    if beta[t] < hi[t]:
        up[t] = value + kink[t] if beta[t] < 0.0 else value
    if beta[t] > lo[t]:
        down[t] = value if beta[t] > 0.0 else value + kink[t]


@compiled
def folded(
    K: np.ndarray,
    beta: np.ndarray,
    s: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    r: np.ndarray,
    kink: np.ndarray,
    curvature: np.ndarray,
    tol: float,
    max_steps: int,
    floor: float,
) -> tuple[int, float]:
    """Change two coefficients at a time, chosen by the second-order rule, until no pair violates.

    Parameters
    ----------
    K : (w, w) float
        Block of kernel values.
    beta, s : (w,) float64
        Coefficients, and -(K beta + p+), the gain of growing from zero; both updated in place.
    lo, hi, r, kink : (w,) float64
        Box (lo <= 0 <= hi), diagonal shift, jump of the price at zero (not negative).
    curvature : (w,) float64
        K_ii + r_i.
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
    up = np.empty(w)
    down = np.empty(w)
    for t in range(w):
        _set(t, s[t], beta, lo, hi, r, kink, up, down)
    scratch = np.empty(w)
    score = np.zeros(w, K.dtype)
    rank = np.empty(w, K.dtype)
    low_curvature = curvature.astype(K.dtype)
    starts = np.array([0, w])
    unit = max(_largest(up, down, starts, scratch), 1e-300)
    steps = 0
    violation = np.inf
    low, high = np.empty(1), np.empty(1)
    one = np.empty(1)
    while True:
        top = _tree_max_of(up, 0, w, scratch)
        gain = score.dtype.type(0)
        i, j = 0, 0
        if top > -np.inf:
            i = _find(up, 0, w, top)
            _scores(K[i], down, low_curvature, 0, 0, w, top, unit, curvature[i], floor, score)
            gain = _tree_max_of(score, 0, w, rank)
        if gain <= 0:
            violation = _largest(up, down, starts, scratch)
            break
        j = _find(score, 0, w, gain)
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
        row_i = K[i]
        row_j = K[j]
        old_i, old_j = beta[i], beta[j]
        end_i = 0.0 if old_i < 0.0 else hi[i]
        end_j = 0.0 if old_j > 0.0 else lo[j]
        quad = max(curvature[i] + curvature[j] - 2.0 * row_i[j], floor)
        delta = min(difference / quad, end_i - old_i, old_j - end_j)
        s_i = up[i] + r[i] * old_i - (kink[i] if old_i < 0.0 else 0.0)
        s_j = down[j] + r[j] * old_j - (0.0 if old_j > 0.0 else kink[j])
        one[0], low[0], high[0] = old_i, old_i, end_i
        _move(0, delta, one, low, high)
        beta[i] = one[0]
        one[0], low[0], high[0] = old_j, end_j, old_j
        _move(0, -delta, one, low, high)
        beta[j] = one[0]
        if beta[i] == old_i and beta[j] == old_j:
            # The step is below rounding: nothing more can be gained here.
            violation = _largest(up, down, starts, scratch)
            break
        _shift(up, down, 0, w, row_i, row_j, delta)
        _set(i, s_i - delta * (row_i[i] - row_j[i]), beta, lo, hi, r, kink, up, down)
        _set(j, s_j - delta * (row_i[j] - row_j[j]), beta, lo, hi, r, kink, up, down)
        steps += 1
    for t in range(w):
        if up[t] != -np.inf:
            s[t] = up[t] + r[t] * beta[t] - (kink[t] if beta[t] < 0.0 else 0.0)
        elif down[t] != np.inf:
            s[t] = down[t] + r[t] * beta[t] - (0.0 if beta[t] > 0.0 else kink[t])
    return steps, violation
