"""Regularised least squares by preconditioned conjugate gradients, stopped by the duality gap."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram, Workers
from mercer.gram.nystrom import sampled_cholesky
from mercer.gram.tiled import OutOfTime, TiledProduct
from mercer.problems.ridge import Ridge
from mercer.solvers.base import Limits
from mercer.solvers.linear_algebra.conjugate_gradients import ConjugateGradients, LowRankPreconditioner
from mercer.solvers.ridge.direct import RidgeSolution

EXPLAINED = 1e-6  # share of the trace that the preconditioner may leave out
FAINTEST = 1e-13  # share below which there is nothing but rounding
ROUNDS = 12  # of refinement with residuals in float64
DOUBLE = 2.0  # a product in double precision beside one in single
ROOM = 1.4  # for products that take longer than the last
FLOOR = 1e-13  # least shift of the preconditioner, relative to the mean of the diagonal


class Step(NamedTuple):
    """Where conjugate gradients stand after a step; gap and dual are summed over the outputs."""

    n_iter: int
    seconds: float
    residual: float  # largest entry
    dual: float
    gap: float
    evaluations: int


@dataclass
class IterativeRidge:
    r"""Conjugate gradients on :math:`(D K D + \alpha I) c = D y`, until the relative gap is below ``tol``.

    Kernel values may be single precision: once the steps say that they are done, the residual, hence the gap,
    is computed in float64, and the steps go on from it if it is not small enough. The gap is the difference
    of an upper and a lower bound on the quadratic form of the inverse, so what is proved does not depend on
    how the steps went.

    Parameters
    ----------
    tol : float
        Relative gap to be reached.
    memory : int
        Bytes for the preconditioner and for kept tiles of K.
    rank : int, optional
        Landmarks of the preconditioner; by default as many as pay.
    limits : Limits, optional
        Steps and seconds.
    listener : callable, optional
        Hears of each step.
    seed : Generator, optional
        Draws the landmarks.
    """

    tol: float = 1e-6
    memory: int = 2_000_000_000
    rank: int | None = None
    limits: Limits | None = None
    listener: Callable[[Step], None] | None = None
    seed: np.random.Generator | None = None

    def solve(self, gram: Gram, problem: Ridge, workers: Workers) -> RidgeSolution:
        """Solve; outputs that share a penalty share each product with K.

        Parameters
        ----------
        gram : Gram
            K; it must not use ``workers`` itself.
        problem : Ridge
            The problem.
        workers : Workers
            Threads.

        Returns
        -------
        RidgeSolution
        """
        limits = self.limits or Limits()
        if not (problem.alpha > 0).all():
            raise ValueError("conjugate gradients need alpha > 0: without a penalty no gap can be proved")
        stop = None if limits.unlimited else limits.out_of_time
        L = self.factor(gram, workers, float(problem.alpha.min()), stop)
        product = TiledProduct(gram, workers, self.memory // 2, stop)
        exact = product if gram.is_exact else TiledProduct(gram.exact(), workers, 0, stop)
        A, F, intercept = np.zeros(problem.Y.shape), np.zeros(problem.Y.shape), np.zeros(problem.alpha.size)
        done, status, notes = 0, "optimal", ""
        for alpha in np.unique(problem.alpha):
            outputs = np.flatnonzero(problem.alpha == alpha)
            found = self._solve(gram, problem.only(outputs), L, product, exact, limits, done)
            A[:, outputs], F[:, outputs], intercept[outputs] = found.A, found.F, found.intercept
            done += found.n_iter
            status = found.status if status == "optimal" else status
            notes = notes or found.note
        return RidgeSolution(A, intercept, F, done, status, np.nan, "cg", notes)

    def _solve(
        self,
        gram: Gram,
        problem: Ridge,
        L: Float64,
        product: TiledProduct,
        exact: TiledProduct,
        limits: Limits,
        before: int,
    ) -> RidgeSolution:
        alpha, root = float(problem.alpha[0]), problem.root
        precondition = preconditioner(L, root, alpha)

        def scaled(times: Callable[[Float64], Float64]) -> Callable[[Float64], Float64]:
            return lambda V: root[:, None] * times(root[:, None] * V) + alpha * V

        B = problem.right_sides()
        X, R = np.zeros(B.shape), B
        done, status, note, reserve = 0, "optimal", "", 0.0
        times, last = scaled(product), np.inf
        dearer = 1.0 if product is exact else DOUBLE
        for _ in range(ROUNDS):
            steps = ConjugateGradients(times, R, precondition)
            best, least = steps.X.copy(), float(np.vdot(R, R))
            while True:
                size = float(np.vdot(steps.R, steps.R))
                if size < least:  # residuals do not fall at every step, and near-singular ones may grow
                    best, least = steps.X.copy(), size
                if self._gap(problem, X + steps.X, steps.R) <= 0.5 * self.tol:
                    break
                if limits.steps_left(before + done) == 0 or limits.seconds_left() <= reserve:
                    status = "iteration_limit" if limits.steps_left(before + done) == 0 else "time_limit"
                    break
                begun = time.perf_counter()
                try:
                    steps.step()
                except OutOfTime:
                    status = "time_limit"
                    break
                # What is shipped is proved by one more product, for which there must be time.
                reserve = ROOM * dearer * (time.perf_counter() - begun)
                done += 1
                self._tell(problem, X + steps.X, steps.R, before + done, limits, gram)
                if steps.n_iter > 2 * gram.n + 10:  # in exact arithmetic n would do
                    break
            moved = X + best
            left = B - scaled(exact.uninterrupted)(moved) if best.any() else R
            if np.vdot(left, left) < np.vdot(R, R):
                X, R = moved, left
            reached = self._gap(problem, X, R)
            if status != "optimal" or reached <= self.tol:
                break
            if reached > 0.25 * last and product is not exact:  # single precision cannot do better
                product, times, dearer = exact, scaled(exact), 1.0
            elif reached > 0.9 * last:
                status = "iteration_limit"
                break
            last = reached
        else:
            status = "iteration_limit"
        if status == "iteration_limit" and limits.steps_left(before + done) > 0:
            note = (
                f"conjugate gradients stagnate at a relative gap of {reached:.1e}: K + alpha I is too near "
                f"to singular at alpha={alpha:g}. Raise alpha, or loosen tol"
            )
        C, intercept = problem.join(*problem.split(X))
        residual = problem.joined(R, intercept)
        A = root[:, None] * C
        F = problem.Y - intercept - (residual + alpha * C) / root[:, None]
        return RidgeSolution(A, intercept, F, done, status, np.nan, "cg", note)

    def factor(
        self, gram: Gram, workers: Workers, alpha: float, stop: Callable[[], bool] | None = None
    ) -> Float64:
        """Return a factor L of an approximation to K that serves penalties from ``alpha`` on."""
        seed = self.seed or np.random.default_rng(0)
        return nystrom_factor(gram, workers, alpha, self.rank, self.memory // 4, seed, stop)

    def _gap(self, problem: Ridge, X: Float64, R: Float64) -> float:
        """Return the largest relative gap of the outputs."""
        gaps, duals = problem.gaps(X, R)
        return float(np.max(np.where(gaps > 0, gaps / np.maximum(gaps + duals, 1e-300), 0.0), initial=0.0))

    def _tell(self, problem: Ridge, X: Float64, R: Float64, done: int, limits: Limits, gram: Gram) -> None:
        if self.listener is None:
            return
        gaps, duals = problem.gaps(X, R)
        seconds = time.perf_counter() - limits.started
        worst = float(np.abs(R).max(initial=0.0))
        self.listener(Step(done, seconds, worst, float(duals.sum()), float(gaps.sum()), gram.evaluations))


def nystrom_factor(
    gram: Gram,
    workers: Workers,
    alpha: float,
    rank: int | None,
    memory: int,
    seed: np.random.Generator,
    stop: Callable[[], bool] | None = None,
) -> Float64:
    """Return a factor L of an approximation to K, for the preconditioner of K + alpha I.

    Parameters
    ----------
    gram : Gram
        K; it must not use ``workers`` itself.
    workers : Workers
        Threads.
    alpha : float
        What is left of K is left when it is small against this.
    rank : int, optional
        Landmarks; by default a tenth of the points, at least 200 and at most 1000.
    memory : int
        Most bytes.
    seed : Generator
        Draws the landmarks.
    stop : callable, optional
        Whether there is no time for more landmarks.

    Returns
    -------
    (n, m) array
    """
    n = gram.n
    if rank is None:
        rank = min(n, max(200, min(1000, n // 10)))
    rank = min(rank, max(1, memory // (8 * n)))
    trace = max(float(gram.diag().sum()), np.finfo(np.float64).tiny)
    enough = min(EXPLAINED, max(0.1 * alpha * n / trace, FAINTEST))
    return sampled_cholesky(gram, rank, enough, seed, workers, stop).L


def preconditioner(L: Float64, root: Float64, alpha: float) -> LowRankPreconditioner:
    """Return the preconditioner of D K D + alpha I, given a factor L of an approximation to K."""
    scaled = L if (root == 1.0).all() else root[:, None] * L
    size = float(np.einsum("ij,ij->", scaled, scaled)) / max(1, L.shape[0])
    return LowRankPreconditioner(scaled, max(alpha, FLOOR * size, np.finfo(np.float64).tiny))
