"""Natural cubic splines, given by values and second derivatives at their knots."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64


def natural_spline(x: Float64, knots: Float64, values: Float64, curvatures: Float64) -> Float64:
    """Return a natural cubic spline at some points; beyond the outer knots it is straight.

    Parameters
    ----------
    x : (n,) float64
        Where.
    knots : (m,) float64
        Rising; one alone stands for a constant.
    values, curvatures : (m, outputs) float64
        The spline and its second derivative at the knots; the latter is 0 at both ends.
    """
    return piecewise(x, knots, interval_polynomials(knots, values, curvatures))


def interval_polynomials(knots: Float64, values: Float64, curvatures: Float64) -> Float64:
    """Return coefficients (m + 1, 4, outputs) of powers of x minus the interval's left knot.

    The first interval lies below all knots and is measured from the first one, like the second.
    """
    if knots.size == 1:
        return np.concatenate([values[None], np.zeros((1, 3, values.shape[1]))], axis=1).repeat(2, axis=0)
    h = np.diff(knots)[:, None]
    slope = np.diff(values, axis=0) / h - h * (2.0 * curvatures[:-1] + curvatures[1:]) / 6.0
    inner = np.stack(
        [values[:-1], slope, 0.5 * curvatures[:-1], np.diff(curvatures, axis=0) / (6.0 * h)], axis=1
    )
    nothing = np.zeros_like(values[0])
    first = np.stack([values[0], slope[0], nothing, nothing])
    last_slope = np.diff(values[-2:], axis=0)[0] / h[-1] + h[-1] * (curvatures[-2] + 2 * curvatures[-1]) / 6.0
    last = np.stack([values[-1], last_slope, nothing, nothing])
    return np.concatenate([first[None], inner, last[None]])


def piecewise(x: Float64, knots: Float64, polynomials: Float64) -> Float64:
    """Return piecewise cubics (see :func:`interval_polynomials`) at some points."""
    at = np.searchsorted(knots, x, side="right")
    d = (x - knots[np.maximum(at - 1, 0)])[:, None]
    c = polynomials[at]
    out: Float64 = c[:, 0] + d * (c[:, 1] + d * (c[:, 2] + d * c[:, 3]))
    return out
