"""Paying for a number that was chosen after seeing the data: a union over a grid fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mercer.bounds.checks import count, positive, sure

FAR = 20  # powers of two to each side of 1 in a grid without a known scale


class Best(NamedTuple):
    """The smallest of several bounds that hold together."""

    value: float
    at: float
    tried: int


def best_of_grid(bound: Callable[[float, float], float], grid: Sequence[float], delta: float = 0.05) -> Best:
    r"""Return the smallest of k bounds, each with :math:`\delta / k`, so that all hold together.

    A theorem for a margin (or a norm, or a gap) fixed beforehand does not cover one that was read off the
    data. Used for each of k values fixed beforehand with delta/k, it covers the best of them: ln(2/delta)
    under the root becomes ln(2k/delta).

    Parameters
    ----------
    bound : callable
        (value, delta) -> the bound at that value.
    grid : sequence of float
        The k values, which must not depend on the data.
    delta : float
        Probability with which any of them may fail.

    Returns
    -------
    Best
        The bound, the value at which it is reached, and k.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remarks 7.13 and 7.17.
    """
    values = [positive("a value of the grid", v) for v in grid]
    if not values:
        raise ValueError("grid must hold at least one value")
    share = sure(delta) / len(values)
    bounds = [bound(v, share) for v in values]
    best = min(range(len(values)), key=bounds.__getitem__)
    return Best(bounds[best], values[best], len(values))


def margin_grid(*, n: int, radius: float | None = None) -> tuple[float, ...]:
    r"""Return margins at which a bound is worth trying; they depend on n and the radius only.

    No margin exceeds R, and below :math:`4 R / \sqrt n` the term :math:`4 \sqrt{\mathrm{tr} K} / (n \gamma)`
    may be 1 by itself: the grid steps by :math:`\sqrt 2` between the two. Without a known radius it is all
    powers of 2 from :math:`2^{-20}` to :math:`2^{20}`.

    Parameters
    ----------
    n : int
        Number of training points.
    radius : float, optional
        R, of the distribution's support.

    Returns
    -------
    tuple of float
        In falling order.
    """
    if radius is None:
        return powers_of_two()
    steps = max(1, math.ceil(2.0 * math.log2(max(1.0, math.sqrt(count("n", n)) / 4.0))))
    return tuple(positive("radius", radius) * 2.0 ** (-j / 2.0) for j in range(steps + 1))


def powers_of_two(far: int = FAR) -> tuple[float, ...]:
    r"""Return :math:`2^{far}, \ldots, 2^{-far}` in falling order: a grid for an unknown scale."""
    return tuple(2.0**j for j in range(far, -far - 1, -1))
