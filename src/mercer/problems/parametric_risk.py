# ruff: noqa: D102  what overrides a method is documented in the base class
"""Penalised risk with columns beside the kernel that cost nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lstsq

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.gram.projected import ProjectedGram
from mercer.problems.design import Design
from mercer.problems.equalities import ParametricMachine
from mercer.problems.problem import InfeasibleError, Machine, Values
from mercer.problems.risk import BIAS_STEPS, Risk, Root

MENDED = 1e-6  # share of the coefficients by which their sums may be off to be put right


class ParametricRisk(Risk):
    r"""Penalised risk of a convex loss whose function has an unpenalised parametric part.

    .. math::
        \min_{w, d} \; \tfrac12 \|w\|^2 + \sum_i C_i L\Bigl(y_i, \langle w, \phi(x_i) \rangle
        + \sum_j d_j p_j(x_i)\Bigr)

    The coefficients of the points have P' beta = 0; "bias" means the (m, outputs) multipliers of the design's
    basis. The kernel matrix is seen through its projection onto P' beta = 0.

    References
    ----------
    Wahba (1990), Spline Models for Observational Data, SIAM. Green and Silverman (1994), Nonparametric
    Regression and Generalized Linear Models, Chapman and Hall.
    """

    design: Design
    seen: ProjectedGram | None

    @classmethod
    def of(
        cls, risk: Risk, columns: Float64, *, constant: bool, names: Sequence[str] | None = None
    ) -> ParametricRisk:
        """Return a risk with columns beside the kernel; its own bias is one of them, or none."""
        made = object.__new__(cls)
        made.__dict__.update(vars(risk))
        made.design = Design.of(columns, risk.C > 0, constant=constant, names=names)
        made.seen = None
        return made

    def at(self, points: Index) -> Risk:
        part = super().at(points)
        assert isinstance(part, ParametricRisk)
        part.design = self.design.take(points)
        return part

    def view(self, matrix: Gram) -> Gram:
        self.seen = self.design.projected(matrix)
        return self.seen

    # -- what costs nothing ----------------------------------------------------------------------------------

    @property
    def has_free_part(self) -> bool:
        return True

    def free_part(self, bias: Float64) -> Float64:
        return np.asarray(self.design.B @ bias)

    def free_sums(self, beta: Float64) -> Float64:
        return np.asarray(self.design.B.T @ beta)

    def border(self, root: Root) -> Float64:
        rows = self.design.B[root.point]
        return np.asarray((rows[:, :, None] * root.T[:, None, :]).reshape(root.point.size, -1))

    def coefficients(self, f: Float64) -> Float64:
        beta = -self.slopes(f)
        B = self.design.B
        missing = B.T @ beta
        size = float(np.abs(B).max(initial=0.0) * np.abs(beta).sum())
        if not 0.0 < float(np.abs(missing).max(initial=0.0)) <= MENDED * size:
            return beta
        # Points give way by as much as their curvature lets them at no cost.
        H, weighted = self._curvature(f)
        return beta - self._spread(weighted, np.asarray(lstsq(H, missing.ravel())[0]))

    def _curvature(self, f: Float64) -> tuple[Float64, Float64]:
        """Return the Hessian by the multipliers of the basis, and the points' part in it."""
        B, q = self.design.B, self.outputs
        if not self.joint:
            c = self.C * self.loss.curvature(self.y, self._flat(f))
            return np.asarray(B.T @ (c[:, None] * B)), c[:, None, None]
        c = self.C[:, None, None] * self.loss.curvature(self.y, f)
        H = np.einsum("ij,ikl,ip->jkpl", B, c, B, optimize=True).reshape(B.shape[1] * q, -1)
        return np.asarray(H), c

    def _spread(self, c: Float64, step: Float64) -> Float64:
        """Return the change of the points' slopes that a change of the multipliers makes."""
        moved = self.design.B @ step.reshape(-1, self.outputs)
        return np.asarray(np.einsum("ikl,il->ik", c, moved))

    def best_bias(self, g: Float64, start: Float64 | None = None) -> Float64:
        f = g if self.offset is None else g + self.offset
        B = self.design.B
        delta = np.zeros((B.shape[1], self.outputs)) if start is None else start.copy()
        values = f + B @ delta
        value = self.loss_sum(values)
        for _ in range(BIAS_STEPS):
            slope = self.slopes(values)
            gradient = (B.T @ slope).ravel()
            size = float(np.abs(B).max(initial=0.0) * np.abs(slope).sum())
            if float(np.abs(gradient).max(initial=0.0)) <= 1e-15 * size:
                break
            H, _ = self._curvature(values)
            if not (np.isfinite(H).all() and np.isfinite(gradient).all()):
                raise InfeasibleError(
                    "the columns beside the kernel overflow in products: scale the features, or choose a "
                    "trend of a lower degree"
                )
            # Constants of all classes together have no curvature, points far from a kink have none.
            ridge = 1e-12 * max(float(np.trace(H)) / H.shape[0], 1e-300)
            step = np.asarray(lstsq(H + ridge * np.eye(H.shape[0]), -gradient)[0])
            if not float(step @ gradient) < 0.0:
                step = -gradient / max(float(np.abs(gradient).max()), 1e-300)
            moved = self._searched(values, value, B @ step.reshape(delta.shape), float(step @ gradient))
            if moved is None:
                break
            length, values, value = moved
            delta = delta + length * step.reshape(delta.shape)
        return delta - delta.mean(axis=1, keepdims=True) if self.joint else delta

    def _searched(
        self, values: Float64, value: float, change: Float64, first: float
    ) -> tuple[float, Float64, float] | None:
        """Return a step at which the slope of the loss has fallen to half its size, None if none is found."""
        low, high, step = 0.0, np.inf, 1.0
        for _ in range(100):
            there = values + step * change
            new = self.loss_sum(there)
            slope = float(np.einsum("im,im->", self.slopes(there), change))
            if abs(slope) <= 0.5 * abs(first) and new <= value + 1e-14 * abs(value):
                return step, there, new
            if slope > 0 or not np.isfinite(new):
                high = step
            else:
                low = step
            step = 2.0 * step if high == np.inf else 0.5 * (low + high)
            if step > 1e12 or high - low <= 1e-14 * high:
                return None
        return None

    # -- the way back ----------------------------------------------------------------------------------------

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function that a point stands for, given its products with the projected matrix."""
        assert self.seen is not None
        delta, rest = self.best_bias(f), self.seen.left_out(b)
        intercept, others = self.design.split(self.design.coefficients(delta - rest))
        trend = self.design.B @ (delta - rest) - intercept
        products = f + self.design.B @ rest + self.seen.astray(b)
        if self.joint:
            return ParametricMachine(b, intercept, products, others, trend)
        return ParametricMachine(b[:, 0], float(intercept[0]), products[:, 0], others[:, 0], trend[:, 0])

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        assert isinstance(machine, ParametricMachine)
        q = self.outputs
        intercept = np.asarray(machine.intercept, dtype=np.float64).reshape(q)
        d = self.design.joined(intercept, machine.parametric.reshape(-1, q))
        delta = self.design.multipliers(d)
        return self.evaluate(self.recover(machine.coef), f.reshape(self.n, -1), delta, noise)
