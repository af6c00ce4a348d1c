"""The posterior of a Gaussian process: variances and covariances at new points."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram, Workers
from mercer.gram.tiled import TiledProduct
from mercer.solvers.base import Limits
from mercer.solvers.linear_algebra.conjugate_gradients import ConjugateGradients
from mercer.solvers.linear_algebra.factored import Factored
from mercer.solvers.linear_algebra.packed import PackedFactored
from mercer.solvers.ridge.iterative import IterativeRidge, preconditioner

COLUMNS = 64  # new points solved for together


class ExactPosterior:
    """What is left of the prior's variance once the training points are known, by Cholesky's factor.

    Parameters
    ----------
    system : Factored or PackedFactored
        K + noise.
    """

    def __init__(self, system: Factored | PackedFactored) -> None:
        self.system = system

    def explained(self, K: Float64) -> Float64:
        """Return k' (K + noise)^-1 k for each row k of kernel values between new and training points."""
        V = self.system.half_solve(K.T)
        return np.asarray(np.einsum("ij,ij->j", V, V))

    def explained_jointly(self, K: Float64) -> Float64:
        """Return k_i' (K + noise)^-1 k_j for all pairs of rows."""
        V = self.system.half_solve(K.T)
        return np.asarray(V.T @ V)


class IterativePosterior:
    r"""The same from products with K only.

    At every step :math:`2 c^T k - c^T S c \le k^T S^{-1} k`, so a variance computed from it is never too
    small, and the squared residual over the noise says by how much it may be too large.

    Parameters
    ----------
    gram : Gram
        K, in float64; it must not use ``workers`` itself.
    noise : float
        Variance.
    workers : Workers
        Threads.
    solver : IterativeRidge
        Brings tolerance, memory and preconditioner.
    """

    def __init__(self, gram: Gram, noise: float, workers: Workers, solver: IterativeRidge) -> None:
        self.noise, self.tol = noise, solver.tol
        self.product = TiledProduct(gram, workers, solver.memory // 2)
        L = solver.factor(gram, workers, noise)
        self.precondition = preconditioner(L, np.ones(gram.n), noise)
        self.limits = solver.limits or Limits()
        self.n = gram.n

    def _times(self, V: Float64) -> Float64:
        return self.product(V) + self.noise * V

    def _solve(self, B: Float64, tol: float) -> tuple[Float64, Float64]:
        """Return C near S^-1 B and B - S C, until the bounds are ``tol`` times the largest entry apart."""
        size = np.maximum(np.abs(B).max(axis=0), np.finfo(np.float64).tiny)
        steps = ConjugateGradients(self._times, B, self.precondition)
        while steps.n_iter <= self.n:
            if (np.einsum("ij,ij->j", steps.R, steps.R) <= tol * size * self.noise).all():
                break
            steps.step()
        return steps.X, B - self._times(steps.X)

    def explained(self, K: Float64) -> Float64:
        """Return lower bounds of k' (K + noise)^-1 k, within ``tol`` of the largest of them."""
        out = np.empty(K.shape[0])
        for s in range(0, K.shape[0], COLUMNS):
            B = np.ascontiguousarray(K[s : s + COLUMNS].T)
            C, R = self._solve(B, self.tol)
            out[s : s + COLUMNS] = np.einsum("ij,ij->j", C, B + R)
        return out

    def explained_jointly(self, K: Float64) -> Float64:
        """Return k_i' (K + noise)^-1 k_j for all pairs of rows."""
        out = np.empty((K.shape[0], K.shape[0]))
        for s in range(0, K.shape[0], COLUMNS):
            B = np.ascontiguousarray(K[s : s + COLUMNS].T)
            C, _ = self._solve(B, self.tol**2)
            out[:, s : s + COLUMNS] = K @ C
        return np.asarray(0.5 * (out + out.T))
