"""A primal-dual interior-point method for small dense box-constrained quadratic problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.arrays import Float64

STEP_TO_BOUNDARY = 0.995
NEAR, PATIENCE = 1e-4, 8  # where so many iterations without headway mean that rounding hides any more


def solve_box_qp(
    Q: Any,
    p: Float64,
    lo: Float64,
    hi: Float64,
    A: Float64,
    s: Float64,
    *,
    tol: float = 1e-9,
    floor: float = 1.0,
    max_iter: int = 100,
    should_stop: Callable[[], bool] = lambda: False,
    visit: Callable[[Float64], None] | None = None,
) -> tuple[Float64, int]:
    """Minimise 1/2 b'Qb + p'b subject to lo <= b <= hi and A b = s.

    With slacks x = b - lo and t = hi - b and multipliers z, u of the two sides, each iteration solves the
    linearised conditions by one Cholesky factorisation of Q + diag(z/x + u/t) for a predictor and a corrector
    direction.

    Parameters
    ----------
    Q : (m, m) float64, or an object
        Positive semi-definite. An object has products ``Q @ v``, ``diagonal()`` and ``solver(D)``, which
        returns how to solve with Q + diag(D).
    p, lo, hi : (m,) float64
        Linear term and box; bounds may be infinite.
    A, s : (g, m), (g,) float64
        Equalities, linearly independent; g may be 0.
    tol : float
        Relative size of residuals and complementarity at which to stop.
    floor : float
        What is added to the objective, relative to which complementarity is measured.
    max_iter : int
        Most iterations.
    should_stop : callable
        Asked before each iteration.
    visit : callable, optional
        Called with the point before each iteration.

    Returns
    -------
    b : (m,) float64
        A point strictly inside the box, optimal to about ``tol``.
    n_iter : int
        Iterations.

    References
    ----------
    Mehrotra (1992), On the implementation of a primal-dual interior point method, SIAM J. Optimization 2.
    Nocedal and Wright (2006), Numerical Optimization, chapter 16.
    """
    below, above = np.isfinite(lo), np.isfinite(hi)
    width = np.where(below & above, hi - lo, 1.0)
    # Start in the middle of bounded boxes and one typical unit inside the others.
    unit = 1.0 / max(1e-300, float(np.mean(np.abs(Q.diagonal()))) or 1.0)
    b = np.where(below & above, lo + 0.5 * width, np.where(below, lo + unit, np.where(above, hi - unit, 0.0)))
    y = np.zeros(A.shape[0])
    start = max(1.0, float(np.abs(p).max(initial=0.0)))
    z = np.where(below, start, 0.0)
    u = np.where(above, start, 0.0)
    count = max(1, int(below.sum() + above.sum()))
    scale_dual = 1.0 + float(np.abs(p).max(initial=0.0))
    scale_primal = 1.0 + float(np.abs(s).max(initial=0.0))
    iteration, idle, least = 0, 0, np.inf
    best = b
    while iteration < max_iter and not should_stop():
        iteration += 1
        if visit is not None:
            visit(b)
        x = np.where(below, b - lo, 1.0)
        t = np.where(above, hi - b, 1.0)
        Qb = Q @ b
        dual_residual = Qb + p + A.T @ y - z + u
        primal_residual = A @ b - s
        mu = float(z[below] @ x[below] + u[above] @ t[above]) / count
        value = abs(float(b @ (0.5 * Qb + p)))
        off = max(
            float(np.abs(dual_residual).max(initial=0.0)) / scale_dual,
            float(np.abs(primal_residual).max(initial=0.0)) / scale_primal,
            mu * count / (floor + value),
        )
        idle = 0 if off < 0.9 * least or least > NEAR else idle + 1
        if off < least:
            best, least = b, off
        if off <= tol or idle > PATIENCE:
            break
        if not (x.min(initial=1.0) > 0 and t.min(initial=1.0) > 0 and np.isfinite(mu)):
            break  # rounding has pushed a variable onto its bound: no further progress can be told
        with np.errstate(over="ignore"):  # of slacks that are next to nothing: no factor, and the end
            D = np.where(below, z / x, 0.0) + np.where(above, u / t, 0.0)
        system = _System(Q, D, A, (below, x, z), (above, t, u), dual_residual, primal_residual)
        try:
            db, dy, dz, du = system.direction(x * z, t * u)
        except LinAlgError:
            break  # what the equalities see of the matrix is rounding: no direction can be told
        primal, dual = _lengths(db, dz, du, x, t, z, u, below, above)
        x2, t2 = x + primal * db, t - primal * db
        mu_affine = float((z + dual * dz)[below] @ x2[below] + (u + dual * du)[above] @ t2[above]) / count
        sigma = (max(mu_affine, 0.0) / mu) ** 3 if mu > 0 else 0.0
        db, dy, dz, du = system.direction(x * z + db * dz - sigma * mu, t * u - db * du - sigma * mu)
        primal, dual = _lengths(db, dz, du, x, t, z, u, below, above)
        # A common step keeps the quadratic term's residual linear.
        step = min(1.0, STEP_TO_BOUNDARY * min(primal, dual))
        b = b + step * db
        y, z, u = y + step * dy, z + step * dz, u + step * du
    return (best if least <= NEAR else b), iteration


class _System:
    """The linearised conditions at one point, both multipliers eliminated.

    Parameters
    ----------
    Q, D, A
        The matrix, what the multipliers add to its diagonal, and the equalities.
    lower, upper : tuple
        Of each side of the box: where there is a bound, the slack, and the multiplier.
    dual_residual, primal_residual : float64
        What the conditions lack.
    """

    def __init__(
        self,
        Q: Any,
        D: Float64,
        A: Float64,
        lower: tuple[NDArray[np.bool_], Float64, Float64],
        upper: tuple[NDArray[np.bool_], Float64, Float64],
        dual_residual: Float64,
        primal_residual: Float64,
    ) -> None:
        try:
            self.solve = _solver(Q, D)
        except LinAlgError:
            self.solve = _solver(Q, D + 1e-10 * float(Q.diagonal().sum()) / D.size)
        self.A, self.HA = A, self.solve(A.T) if A.size else A.T
        self.lower, self.upper = lower, upper
        self.dual_residual, self.primal_residual = dual_residual, primal_residual

    def direction(self, comp_z: Float64, comp_u: Float64) -> tuple[Float64, Float64, Float64, Float64]:
        """Return the changes of b, y, z and u, given x z and t u less what they should become."""
        (below, x, z), (above, t, u) = self.lower, self.upper
        rhs = -self.dual_residual - np.where(below, comp_z / x, 0.0) + np.where(above, comp_u / t, 0.0)
        free = self.solve(rhs)
        dy = np.zeros(self.A.shape[0])
        if dy.size:
            dy += np.linalg.solve(self.A @ self.HA, self.A @ free + self.primal_residual)
        db = free - self.HA @ dy
        dz = np.where(below, (-comp_z - z * db) / x, 0.0)
        du = np.where(above, (-comp_u + u * db) / t, 0.0)
        return db, dy, dz, du


def _solver(Q: Any, D: Float64) -> Callable[[Float64], Float64]:
    """Return how to solve with Q + diag(D)."""
    if not isinstance(Q, np.ndarray):
        solve: Callable[[Float64], Float64] = Q.solver(D)
        return solve
    H = Q.copy()
    H[np.diag_indices(D.size)] += D
    factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
    return lambda B: np.asarray(cho_solve(factor, B, check_finite=False))


def _lengths(
    db: Float64,
    dz: Float64,
    du: Float64,
    x: Float64,
    t: Float64,
    z: Float64,
    u: Float64,
    below: NDArray[np.bool_],
    above: NDArray[np.bool_],
) -> tuple[float, float]:
    """Return the largest steps, at most 1 / STEP_TO_BOUNDARY, to where a slack or multiplier is zero."""
    most = 1.0 / STEP_TO_BOUNDARY
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        primal = min(
            most,
            float(np.where(below & (db < 0), -x / db, np.inf).min(initial=np.inf)),
            float(np.where(above & (db > 0), t / db, np.inf).min(initial=np.inf)),
        )
        dual = min(
            most,
            float(np.where(below & (dz < 0), -z / dz, np.inf).min(initial=np.inf)),
            float(np.where(above & (du < 0), -u / du, np.inf).min(initial=np.inf)),
        )
    return primal, dual
