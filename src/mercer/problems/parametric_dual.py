# ruff: noqa: D102  what overrides a method is documented in the base class
"""Support vector problems with columns beside the kernel that cost nothing."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.projected import ProjectedGram
from mercer.problems.design import Design
from mercer.problems.dual import Dual
from mercer.problems.equalities import EqualityDual, ParametricMachine
from mercer.problems.problem import Machine, Values


class ParametricDual(EqualityDual):
    r"""The dual of a support vector problem whose function has an unpenalised parametric part.

    .. math::
        \min_{w, d} \; \tfrac12 \|w\|^2 + \sum_i C_i L_i\Bigl(\langle w, \phi(x_i) \rangle
        + \sum_j d_j p_j(x_i)\Bigr)

    The columns p_j (1 is the bias) add the equalities P' beta = 0 to the dual without a bias; their
    multipliers are the d_j. The variables see the kernel matrix projected onto these equalities, so that it
    need be positive semi-definite nowhere else.

    Parameters
    ----------
    bare : Dual
        The problem without a bias.
    design : Design
        The columns.

    References
    ----------
    Smola, Friess and Schoelkopf (1999), Semiparametric support vector and linear programming machines, NIPS.
    Wahba (1990), Spline Models for Observational Data, SIAM.
    """

    def __init__(self, bare: Dual, design: Design) -> None:
        super().__init__(
            bare.p,
            bare.lo,
            bare.hi,
            design.B.T,
            np.zeros(design.size),
            r=bare.r if bare.has_shift else None,
            copies=bare.copies,
            scale=bare.scale,
        )
        self.bare, self.design = bare, design
        self.seen: ProjectedGram | None = None

    def view(self, matrix: Gram) -> Gram:
        self.seen = self.design.projected(matrix)
        return self.seen

    def objective(self, b: Float64, f: Float64) -> float:
        return self.bare.objective(b, f)

    def tolerance(self, tol: float, objective: float) -> float:
        return self.bare.tolerance(tol, objective)

    def allowed(self, tol: float, values: Values) -> float:
        return self.bare.allowed(tol, values)

    def recover(self, coef: Float64) -> Float64:
        return self.bare.recover(coef)

    def machine(self, b: Float64, f: Float64) -> ParametricMachine:
        """Return the function that a point stands for, given its products with the projected matrix."""
        delta, beta = self.multipliers(b, self.gradient(b, f)), self.beta(b)
        assert self.seen is not None
        rest = self.seen.left_out(beta)  # what of K beta the columns can say, too
        intercept, others = self.design.split(self.design.coefficients(delta - rest))
        trend = self.design.B @ (delta - rest) - float(intercept)
        # K beta: what rounding has left of P' beta, times a large kernel, can be seen.
        products = f + self.design.B @ rest + self.seen.astray(beta)
        return ParametricMachine(beta, float(intercept), products, others, trend)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        assert isinstance(machine, ParametricMachine)
        delta = self.design.multipliers(self.design.joined(machine.intercept, machine.parametric))
        return self.evaluate(self.recover(machine.coef), f, delta, noise)
