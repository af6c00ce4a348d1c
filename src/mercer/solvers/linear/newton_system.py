"""The linear system of a Newton step in the weights of features: a factorisation, or conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer.arrays import Float64
from mercer.gram.features import Features

BLAS = 30.0  # by how much an operation of a matrix product is cheaper than one of a matrix-vector product
TURNS = 20  # of conjugate gradients that a step may be expected to take
SAMPLED = 30  # rows for each feature from which a preconditioner is made
WIDEST = 3000  # features of a preconditioner that is factored
MOST = 300  # turns


class NewtonSystem:
    r"""The matrix :math:`R + [Z, 1]^T D [Z, 1]`, R = diag(1, ..., 1, ridge of the bias).

    Parameters
    ----------
    features : Features
        Z.
    bias_ridge : float or None
        The bias's own entry of R; None if there is no bias.
    """

    def __init__(self, features: Features, bias_ridge: float | None) -> None:
        self.features, self.bias_ridge = features, bias_ridge
        self.size = features.width + (bias_ridge is not None)

    def factored(self, curved: int) -> bool:
        """Return whether to form the matrix, given the number of rows that have curvature."""
        Z, d = self.features, self.features.width
        if (Z.workers.threads + 1) * d * d > max(0.1 * Z.stored, 1e6):
            return False
        return bool(curved * d <= TURNS * BLAS * 2 * Z.stored / max(d, 1))

    def of_some_rows(self, D: Float64, few: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        """Return Z'DZ and Z'D1 as at most so many of the rows that have curvature tell them."""
        Z, curved = self.features, np.flatnonzero(D)
        rows = np.sort(rng.choice(curved, few, replace=False)) if curved.size > few else curved
        weight = np.zeros(Z.n)
        weight[rows] = D[rows] * (float(D[curved].sum()) / float(D[rows].sum()))
        H, line, _ = Z.gram_of_columns(weight, rows=rows)
        return H, line

    def direct(self, H: Float64, line: Float64, D: Float64, gradient: Float64) -> Float64:
        """Return the step, given Z'DZ (which is overwritten) and Z'D1."""
        matrix = self._bordered(H, line, float(D.sum()))
        return np.asarray(-cho_solve(self._factor(matrix), gradient, check_finite=False))

    def iterative(
        self, D: Float64, gradient: Float64, tol: float, stop: Callable[[], bool], rng: np.random.Generator
    ) -> Float64:
        """Return a step whose residual is at most ``tol`` times the gradient, by conjugate gradients."""
        Z = self.features
        precondition = self._preconditioner(D, rng)
        x = np.zeros(self.size)
        r = -gradient
        z = precondition(r)
        p = z.copy()
        rz = float(r @ z)
        goal = tol * float(np.linalg.norm(r))
        for _ in range(MOST):
            if rz <= 0 or stop():
                break
            Hp = self._ridge * p
            if self.bias_ridge is None:
                Hp += Z.curved_times(D, p)[0]
            else:
                columns, ones = Z.curved_times(D, p[:-1], float(p[-1]))
                Hp[:-1] += columns
                Hp[-1] += ones
            bent = float(p @ Hp)
            if not bent > 0:
                break
            step = rz / bent
            x += step * p
            r -= step * Hp
            if float(np.linalg.norm(r)) <= goal:
                break
            z = precondition(r)
            before, rz = rz, float(r @ z)
            p = z + (rz / before) * p
        return x if x.any() else precondition(-gradient)

    @property
    def _ridge(self) -> Float64:
        ridge = np.ones(self.size)
        if self.bias_ridge is not None:
            ridge[-1] = self.bias_ridge
        return ridge

    def _preconditioner(self, D: Float64, rng: np.random.Generator) -> Callable[[Float64], Float64]:
        """Return the inverse of the matrix of some rows, or of the diagonal where there are many features."""
        Z, d = self.features, self.features.width
        curved = np.flatnonzero(D)
        few = SAMPLED * d
        cheap = min(few, curved.size) * d * d <= TURNS * BLAS * Z.stored
        if cheap and d <= WIDEST and d * d <= max(0.1 * Z.stored, 1e6) and curved.size > 0:
            H, line = self.of_some_rows(D, few, rng)
            factor = self._factor(self._bordered(H, line, float(D.sum())))
            return lambda v: np.asarray(cho_solve(factor, v, check_finite=False))
        diagonal = self._ridge
        diagonal[:d] += Z.column_squares(D)
        if self.bias_ridge is not None:
            diagonal[-1] += float(D.sum())
        diagonal[diagonal == 0.0] = 1.0
        return lambda v: v / diagonal

    def _bordered(self, H: Float64, line: Float64, total: float) -> Float64:
        d = self.features.width
        matrix = np.empty((self.size, self.size))
        matrix[:d, :d] = H
        matrix[np.arange(d), np.arange(d)] += 1.0
        if self.bias_ridge is not None:
            matrix[:d, d] = matrix[d, :d] = line
            matrix[d, d] = total + self.bias_ridge
        return matrix

    def _factor(self, matrix: Float64) -> tuple[Float64, bool]:
        """Return the Cholesky factor, the diagonal raised by ever more rounding until there is one."""
        diagonal = np.diag_indices_from(matrix)
        raised = 1e-15 * float(np.trace(matrix))
        while True:
            try:
                factor, lower = cho_factor(matrix, check_finite=False)
                return factor, bool(lower)
            except np.linalg.LinAlgError:
                matrix[diagonal] += max(raised, np.finfo(np.float64).tiny)
                raised *= 10.0
