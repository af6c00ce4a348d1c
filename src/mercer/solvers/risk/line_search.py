"""How far to go along a direction of descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

ENOUGH = 0.5  # share of the slope that may be left
EXPANSIONS, HALVINGS = 40, 60


class Slope(NamedTuple):
    """Value and slope of a convex function of the step."""

    value: float
    slope: float


def convex_search(function: Callable[[float], Slope], start: Slope) -> float:
    """Return a step at which the slope of a convex function has fallen to at most half its size.

    The full step is tried first: it is Newton's.

    Parameters
    ----------
    function : callable
        Value and slope at a step.
    start : Slope
        At step 0; its slope is negative.
    """
    low, high = 0.0, float("inf")
    step = 1.0
    for _ in range(EXPANSIONS + HALVINGS):
        here = function(step)
        if abs(here.slope) <= ENOUGH * abs(start.slope) and here.value <= start.value:
            return step
        if here.slope > 0 or not here.value < float("inf"):
            high = step
        else:
            low = step
        step = 2.0 * step if high == float("inf") else 0.5 * (low + high)
        if step > 1e12 or high - low <= 1e-14 * high:
            break
    return low if low > 0 else step
