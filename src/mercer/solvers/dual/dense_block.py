"""A block of variables whose kernel values are all in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigvalsh

from mercer import _jit
from mercer.arrays import Float64
from mercer.problems import Dual
from mercer.solvers.dual.free_newton import newton_step
from mercer.solvers.dual.low_rank import LowRankQuadratic, complete_factor, solve_factored
from mercer.solvers.dual.quadratic import solve_quadratic
from mercer.solvers.dual.round_loop import share_missing

FLOOR_SINGLE, FLOOR_DOUBLE = 1e-6, 1e-12  # least curvature of a pair, relative to the largest diagonal entry
LOW_RANK = 0.25  # rank, as a share of the size, up to which a factor saves time
LEAST_SHIFT = 1e-14  # of such a matrix's diagonal, relative to its largest entry
ROUNDING = 1e-13  # change of the objective, relative, that is none
NEGATIVE = 1e-14  # eigenvalue below zero, relative to the largest and for each row, that is rounding


class DenseBlock:
    """The state of sequential minimal optimisation on one dense block, its variables sorted by group.

    Parameters
    ----------
    K : (n, n) ndarray
        Kernel values of the block's points.
    diag : (n,) float64
        Its exact diagonal.
    p : Dual
        The block's problem.
    b, g : (copies n,) float64
        Variables and gradient.
    """

    def __init__(self, K: Any, diag: Float64, p: Dual, b: Float64, g: Float64) -> None:
        self.size = p.size
        self.order: Any = slice(None)
        self.starts = np.array([0, p.size], dtype=np.int64)
        self.grouped = p.group is not None
        if p.group is not None and p.sums.size > 1:
            counts = np.bincount(p.group, minlength=p.sums.size)
            self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            if p.copies == 1:
                self.order = np.argsort(p.group, kind="stable")
                K = np.ascontiguousarray(K[np.ix_(self.order, self.order)])
        self.K = K
        self.p = p
        self.b = b[self.order].copy()
        self.v = -g[self.order]
        self.lo, self.hi, self.r = p.lo[self.order], p.hi[self.order], p.r[self.order]
        self.curvature = ((diag if p.copies == 1 else np.tile(diag, p.copies)) + p.r)[self.order]
        relative_floor = FLOOR_SINGLE if K.dtype == np.float32 else FLOOR_DOUBLE
        self.floor = relative_floor * max(float(diag.max(initial=0.0)), 1e-300)
        self.kink = _kink(p)
        self.violation = np.inf
        self.linear: Float64 | None = None
        self.value = np.inf

    def run(self, tol: float, steps: int) -> int:
        """Take at most ``steps`` steps; return how many were taken."""
        options = (self.K, self.b, self.v, self.lo, self.hi, self.r, self.curvature)
        if self.kink is not None:
            done, self.violation = self._run_folded(self.kink, tol, steps)
        elif self.grouped:
            done, self.violation = _jit.smo.pairs(*options, self.starts, tol, steps, self.floor)
        else:
            done, self.violation = _jit.smo.singles(*options, tol, steps, self.floor)
        return int(done)

    def _run_folded(self, kink: Float64, tol: float, steps: int) -> tuple[int, float]:
        """Take steps over the points' coefficients instead of both of their variables."""
        n, r = self.p.n, self.r[: self.p.n]
        beta = self.b[:n] + self.b[n:]
        s = self.v[:n] + r * self.b[:n]
        box = (self.lo[n:], self.hi[:n])
        done, violation = _jit.smo_tube.folded(
            self.K, beta, s, *box, r, kink, self.curvature[:n], tol, steps, self.floor
        )
        self.b[:n], self.b[n:] = np.maximum(beta, 0.0), np.minimum(beta, 0.0)
        self.v[:n], self.v[n:] = s - r * self.b[:n], s + kink - r * self.b[n:]
        return done, violation

    def _product(self, b: Float64) -> Float64:
        """Return (K + diag(r)) b over the block's variables, in float64."""
        beta = b.reshape(self.p.copies, self.p.n).sum(axis=0)
        f = np.zeros(self.p.n)
        used = np.flatnonzero(beta)
        _jit.row_products.fold_rows(self.K, used, beta[used], 0, self.p.n, f)
        out: Float64 = np.tile(f, self.p.copies) + self.r * b
        return out

    def _value(self) -> float:
        """Return the objective, up to a constant."""
        product = self._product(self.b)
        if self.linear is None:
            self.linear = -self.v - product  # what the rest of the problem adds to the gradient
        return float(self.b @ (0.5 * product + self.linear))

    def gained(self) -> bool:
        """Return whether the objective fell below all it was at earlier calls, by more than rounding."""
        before, value = self.value, self._value()
        self.value = min(before, value)  # rounding must not pass for a gain twice
        return before - value > 0.1 * ROUNDING * abs(value)

    def is_definite(self, most: int) -> bool:
        """Return whether a matrix of at most so many rows, of which nothing is declared, is semi-definite.

        Newton steps and interior points help where a given matrix is nearly singular. Where it is indefinite
        they would lead to another stationary point than the steps of two variables do.
        """
        K = self.K
        if K.dtype != np.float64 or K.shape[0] > most or not np.isfinite(K).all():
            return False
        spread = NEGATIVE * K.shape[0] * float(np.abs(K).max(initial=0.0))
        if float(np.abs(K - K.T).max(initial=0.0)) > spread:
            return False
        eigenvalues = eigvalsh(K)
        return bool(eigenvalues[0] >= -NEGATIVE * K.shape[0] * eigenvalues[-1])

    def point(self) -> tuple[Float64, Float64]:
        """Return the variables in the problem's order and K beta (of a block that is the whole problem)."""
        b, f = np.empty(self.size), np.empty(self.size)
        b[self.order] = self.b
        f[self.order] = self._product(self.b) - self.r * self.b
        return b, f[: self.p.n]

    def restart_from_interior(self, should_stop: Callable[[], bool], *, exact: bool = True) -> bool:
        """Go to the solution by interior point and active set; return whether that was better.

        A matrix of low rank, as smooth kernels of few features have, is factored first: an iteration then
        costs as much as some products with it. Not ``exact``: what the interior leaves is left.
        """
        p = self.p
        K = np.asarray(self.K, dtype=np.float64)
        Q = np.tile(K, (p.copies, p.copies)) if p.copies > 1 else K
        if self.r.any():
            Q = Q.copy() if Q is K else Q
            Q[np.diag_indices(self.size)] += self.r
        linear = -self.v - Q @ self.b
        A, sums = self._sums()
        inside = np.flatnonzero(self.hi > self.lo)  # the others stay where they are
        alive = A[:, inside].any(axis=1)
        rest = self.b.copy()
        rest[inside] = 0.0
        linear = (linear + Q @ rest)[inside]
        box = self.lo[inside], self.hi[inside]
        equalities = A[np.ix_(alive, inside)], (sums - A @ rest)[alive]
        solution = self.b.copy()
        # Single precision would have a rank of its own.
        diagonal = self.curvature - self.r
        L = complete_factor(K, diagonal, LOW_RANK) if p.copies == 1 and self.K.dtype == np.float64 else None
        try:
            if L is not None:
                shift = self.r[inside] + LEAST_SHIFT * float(np.abs(diagonal).max())
                factored = LowRankQuadratic(L[inside], shift)
                solution[inside], _ = solve_factored(factored, linear, *box, *equalities, should_stop)
            else:
                part = Q if inside.size == self.size else Q[np.ix_(inside, inside)]
                solution[inside], _ = solve_quadratic(
                    part, linear, *box, *equalities, exact=exact, should_stop=should_stop
                )
        except LinAlgError:  # a matrix that rounding has made indefinite has no interior-point solution
            return False
        if not np.isfinite(solution).all():
            return False
        share_missing(solution, self.lo, self.hi, A, sums)
        return self._keep_if_better(solution)

    def newton(self, most: int) -> bool:
        """Take a Newton step over the free variables, at most so many; return whether that was better."""
        p = self.p if isinstance(self.order, slice) else self.p.take(self.order)
        new = newton_step(self.K, p, self.b, -self.v, most)
        if new is None:
            return False
        A, sums = self._sums()
        # A near-singular system's large numbers leave rounding in the sums.
        share_missing(new, self.lo, self.hi, A, sums)
        return self._keep_if_better(new)

    def _keep_if_better(self, b: Float64) -> bool:
        """Go to a point if the objective falls, or the violation where float64 cannot tell the objective."""
        change = b - self.b
        product = self._product(change)
        gain = float(change @ (0.5 * product - self.v))
        noise = ROUNDING * abs(self._value())
        if not gain <= noise:
            return False
        old = self.b, self.v, self.violation
        self.b, self.v = b, self.v - product
        self.run(np.inf, 0)
        if gain < -noise or self.violation < old[2]:
            return True
        self.b, self.v, self.violation = old
        return False

    def _sums(self) -> tuple[Float64, Float64]:
        """Return the indicators of the groups, and the sums over them."""
        groups = self.starts.size - 1 if self.grouped else 0
        A = np.zeros((groups, self.size))
        for k in range(groups):
            A[k, self.starts[k] : self.starts[k + 1]] = 1.0
        return A, A @ self.b

    def write(self, b: Float64) -> Float64:
        """Write the variables back to ``b``; return the change of the points' coefficients."""
        old = self.p.beta(b).copy()
        b[self.order] = self.b
        return self.p.beta(b) - old


def _kink(p: Dual) -> Float64 | None:
    """Return the jump of the price at zero if a point's two variables are the sides of one coefficient."""
    n = p.n
    if p.copies != 2 or p.group is None or p.sums.size != 1:
        return None
    kink = p.p[:n] - p.p[n:]
    alike = (kink >= 0).all() and not p.lo[:n].any() and not p.hi[n:].any()
    return kink if alike and (p.r[:n] == p.r[n:]).all() else None
