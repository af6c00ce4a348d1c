"""Where on an exact path a wished norm or sum of slacks is met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from mercer.arrays import Float64


def where_met(
    curve: Callable[[Float64], Float64], knots: Float64, wished: float, *, rising: bool, name: str
) -> float:
    r"""Return the C at which a curve that is monotone along a path has a wished value.

    Between two knots the function is linear in C, so :math:`\|w\|^2` is a quadratic of C there and the sum of
    slacks a line: the knots bracket the answer, and a root finder that ends at rounding gives it.

    Parameters
    ----------
    curve : callable
        Values of C -> values of the curve.
    knots : (k,) float64
        Values of C, rising and finite: both ends of the path and all knots between them.
    wished : float
        The value.
    rising : bool
        Whether the curve rises with C, or falls.
    name : str
        What the value is called, for messages.
    """
    sign = 1.0 if rising else -1.0
    values = sign * (curve(knots) - wished)
    if values[0] > 0.0 or values[-1] < 0.0:
        ends = sorted((float(curve(knots[:1])[0]), float(curve(knots[-1:])[0])))
        raise ValueError(
            f"{name}={wished:g} is not reached between C={knots[0]:.4g} and C={knots[-1]:.4g}, where it runs "
            f"from {ends[0]:.6g} to {ends[1]:.6g}"
        )
    k = int(np.searchsorted(np.maximum.accumulate(values), 0.0))
    if k == 0 or values[k] == 0.0:
        return float(knots[k])
    low, high = float(knots[k - 1]), float(knots[k])
    found = brentq(
        lambda C: sign * (float(curve(np.array([C]))[0]) - wished), low, high, xtol=1e-300, rtol=1e-15
    )
    return float(found)
