"""Where to begin when a neighbouring problem has been solved: another C, nu, epsilon or kernel."""

from __future__ import annotations

import numpy as np

from mercer.problems.dual import Dual, Float64


def carried(problem: Dual, b: Float64) -> Float64:
    """Return a feasible point for ``problem`` that is made of the solution b of a neighbour.

    A group whose sum is fixed at another value than zero (nu, one-class) is scaled to that sum. Where the box
    has become smaller than b, either b is cut to it and the sums are mended, or all of b is scaled into it,
    whichever moves b less.

    Parameters
    ----------
    problem : Dual
        The new problem.
    b : (copies n,) float64
        Variables of the solved one.
    """
    b = b.copy()
    if problem.group is not None:
        for g, wanted in enumerate(problem.sums):
            members = problem.group == g
            total = float(b[members].sum())
            if wanted != 0.0 and total * wanted > 0:
                b[members] *= wanted / total
    cut = problem.nearest(b)
    shrink = largest_multiple(problem, b)
    if problem.sums.any() or shrink >= 1.0 or not np.isfinite(shrink):
        return cut
    scaled = problem.nearest(shrink * b)
    return cut if np.abs(cut - b).sum() <= np.abs(scaled - b).sum() else scaled


def largest_multiple(problem: Dual, b: Float64) -> float:
    """Return the largest t >= 0 for which t b lies in the box (infinite where nothing bounds it)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(b > 0, problem.hi / b, np.where(b < 0, problem.lo / b, np.inf))
    return float(max(0.0, room.min(initial=np.inf)))


def best_multiple(problem: Dual, b: Float64, f: Float64) -> tuple[Float64, Float64]:
    r"""Return the best point t b of the ray through a feasible b, and K beta there.

    .. math::
        q(t b) = \tfrac12 t^2 (\beta' K \beta + \sum_t r_t b_t^2) + t \, p'b

    has its least value at t = -p'b / (beta' K beta + sum r b^2), cut where the ray leaves the box. When C
    grows, variables at the old bound so come near to the new one at the cost of no kernel value. Fixed sums
    other than zero leave no ray.

    Parameters
    ----------
    problem : Dual
        The problem.
    b : (copies n,) float64
        A feasible point.
    f : (n,) float64
        K beta there.
    """
    if problem.sums.any():
        return b, f
    curvature = float(problem.beta(b) @ f) + float(problem.r @ (b * b))
    slope = -float(problem.p @ b)
    if not curvature > 0:
        return b, f
    t = min(max(slope, 0.0) / curvature, largest_multiple(problem, b))
    if not np.isfinite(t):
        return b, f
    return problem.settled(np.clip(t * b, problem.lo, problem.hi)), t * f
