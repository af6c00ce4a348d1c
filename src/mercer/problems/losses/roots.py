"""Roots of increasing functions, many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64

FARTHEST = 1e30  # where a bracket is given up, in units of the numbers that the function compares
HALVINGS = 200  # at most; a bracket of double precision numbers has no more


def increasing_root(
    function: Callable[[Float64], Float64],
    start: Float64,
    *,
    side: Literal["left", "right"] = "left",
    unit: float = 1.0,
    rounding: Float64 | None = None,
) -> tuple[Float64, NDArray[np.bool_]]:
    """Return x with function(x) = 0, elementwise, for a function that never falls.

    Brackets grow from ``start`` by doubling steps, then shrink by bisection with secant steps in between,
    down to neighbouring numbers. Where a whole interval is a root, ``side`` chooses its end.

    Parameters
    ----------
    function : callable
        Elementwise, non-decreasing, of an array like ``start``.
    start : array
        Where to look first.
    side : {"left", "right"}
        Which end of an interval of roots.
    unit : float
        The size of the numbers that the function compares x with: brackets grow that much farther.
    rounding : array, optional
        Values this small count as zero: for a function whose slope is at least 1, x is then as exact as
        that. Otherwise brackets shrink to neighbouring numbers.

    Returns
    -------
    x : array
        Roots; where there is none, the farthest point looked at.
    found : array of bool
        Whether there is one.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # far out an exponential overflows: still increasing
        return _root(function, np.asarray(start, dtype=np.float64), side, FARTHEST * max(1.0, unit), rounding)


def _root(
    function: Callable[[Float64], Float64],
    start: Float64,
    side: str,
    farthest: float,
    rounding: Float64 | None,
) -> tuple[Float64, NDArray[np.bool_]]:
    if rounding is None:
        low, high = _bracket(function, start, side, farthest)
    else:  # a slope of at least 1: the root is no farther away than the value is from zero
        value = function(start)
        value = np.where(np.abs(value) <= rounding, 0.0, value * (1.0 + 1e-12))
        low, high = start - np.maximum(value, 0.0), start - np.minimum(value, 0.0)
    found = np.isfinite(low) & np.isfinite(high)
    x = np.where(found, high, np.where(np.isfinite(low), farthest, -farthest))
    a, c = np.where(found, low, x), np.where(found, high, x)
    fa, fc = function(a), function(c)
    for step in range(HALVINGS):
        middle = a + 0.5 * (c - a)
        if step % 2:  # where the function is nearly straight this ends the search at once
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                secant = a - fa * ((c - a) / (fc - fa))
            nudged = np.where(
                secant - a < c - secant, secant + 1e-3 * (secant - a), secant - 1e-3 * (c - secant)
            )
            middle = np.where((nudged > a) & (nudged < c), nudged, middle)
        inside = (middle > a) & (middle < c)
        if rounding is not None:
            inside &= np.minimum(np.abs(fa), np.abs(fc)) > rounding
        if not inside.any():
            break
        value = function(middle)
        right = value >= 0 if side == "left" else value > 0
        c, fc = np.where(inside & right, middle, c), np.where(inside & right, value, fc)
        a, fa = np.where(inside & ~right, middle, a), np.where(inside & ~right, value, fa)
    ends = (a, fa, c, fc)
    nearer = side == "left" or rounding is not None
    return np.where(found, _nearer(*ends) if nearer else a, x), found


def _nearer(a: Float64, fa: Float64, c: Float64, fc: Float64) -> Float64:
    return np.where(np.abs(fa) < np.abs(fc), a, c)


def _bracket(
    function: Callable[[Float64], Float64], start: Float64, side: str, farthest: float
) -> tuple[Float64, Float64]:
    """Return points below and above the root: not right of it, and right of it; infinite where not found."""

    def is_right(x: Float64) -> Any:
        value = function(x)
        return value >= 0 if side == "left" else value > 0

    here = is_right(start)
    low, high = np.where(here, -np.inf, start), np.where(here, start, np.inf)
    step = np.maximum(1.0, np.abs(start))
    while True:
        missing_low, missing_high = np.isneginf(low), np.isposinf(high)
        if not (missing_low | missing_high).any() or step.min() > farthest:
            return low, high
        probe = np.where(missing_low, np.where(missing_high, start, high - step), low + step)
        right = is_right(probe)
        high = np.where((missing_low | missing_high) & right, probe, high)
        low = np.where((missing_low | missing_high) & ~right, probe, low)
        step = 2.0 * step
