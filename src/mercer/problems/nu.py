"""The nu machine for classification: the share of margin errors is chosen instead of their price."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Float64
from mercer.problems.dual import Dual
from mercer.problems.problem import InfeasibleError, Machine, Values

COLLAPSE = 1e-12  # ||w||^2 on the scale of the points below which it counts as zero
NOISE = 1e-14  # of <w, phi(x)> on that scale; no smaller violation can be asked for


def largest_nu(y: Float64, weight: Float64) -> float:
    """Return the largest feasible nu: 2 min(W+, W-) / (W+ + W-).

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Sample weights.
    """
    positive, negative = float(weight[y > 0].sum()), float(weight[y < 0].sum())
    return 2.0 * min(positive, negative) / (positive + negative)


def check_nu(y: Float64, weight: Float64, nu: float, *, where: str = "") -> None:
    """Refuse a nu for which the classes hold too little weight.

    Parameters
    ----------
    y : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Sample weights.
    nu : float
        The wished share.
    where : str
        Which classes are meant, for the message.
    """
    most = largest_nu(y, weight)
    if nu <= most * (1 + 1e-12):
        return
    plain = bool((weight == 1.0).all())
    sizes = " and ".join(
        f"{size:g}" for size in sorted(float(weight[y == sign].sum()) for sign in (-1.0, 1.0))
    )
    kind = "sizes" if plain else "weights"
    raise InfeasibleError(f"nu={nu:g} is infeasible for class {kind} {sizes}{where}: at most {most:.6g}")


@dataclass(frozen=True)
class NuMachine(Machine):
    """A function scaled so that the margin is at +-1.

    ``rho`` is the margin it had before. While that is not positive the function is not scaled; 0 says that
    the reduced convex hulls meet. ``margin_errors`` and ``support`` are the shares of the weight that lies
    strictly inside the margin, and on support vectors: the first is at most nu, the second at least.
    """

    rho: float = 1.0
    margin_errors: float = 0.0
    support: float = 0.0

    @property
    def margin(self) -> float:
        """1 / ||w||, infinite where w counts as zero."""
        return super().margin if self.rho != 0 else math.inf


class NuMargin(Dual):
    r"""The dual of  min 1/2 ||w||^2 - nu W rho + sum_i w_i max(0, rho - y_i f(x_i))  over w, bias and rho.

    It is  min 1/2 beta'K beta  with 0 <= y_i beta_i <= w_i and each class summing to +-nu W / 2, W the sum
    of the weights. Divided by rho the function is that of a soft margin with C = 1 / rho. When nu is so
    small that the reduced convex hulls of the classes meet, the optimum is w = 0 and there is nothing to
    divide by.

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
    surrender : bool
        Take the largest feasible nu where the wished one is too large. At that nu the lighter class lies
        inside the margin altogether, and every larger rho is optimal too. Beyond it the primal falls for
        ever as rho grows and the lighter class is given up; so the rho taken is the least that gives it up.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms, Neural Computation 12.
    Crisp and Burges (2000), A geometric interpretation of nu-SVM classifiers.
    """

    def __init__(
        self, y: Float64, weight: Float64, nu: float, spread: float, *, surrender: bool = False
    ) -> None:
        if not surrender:
            check_nu(y, weight, nu)
        sides = float(weight[y > 0].sum()), float(weight[y < 0].sum())
        half = min(0.5 * nu * float(weight.sum()), *sides)
        self.given_up = int(np.argmin(sides)) if surrender and half == min(sides) else None
        super().__init__(
            np.zeros(y.size),
            np.where(y > 0, 0.0, -weight),
            np.where(y > 0, weight, 0.0),
            group=np.where(y > 0, 0, 1).astype(np.int64),
            sums=np.array([half, -half]),
        )
        self.y = y
        self.weight = weight
        self.half = half
        self.spread = spread

    def tolerance(self, tol: float, objective: float) -> float:
        """Return ``tol`` in units of the margin where that is below one: rho >= ||w||^2 / (nu W)."""
        return max(tol * min(1.0, objective / self.half), NOISE * self.spread * self.half)

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return bias - rho and bias + rho."""
        m = super().multipliers(b, g)
        if self.given_up is None:
            return m
        # The other class, whose slack is dear, has none; twice the least rho then puts the boundary on the
        # outermost point of the class that is given up.
        m[1 - self.given_up] = self.extremes(self.settled(b), g)[self.given_up == 0][1 - self.given_up]
        rho = max(0.0, 0.5 * float(m[1] - m[0]))
        m[self.given_up] += (2.0 if self.given_up else -2.0) * rho
        return m

    def hopeless(self, b: Float64, f: Float64) -> bool:
        """Return whether the reduced hulls meet: ||w||^2 is zero on the scale of the points."""
        return float(b @ f) <= COLLAPSE * self.spread * self.half * self.half

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth; where w counts as zero, so does what it makes of the points."""
        if self.hopeless(b, f):
            noise = noise + math.sqrt(COLLAPSE) * self.spread * self.half
        values = super().evaluate(b, f, multipliers, noise)
        return replace(values, size=self.spread * self.half * float(self.weight.sum()))

    def machine(self, b: Float64, f: Float64) -> NuMachine:
        """Return the function, scaled where there is a margin to scale by."""
        g = self.gradient(b, f)
        m = self.multipliers(b, g)
        intercept = 0.5 * float(m[0] + m[1])
        rho = 0.0 if self.hopeless(b, f) else 0.5 * float(m[1] - m[0])
        size, total = np.abs(b), float(self.weight.sum())
        # Only points at their bound can be inside the margin; what the solver leaves open puts none there.
        wrong = (size >= self.weight) & (self.y * (f + intercept) < rho - self.violation(b, g))
        scale = 1.0 / rho if rho > 0 else 1.0
        return NuMachine(
            scale * self.beta(b),
            scale * intercept,
            scale * f,
            rho,
            float(self.weight[wrong].sum()) / total,
            float(self.weight[size > 0].sum()) / total,
        )

    def recover(self, coef: Float64) -> Float64:
        """Undo the scaling: each class sums to half of nu W."""
        total = float(coef[self.y > 0].sum())
        return self._snapped(coef * (self.half / total)) if total > 0 else coef.copy()

    def _snapped(self, b: Float64) -> Float64:
        """Return b with what scaling and back moved by rounding put on the bound again."""
        return np.where(np.abs(b) > self.weight * (1 - 1e-12), np.sign(b) * self.weight, b)

    def rho_of(self, coef: Float64) -> float:
        """Return the margin before scaling of a scaled machine that does not say it."""
        total = float(coef[self.y > 0].sum())
        return self.half / total if total > 0 else 0.0

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped, scaled machine is worth; one that does not say its margin is given it."""
        rho = machine.rho if isinstance(machine, NuMachine) else self.rho_of(machine.coef)
        scale = rho if rho > 0 else 1.0
        b, intercept = self._snapped(machine.coef * scale), float(machine.intercept) * scale
        return self.evaluate(b, f * scale, np.array([intercept - rho, intercept + rho]), noise * scale)
