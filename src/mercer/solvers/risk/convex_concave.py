"""Stationary points of risks whose kernel matrix is not positive semi-definite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mercer.gram import Gram
from mercer.gram.matrix import MatrixGram
from mercer.gram.products import whole
from mercer.problems import InfeasibleError
from mercer.problems.risk import Risk
from mercer.solvers.base import Criterion, Limits, Listener, Status
from mercer.solvers.risk.newton import Newton, NewtonSolution

Float64 = NDArray[np.float64]

ROUNDS = 2000
GROWTH = 1e9  # of the coefficients, relative to the first round's, which no bounded problem shows


@dataclass
class ConvexConcave:
    r"""Find a stationary point of a risk with an indefinite kernel matrix :math:`K = K_+ - K_-`.

    The dual objective is the difference of two convex functions. Each round replaces the concave part
    :math:`-\tfrac12 \beta^T K_- \beta` by its tangent, which leaves a convex risk with the kernel matrix
    :math:`K_+` and the fixed part :math:`-K_- \beta` in its function. The objective never rises, and where a
    round changes nothing, :math:`\beta_i = -C_i L'(y_i, (K \beta)_i + b)`.

    Parameters
    ----------
    tol : float
        Largest violation of these equations, in units of the loss's slope, at which to stop.
    criterion : {"kkt", "gap"}
        Ignored: there is no gap.
    memory : int
        Bytes for the kernel matrix, which must fit.
    limits : Limits
        Newton steps and seconds.
    listener : callable, optional
        Called before every Newton step.

    References
    ----------
    .. [1] A. L. Yuille and A. Rangarajan (2003). The concave-convex procedure. *Neural Computation* 15.
    """

    tol: float = 1e-6
    criterion: Criterion = "gap"
    memory: int = 200_000_000
    limits: Limits | None = None
    listener: Listener | None = None

    def solve(self, gram: Gram, problem: Risk, start: Float64 | None = None) -> NewtonSolution:
        """Return a stationary point, from ``start`` or from zero."""
        n = gram.n
        if not problem.loss.smooth:
            raise ValueError(
                f"{problem.loss!r} has kinks, and the kernel is not positive semi-definite: for one of "
                "the two there is a solver, for both together only where the loss is piecewise linear"
            )
        if 8 * n * n > self.memory:
            raise ValueError(
                f"the kernel is not positive semi-definite, which this loss needs {8e-6 * n * n:.0f} MB of "
                f"cache_size for (it is {self.memory / 1e6:.0f} MB for each problem): raise it, or use "
                "another kernel"
            )
        limits = self.limits or Limits()
        K = whole(gram.exact())
        K = 0.5 * (K + K.T)
        values, V = eigh(K)
        positive = values > 0
        plus = MatrixGram((V[:, positive] * values[positive]) @ V[:, positive].T, True)
        minus = (V[:, ~positive] * -values[~positive]) @ V[:, ~positive].T
        beta = np.zeros((n, problem.outputs)) if start is None else start.reshape(n, -1).copy()
        status: Status = "iteration_limit"
        steps, first = 0, np.inf
        bias = np.zeros(problem.outputs)
        for _ in range(ROUNDS):
            left = limits.steps_left(steps)
            inner = Newton(
                tol=1e-2 * self.tol,
                criterion="kkt",
                memory=self.memory,
                limits=Limits(left if limits.max_iter >= 0 else -1, limits.time_limit, limits.started),
                listener=self.listener,
            ).solve(plus, problem.with_offset(-minus @ beta), beta)
            beta, bias = inner.b, inner.values.multipliers
            steps += inner.n_iter
            size = float(np.abs(beta).max())
            first = min(first, max(size, 1e-300))
            if size > GROWTH * first:
                raise InfeasibleError(
                    "the kernel is not positive semi-definite and the objective falls for ever along one of "
                    "its negative eigenvectors: use a loss whose slope is bounded (hinge, deviance, Huber), "
                    "a smaller C, or another kernel"
                )
            g = K @ beta
            if problem.evaluate(beta, g, bias).violation <= self.tol:
                status = "optimal"
                break
            if inner.status in ("time_limit", "interrupted") or limits.steps_left(steps) == 0:
                status = inner.status if inner.status in ("time_limit", "interrupted") else "iteration_limit"
                break
        g = K @ beta
        note = ""
        if status == "iteration_limit" and limits.steps_left(steps) > 0:
            note = f"no stationary point to tol={self.tol:g} within {ROUNDS} rounds on an indefinite kernel"
        values_there = problem.evaluate(beta, g, bias)
        return NewtonSolution(beta, g, values_there, steps, status, float("nan"), note)
