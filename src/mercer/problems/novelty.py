"""Novelty detection: the smallest ball around the data, and the plane that separates it from the origin."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from mercer.arrays import Float64
from mercer.problems.dual import Dual
from mercer.problems.nu import COLLAPSE, NOISE
from mercer.problems.problem import InfeasibleError, Machine, Values

FINER = 1e-3  # a hard ball is a piece of geometry: its radius is wanted to more digits than tol says
# Points on the edge belong to the region; they must not fall out of it when f is summed in another order.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


def closed(problem: Dual, b: Float64, g: Float64) -> Float64:
    """Return the multiplier that puts every point below its bound inside the region, or on its edge.

    Among the multipliers that fit b to within its KKT violation this is the largest. Only points at their
    bound, a share of at most nu, are then outside, however early the solver stopped.
    """
    tops, bottoms = problem.extremes(problem.settled(b), g)
    return np.where(np.isfinite(tops), tops, bottoms)


@dataclass(frozen=True)
class BallMachine(Machine):
    """A ball: centre sum_i coef_i phi(x_i), its squared norm, the squared radius.

    ``slacks`` are max(0, squared distance from the centre - squared radius) of the training points.
    ``outside`` and ``support`` are the shares of the weight strictly outside, and on support vectors.
    """

    centre_norm: float = 0.0
    squared_radius: float = 0.0
    slacks: Float64 = field(default_factory=lambda: np.zeros(0))
    outside: float = 0.0
    support: float = 0.0


def ball_prices(weight: Float64, nu: float | None, C: float | None) -> Float64:
    """Return each point's price of lying outside: w_i / (nu W), or C w_i; infinite for nu = 0.

    Parameters
    ----------
    weight : (n,) float64
        Sample weights.
    nu : float or None
        Share of points that may lie outside.
    C : float or None
        Price of a unit of squared distance outside, instead of nu.
    """
    total = float(weight.sum())
    if C is None:
        assert nu is not None
        return weight / (nu * total) if nu > 0 else np.where(weight > 0, np.inf, 0.0)
    if C * total < 1.0 - 1e-12:
        raise InfeasibleError(
            f"C={C:g} is infeasible for points of total weight {total:g}: a ball needs at least "
            f"1 / {total:g} = {1 / total:.6g}, where it shrinks to its centre"
        )
    return np.where(weight > 0, C * weight, 0.0) if math.isfinite(C) else np.where(weight > 0, np.inf, 0.0)


class EnclosingBall(Dual):
    r"""The dual of  min r^2 + sum_i C_i max(0, ||phi(x_i) - a||^2 - r^2)  over centre a and radius r.

    It is  min 1/2 beta'K beta - 1/2 sum_i K_ii beta_i  with 0 <= beta_i <= C_i and sum beta = 1; the ball's
    own dual value is -2 times this. With infinite C_i no point may lie outside: the smallest enclosing ball,
    whose radius is then that of the outermost point.

    Parameters
    ----------
    diag : (n,) float64
        K_ii.
    price : (n,) float64
        C_i, the price of each point outside; 0 for a point that does not count.

    References
    ----------
    Tax and Duin (2004), Support vector data description, Machine Learning 54.
    """

    has_margin = False

    def __init__(self, diag: Float64, price: Float64) -> None:
        if price.sum() < 1.0 - 1e-9:
            raise InfeasibleError(f"the prices of all points sum to {price.sum():g}: a ball needs at least 1")
        self.there = price > 0
        self.hard = bool(np.isinf(price).any())
        self.diag = diag
        super().__init__(
            -0.5 * diag,
            np.zeros(diag.size),
            np.where(np.isinf(price), 1.0, price),
            group=np.zeros(diag.size, dtype=np.int64),
            sums=np.ones(1),
            scale=2.0,
        )

    def tolerance(self, tol: float, objective: float) -> float:
        """Return ``tol`` in units of the squared radius where that is below one, finer for a hard ball."""
        unit = min(1.0, max(-2.0 * objective, 0.0))
        return max(tol * unit * (FINER if self.hard else 1.0), self._floor)

    @property
    def _floor(self) -> float:
        """The violation below which rounding has the last word."""
        return NOISE * float(np.abs(self.diag[self.there]).max(initial=0.0))

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return (r^2 - ||a||^2) / 2, the largest that is near-optimal: see `closed`."""
        return closed(self, b, g) if not self.hard else np.array([float((-g[self.there]).max())])

    def squares(self, coef: Float64, f: Float64) -> Float64:
        """Return the squared distances of the points from the centre."""
        return np.maximum(self.diag - 2.0 * f + float(coef @ f), 0.0)

    def machine(self, b: Float64, f: Float64) -> BallMachine:
        """Return the ball."""
        m = self.multipliers(b, self.gradient(b, f))
        centre_norm = float(b @ f)
        # Reduced costs are (r^2 - distance^2) / 2, whence r^2 = 2 multiplier + ||a||^2.
        squared_radius = max(2.0 * float(m[0]) + centre_norm, 0.0) + self._slack(centre_norm)
        slacks = np.maximum(self.squares(b, f) - squared_radius, 0.0)
        price = np.where(self.there, self.hi, 0.0)
        total = float(price.sum())
        outside = (b >= self.hi) & (slacks > 0)
        return BallMachine(
            b, 0.0, f, centre_norm, squared_radius, slacks,
            float(price[outside].sum()) / total, float(price[b > 0].sum()) / total,
        )  # fmt: skip

    def _slack(self, centre_norm: float) -> float:
        """Return by how much a ball is shipped larger, so that rounding puts no point on it outside."""
        return ROUNDING * float((np.abs(self.diag[self.there]) + abs(centre_norm)).max())

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth; a shipped ball's slack, and what the floor allows, is rounding."""
        values = super().evaluate(b, f, multipliers, noise)
        rounding = values.rounding + self._slack(float(b @ f)) + self.scale * self._floor
        return replace(values, rounding=rounding)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped ball is worth."""
        assert isinstance(machine, BallMachine)
        centre = float(machine.coef @ f)
        return self.evaluate(machine.coef, f, np.array([0.5 * (machine.squared_radius - centre)]), noise)


@dataclass(frozen=True)
class PlaneMachine(Machine):
    """A plane w with threshold rho = -intercept; shares of the weight below it, and on support vectors."""

    collapsed: bool = False
    outside: float = 0.0
    support: float = 0.0


class Hyperplane(Dual):
    r"""The dual of  min 1/2 ||w||^2 - nu W rho + sum_i w_i max(0, rho - <w, phi(x_i)>)  over w and rho.

    It is  min 1/2 beta'K beta  with 0 <= beta_i <= w_i and sum beta = nu W, W the sum of the weights
    (LIBSVM's scale). The machine's intercept is -rho. When the origin lies in the reduced convex hull of the
    points, the optimum is w = 0.

    Parameters
    ----------
    weight : (n,) float64
        Sample weights.
    nu : float
        In (0, 1]: upper bound on the share of outliers, lower bound on the share of support vectors.
    spread : float
        Largest squared norm of a point, the scale against which ||w||^2 counts as zero.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), Estimating the support of a high-dimensional
    distribution, Neural Computation 13.
    """

    def __init__(self, weight: Float64, nu: float, spread: float) -> None:
        self.weight = weight
        self.total = nu * float(weight.sum())
        self.spread = spread
        super().__init__(
            np.zeros(weight.size),
            np.zeros(weight.size),
            weight,
            group=np.zeros(weight.size, dtype=np.int64),
            sums=np.array([self.total]),
        )

    def tolerance(self, tol: float, objective: float) -> float:
        """Return ``tol`` in units of rho where that is below one: rho >= ||w||^2 / (nu W)."""
        return max(tol * min(1.0, 2.0 * objective / self.total), self._floor)

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return -rho, the largest that is near-optimal: see `closed`."""
        return closed(self, b, g)

    def hopeless(self, b: Float64, f: Float64) -> bool:
        """Return whether the origin lies among the points: ||w||^2 is zero on their scale."""
        return float(b @ f) <= COLLAPSE * self.spread * self.total * self.total

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth; where w counts as zero, so does what it makes of the points."""
        if self.hopeless(b, f):
            noise = noise + math.sqrt(COLLAPSE) * self.spread * self.total
        values = super().evaluate(b, f, multipliers, noise)
        return replace(
            values,
            size=self.spread * self.total * float(self.weight.sum()),
            rounding=values.rounding + self.total * (self._slack + self._floor),
        )

    @property
    def _floor(self) -> float:
        """The violation below which rounding has the last word."""
        return NOISE * self.spread * self.total

    @property
    def _slack(self) -> float:
        """By how much rho is shipped smaller, so that rounding puts no point on the plane outside."""
        return ROUNDING * self.total * self.spread

    def machine(self, b: Float64, f: Float64) -> PlaneMachine:
        """Return the plane."""
        collapsed = self.hopeless(b, f)
        intercept = 0.0
        if not collapsed:
            intercept = float(self.multipliers(b, self.gradient(b, f))[0]) + self._slack
        whole = float(self.weight.sum())
        outside = (b >= self.hi) & (f + intercept < 0)
        return PlaneMachine(
            b, intercept, f, collapsed,
            float(self.weight[outside].sum()) / whole, float(self.weight[b > 0].sum()) / whole,
        )  # fmt: skip
