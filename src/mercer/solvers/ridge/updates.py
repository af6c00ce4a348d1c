"""The system of a ridge regression that gains and loses points, with its Cholesky factor."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from mercer import _jit
from mercer.arrays import Float64
from mercer.problems.ridge import Ridge
from mercer.solvers.ridge.direct import RidgeSolution

SPARE = 16  # points that room is made for
RANK = 1e-13  # share of a diagonal entry below which what is left of it is rounding
REFINED = 1e-13  # residual, relative to the targets, at which refinement ends
REFINEMENTS = 3


class RidgeSystem:
    r"""The system :math:`(K + \alpha W^{-1}) a + b 1 = y` with R'R = :math:`K + \alpha W^{-1}`.

    A point that comes is a row and a column of R; one that goes is a rank-one update, by rotations. Solutions
    are refined with K itself, so errors of the factor do not add up.

    Parameters
    ----------
    K : (n, n) float64
        Kernel matrix.
    shift : (n,) float64
        The diagonal of :math:`\alpha W^{-1}`.
    """

    def __init__(self, K: Float64, shift: Float64) -> None:
        self.n = K.shape[0]
        self.shift = shift.copy()
        self.K = self._roomy(K)
        self.R = np.empty((0, 0))
        self.factorise()

    def _roomy(self, square: Float64) -> Float64:
        n = square.shape[0]
        wide = np.zeros((n + max(SPARE, n // 8), n + max(SPARE, n // 8)))
        wide[:n, :n] = square
        return wide

    def factorise(self) -> None:
        """Compute the factor anew."""
        S = self.K[: self.n, : self.n].copy()
        S[np.diag_indices(self.n)] += self.shift
        self.R = np.zeros_like(self.K)
        self.R[: self.n, : self.n] = cholesky(S, lower=False, overwrite_a=True, check_finite=False)

    def append(self, row: Float64, shift: float) -> None:
        """Add a point whose kernel values with all points, itself the last, are given."""
        n = self.n
        if n == self.K.shape[0]:
            self.K, self.R = self._roomy(self.K[:n, :n]), self._roomy(self.R[:n, :n])
        x = row.astype(np.float64)
        corner = float(row[n]) + shift
        left = float(_jit.free_factor.schur(self.R, n, x, corner))
        if not left > RANK * corner:
            raise LinAlgError
        _jit.free_factor.append(self.R, n, x, left)
        self.K[n, : n + 1] = self.K[: n + 1, n] = row
        self.shift = np.append(self.shift, shift)
        self.n = n + 1

    def remove(self, point: int) -> None:
        """Take a point out; the others keep their order."""
        n = self.n
        _jit.free_factor.delete(self.R, n, point)
        self.R[:n, n - 1 : n] = 0.0
        self.R[n - 1, :n] = 0.0
        self.K[point : n - 1, :n] = self.K[point + 1 : n, :n].copy()
        self.K[: n - 1, point : n - 1] = self.K[: n - 1, point + 1 : n].copy()
        self.K[n - 1, :n] = self.K[:n, n - 1] = 0.0
        self.shift = np.delete(self.shift, point)
        self.n = n - 1

    def _solved(self, B: Float64) -> Float64:
        R = self.R[: self.n, : self.n]
        half = solve_triangular(R, B, trans=1, check_finite=False)
        return np.asarray(solve_triangular(R, half, check_finite=False))

    def solve(self, problem: Ridge) -> RidgeSolution:
        """Solve a problem on these points, one penalty for all outputs.

        Parameters
        ----------
        problem : Ridge
            Its targets, weights and bias.
        """
        Y = problem.Y
        K = self.K[: self.n, : self.n]
        ones = self._solved(np.ones((self.n, 1))) if problem.fit_intercept else None
        A, intercept = np.zeros(Y.shape), np.zeros(Y.shape[1])
        size = float(np.abs(Y).max(initial=0.0)) or 1.0
        worst = np.inf
        for _ in range(REFINEMENTS):
            left = Y - K @ A - self.shift[:, None] * A - intercept
            worst = float(np.abs(left).max(initial=0.0))
            if worst <= REFINED * size:
                break
            more = self._solved(left)
            if ones is not None:
                bias = more.sum(axis=0) / float(ones.sum())
                more, intercept = more - ones * bias, intercept + bias
            A = A + more
        if not np.isfinite(A).all() or worst > 1e-6 * size:
            raise LinAlgError
        if ones is not None:  # to the last bit: coefficients sum to zero
            A = A - ones * (A.sum(axis=0) / float(ones.sum()))
        edge = np.abs(np.diagonal(self.R[: self.n, : self.n]))
        condition = float((edge.max() / edge.min()) ** 2)
        return RidgeSolution(A, intercept, K @ A, 1, "optimal", condition, "cholesky", "")
