# ruff: noqa: D102  what overrides a method is documented in the base class
"""Regularised least squares with columns beside the kernel that cost nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.gram.projected import ProjectedGram
from mercer.problems.design import Design
from mercer.problems.equalities import ParametricMachine
from mercer.problems.problem import FEASIBLE, Machine, Values
from mercer.problems.ridge import Ridge


@dataclass(frozen=True)
class ParametricRidge(Ridge):
    r"""Least squares with a penalty on the norm and an unpenalised parametric part.

    .. math::
        \min_{f, d} \; \sum_i w_i \Bigl(y_i - f(x_i) - \sum_j d_j p_j(x_i)\Bigr)^2 + \alpha \|f\|^2

    The coefficients solve the saddle-point system :math:`(K + \alpha W^{-1}) a + P d = y`, :math:`P^T a = 0`.
    With :math:`\Pi` the projection along P that the weights make orthogonal, it is the ridge regression of
    :math:`\Pi y` on the projected matrix :math:`\Pi K \Pi^T`, without any column: its solution has
    :math:`P^T a = 0` by itself. That is the problem that solvers are given; ``Y`` are the projected outputs.

    Parameters
    ----------
    Y, weight, alpha, fit_intercept
        As of :class:`Ridge`, with projected outputs; a bias is a column here, so ``fit_intercept`` is False.
    given : (n, t) float64
        The outputs as they are.
    design : Design
        The columns, weighted as the points are.

    References
    ----------
    Wahba (1990), Spline Models for Observational Data, SIAM, section 1.3.
    """

    given: Float64 = field(default_factory=lambda: np.zeros((0, 0)))
    design: Design | None = None

    @classmethod
    def of(cls, plain: Ridge, design: Design) -> ParametricRidge:
        """Return a ridge regression with columns beside its kernel."""
        projected = plain.Y - design.B @ (design.dual_basis.T @ plain.Y)
        return cls(projected, plain.weight, plain.alpha, False, plain.Y, design)

    @property
    def columns(self) -> Design:
        """The design."""
        assert self.design is not None
        return self.design

    def only(self, outputs: NDArray[np.intp]) -> ParametricRidge:
        return replace(self, Y=self.Y[:, outputs], alpha=self.alpha[outputs], given=self.given[:, outputs])

    def free_share(self) -> Float64:
        """Return the squared lengths of the rows of an orthonormal basis of the scaled columns."""
        return np.asarray(self.weight * (self.columns.B**2).sum(axis=1) / self.weight.sum())

    def free_coefficients(self, A: Float64, seen: ProjectedGram) -> Float64:
        """Return the coefficients of the columns, (m, t), given those of the points."""
        return self.columns.coefficients(self.columns.dual_basis.T @ self.given - seen.left_out(A))

    def machines(self, A: Float64, F: Float64, seen: ProjectedGram) -> list[ParametricMachine]:
        """Return the functions that coefficients stand for, given products with the projected matrix."""
        design = self.columns
        A = A - design.dual_basis @ (design.B.T @ A)  # what rounding left
        d = self.free_coefficients(A, seen)
        intercept, others = design.split(d)
        products = F + design.B @ seen.left_out(A) + seen.astray(A)
        trend = design.B @ design.multipliers(d) - intercept
        return [
            ParametricMachine(A[:, t], float(intercept[t]), products[:, t], others[:, t], trend[:, t])
            for t in range(A.shape[1])
        ]

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        assert isinstance(machine, ParametricMachine)
        delta = self.columns.multipliers(self.columns.joined(machine.intercept, machine.parametric))
        rest = Ridge(self.given - (self.columns.B @ delta)[:, None], self.weight, self.alpha)
        values = rest.evaluate(machine.coef, f, np.zeros(1), noise)
        missed = float(np.abs(self.columns.B.T @ machine.coef).sum())
        if missed > FEASIBLE * float(np.abs(machine.coef).sum()):
            return Values.infeasible(values.primal, delta)
        rounding = values.rounding + 4.0 * float(self.alpha[0]) * missed * values.violation
        size = values.size + float(self.weight @ self.given[:, 0] ** 2)
        return replace(values, multipliers=delta, rounding=rounding, size=size)
