r"""The interior-point method for a kernel matrix that does not fit into memory.

A pivoted Cholesky factor L of low rank stands for K, so that an iteration costs O(n r^2) and O(n r) memory.
What the factor leaves out is not left out of the problem: with :math:`\tau \ge \|K - L L^T\|` the quadratic
model

.. math:: q(b) + \nabla q(b)^T (c - b) + \tfrac12 (c - b)^T (L L^T + \tau I) (c - b)

of the exact objective lies above it, so that going from b to the model's minimum lowers the exact objective.
Such steps are taken, each with one exact product K beta, until the exact conditions hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.base import MatrixGram
from mercer.gram.incomplete_cholesky import pivoted_cholesky
from mercer.problems import Dual
from mercer.solvers.dual.active_set import snapped
from mercer.solvers.dual.box_qp import solve_box_qp
from mercer.solvers.dual.round_loop import mended_equalities

LEAST_RANK = 8
WORKING_COPIES = 3  # arrays of the factor's size that an iteration needs, the factor included
EXPLAINED = 1e-13  # share of the trace that the factor may leave out
REFINEMENTS = 2
POWER_STEPS = 12
MARGIN = 1.3  # by which the estimate of the largest eigenvalue left out is raised


@dataclass(frozen=True)
class LowRankQuadratic:
    """The matrix Z Z' + diag(R), of which nothing square is ever formed.

    Attributes
    ----------
    Z : (m, r) float64
        The factor.
    R : (m,) float64
        A non-negative diagonal.
    """

    Z: Float64
    R: Float64

    def __matmul__(self, v: Float64) -> Float64:
        return np.asarray(self.Z @ (self.Z.T @ v) + (self.R if v.ndim == 1 else self.R[:, None]) * v)

    def diagonal(self) -> Float64:
        """Return the diagonal."""
        return np.asarray(np.einsum("ij,ij->i", self.Z, self.Z) + self.R)

    def times(self, factor: float) -> LowRankQuadratic:
        """Return a multiple, the factor not negative."""
        return LowRankQuadratic(np.sqrt(factor) * self.Z, factor * self.R)

    def solver(self, D: Float64) -> Callable[[Float64], Float64]:
        """Return how to solve with this matrix plus diag(D), by Woodbury's formula and refinement."""
        E = self.R + D
        if not (E > 0).all():
            raise LinAlgError("the diagonal of a low-rank matrix must be positive")
        scaled = self.Z / E[:, None]
        M = self.Z.T @ scaled
        M.flat[:: M.shape[0] + 1] += 1.0
        factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)

        def once(B: Float64) -> Float64:
            whole = B / (E if B.ndim == 1 else E[:, None])
            return np.asarray(whole - scaled @ cho_solve(factor, self.Z.T @ whole, check_finite=False))

        def solve(B: Float64) -> Float64:
            X = once(B)
            for _ in range(REFINEMENTS):
                X = X + once(B - self @ X - (D * X if B.ndim == 1 else D[:, None] * X))
            return X

        return solve


def rank_within(n: int, copies: int, budget: int) -> int:
    """Return the rank of a factor that fits, with what an iteration needs beside it, into a budget."""
    return min(n, budget // (8 * n * copies * WORKING_COPIES))


@dataclass
class Model:
    """The factor of a kernel matrix as the variables of a problem see it, and what it leaves out.

    Parameters
    ----------
    gram : Gram
        K, in float64.
    problem : Dual
        The problem.
    L : (n, r) float64
        The factor.
    """

    gram: Gram
    problem: Dual
    L: Float64

    @classmethod
    def of_rank(cls, gram: Gram, problem: Dual, rank: int) -> Self:
        """Return the model with the factor of a given rank, or of a smaller one that says it all."""
        return cls(gram, problem, pivoted_cholesky(gram, rank, EXPLAINED).L)

    @classmethod
    def complete(cls, gram: Gram, problem: Dual, rank: int) -> Self | None:
        """Return the model whose factor leaves nothing out but rounding, or None if that needs more rank."""
        if rank < LEAST_RANK or not gram.diag().any():
            return None
        L = pivoted_cholesky(gram, rank, EXPLAINED).L
        return cls(gram, problem, L) if L.shape[1] < rank else None

    def __post_init__(self) -> None:
        p = self.problem
        self.tau = self._left_out()
        shift = p.r + max(self.tau, 1e-14 * float(np.abs(self.gram.diag()).max(initial=1e-300)))
        self.Q = LowRankQuadratic(np.tile(self.L, (p.copies, 1)), shift)

    def _left_out(self) -> float:
        """Return an upper estimate of the largest eigenvalue of K - L L', over all copies of the points."""
        v = np.random.default_rng(0).normal(size=self.gram.n)
        size = 0.0
        for _ in range(POWER_STEPS):
            norm = float(np.linalg.norm(v))
            if not norm > 0.0:
                return 0.0
            v = v / norm
            w = self.gram.matvec(v) - self.L @ (self.L.T @ v)
            size = max(size, float(np.linalg.norm(w)))
            v = w
        return MARGIN * size * self.problem.copies

    def step(self, b: Float64, f: Float64, should_stop: Callable[[], bool]) -> tuple[Float64, int]:
        """Return the model's minimum at a feasible point, given f = K beta, and the iterations it took."""
        p = self.problem
        inside = np.flatnonzero(~p.fixed)
        g = p.gradient(b, f)
        A = _equalities(p)
        Q = LowRankQuadratic(self.Q.Z[inside], self.Q.R[inside])
        linear = (g - self.Q @ b)[inside]
        rest = b.copy()
        rest[inside] = 0.0
        linear += (self.Q @ rest)[inside]
        lo, hi = p.lo[inside], p.hi[inside]
        alive = A[:, inside].any(axis=1) if A.size else np.zeros(0, dtype=bool)
        sums = (p.sums - A @ rest)[alive] if A.size else np.zeros(0)
        part = A[alive][:, inside] if A.size else np.zeros((0, inside.size))
        out = b.copy()
        out[inside], n_iter = solve_factored(Q, linear, lo, hi, part, sums, should_stop)
        return mended_equalities(p, out, A), n_iter


def solve_factored(
    Q: LowRankQuadratic,
    p: Float64,
    lo: Float64,
    hi: Float64,
    A: Float64,
    s: Float64,
    should_stop: Callable[[], bool],
) -> tuple[Float64, int]:
    """Minimise 1/2 b'Qb + p'b subject to lo <= b <= hi and A b = s; return b, on its bounds, and the steps.

    Parameters
    ----------
    Q : LowRankQuadratic
        The matrix.
    p, lo, hi : (m,) float64
        Linear term and box.
    A, s : (g, m), (g,) float64
        Equalities.
    should_stop : callable
        Asked before each iteration.
    """
    unit, price = scales(Q, p, lo, hi, s)
    scaled = (Q.times(unit * unit / price), p * (unit / price), lo / unit, hi / unit, A, s / unit)
    x, n_iter = solve_box_qp(*scaled, tol=1e-10, floor=1e-12, max_iter=100, should_stop=should_stop)
    return np.clip(unit * snapped(x, *scaled), lo, hi), n_iter


def complete_factor(K: Float64, diag: Float64, share: float) -> Float64 | None:
    """Return L with K = L L' up to rounding where so small a share of the columns does, else None.

    Parameters
    ----------
    K : (n, n) float64
        Kernel matrix.
    diag : (n,) float64
        Its diagonal.
    share : float
        Of n: the largest rank that is of use.
    """
    rank = int(share * diag.size)
    if rank < LEAST_RANK or not diag.any():
        return None
    L = pivoted_cholesky(MatrixGram(K, True, diag=diag), rank, EXPLAINED).L
    return L if L.shape[1] < rank else None


def scales(Q: LowRankQuadratic, p: Float64, lo: Float64, hi: Float64, s: Float64) -> tuple[float, float]:
    """Return units of the variables and of the objective in which both are of order one."""
    curvature = max(float(Q.diagonal().max()), 1e-300)
    slope, largest = float(np.abs(p).max(initial=0.0)), float(np.abs(s).max(initial=0.0))
    width = hi - lo
    finite = width[np.isfinite(width)]
    candidates = [x for x in (slope / curvature, float(finite.max(initial=0.0)), largest) if x > 0]
    unit = min(candidates) if candidates else 1.0
    return unit, max(unit * unit * curvature, unit * slope, 1e-300)


def _equalities(p: Dual) -> Float64:
    if p.equalities is not None:
        return np.tile(p.equalities, (1, p.copies))
    if p.group is None:
        return np.zeros((0, p.size))
    return np.asarray(p.group[None, :] == np.arange(p.sums.size)[:, None], dtype=np.float64)
