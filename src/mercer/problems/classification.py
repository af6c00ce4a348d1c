# ruff: noqa: D102  what overrides a method is documented in the base class
"""Two-class problems as duals in beta_i = y_i alpha_i."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.signed import SignedGram
from mercer.problems.dual import Dual
from mercer.problems.problem import FEASIBLE, InfeasibleError, Machine, Values
from mercer.problems.separating import SeparatingMachine


def _bias_group(n: int, fit_intercept: bool) -> dict[str, np.ndarray | None]:
    if not fit_intercept:
        return {"group": None, "sums": None}
    return {"group": np.zeros(n, dtype=np.int64), "sums": np.zeros(1)}


def soft_margin(y: Float64, C: Float64, *, fit_intercept: bool = True) -> Dual:
    r"""Return the dual of :math:`\min \tfrac12 \|w\|^2 + \sum_i C_i \max(0, 1 - y_i f(x_i))`.

    .. math::
        \min_\beta \; \tfrac12 \beta' K \beta - y'\beta
        \quad \text{subject to} \quad 0 \le y_i \beta_i \le C_i, \quad
        \sum_i \beta_i = 0 \text{ with a bias}

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    C : (n,) float64
        The price of each point's slack: C times the sample's and the class's weight.
    fit_intercept : bool
        Whether f has an unpenalised bias.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks, Machine Learning 20.
    """
    lo = np.where(y > 0, 0.0, -C)
    hi = np.where(y > 0, C, 0.0)
    return Dual(-y, lo, hi, **_bias_group(y.size, fit_intercept))  # type: ignore[arg-type]


def squared_hinge(y: Float64, C: Float64, *, fit_intercept: bool = True) -> Dual:
    r"""Return the dual of :math:`\min \tfrac12 \|w\|^2 + \sum_i C_i \max(0, 1 - y_i f(x_i))^2`.

    This is the 2-norm soft margin. The box of :func:`soft_margin` loses its upper side and the diagonal gains
    :math:`r_i = 1 / (2 C_i)`. A point of weight zero is held at zero.

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    C : (n,) float64
        The price of each point's squared slack.
    fit_intercept : bool
        Whether f has an unpenalised bias.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks, Machine Learning 20.
    """
    with np.errstate(divide="ignore"):
        r = np.where(C > 0, 1.0 / (2.0 * C), 1.0)
    free = np.where(C > 0, np.inf, 0.0)
    lo = np.where(y > 0, 0.0, -free)
    hi = np.where(y > 0, free, 0.0)
    return Dual(-y, lo, hi, r=r, **_bias_group(y.size, fit_intercept))  # type: ignore[arg-type]


class HardMargin(Dual):
    r"""The maximal margin, found as the nearest points of the two classes' convex hulls.

    .. math::
        \min_\beta \; \tfrac12 \beta' K \beta \quad \text{subject to} \quad y_i \beta_i \ge 0, \quad
        \sum_{y_i = 1} \beta_i = 1, \quad \sum_{y_i = -1} \beta_i = -1

    This problem is bounded even when the classes cannot be separated; its optimum is then zero. With
    :math:`d^2 = \beta' K \beta` the multipliers of
    :math:`\max \sum_i \alpha_i - \tfrac12 \alpha' Y K Y \alpha` are :math:`\alpha_i = (2 / d^2) |\beta_i|`,
    and the margin is d / 2.

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Points of weight zero are left out; other weights have no meaning for a hard margin.
    spread : float
        Largest squared norm of a point, the scale against which d^2 counts as zero.

    References
    ----------
    Bennett and Bredensteiner (2000), Duality and geometry in SVM classifiers.
    """

    def __init__(self, y: Float64, weight: Float64, spread: float) -> None:
        # The sum of a class bounds its members by 1; a box that is wider never binds, so that the points on
        # the margin are free, also when one of them carries the whole class.
        there = np.where(weight > 0, 2.0, 0.0)
        lo = np.where(y > 0, 0.0, -there)
        hi = np.where(y > 0, there, 0.0)
        group = np.where(y > 0, 0, 1).astype(np.int64)
        super().__init__(np.zeros(y.size), lo, hi, group=group, sums=np.array([1.0, -1.0]))
        self.y = y
        self.there = there > 0
        self.spread = spread

    def as_cone(self) -> Dual:
        from mercer.problems.fixed_bias import HardMarginBiasCone

        return HardMarginBiasCone(self, self.y, self.there)

    def without_bias(self) -> Dual:
        hull = HardMarginThroughOrigin(self.y, self.there.astype(np.float64), self.spread)
        return hull.without_bias()

    def tolerance(self, tol: float, objective: float) -> float:
        # The user's functional margins are 2 / d^2 times those of the hulls, and d^2 = 2 objective. Half of
        # that, because a violation between the classes can be as large as those within both together.
        return 0.5 * tol * objective

    def hopeless(self, b: Float64, f: Float64) -> bool:
        return float(b @ f) <= 1e-12 * self.spread

    def allowed(self, tol: float, values: Values) -> float:
        return tol  # the values' violation is that of functional margins

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        squared_distance = float(self.beta(b) @ f)
        positive = self.there & (self.y > 0)
        negative = self.there & (self.y < 0)
        top, bottom = self._edges(f)
        width = top - bottom  # twice rho
        if multipliers is None:
            multipliers = self.multipliers(b, self.gradient(b, f))
        if not self.missed(b) <= FEASIBLE:
            return Values.infeasible(math.inf, multipliers)
        if squared_distance <= 0.0:
            return Values(math.inf, math.inf, math.inf, math.inf, multipliers)
        dual = 2.0 / squared_distance
        violation = self._violation(b, f * dual)
        if width <= 0.0:
            return Values(math.inf, dual, math.inf, violation, multipliers)
        excess = float(b[positive] @ (f[positive] - top) + b[negative] @ (f[negative] - bottom))
        primal = 2.0 * squared_distance / width**2
        gap = 2.0 * excess * (squared_distance + width) / (width**2 * squared_distance)
        error = float(np.max(noise))  # of f; the distance is a mean of its values, the width a difference
        rounding = error * (4.0 * primal / width + 2.0 * (primal + dual) / squared_distance)
        return Values(primal, dual, max(gap, 0.0), violation, multipliers, rounding)

    def recover(self, coef: Float64) -> Float64:
        total = 0.5 * float(np.abs(coef).sum())
        return coef / total if total > 0 else coef.copy()

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        # Multipliers stand for the point of the hulls on their ray; the shipped bias need not be the best.
        total = 0.5 * float(np.abs(machine.coef).sum())
        if total == 0.0:
            return Values.infeasible(math.inf, np.zeros(2))
        values = self.evaluate(machine.coef / total, f / total, noise=noise / total)
        least = float((self.y * (f + machine.intercept))[self.there].min())
        if least <= 0.0 or not values.feasible:
            return replace(values, primal=math.inf, gap=math.inf)
        primal = 0.5 * float(machine.coef @ f) / least**2
        return replace(values, primal=primal, gap=values.gap + max(primal - values.primal, 0.0))

    def _violation(self, coef: Float64, f: Float64) -> float:
        """Return the most that an exchange between two multipliers of the user's dual gains per unit."""
        gain = self.y - f
        positive, used = self.there & (self.y > 0), self.there & (coef != 0)
        negative = self.there & (self.y < 0)
        grow, shrink = positive | (negative & used), negative | (positive & used)
        return max(0.0, float(gain[grow].max() - gain[shrink].min()))

    def machine(self, b: Float64, f: Float64) -> Machine:
        squared_distance = float(self.beta(b) @ f)
        if self.hopeless(b, f):
            raise InfeasibleError(
                "C=inf: the classes cannot be separated by a hard margin in this kernel's feature space "
                "(their convex hulls meet): use a finite C, or a kernel that separates them"
            )
        scale = 2.0 / squared_distance
        # Class + lies at f >= top, class - at f <= bottom: the bias puts zero in the middle, where `evaluate`
        # measures the primal value.
        top, bottom = self._edges(f)
        intercept = -0.5 * (top + bottom) * scale
        sign = np.where(self.there, self.y, 0.0)
        return SeparatingMachine(scale * self.beta(b), intercept, scale * f, sign)

    def _edges(self, f: Float64) -> tuple[float, float]:
        return (
            float(f[self.there & (self.y > 0)].min()),
            float(f[self.there & (self.y < 0)].max()),
        )


class HardMarginThroughOrigin(Dual):
    r"""The maximal margin without a bias: the least :math:`\|w\|` for which all margins are at least 1.

    Found as the point of the convex hull of the :math:`y_i x_i` that is nearest to the origin,

    .. math::
        \min_a \; \tfrac12 a' Y K Y a \quad \text{subject to} \quad a \ge 0, \quad \sum_i a_i = 1

    which is bounded also when the classes cannot be separated; its optimum is then zero. With
    :math:`d^2 = a' Y K Y a` the multipliers are :math:`\alpha = a / d^2`, the dual value is
    :math:`1 / (2 d^2)`, and the margin is d.

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Points of weight zero are left out.
    spread : float
        Largest squared norm of a point, the scale against which d^2 counts as zero.
    """

    def __init__(self, y: Float64, weight: Float64, spread: float) -> None:
        self.there = weight > 0
        hi = np.where(self.there, 2.0, 0.0)  # wider than the sum allows: it never binds
        group = np.zeros(y.size, dtype=np.int64)
        super().__init__(np.zeros(y.size), np.zeros(y.size), hi, group=group, sums=np.ones(1))
        self.y = y
        self.spread = spread

    @property
    def has_bias(self) -> bool:
        return False

    def as_cone(self) -> Dual:
        return self.without_bias()

    def without_bias(self) -> Dual:
        from mercer.problems.fixed_bias import HardMarginCone

        return HardMarginCone(self, self.y, self.there, self.spread)

    def view(self, matrix: Gram) -> Gram:
        return SignedGram(matrix, self.y)

    def tolerance(self, tol: float, objective: float) -> float:
        return 2.0 * tol * objective  # the user's functional margins are 1 / d^2 times those of the hull

    def hopeless(self, b: Float64, f: Float64) -> bool:
        return float(b @ f) <= 1e-12 * self.spread

    def allowed(self, tol: float, values: Values) -> float:
        return tol  # the values' violation is that of functional margins

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        squared_distance = float(b @ f)
        if not self.missed(b) <= FEASIBLE:
            return Values.infeasible(math.inf, np.zeros(0))
        if squared_distance <= 0.0:
            return Values(math.inf, math.inf, math.inf, math.inf, np.zeros(0))
        margins, there = f / squared_distance, self.there
        used = there & (b > 0)
        violation = max(0.0, float((margins[used] - 1.0).max()), float((1.0 - margins[there]).max()))
        dual = 0.5 / squared_distance
        least = float(f[there].min())
        if least <= 0.0:
            return Values(math.inf, dual, math.inf, violation, np.zeros(0))
        excess = float(b[there] @ (f[there] - least))
        primal = 0.5 * squared_distance / least**2
        gap = 0.5 * excess * (squared_distance + least) / (least**2 * squared_distance)
        error = float(np.max(noise))
        rounding = error * (2.0 * primal / least + (primal + dual) / squared_distance)
        return Values(primal, dual, max(gap, 0.0), violation, np.zeros(0), rounding)

    def machine(self, b: Float64, f: Float64) -> Machine:
        squared_distance = float(b @ f)
        if self.hopeless(b, f):
            raise InfeasibleError(
                "C=inf: the classes cannot be separated through the origin by a hard margin in this kernel's "
                "feature space: use a finite C, fit_intercept=True, or another kernel"
            )
        scale = self.y / squared_distance
        sign = np.where(self.there, self.y, 0.0)
        return SeparatingMachine(scale * b, 0.0, scale * f, sign, free_bias=False)

    def recover(self, coef: Float64) -> Float64:
        total = float(np.abs(coef).sum())
        return self.y * coef / total if total > 0 else self.y * coef

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        total = float(np.abs(machine.coef).sum())
        if total == 0.0:
            return Values.infeasible(math.inf, np.zeros(0))
        return self.evaluate(self.recover(machine.coef), self.y * f / total, noise=noise / total)
