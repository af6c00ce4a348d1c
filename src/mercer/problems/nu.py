"""The nu machine for classification: the share of margin errors is chosen instead of their price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.problems.dual import Dual, Float64, InfeasibleError, Machine, Values


def largest_nu(y: Float64, weight: Float64) -> float:
    """Return the largest feasible nu: 2 min(W+, W-) / (W+ + W-)."""
    positive, negative = float(weight[y > 0].sum()), float(weight[y < 0].sum())
    return 2.0 * min(positive, negative) / (positive + negative)


@dataclass(frozen=True)
class NuMachine(Machine):
    """A function scaled so that the margin is at +-1, with the margin rho it had before."""

    rho: float = 1.0


class NuMargin(Dual):
    r"""The dual of  min 1/2 ||w||^2 - nu W rho + sum_i w_i max(0, rho - y_i f(x_i))  over w, bias and rho.

    It is  min 1/2 beta'K beta  with 0 <= y_i beta_i <= w_i and each class summing to +-nu W / 2. Divided by rho the
    function is that of a soft margin with C = 1 / rho. When nu is so small that the reduced convex hulls of the
    classes meet, the optimum is w = 0 and there is nothing to divide by.

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Sample weights.
    nu : float
        Upper bound on the share of margin errors, lower bound on the share of support vectors.
    spread : float
        Largest squared norm of a point, the scale against which ||w||^2 counts as zero.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms, Neural Computation 12. Crisp and
    Burges (2000), A geometric interpretation of nu-SVM classifiers.
    """

    def __init__(self, y: Float64, weight: Float64, nu: float, spread: float) -> None:
        most = largest_nu(y, weight)
        if nu > most * (1 + 1e-12):
            positive, negative = int((y > 0).sum()), int((y < 0).sum())
            raise InfeasibleError(
                f"nu={nu:g} is infeasible for class sizes {positive} and {negative}: at most {most:.6g}"
            )
        half = 0.5 * min(nu, most) * float(weight.sum())
        super().__init__(
            np.zeros(y.size),
            np.where(y > 0, 0.0, -weight),
            np.where(y > 0, weight, 0.0),
            group=np.where(y > 0, 0, 1).astype(np.int64),
            sums=np.array([half, -half]),
        )
        self.y = y
        self.spread = spread

    def collapsed(self, b: Float64, f: Float64) -> bool:
        """Return whether the reduced hulls meet: ||w||^2 is zero on the scale of the points."""
        total = float(self.sums[0])
        return float(b @ f) <= 1e-10 * self.spread * total**2 or self.rho(b, f) <= 0

    def rho(self, b: Float64, f: Float64) -> float:
        """Return the functional margin before scaling."""
        m = self.multipliers(b, self.gradient(b, f))
        return 0.5 * float(m[1] - m[0])

    def machine(self, b: Float64, f: Float64) -> NuMachine:
        m = self.multipliers(b, self.gradient(b, f))
        intercept = 0.5 * float(m[0] + m[1])
        if self.collapsed(b, f):
            return NuMachine(self.beta(b), intercept, f + intercept, 0.0)
        rho = 0.5 * float(m[1] - m[0])
        return NuMachine(self.beta(b) / rho, intercept / rho, (f + intercept) / rho, rho)

    def certify_scaled(self, coef: Float64, intercept: float, rho: float, f: Float64) -> Values:
        """Return the values of a shipped, scaled machine with its margin."""
        scale = rho if rho > 0 else 1.0
        b, f, intercept = coef * scale, f * scale, intercept * scale
        g = self.gradient(b, f)
        multipliers = np.array([intercept - rho, intercept + rho])
        dual = -self.objective(b, f)
        gap = self.gap(b, self.costs(g, multipliers))
        return Values(dual + gap, dual, gap, self.violation(b, g), multipliers)
