"""A block of variables whose kernel values are all in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import _jit
from mercer.problems import Dual
from mercer.solvers.box_qp import solve_box_qp

Float64 = NDArray[np.float64]

FLOOR_SINGLE, FLOOR_DOUBLE = 1e-6, 1e-12  # least curvature of a pair, relative to the largest diagonal entry
SNAP = 1e-6  # an interior-point variable this near to a bound (in widths of its box) belongs on it


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
        self.curvature = (np.tile(diag, p.copies) + p.r)[self.order]
        relative_floor = FLOOR_SINGLE if K.dtype == np.float32 else FLOOR_DOUBLE
        self.floor = relative_floor * max(float(diag.max(initial=0.0)), 1e-300)
        self.violation = np.inf
        self.moving = True

    def run(self, tol: float, steps: int) -> int:
        """Take at most ``steps`` steps; return how many were taken."""
        options = (self.K, self.b, self.v, self.lo, self.hi, self.r, self.curvature)
        if self.grouped:
            done, self.violation = _jit.smo.pairs(*options, self.starts, tol, steps, self.floor)
        else:
            done, self.violation = _jit.smo.singles(*options, tol, steps, self.floor)
        self.moving = done > 0
        return int(done)

    def restart_from_interior(self, p: Dual, should_stop: Callable[[], bool]) -> bool:
        """Replace the variables by the interior-point solution, bounds made exact; return whether that was better."""
        K = np.asarray(self.K, dtype=np.float64)
        Q = np.tile(K, (p.copies, p.copies)) if p.copies > 1 else K.copy()
        Q[np.diag_indices(self.size)] += self.r
        linear = -self.v - Q @ self.b  # what the rest of the problem adds to the gradient
        groups = 0 if p.group is None else self.starts.size - 1
        A = np.zeros((groups, self.size))
        for k in range(groups):
            A[k, self.starts[k] : self.starts[k + 1]] = 1.0
        sums = A @ self.b
        width = self.hi - self.lo
        open_box = width > 0
        if not open_box.all() or not np.isin(np.arange(groups), np.flatnonzero(A[:, open_box].any(axis=1))).all():
            return False
        solution, _ = solve_box_qp(Q, linear, self.lo, self.hi, A, sums, should_stop=should_stop)
        if not np.isfinite(solution).all():
            return False
        near = SNAP * np.where(np.isfinite(width), width, float(np.abs(solution).max(initial=0.0)))
        solution = np.where(solution - self.lo <= near, self.lo, solution)
        solution = np.where(self.hi - solution <= near, self.hi, solution)
        self._mend(solution, A, sums)
        old = 0.5 * self.b @ (Q @ self.b) + linear @ self.b
        gradient = Q @ solution + linear
        new = 0.5 * solution @ (gradient + linear)
        if not new < old:
            return False
        self.b = solution
        self.v = -gradient
        self.moving = True
        return True

    def _mend(self, b: Float64, A: Float64, sums: Float64) -> None:
        """Restore the groups' sums after snapping, over the variables with the most room."""
        for k in range(sums.size):
            missing = float(sums[k] - A[k] @ b)
            members = np.flatnonzero(A[k])
            room = self.hi[members] - b[members] if missing > 0 else b[members] - self.lo[members]
            inside = np.minimum(self.hi[members] - b[members], b[members] - self.lo[members]) > 0
            order = np.argsort(-(np.minimum(room, 1e300) * np.where(inside, 1.0, 1e-3)))
            for t in order:
                step = min(abs(missing), float(room[t]))
                b[members[t]] += np.sign(missing) * step
                missing -= np.sign(missing) * step
                if missing == 0.0:
                    break

    def write(self, b: Float64) -> Float64:
        """Write the variables back to ``b``; return the change of the points' coefficients."""
        old = self.p.beta(b).copy()
        b[self.order] = self.b
        return self.p.beta(b) - old
