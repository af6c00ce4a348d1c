"""Regression with a tube that no point may leave: C = inf."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Float64
from mercer.problems.dual import Dual
from mercer.problems.problem import InfeasibleError, Machine, Problem
from mercer.problems.regression import EpsilonTube

PRICE = 2.0  # of leaving the tube, in units of the largest multiplier


class HardTube(EpsilonTube):
    r"""The dual of  min 1/2 ||w||^2  over the functions with |y_i - f(x_i)| <= epsilon for all points.

    It is  min 1/2 beta' K beta - y'beta + epsilon sum_i |beta_i|, with a bias sum beta = 0, and falls for
    ever where no function keeps the tube. Its solution is that of every price C above its largest multiplier
    (the penalty is exact), so the primal value of a function that leaves the tube by a tolerance is counted
    at twice the largest multiplier; the dual value is a lower bound in any case.

    Parameters
    ----------
    y : (n,) float64
        Targets.
    weight : (n,) float64
        Points of weight zero are left out; other weights have no meaning for a hard tube.
    epsilon : float
        Half width of the tube.
    spread : float
        Largest squared norm of a point, the scale against which a direction counts as one of no norm.
    fit_intercept : bool
        Whether f has an unpenalised bias.
    """

    def __init__(
        self, y: Float64, weight: Float64, epsilon: float, spread: float, *, fit_intercept: bool = True
    ) -> None:
        super().__init__(y, np.where(weight > 0, np.inf, 0.0), epsilon, fit_intercept=fit_intercept)
        self.spread = spread

    def with_parametric(
        self, columns: Float64, *, constant: bool, names: Sequence[str] | None = None
    ) -> Problem:
        """Refuse: no price of leaving the tube is known that free columns could not undercut."""
        return Problem.with_parametric(self, columns, constant=constant, names=names)

    def _unbounded_gap(self, b: Float64, costs: Float64, noise: Float64 | float) -> tuple[float, float]:
        most = PRICE * float(np.abs(b).max(initial=0.0))
        priced = Dual(self.p, np.maximum(self.lo, -most), np.minimum(self.hi, most), copies=2)
        return priced._gap(b, costs, noise)

    def hopeless(self, b: Float64, f: Float64) -> bool:
        """Return True when the point is a direction of no norm, along which the dual falls for ever."""
        beta = self.beta(b)
        total = float(np.abs(beta).sum())
        return total > 0.0 and float(beta @ f) <= 1e-13 * self.spread * total**2

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function, or say that there is none."""
        if self.hopeless(b, f):
            raise InfeasibleError(
                "C=inf: no function of this kernel's feature space comes within epsilon of all targets: use "
                "a finite C, a larger epsilon, or another kernel"
            )
        return super().machine(b, f)
