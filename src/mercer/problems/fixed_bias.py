# ruff: noqa: D102  what overrides a method is documented in the base class
"""Problems whose bias is fixed, so that no sum of dual variables is: one variable can change by itself."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.shifted import ShiftedGram
from mercer.problems.dual import Dual
from mercer.problems.problem import InfeasibleError, Machine, Values
from mercer.problems.separating import SeparatingMachine

SEPARABLE = (
    1e-12  # squared distance of the hull of the y_i x_i from 0, on the points' scale, that counts as 0
)


class FixedBias(Dual):
    r"""A problem whose bias is the weight of one more coordinate, tau, that is the same for all points.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + \tfrac{1}{2 \tau^2} b^2
        + \sum_i C_i L_i(\langle w, \phi(x_i) \rangle + b)

    In the space of (phi(x), tau) this is a problem without a bias, whose kernel is K + tau^2: the function
    sum_i beta_i (k(x_i, x) + tau^2) has the bias tau^2 sum_i beta_i. With tau = R, the largest norm of a
    point, the margin in that space is at least half of the margin with a free bias.

    Parameters
    ----------
    bare : Dual
        The problem without a bias.
    tau : float
        The extra coordinate.

    References
    ----------
    Cristianini and Shawe-Taylor (2000), An Introduction to Support Vector Machines, Remark 7.4. Mangasarian
    and Musicant (1999), Successive overrelaxation for support vector machines.
    """

    def __init__(self, bare: Dual, tau: float) -> None:
        super().__init__(
            bare.p,
            bare.lo,
            bare.hi,
            r=bare.r if bare.has_shift else None,
            copies=bare.copies,
            scale=bare.scale,
        )
        self.bare = bare
        self.tau = tau
        self.unbounded_without_margin = bare.unbounded_without_margin

    def view(self, matrix: Gram) -> Gram:
        return ShiftedGram(self.bare.view(matrix), self.tau)

    def start(self) -> Float64:
        return self.bare.start()

    def tolerance(self, tol: float, objective: float) -> float:
        return self.bare.tolerance(tol, objective)

    def hopeless(self, b: Float64, f: Float64) -> bool:
        return self.bare.hopeless(b, f)

    def allowed(self, tol: float, values: Values) -> float:
        return self.bare.allowed(tol, values)

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        return self.bare.evaluate(b, f, multipliers, noise)

    def machine(self, b: Float64, f: Float64) -> Machine:
        if self.hopeless(b, f):
            raise InfeasibleError(
                f"C=inf: the classes cannot be separated through the origin of the space with the extra "
                f"coordinate tau={self.tau:.3g}, and hence by no bias: use a finite C, or another kernel"
            )
        machine = self.bare.machine(b, f)
        bias = self.tau**2 * float(machine.coef.sum())
        moved = replace(machine, intercept=bias, products=machine.products - bias)
        # The margin is that of the direction w, whatever the bias; it is no problem through the origin.
        return replace(moved, free_bias=True) if isinstance(moved, SeparatingMachine) else moved

    def recover(self, coef: Float64) -> Float64:
        return self.bare.recover(coef)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        own = self.tau**2 * float(machine.coef.sum())
        values = self.bare.certify(replace(machine, intercept=0.0), f + own, noise)
        size = max(abs(own), abs(machine.intercept), float(np.abs(f).max(initial=0.0)))
        if abs(machine.intercept - own) <= 1e-9 * size:
            return values
        # Another bias than that of the coefficients: nothing that was proved is about this function.
        return replace(values, primal=math.inf, gap=math.inf, violation=math.inf)


class GivenBias(Dual):
    r"""A problem whose bias is a number that is given beforehand.

    .. math:: \min_w \tfrac12 \|w\|^2 + \sum_i C_i L_i(\langle w, \phi(x_i) \rangle + b_0)

    The dual has no fixed sum; its linear term gains :math:`b_0 \sum_i \beta_i`.

    Parameters
    ----------
    bare : Dual
        The problem without a bias.
    bias : float
        The bias b_0.
    """

    def __init__(self, bare: Dual, bias: float) -> None:
        super().__init__(
            bare.p + bias,
            bare.lo,
            bare.hi,
            r=bare.r if bare.has_shift else None,
            copies=bare.copies,
            scale=bare.scale,
        )
        self.bare, self.bias = bare, bias

    def objective(self, b: Float64, f: Float64) -> float:
        return self.bare.objective(b, f) + self.bias * float(b.sum())

    def tolerance(self, tol: float, objective: float) -> float:
        return self.bare.tolerance(tol, objective)

    def allowed(self, tol: float, values: Values) -> float:
        return self.bare.allowed(tol, values)

    def machine(self, b: Float64, f: Float64) -> Machine:
        return Machine(self.beta(b), self.bias, f)

    def recover(self, coef: Float64) -> Float64:
        return self.bare.recover(coef)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        values = self.evaluate(self.recover(machine.coef), f, None, noise)
        if float(machine.intercept) == self.bias:
            return values
        return replace(values, primal=math.inf, gap=math.inf, violation=math.inf)


class HardMarginCone(Dual):
    r"""The maximal margin without a bias, in its multipliers as they are.

        minimise 1/2 beta'K beta - y'beta,   y_i beta_i >= 0

    Where the classes cannot be separated this falls for ever; ``hopeless`` recognises that. Any alpha >= 0
    stands for the separating function along its own ray, so values and machine are those of the point
    alpha / sum alpha of the convex hull of the y_i phi(x_i), which `HardMarginThroughOrigin` judges.

    Parameters
    ----------
    hull : Dual
        The same problem as a point of that hull.
    y : (n,) float64
        Labels +1 and -1.
    there : (n,) bool
        Points that count; the others are held at zero.
    spread : float
        Largest squared norm of a point.

    References
    ----------
    Friess, Cristianini and Campbell (1998), The kernel-adatron: a fast and simple learning procedure for
    support vector machines, ICML.
    """

    unbounded_without_margin = True

    def __init__(self, hull: Dual, y: Float64, there: np.ndarray, spread: float) -> None:
        far = np.where(there, np.inf, 0.0)
        super().__init__(-y, np.where(y > 0, 0.0, -far), np.where(y > 0, far, 0.0))
        self.hull, self.y, self.spread = hull, y, spread

    def start(self) -> Float64:
        """Return a point whose function is the difference of the classes' means; zero has none."""
        there = self.lo < self.hi
        b: Float64 = np.where(there, self.y, 0.0) / (there.sum() * max(self.spread, 1e-300))
        return b

    def hopeless(self, b: Float64, f: Float64) -> bool:
        total = float(np.abs(b).sum())
        return total > 0 and float(b @ f) <= SEPARABLE * self.spread * total * total

    def tolerance(self, tol: float, objective: float) -> float:
        return 0.5 * tol  # the machine is the best point of the ray, which may add as much again

    def allowed(self, tol: float, values: Values) -> float:
        return tol

    def _on_hull(self, b: Float64, f: Float64) -> tuple[Float64, Float64]:
        total = float(np.abs(b).sum())
        return self.y * b / total, self.y * f / total

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        if not b.any():
            return Values(math.inf, 0.0, math.inf, 1.0, np.zeros(0))
        values = self.hull.evaluate(*self._on_hull(b, f), noise=noise / float(np.abs(b).sum()))
        return replace(values, violation=self.violation(b, self.gradient(b, f)))

    def machine(self, b: Float64, f: Float64) -> Machine:
        return self.hull.machine(*self._on_hull(b, f))

    def recover(self, coef: Float64) -> Float64:
        return coef.copy()

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        return self.hull.certify(machine, f, noise)


class HardMarginBiasCone(Dual):
    r"""The maximal margin with a bias, in its multipliers as they are.

        minimise 1/2 beta'K beta - y'beta,   y_i beta_i >= 0,   sum_i beta_i = 0

    Where the classes cannot be separated this falls for ever; ``hopeless`` recognises that. Any feasible beta
    stands for the separating function along its own ray, so values and machine are those of the nearest
    points of the classes' convex hulls that lie on it, which `HardMargin` judges.

    Parameters
    ----------
    hull : Dual
        The same problem as points of the two hulls.
    y : (n,) float64
        Labels +1 and -1.
    there : (n,) bool
        Points that count; the others are held at zero.
    """

    unbounded_without_margin = True

    def __init__(self, hull: Dual, y: Float64, there: np.ndarray) -> None:
        far = np.where(there, np.inf, 0.0)
        group = np.zeros(y.size, dtype=np.int64)
        lo, hi = np.where(y > 0, 0.0, -far), np.where(y > 0, far, 0.0)
        super().__init__(-y, lo, hi, group=group, sums=np.zeros(1))
        self.hull, self.y = hull, y

    def start(self) -> Float64:
        """Return a point whose function is the difference of the classes' means; zero has none."""
        there = self.lo < self.hi
        b = np.zeros(self.size)
        for sign in (1.0, -1.0):
            members = there & (self.y == sign)
            b[members] = sign / max(int(members.sum()), 1)
        return b

    def _on_hull(self, b: Float64, f: Float64) -> tuple[Float64, Float64]:
        total = 0.5 * float(np.abs(b).sum())
        return b / total, f / total

    def hopeless(self, b: Float64, f: Float64) -> bool:
        return bool(b.any()) and self.hull.hopeless(*self._on_hull(b, f))

    def tolerance(self, tol: float, objective: float) -> float:
        return 0.5 * tol  # the machine is the best point of the ray, which may add as much again

    def allowed(self, tol: float, values: Values) -> float:
        return tol

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        if not b.any():
            return Values(math.inf, 0.0, math.inf, 1.0, np.zeros(1))
        return self.hull.evaluate(*self._on_hull(b, f), noise=noise / (0.5 * float(np.abs(b).sum())))

    def machine(self, b: Float64, f: Float64) -> Machine:
        return self.hull.machine(*self._on_hull(b, f))

    def recover(self, coef: Float64) -> Float64:
        return coef.copy()

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        return self.hull.certify(machine, f, noise)
