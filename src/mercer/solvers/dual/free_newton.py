r"""A Newton step over the free variables of a dual: what steps of two variables are slow at.

With the variables at their bounds held there, the dual of the others is a quadratic function on a plane,

    minimise over d   1/2 d' Q d + g' d   subject to   the sum of d over each group = 0,

whose solution is one Cholesky factorisation away. Where it lies outside of the box, the variables that would
leave are stopped at their bounds and the rest is solved again. The point never gets worse, so the step may be
taken between slices of sequential minimal optimisation, which finds the right bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.problems import Dual

Float64 = NDArray[np.float64]

RIDGE_SINGLE, RIDGE_DOUBLE = 2e-7, 1e-13  # added to the diagonal, relative to the largest entry
REFINEMENTS = 3  # in double precision; those of a matrix in single precision lead nowhere
LOST = 1e-14  # relative error of a sum that is rounding
ROUNDS = 8  # times that variables are stopped at their bounds


def newton_step(K: Any, problem: Dual, b: Float64, g: Float64, most: int) -> Float64 | None:
    """Return a better feasible point, or None where there is none to be had this way.

    Parameters
    ----------
    K : (n, n) ndarray
        The kernel matrix.
    problem : Dual
        The problem.
    b, g : (copies n,) float64
        A feasible point and the gradient there.
    most : int
        Free variables beyond which a factorisation is too dear.
    """
    free = np.flatnonzero((b > problem.lo) & (b < problem.hi))
    if not 2 <= free.size <= most:
        return None
    points = free % problem.n
    Q = np.asarray(K[np.ix_(points, points)], dtype=np.float64)
    Q[np.diag_indices(free.size)] += problem.r[free]
    ridge, refinements = (RIDGE_SINGLE, 1) if K.dtype == np.float32 else (RIDGE_DOUBLE, REFINEMENTS)
    face = _Face(
        Q,
        g[free],
        b[free],
        (problem.lo[free], problem.hi[free]),
        _groups(problem, free),
        ridge=ridge * float(np.abs(Q).max()),
        refinements=refinements,
    )
    new = face.better()
    if new is None:
        return None
    out = b.copy()
    out[free] = new
    return out


def step_on_plane(
    Q: Float64, g: Float64, A: Float64, missing: Float64, ridge: float, refinements: int
) -> Float64 | None:
    """Return the d that minimises 1/2 d'Qd + g'd subject to A d = missing, None if there is no factor.

    Parameters
    ----------
    Q, g, A, missing
        The problem; the rows of A are the indicators of disjoint groups, none of them empty.
    ridge : float
        Added to the diagonal of Q for its factor.
    refinements : int
        Times that the residual of the equations without the ridge is solved for. Where Q is singular these
        are steps of the proximal-point method, which lead to a solution all the same.
    """
    shifted = Q.copy()
    shifted[np.diag_indices(g.size)] += ridge
    d, m = np.zeros(g.size), np.zeros(A.shape[0])
    try:
        factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        QA = cho_solve(factor, A.T, check_finite=False)
        S = A @ QA
        for _ in range(1 + refinements):
            top, bottom = -(g + Q @ d + A.T @ m), missing - A @ d
            solved = cho_solve(factor, top, check_finite=False)
            more = np.linalg.solve(S, A @ solved - bottom) if m.size else m
            d, m = d + solved - QA @ more, m + more
    except LinAlgError:
        return None
    return d if np.isfinite(d).all() else None


def _groups(problem: Dual, free: NDArray[np.intp]) -> Float64:
    if problem.group is None:
        return np.zeros((0, free.size))
    return np.stack([(problem.group[free] == k).astype(np.float64) for k in range(problem.sums.size)])


class _Face:
    """A quadratic function of the free variables."""

    def __init__(
        self,
        Q: Float64,
        g: Float64,
        b: Float64,
        box: tuple[Float64, Float64],
        A: Float64,
        *,
        ridge: float,
        refinements: int,
    ) -> None:
        self.Q, self.g, self.b, self.A = Q, g, b, A
        self.lo, self.hi = box
        self.ridge, self.refinements = ridge, refinements

    def better(self) -> Float64 | None:
        """Return the best point found, or None."""
        target = self.b.copy()
        inside = np.arange(self.b.size)
        best: Float64 | None = None
        least = 0.0
        for _ in range(ROUNDS):
            d = self._solve(inside, target - self.b)
            if d is None:
                break
            target[inside] = self.b[inside] + d
            # The straight way there is feasible up to the first bound, and never uphill.
            step = self._along(target - self.b)
            if step is not None and step[1] < least:
                best, least = step
            out = (target[inside] < self.lo[inside]) | (target[inside] > self.hi[inside])
            if not out.any():
                break
            target = np.clip(target, self.lo, self.hi)
            inside = inside[~out]
            if inside.size < 2:
                break
        return best

    def _solve(self, inside: NDArray[np.intp], moved: Float64) -> Float64 | None:
        """Return the best changes of the variables ``inside``, the others having moved as they have."""
        rest = moved.copy()
        rest[inside] = 0.0
        alive = self.A[:, inside].any(axis=1)
        missing = -(self.A @ rest)
        if np.abs(missing[~alive]).max(initial=0.0) > LOST * float(np.abs(self.b).max()):
            return None  # a group whose variables have all been stopped cannot mend its sum
        slope = self.g[inside] + self.Q[inside] @ rest
        Q, A = self.Q[np.ix_(inside, inside)], self.A[alive][:, inside]
        return step_on_plane(Q, slope, A, missing[alive], self.ridge, self.refinements)

    def _along(self, d: Float64) -> tuple[Float64, float] | None:
        """Return the best feasible point in direction d, and the change of the objective there."""
        slope, curvature = float(self.g @ d), float(d @ self.Q @ d)
        if not slope < 0:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d > 0, (self.hi - self.b) / d, np.where(d < 0, (self.lo - self.b) / d, np.inf))
        t = min(float(room.min()), -slope / curvature if curvature > 0 else np.inf)
        if not (np.isfinite(t) and t > 0):
            return None
        point = self.b + t * d
        hit = room <= t
        point[hit] = np.where(d[hit] > 0, self.hi[hit], self.lo[hit])
        return np.clip(point, self.lo, self.hi), t * slope + 0.5 * t * t * curvature
