"""What every optimisation problem can do, whatever its form.

A problem is handed a point of its dual and the products of the kernel matrix with that point's coefficients.
It says what the point is worth (:meth:`Problem.evaluate`), which function it stands for
(:meth:`Problem.machine`), which point a shipped function stands for (:meth:`Problem.recover`) and what that
function is worth (:meth:`Problem.certify`). It knows nothing of how it is solved.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram

FEASIBLE = 1e-9  # by how much, relative to all of b, sums and box may be missed


class InfeasibleError(ValueError):
    """The problem has no feasible point, or no finite optimum."""


@dataclass(frozen=True)
class Values:
    """What a point of the dual, or a shipped machine, is worth.

    Attributes
    ----------
    primal, dual, gap : float
        The gap is a sum of non-negative terms. Where the point is infeasible the dual is minus infinity, and
        nothing is proved.
    violation : float
        The largest violation of the optimality conditions.
    multipliers : array
        Those of the fixed sums (the bias, minus rho, ...): the reduced cost of variable t is
        gradient_t + multipliers[group_t].
    rounding : float
        A bound on the rounding error of the values and of the gap: no smaller gap means anything.
    size : float
        The size of the terms that the objective is made of: where these cancel, or an objective is zero, it
        is what rounding must be small beside.
    """

    primal: float
    dual: float
    gap: float
    violation: float
    multipliers: Float64
    rounding: float = 0.0
    size: float = 0.0

    @property
    def feasible(self) -> bool:
        """Whether the point lies in the box and has the fixed sums, up to rounding."""
        return self.dual != -math.inf

    @staticmethod
    def infeasible(primal: float, multipliers: Float64) -> Values:
        """Return what is known of a point that is infeasible: nothing but its primal value."""
        return Values(primal, -math.inf, math.inf, math.inf, multipliers)


@dataclass(frozen=True)
class Machine:
    r"""A function :math:`f(x) = \sum_i \beta_i k(x_i, x) + b`, or several, read off a point of the dual."""

    coef: Float64  # (n,), or (n, outputs)
    intercept: Any  # a number, or (outputs,)
    products: Float64  # K coef

    @property
    def values(self) -> Float64:
        """F at the training points."""
        return np.asarray(self.products + self.intercept)

    @property
    def margin(self) -> float:
        """1 / ||w||, the distance between f = 0 and f = 1: infinite for w = 0, nan for ||w||^2 < 0."""
        # Without the detour of np.sum: with hundreds of classes there are tens of thousands of machines.
        squared_norm = float(np.add.reduce(self.coef * self.products, axis=None))
        if squared_norm > 0:
            return 1.0 / math.sqrt(squared_norm)
        return math.inf if squared_norm == 0 else math.nan


class Problem(ABC):
    """An optimisation problem over a kernel matrix.

    A point is an array of dual variables; f is K beta, beta its coefficients of the points. ``noise`` is a
    bound on the error of f, a number or one for each point.
    """

    n: int  # points
    scale: float = 1.0  # the user's dual value is minus this times the objective that solvers minimise
    known: Values | None = None  # what the shipped machine is worth, where that was computed already
    has_margin: ClassVar[bool] = False  # whether 1 / ||w|| means a distance
    reaches: str = "optimal"  # what a fit is called that meets its tolerance; "stationary" where that is all

    def view(self, matrix: Gram) -> Gram:
        """Return the matrix that this problem's variables see, given the kernel's."""
        return matrix

    @abstractmethod
    def start(self) -> Float64:
        """Return a feasible point."""

    @abstractmethod
    def nearest(self, b: Float64) -> Float64:
        """Return a feasible point near ``b``."""

    @abstractmethod
    def beta(self, b: Float64) -> Float64:
        """Return the coefficients of the points."""

    def noise(self, matrix: Gram, b: Float64) -> Float64:
        """Return a bound on the rounding error of a point's products with the matrix."""
        return matrix.noise(self.beta(b))

    @abstractmethod
    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth, at given multipliers or at its own best ones."""

    @abstractmethod
    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function that a point stands for."""

    @abstractmethod
    def recover(self, coef: Float64) -> Float64:
        """Return the point that stands for given coefficients of the points."""

    @abstractmethod
    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = K coef."""

    def with_parametric(
        self, columns: Float64, *, constant: bool, names: Sequence[str] | None = None
    ) -> Problem:
        """Return this problem with columns beside the kernel that cost nothing, its own bias among them.

        Parameters
        ----------
        columns : (n, m) float64
            The columns, without a constant one.
        constant : bool
            Whether there is a constant column as well: the bias.
        names : sequence of str, optional
            What the columns are called, for messages.
        """
        raise InfeasibleError(
            "parametric: this problem (a nu machine, or C=inf: a hard margin, a hard tube) has no form with "
            "an unpenalised part: use parametric=None or a finite C"
        )

    def tolerance(self, tol: float, objective: float) -> float:
        """Return the violation of this problem that corresponds to ``tol`` in the user's."""
        return tol

    def allowed(self, tol: float, values: Values) -> float:
        """Return the violation, as ``values`` measure it, that ``tol`` allows."""
        return self.tolerance(tol, -values.dual / self.scale)

    def met(self, values: Values, criterion: str, tol: float) -> bool:
        """Return whether values meet a tolerance: on the violation, on the relative gap, or on either."""
        return meets(values, criterion, tol, self.allowed(tol, values))


def meets(values: Values, criterion: str, tol: float, allowed: float) -> bool:
    """Return whether values meet a tolerance, given the violation that it allows."""
    close = relative(values.gap, values.primal, values.dual) <= tol
    if criterion == "gap":
        return close
    small = values.violation <= allowed
    return small or close if criterion == "growth" else small


def relative(gap: float, primal: float, dual: float) -> float:
    """Return gap / max(abs(primal), abs(dual)), 0 when both are 0 and infinite while the primal is."""
    if math.isinf(gap):
        return math.inf
    scale = max(abs(primal), abs(dual))
    return gap / scale if scale > 0 else 0.0


def of_variables(noise: Float64 | float, copies: int) -> Float64 | float:
    """Return the noise of each variable, given one number or one for each point."""
    return noise if isinstance(noise, float) or copies == 1 else np.tile(noise, copies)


def total(reach: Float64, noise: Float64 | float) -> float:
    """Return the sum of reach times noise, the noise one number or one for each entry."""
    if isinstance(noise, float):
        return noise * float(np.add.reduce(reach))
    return float(reach @ noise)
