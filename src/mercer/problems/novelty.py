"""Novelty detection: the smallest ball around the data, and the hyperplane that separates it from the origin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.problems.dual import Dual, Float64, InfeasibleError, Machine, Values


@dataclass(frozen=True)
class BallMachine(Machine):
    """A ball: centre sum_i coef_i phi(x_i), its squared norm, squared radius; ``values`` are K coef."""

    squared_norm: float = 0.0
    squared_radius: float = 0.0


class EnclosingBall(Dual):
    r"""The dual of  min r^2 + sum_i C_i max(0, ||phi(x_i) - a||^2 - r^2)  over centre a and radius r.

    It is  min 1/2 beta'K beta - 1/2 sum_i K_ii beta_i  with 0 <= beta_i <= C_i and sum beta = 1; the ball's own dual
    value is -2 times this. C_i >= 1 leaves no point outside: the smallest enclosing ball.

    Parameters
    ----------
    diag : (n,) float64
        K_ii.
    C : (n,) float64
        The price of each point outside.

    References
    ----------
    Tax and Duin (2004), Support vector data description, Machine Learning 54.
    """

    def __init__(self, diag: Float64, C: Float64) -> None:
        if C.sum() < 1.0 - 1e-12:
            raise InfeasibleError(
                f"the prices C of all points sum to {C.sum():g}: a ball needs at least 1 (C >= 1 / n, nu <= 1)"
            )
        super().__init__(
            -0.5 * diag,
            np.zeros(diag.size),
            np.where(np.isinf(C), 1.0, C),
            group=np.zeros(diag.size, dtype=np.int64),
            sums=np.ones(1),
            scale=2.0,
        )

    def machine(self, b: Float64, f: Float64) -> BallMachine:
        m = self.multipliers(b, self.gradient(b, f))
        squared_norm = float(b @ f)
        # Reduced costs are (r^2 - distance^2) / 2, whence r^2 = 2 multiplier + ||a||^2.
        squared_radius = 2.0 * float(m[0]) + squared_norm
        return BallMachine(b, 0.0, f, squared_norm, max(squared_radius, 0.0))

    def certify_ball(self, coef: Float64, squared_radius: float, f: Float64) -> Values:
        """Return the values of a shipped ball."""
        g = self.gradient(coef, f)
        multipliers = np.array([0.5 * (squared_radius - float(coef @ f))])
        dual = -self.scale * self.objective(coef, f)
        gap = self.gap(coef, self.costs(g, multipliers))
        return Values(dual + gap, dual, gap, self.violation(coef, g), multipliers)


class Hyperplane(Dual):
    r"""The dual of  min 1/2 ||w||^2 - nu W rho + sum_i w_i max(0, rho - <w, phi(x_i)>)  over w and rho.

    It is  min 1/2 beta'K beta  with 0 <= beta_i <= w_i and sum beta = nu W, in LIBSVM's scale. The machine's intercept is
    -rho.

    Parameters
    ----------
    weight : (n,) float64
        Sample weights.
    nu : float
        Upper bound on the share of outliers, lower bound on the share of support vectors.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), Estimating the support of a high-dimensional
    distribution, Neural Computation 13.
    """

    def __init__(self, weight: Float64, nu: float) -> None:
        super().__init__(
            np.zeros(weight.size),
            np.zeros(weight.size),
            weight,
            group=np.zeros(weight.size, dtype=np.int64),
            sums=np.array([nu * float(weight.sum())]),
        )
