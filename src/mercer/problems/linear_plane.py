"""The one-class machine on features, as a risk with a pull on its bias."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mercer.arrays import Float64
from mercer.gram.features import Features
from mercer.problems.linear_risk import LinearMachine, LinearRisk
from mercer.problems.losses import Hinge
from mercer.problems.novelty import PlaneMachine
from mercer.problems.problem import Values

EPS = float(np.finfo(np.float64).eps)
COLLAPSED = 1e-7  # length of w, relative to the largest it could have, that counts as zero


class LinearPlane(LinearRisk):
    r"""Minimise 1/2 ||w||^2 - nu W rho + sum_i w_i max(0, rho - <w, z_i>) over w and rho.

    It is the hinge at the margin 1 with the bias b = 1 - rho, pulled by nu W: the multipliers sum to that.
    When the origin lies in the reduced convex hull of the points, the optimum is w = 0 and rho = 0.

    Parameters
    ----------
    features : Features
        Z.
    weight : (n,) float64
        Sample weights.
    nu : float
        In (0, 1].
    """

    def __init__(self, features: Features, weight: Float64, nu: float) -> None:
        pull = nu * float(weight.sum())
        super().__init__(features, Hinge(), np.ones(weight.size), weight, pull=pull, constant=-pull)

    @property
    def reach(self) -> float:
        """The largest length that Z'beta could have."""
        return self.pull * float(self.features.norms.max(initial=0.0))

    def machine(self, b: Float64, f: Float64) -> LinearMachine:
        """Return the plane; where the multipliers say that it has collapsed, w = 0 and rho = 0."""
        machine = super().machine(b, f)
        length = float(np.linalg.norm(self.features.transposed_times(self.parts(b)[2])))
        if length > COLLAPSED * self.reach:
            return machine
        return replace(machine, coef=np.zeros(self.width), intercept=1.0, products=np.zeros(self.n))

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth; an objective of a collapsed plane's size is zero."""
        values = super().evaluate(b, f, multipliers, noise + EPS)  # rho is known as the 1 - rho of its bias
        unit = 0.5 * self.reach**2
        if not math.isfinite(values.gap):
            return values
        rounding = max(values.rounding, COLLAPSED**2 * unit)
        return replace(values, rounding=rounding, size=max(values.size, unit))


def plane_of(machine: LinearMachine, weight: Float64) -> PlaneMachine:
    """Return a plane on features as one of a kernel, with its shares of the weight.

    Parameters
    ----------
    machine : LinearMachine
        Its bias is 1 - rho.
    weight : (n,) float64
        Sample weights.
    """
    below = machine.products + machine.intercept < 1.0
    beta = machine.multipliers if machine.multipliers is not None else np.zeros(weight.size)
    whole = float(weight.sum())
    return PlaneMachine(
        machine.coef,
        machine.intercept - 1.0,
        machine.products,
        outside=float(weight[(beta >= weight) & below].sum()) / whole,
        support=float(weight[beta > 0].sum()) / whole,
        collapsed=not machine.coef.any(),
    )
