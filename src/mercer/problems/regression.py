"""Regression problems as duals with two copies of the points: one for each side of the tube.

The first copy, b+ in [0, C], pulls the function up where it runs below the tube; the second, b- in [-C, 0],
pulls it down. beta = b+ + b-.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.dual import Dual
from mercer.problems.problem import FEASIBLE, Machine, Values


def _unit(y: Float64, there: NDArray[np.bool_], bias: bool) -> float:
    """Return the targets' scale, at most 1: half their range with a bias, their largest size without."""
    y = y[there]
    size = float(np.abs(y).max(initial=0.0))
    spread = 0.5 * float(y.max() - y.min()) if bias and y.size else size
    return min(1.0, max(spread, 1e-12 * size))


class EpsilonTube(Dual):
    r"""The dual of  min 1/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon), or with its square.

    It is  min 1/2 beta'(K + diag(r)) beta - y'beta + epsilon sum_i |beta_i|  with -C_i <= beta_i <= C_i and
    r = 0, or for the squares no box and r_i = 1 / (2 C_i); with a bias, sum beta = 0.

    Parameters
    ----------
    y : (n,) float64
        Targets.
    C : (n,) float64
        The price of each point's slack. A point of price zero is held at zero.
    epsilon : float
        Half width of the tube.
    squared : bool
        Whether slacks are squared.
    fit_intercept : bool
        Whether f has an unpenalised bias.

    References
    ----------
    Smola and Schoelkopf (2004), A tutorial on support vector regression, Statistics and Computing 14.
    """

    def __init__(
        self, y: Float64, C: Float64, epsilon: float, *, squared: bool = False, fit_intercept: bool = True
    ) -> None:
        zero = np.zeros_like(C)
        most, r = C, None
        if squared:
            most = np.where(C > 0, np.inf, 0.0)
            with np.errstate(divide="ignore"):
                r = np.tile(np.where(C > 0, 1.0 / (2.0 * C), 1.0), 2)
        super().__init__(
            np.concatenate([-y + epsilon, -y - epsilon]),
            np.concatenate([zero, -most]),
            np.concatenate([most, zero]),
            r=r,
            group=np.zeros(2 * y.size, dtype=np.int64) if fit_intercept else None,
            sums=np.zeros(1) if fit_intercept else None,
            copies=2,
        )
        self.unit = _unit(y, C > 0, fit_intercept)

    def tolerance(self, tol: float, objective: float) -> float:
        """Return ``tol`` in units of the targets' spread where that is below one."""
        return tol * self.unit


def epsilon_tube(y: Float64, C: Float64, epsilon: float, *, fit_intercept: bool = True) -> EpsilonTube:
    """Return the problem with the linear loss."""
    return EpsilonTube(y, C, epsilon, fit_intercept=fit_intercept)


def squared_epsilon_tube(
    y: Float64, C: Float64, epsilon: float, *, fit_intercept: bool = True
) -> EpsilonTube:
    """Return the problem with the squared loss."""
    return EpsilonTube(y, C, epsilon, squared=True, fit_intercept=fit_intercept)


@dataclass(frozen=True)
class Tube(Machine):
    """A function with the half width of the tube that was found.

    ``outside`` and ``support`` are the shares of the weight that lies strictly outside the tube, and on
    support vectors: the first is at most nu, the second at least.
    """

    epsilon: float = 0.0
    outside: float = 0.0
    support: float = 0.0


class NuTube(Dual):
    r"""The dual of  min 1/2 ||w||^2 + C (nu W epsilon + sum_i w_i max(0, |y_i - f(x_i)| - epsilon)).

    The tube's half width epsilon is found with the function; W is the sum of the weights. The two copies
    have fixed sums +-C nu W / 2; their multipliers are bias + epsilon and bias - epsilon.

    Parameters
    ----------
    y : (n,) float64
        Targets.
    C : float
        Price of slack.
    weight : (n,) float64
        Sample weights.
    nu : float
        In (0, 1]: upper bound on the share of points outside the tube, lower bound on the share of support
        vectors.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms, Neural Computation 12.
    """

    def __init__(self, y: Float64, C: float, weight: Float64, nu: float) -> None:
        box = C * weight
        zero = np.zeros_like(box)
        half = 0.5 * nu * float(box.sum())
        super().__init__(
            np.concatenate([-y, -y]),
            np.concatenate([zero, -box]),
            np.concatenate([box, zero]),
            group=np.repeat(np.array([0, 1], dtype=np.int64), y.size),
            sums=np.array([half, -half]),
            copies=2,
        )
        self.y = y
        self.weight = weight
        self.unit = _unit(y, weight > 0, True)

    def tolerance(self, tol: float, objective: float) -> float:
        """Return ``tol`` in units of the targets' spread where that is below one, and half of it.

        A point whose two multipliers are both positive is shipped as their difference; putting both back may
        double the violation.
        """
        return 0.5 * tol * self.unit

    def allowed(self, tol: float, values: Values) -> float:
        """Return the violation of a shipped machine that ``tol`` allows."""
        return tol * self.unit

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return bias + epsilon and bias - epsilon, with epsilon >= 0."""
        m = super().multipliers(b, g)
        return m if m[0] >= m[1] else np.full(2, m.mean())

    def machine(self, b: Float64, f: Float64) -> Tube:
        """Return the function with its tube."""
        g = self.gradient(b, f)
        m = self.multipliers(b, g)
        intercept = 0.5 * float(m[0] + m[1])
        epsilon = 0.5 * float(m[0] - m[1])
        beta = self.beta(b)
        total = float(self.weight.sum())
        # Only points at their bound can be outside; what the solver leaves open puts no point there.
        pulled = (b[: self.n] >= self.hi[: self.n]) | (b[self.n :] <= self.lo[self.n :])
        outside = pulled & (np.abs(self.y - f - intercept) > epsilon + self.violation(b, g))
        touched = (b != 0).reshape(2, self.n).any(axis=0)
        return Tube(
            beta,
            intercept,
            f,
            epsilon,
            float(self.weight[outside].sum()) / total,
            float(self.weight[touched].sum()) / total,
        )

    def recover(self, coef: Float64) -> Float64:
        """Return the two copies, with what cancels in beta put back where the sums need it.

        What rounding leaves of a sum stays: put back, it would make free variables out of points inside the
        tube, which belong on their bounds.
        """
        b = super().recover(coef)
        missing = float(self.sums[0] - b[: self.n].sum())
        room = np.minimum(self.hi[: self.n] - b[: self.n], b[self.n :] - self.lo[self.n :])
        if missing > 0.1 * FEASIBLE * float(self.sums[0]) and room.sum() > 0:
            share = np.clip(missing - np.concatenate([[0.0], np.cumsum(room)[:-1]]), 0.0, room)
            b[: self.n] += share
            b[self.n :] -= share
        return b

    def best_epsilon(self, values: Float64) -> float:
        """Return the best half width for a given function: points of weight nu W at most lie outside."""
        distance = np.abs(self.y - values)
        order = np.argsort(-distance, kind="stable")
        outside = np.cumsum(self.hi[: self.n][order])
        first = int(np.searchsorted(outside, 2.0 * float(self.sums[0]) * (1 + 1e-12), side="right"))
        return float(distance[order[first]]) if first < self.n else 0.0

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth with its tube, or with the best where it does not say it."""
        intercept = float(machine.intercept)
        epsilon = machine.epsilon if isinstance(machine, Tube) else self.best_epsilon(f + intercept)
        multipliers = np.array([intercept + epsilon, intercept - epsilon])
        return self.evaluate(self.recover(machine.coef), f, multipliers, noise)
