"""Small dense quadratic problems to machine precision: the interior first, then the active set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.arrays import Float64
from mercer.solvers.dual.active_set import polish, snapped
from mercer.solvers.dual.box_qp import solve_box_qp

TIGHT = 1e-12  # tolerance of the interior iterations; what is left is for the active set
ROUGH = 1e-8  # where somebody else takes it from there
ZERO = 1e-14  # objective, with variables and Q of order one, that is nothing but rounding
MOST = 200  # iterations; some 15 to 40 are the rule
NEGLIGIBLE = 1e-6  # linear term, beside the slope that the sums force upon Q, that sets no scale


def solve_quadratic(
    Q: Float64,
    p: Float64,
    lo: Float64,
    hi: Float64,
    A: Float64,
    s: Float64,
    *,
    exact: bool = True,
    should_stop: Callable[[], bool] = lambda: False,
    visit: Callable[[Float64], None] | None = None,
) -> tuple[Float64, int]:
    """Minimise 1/2 b'Qb + p'b subject to lo <= b <= hi and A b = s, as exactly as float64 allows.

    Parameters
    ----------
    Q : (m, m) float64
        Positive semi-definite.
    p, lo, hi : (m,) float64
        Linear term and box, lo < hi; bounds may be infinite.
    A, s : (g, m), (g,) float64
        The indicators of disjoint groups, and their sums; g may be 0.
    exact : bool
        Whether to go on to machine precision. Otherwise the variables that belong on a bound, as the interior
        tells, are put there, and that is all.
    should_stop : callable
        Asked before each iteration.
    visit : callable, optional
        Called with the point before each iteration.

    Returns
    -------
    b : (m,) float64
        A point of the box.
    n_iter : int
        Iterations of the interior-point method.

    Raises
    ------
    scipy.linalg.LinAlgError
        If Q turns out not positive semi-definite.
    """
    unit, price = _scales(Q, p, lo, hi, s)
    # Variables and objective of order one: the tolerances of both methods are absolute.
    scaled = (Q * (unit * unit / price), p * (unit / price), lo / unit, hi / unit, A, s / unit)
    x, n_iter = solve_box_qp(
        *scaled,
        tol=TIGHT if exact else ROUGH,
        floor=ZERO if exact else 1e-2 * ROUGH,
        max_iter=MOST,
        should_stop=should_stop,
        visit=None if visit is None else lambda x: visit(unit * x),
    )
    x = np.clip(x, scaled[2], scaled[3])
    if not exact:
        x = snapped(x, *scaled)
    elif not should_stop():
        x, _ = polish(*scaled, x, should_stop)
    return np.clip(unit * x, lo, hi), n_iter


def _scales(Q: Float64, p: Float64, lo: Float64, hi: Float64, s: Float64) -> tuple[float, float]:
    curvature = max(float(np.abs(np.diagonal(Q)).max()), 1e-300)
    slope = float(np.abs(p).max(initial=0.0))
    largest = float(np.abs(s).max(initial=0.0))
    if slope <= NEGLIGIBLE * curvature * largest:
        slope = 0.0
    width = hi - lo
    finite = width[np.isfinite(width)]
    candidates = [x for x in (slope / curvature, float(finite.max(initial=0.0))) if x > 0]
    unit = min(candidates) if candidates else 1.0
    if largest > 0:
        unit = min(unit, largest) if slope > 0 else max(largest / 10.0, min(unit, largest))
    price = max(unit * unit * curvature, unit * slope, 1e-300)
    return unit, price
