"""From the neighbourhood of the solution of a quadratic problem to the solution, by its active set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from mercer.arrays import Float64
from mercer.solvers.dual.free_newton import step_on_plane
from mercer.solvers.dual.round_loop import mend_rows

Bools = NDArray[np.bool_]

RIDGE = 1e-13  # added to singular systems, relative to their largest entry; refinement takes it out again
REFINEMENTS = 3
ROUNDS = 60
EXACT = 1e-12  # error of a sum that is rounding


def polish(
    Q: Float64,
    p: Float64,
    lo: Float64,
    hi: Float64,
    A: Float64,
    s: Float64,
    b: Float64,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Float64, float]:
    """Return a better point of  min 1/2 b'Qb + p'b,  lo <= b <= hi,  A b = s, and its KKT violation.

    Each round guesses which variables are on a bound, solves the equations for the others, goes as far as
    the box allows, and corrects the guess by the signs of the reduced costs. The best point seen is returned.

    Parameters
    ----------
    Q, p, lo, hi, A, s
        The problem, scaled so that variables and objective are of order one; the rows of A are the
        indicators of disjoint groups.
    b : (m,) float64
        A point near the solution, inside the box.
    should_stop : callable
        Asked before each round.
    """
    b = b.copy()
    best, least = b.copy(), _violation(Q @ b + p, b, lo, hi, A)
    g = Q @ b + p
    c = g + A.T @ _multipliers(g, b, lo, hi, A)
    # Complementarity: of slack and multiplier the larger one is not zero.
    at_lo, at_hi = b - lo < c, hi - b < -c
    exact = EXACT * max(1.0, float(np.abs(s).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    snapped = np.where(at_lo, lo, np.where(at_hi, hi, b))
    if _are_groups(A):
        mend_rows(snapped, lo, hi, A, s)
    held = not A.size or float(np.abs(A @ snapped - s).max()) <= exact
    if held and (violation := _violation(Q @ snapped + p, snapped, lo, hi, A)) < least:
        best, least = snapped, violation
    for _ in range(ROUNDS):
        if should_stop():
            break
        b = np.where(at_lo, lo, np.where(at_hi, hi, b))
        free = np.flatnonzero(~(at_lo | at_hi))
        if free.size == 0 and A.size and float(np.abs(A @ b - s).max()) > exact:
            break  # a group with nothing free cannot be mended here
        step = _newton(Q, p, A, s, b, free)
        if step is None:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, (hi[free] - b[free]) / step, np.inf)
            room = np.where(step < 0, (lo[free] - b[free]) / step, room)
        length = float(min(1.0, room.min(initial=np.inf)))
        b[free] = np.clip(b[free] + length * step, lo[free], hi[free])
        if length < 1.0:  # the variable that is in the way joins its bound
            t = free[int(np.argmin(room))]
            at_lo[t], at_hi[t] = step[np.argmin(room)] < 0, step[np.argmin(room)] > 0
            continue
        g = Q @ b + p
        violation = _violation(g, b, lo, hi, A)
        if violation < least and (not A.size or float(np.abs(A @ b - s).max()) <= exact):
            best, least = b.copy(), violation
        c = g + A.T @ _multipliers(g, b, lo, hi, A)
        wrong = (at_lo & (c < 0)) | (at_hi & (c > 0))
        if not wrong.any():
            break
        if violation <= 1e-15:
            break
        at_lo, at_hi = at_lo & ~wrong, at_hi & ~wrong
    return best, least


def _newton(
    Q: Float64, p: Float64, A: Float64, s: Float64, b: Float64, free: NDArray[np.intp]
) -> Float64 | None:
    """Return the step of the free variables to their optimum on A b = s, None if there is no factor."""
    if free.size == 0:
        return np.zeros(0)
    H = Q[np.ix_(free, free)]
    alive = A[:, free].any(axis=1)
    ridge = RIDGE * max(float(np.abs(np.diagonal(H)).max()), 1e-300)
    missing = (s - A @ b)[alive]
    return step_on_plane(H, (Q @ b + p)[free], A[alive][:, free], missing, ridge, REFINEMENTS)


def _ends(g: Float64, b: Float64, lo: Float64, hi: Float64, members: Bools) -> tuple[float, float]:
    grow, shrink = members & (b < hi), members & (b > lo)
    return float((-g[grow]).max(initial=-np.inf)), float((-g[shrink]).min(initial=np.inf))


def _are_groups(A: Float64) -> bool:
    """Return whether equalities are sums over disjoint groups."""
    return bool(((A == 0.0) | (A == 1.0)).all() and (A.sum(axis=0) <= 1.0).all())


def _multipliers(g: Float64, b: Float64, lo: Float64, hi: Float64, A: Float64) -> Float64:
    if not _are_groups(A):  # least squares over the variables, each as far as it lies inside its box
        root = np.sqrt(np.minimum(np.minimum(b - lo, hi - b), 1.0))
        return np.asarray(lstsq((A * root).T, -g * root)[0])
    out = np.zeros(A.shape[0])
    for k in range(A.shape[0]):
        members = A[k] > 0
        # Variables well inside their box tell; rounding leaves none exactly on a bound here.
        inside = np.where(members, np.minimum(b - lo, hi - b), 0.0)
        total = float(np.minimum(inside, 1.0).sum())
        if total > 0:
            out[k] = float(-(g * np.minimum(inside, 1.0)).sum() / total)
            continue
        top, bottom = _ends(g, b, lo, hi, members)
        known = [x for x in (top, bottom) if np.isfinite(x)]
        out[k] = sum(known) / len(known) if known else 0.0
    return out


def _violation(g: Float64, b: Float64, lo: Float64, hi: Float64, A: Float64) -> float:
    if not A.shape[0]:
        up = float((-g[b < hi]).max(initial=0.0))
        return max(up, float(g[b > lo].max(initial=0.0)))
    if not _are_groups(A):
        c = g + A.T @ _multipliers(g, b, lo, hi, A)
        return max(float((-c[b < hi]).max(initial=0.0)), float(c[b > lo].max(initial=0.0)))
    worst = 0.0
    for k in range(A.shape[0]):
        top, bottom = _ends(g, b, lo, hi, A[k] > 0)
        worst = max(worst, top - bottom)
    return worst


def snapped(x: Float64, Q: Any, p: Float64, lo: Float64, hi: Float64, A: Float64, s: Float64) -> Float64:
    """Return a point with the variables that belong on a bound put there: slack below multiplier."""
    x = np.clip(x, lo, hi)
    g = Q @ x + p
    c = g + A.T @ _multipliers(g, x, lo, hi, A) if A.size else g
    return np.where(x - lo < c, lo, np.where(hi - x < -c, hi, x))
