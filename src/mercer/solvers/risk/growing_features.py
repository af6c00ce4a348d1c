"""A penalised risk over a few explicit features, which grow one by one."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.problems.risk import Risk
from mercer.solvers.risk.newton_step import Slope, convex_search

STEPS = 50
ENOUGH = 1e-8  # fall of the objective in a step, relative, below which coefficients are optimal


class FeatureRisk:
    r"""The minimum of :math:`\tfrac12 \|\theta\|^2 + \sum_i C_i L(y_i, (F \theta)_i + b)`, by Newton steps.

    Parameters
    ----------
    problem : Risk
        Loss, targets and prices.
    """

    def __init__(self, problem: Risk) -> None:
        self.problem = problem
        n, q = problem.n, problem.outputs
        self.F: Float64 = np.zeros((n, 0))
        self.theta: Float64 = np.zeros((0, q))
        self.bias = problem.best_bias(np.zeros((n, q)))

    def _fitted(self) -> Float64:
        return self.problem.fitted(self.F @ self.theta, self.bias)

    def _curvature(self, f: Float64) -> Float64:
        """Return C_i times the Hessian of each point, (n, outputs, outputs)."""
        p = self.problem
        H = p.loss.curvature(p.y, f if p.joint else f[:, 0]).reshape(p.n, p.outputs, p.outputs)
        return np.asarray(p.C[:, None, None] * H)

    def _basis(self) -> tuple[Float64, Float64]:
        """Return the features with the constant, and the penalty of each."""
        if not self.problem.fit_intercept:
            return self.F, np.ones(self.F.shape[1])
        penalty = np.append(np.ones(self.F.shape[1]), 0.0)
        return np.column_stack([self.F, np.ones(self.problem.n)]), penalty

    def promises(self, Z: Float64) -> Float64:
        """Return how much each column of Z, added as a feature, lowers the second-order expansion.

        All coefficients move; what classes share is neglected.
        """
        f = self._fitted()
        slopes, W = self.problem.slopes(f), self._curvature(f)
        A, penalty = self._basis()
        total = np.zeros(Z.shape[1])
        for m in range(self.problem.outputs):
            d = W[:, m, m]
            H = A.T @ (d[:, None] * A)
            H.flat[:: H.shape[0] + 1] += np.maximum(penalty, 1e-12 * max(float(np.trace(H)), 1e-300))
            cross = A.T @ (d[:, None] * Z)
            curvature = 1.0 + d @ (Z * Z) - np.einsum("aj,aj->j", cross, np.linalg.solve(H, cross))
            total += (slopes[:, m] @ Z) ** 2 / (2.0 * np.maximum(curvature, 1.0))
        return total

    def extend(self, column: Float64) -> float:
        """Add a feature, fit all coefficients anew and return the objective."""
        self.F = np.column_stack([self.F, column])
        self.theta = np.vstack([self.theta, np.zeros((1, self.problem.outputs))])
        value = self._value()
        for _ in range(STEPS):
            self._newton_step()
            new = self._value()
            fallen, value = value - new, new
            if fallen <= ENOUGH * abs(value):
                break
        return value

    def _value(self) -> float:
        return 0.5 * float((self.theta**2).sum()) + self.problem.loss_sum(self._fitted())

    def _newton_step(self) -> None:
        p = self.problem
        f = self._fitted()
        A, penalty = self._basis()
        W, q, m = self._curvature(f), p.outputs, A.shape[1]
        slopes = p.slopes(f)
        current = np.vstack([self.theta, self.bias[None, :]]) if p.fit_intercept else self.theta
        gradient = A.T @ slopes + penalty[:, None] * current
        H = np.empty((m, q, m, q))
        for c in range(q):
            for e in range(q):
                H[:, c, :, e] = A.T @ (W[:, c, e][:, None] * A)
        whole = H.reshape(m * q, m * q)
        whole.flat[:: m * q + 1] += np.repeat(penalty, q)
        if p.fit_intercept:
            # The biases' common part, which nothing depends on with several classes, must not be singular.
            whole[-q:, -q:] += 1e-10 * max(float(np.trace(whole)), 1e-300) / (m * q)
            if p.joint:
                whole[-q:, -q:] += max(float(np.trace(whole[-q:, -q:])), 1e-12) / q
        try:
            step = -np.linalg.solve(whole, gradient.ravel()).reshape(m, q)
        except np.linalg.LinAlgError:  # weights so small that curvature and penalty vanish
            step = -np.linalg.lstsq(whole, gradient.ravel(), rcond=None)[0].reshape(m, q)
        change = A @ step

        def along(t: float) -> Slope:
            there = f + t * change
            new = current + t * step
            value = 0.5 * float((penalty[:, None] * new**2).sum()) + p.loss_sum(there)
            slope = float((penalty[:, None] * new * step).sum() + (p.slopes(there) * change).sum())
            return Slope(value, slope)

        first = along(0.0)
        if not first.slope < -1e-14 * abs(first.value):
            return
        t = convex_search(along, first)
        new = current + t * step
        if p.fit_intercept:
            self.theta, bias = new[:-1], new[-1]
            self.bias = bias - bias.mean() if p.joint else bias
        else:
            self.theta = new
