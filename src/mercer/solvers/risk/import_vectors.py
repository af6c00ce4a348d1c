"""Greedy choice of the few points that carry a function: the import vector machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems.risk import Risk
from mercer.solvers.base import Limits, Status
from mercer.solvers.risk.growing_features import FeatureRisk

WINDOW = 3  # steps over which the objective must still fall
LEAST_NEW = 1e-10  # share of a point's squared norm that the chosen ones must leave unexplained


@dataclass(frozen=True)
class ImportSolution:
    """The chosen points, their coefficients and the biases.

    Attributes
    ----------
    points : (m,) intp
        Rows, in the order of choice.
    coef : (m, outputs) float64
        Coefficients.
    bias : (outputs,) float64
        Biases.
    objectives : (m,) float64
        The penalised risk after each choice.
    status : str
        Why it stopped; "optimal" when the objective has stopped falling or all that were asked for are there.
    """

    points: Index
    coef: Float64
    bias: Float64
    objectives: Float64
    status: Status


@dataclass
class ImportVectors:
    r"""Minimise a risk over :math:`f(x) = \sum_{j \in S} \beta_j k(x_j, x) + b`, choosing S greedily.

    A step takes the candidate whose kernel function promises the largest fall of the penalised risk: the fall
    of its second-order expansion when the new coefficient and all others are optimised. Then all are fitted
    anew. It ends when the risk has fallen by less than ``tol`` of its value over three steps.

    Parameters
    ----------
    most : int
        Most points.
    tol : float
        Relative fall over three steps below which to stop; 0 for never.
    candidates : int
        Points looked at in a step; drawn at random where there are more.
    seed : int or Generator
        Of the draw.
    limits : Limits
        Steps and seconds.
    listener : callable, optional
        Called with the number of points and the objective after each choice.

    References
    ----------
    .. [1] J. Zhu and T. Hastie (2005). Kernel logistic regression and the import vector machine. *Journal of
       Computational and Graphical Statistics* 14, 185-205.
    """

    most: int
    tol: float = 1e-3
    candidates: int = 500
    seed: int | np.random.Generator = 0
    limits: Limits | None = None
    listener: Callable[[int, float], None] | None = None

    def solve(self, gram: Gram, problem: Risk) -> ImportSolution:
        """Choose points of ``gram`` for the problem."""
        limits = self.limits or Limits()
        random = np.random.default_rng(self.seed)
        exact, diagonal = gram.exact(), gram.diag()
        everything = np.arange(gram.n)
        there = np.flatnonzero(problem.C > 0)  # points without weight are not worth a look
        fit = FeatureRisk(problem)
        points: list[int] = []
        objectives: list[float] = []
        status: Status = "optimal"
        while len(points) < min(self.most, there.size):
            if limits.steps_left(len(points)) == 0 or limits.out_of_time():
                status = "iteration_limit" if limits.steps_left(len(points)) == 0 else "time_limit"
                break
            pool = np.setdiff1d(there, points)
            if pool.size > self.candidates:
                pool = np.sort(random.choice(pool, self.candidates, replace=False))
            Z = np.asarray(exact.block(everything, pool), dtype=np.float64) - fit.F @ fit.F[pool].T
            left = diagonal[pool] - np.einsum("jm,jm->j", fit.F[pool], fit.F[pool])
            new = left > LEAST_NEW * np.maximum(diagonal[pool], 1e-300)
            if not new.any():
                break
            Z, pool = Z[:, new] / np.sqrt(left[new]), pool[new]
            best = int(np.argmax(fit.promises(Z)))
            column = Z[:, best].copy()
            column[points] = 0.0  # triangular in the chosen points, as exact arithmetic would have it
            points.append(int(pool[best]))
            objectives.append(fit.extend(column))
            if self.listener is not None:
                self.listener(len(points), objectives[-1])
            done = len(objectives) > WINDOW
            if done and objectives[-1 - WINDOW] - objectives[-1] <= self.tol * abs(objectives[-1]):
                break
        chosen = np.array(points, dtype=np.intp)
        coef = np.zeros((0, problem.outputs))
        if points:
            coef = np.asarray(solve_triangular(fit.F[chosen], fit.theta, trans="T", lower=True))
        return ImportSolution(chosen, coef, fit.bias, np.array(objectives), status)
