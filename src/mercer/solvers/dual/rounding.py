"""What float64 can tell of a violation."""

from __future__ import annotations

import numpy as np

from mercer.problems import Dual
from mercer.solvers.base import Float64

NOISE = 1e-11  # KKT violation, relative to K beta and to the user's unit, that rounding may leave


def resolution(problem: Dual, b: Float64, f: Float64) -> float:
    """Return a violation at ``b``, with f = K beta, that no method can be sure to lower in float64."""
    unit = problem.tolerance(1.0, problem.objective(b, f))
    return NOISE * max(unit, float(np.abs(f).max(initial=0.0)))
