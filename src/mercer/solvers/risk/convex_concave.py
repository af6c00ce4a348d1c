"""Stationary points of risks whose kernel matrix is not positive semi-definite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.base import MatrixGram, whole
from mercer.problems import InfeasibleError
from mercer.problems.risk import Risk
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.needs import A_RISK, SMOOTH_IF_INDEFINITE, THE_MATRIX
from mercer.solvers.risk.newton import Newton

ROUNDS = 2000
STALL = 25  # rounds in which the violation must have fallen by a tenth: else rounding lets them go in circles
LARGEST = 1e100  # kernel values whose products with their eigenvectors are far from overflow
GROWTH = 1e9  # of the coefficients, relative to the first round's, which no bounded problem shows


@dataclass(kw_only=True, repr=False)
class ConvexConcave(Solver):
    r"""Find a stationary point of a risk with an indefinite kernel matrix :math:`K = K_+ - K_-`.

    The dual objective is the difference of two convex functions. Each round replaces the concave part
    :math:`-\tfrac12 \beta^T K_- \beta` by its tangent, which leaves a convex risk with the kernel matrix
    :math:`K_+` and the fixed part :math:`-K_- \beta` in its function. The objective never rises, and where a
    round changes nothing, :math:`\beta_i = -C_i L'(y_i, (K \beta)_i + b)`.

    References
    ----------
    .. [1] A. L. Yuille and A. Rangarajan (2003). The concave-convex procedure. *Neural Computation* 15.
    """

    name: ClassVar[str] = "convex_concave"
    needs = (A_RISK, SMOOTH_IF_INDEFINITE, THE_MATRIX)
    single_precision: ClassVar[bool] = True

    def run(self, gram: Gram, problem: Risk, start: Float64 | None) -> Reached:
        """Go to a stationary point, from ``start`` or from zero."""
        n = gram.n
        limits = self.limits or Limits()
        K = whole(gram.exact())
        K = 0.5 * (K + K.T)
        largest = float(np.abs(K).max(initial=0.0))
        if not largest <= LARGEST:
            raise ValueError(
                f"the kernel is not positive semi-definite and reaches {largest:.3g}, where steps are lost "
                "in rounding: divide the kernel by a number of that size, or scale the features"
            )
        values, V = eigh(K)
        positive = values > 0
        plus = MatrixGram((V[:, positive] * values[positive]) @ V[:, positive].T, True)
        minus = (V[:, ~positive] * -values[~positive]) @ V[:, ~positive].T
        beta = np.zeros((n, problem.outputs)) if start is None else start.reshape(n, -1).copy()
        status: Status = "iteration_limit"
        steps, first = 0, np.inf
        bias = np.zeros(problem.outputs)
        best, least, since = (beta, bias), np.inf, 0
        for _ in range(ROUNDS):
            left = limits.steps_left(steps)
            inner = Newton(
                tol=1e-2 * self.tol,
                criterion="kkt",
                block_bytes=self.block_bytes,
                limits=Limits(left if limits.max_iter >= 0 else -1, limits.time_limit, limits.started),
                listener=self.listener,
            ).run(plus, problem.with_offset(-minus @ beta), beta)
            assert inner.multipliers is not None
            beta, bias = inner.b, inner.multipliers
            steps += inner.n_iter
            size = float(np.abs(beta).max())
            first = min(first, max(size, 1e-300))
            if size > GROWTH * first:
                raise InfeasibleError(
                    "the kernel is not positive semi-definite and the objective decreases without bound "
                    "along one of its negative eigenvectors: use a loss whose slope is bounded (hinge, "
                    "deviance, Huber), a smaller C, or another kernel"
                )
            violation = problem.evaluate(beta, K @ beta, bias).violation
            since += 1
            if not violation > 0.9 * least:
                best, least, since = (beta, bias), violation, 0
            if violation <= self.tol:
                status = "optimal"
                break
            if since >= STALL:
                beta, bias = best
                break
            if inner.stopped in ("time_limit", "interrupted"):
                status = inner.stopped
                break
            if limits.steps_left(steps) == 0:
                break
        g = K @ beta
        note = ""
        if status == "iteration_limit" and limits.steps_left(steps) > 0:
            status = "ill_conditioned"
            note = (
                f"no stationary point to tol={self.tol:g} was found on an indefinite kernel: the violation "
                f"stays at {least:.2g}"
            )
        return Reached(beta, g, steps, status, multipliers=bias, note=note)
