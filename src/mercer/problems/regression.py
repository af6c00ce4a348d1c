"""Regression problems as duals with two copies of the points: one for each side of the tube.

The first copy, b+ in [0, C], pulls the function up where it runs below the tube; the second, b- in [-C, 0], pulls it
down. beta = b+ + b-.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.problems.dual import Dual, Float64, InfeasibleError, Machine, Values


def _one_group(n: int, fit_intercept: bool) -> dict[str, np.ndarray | None]:
    if not fit_intercept:
        return {"group": None, "sums": None}
    return {"group": np.zeros(2 * n, dtype=np.int64), "sums": np.zeros(1)}


def epsilon_tube(y: Float64, C: Float64, epsilon: float, *, fit_intercept: bool = True) -> Dual:
    r"""Return the dual of  min 1/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon).

    Parameters
    ----------
    y : (n,) float64
        Targets.
    C : (n,) float64
        The price of each point's slack.
    epsilon : float
        Half width of the tube.
    fit_intercept : bool
        Whether f has an unpenalised bias.

    References
    ----------
    Smola and Schoelkopf (2004), A tutorial on support vector regression, Statistics and Computing 14.
    """
    zero = np.zeros_like(C)
    return Dual(
        np.concatenate([-y + epsilon, -y - epsilon]),
        np.concatenate([zero, -C]),
        np.concatenate([C, zero]),
        copies=2,
        **_one_group(y.size, fit_intercept),  # type: ignore[arg-type]
    )


def squared_epsilon_tube(y: Float64, C: Float64, epsilon: float, *, fit_intercept: bool = True) -> Dual:
    r"""Return the dual of  min 1/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon)^2."""
    with np.errstate(divide="ignore"):
        r = np.where(C > 0, 1.0 / (2.0 * C), 1.0)
    free = np.where(C > 0, np.inf, 0.0)
    zero = np.zeros_like(C)
    return Dual(
        np.concatenate([-y + epsilon, -y - epsilon]),
        np.concatenate([zero, -free]),
        np.concatenate([free, zero]),
        r=np.concatenate([r, r]),
        copies=2,
        **_one_group(y.size, fit_intercept),  # type: ignore[arg-type]
    )


@dataclass(frozen=True)
class Tube(Machine):
    """A function with the half width of the tube that was found."""

    epsilon: float = 0.0


class NuTube(Dual):
    r"""The dual of  min 1/2 ||w||^2 + C (nu W epsilon + sum_i w_i max(0, |y_i - f(x_i)| - epsilon)) over epsilon too.

    W is the sum of the weights. The two copies have fixed sums +-C nu W / 2; their multipliers are bias + epsilon and
    bias - epsilon.

    Parameters
    ----------
    y : (n,) float64
        Targets.
    C : float
        Price of slack.
    weight : (n,) float64
        Sample weights.
    nu : float
        Upper bound on the share of points outside the tube, lower bound on the share of support vectors.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms, Neural Computation 12.
    """

    def __init__(self, y: Float64, C: float, weight: Float64, nu: float) -> None:
        total = float(weight.sum())
        box = C * weight
        zero = np.zeros_like(box)
        half = 0.5 * C * nu * total
        super().__init__(
            np.concatenate([-y, -y]),
            np.concatenate([zero, -box]),
            np.concatenate([box, zero]),
            group=np.repeat(np.array([0, 1], dtype=np.int64), y.size),
            sums=np.array([half, -half]),
            copies=2,
        )

    def machine(self, b: Float64, f: Float64) -> Tube:
        m = self.multipliers(b, self.gradient(b, f))
        intercept = 0.5 * float(m[0] + m[1])
        return Tube(self.beta(b), intercept, f + intercept, max(0.0, 0.5 * float(m[0] - m[1])))

    def recover(self, coef: Float64) -> Float64:
        b = super().recover(coef)
        missing = float(self.sums[0] - b[: self.n].sum())
        # Points inside both halves at once cancel in beta; put back what the sums need, where there is room.
        room = np.minimum(self.hi[: self.n] - b[: self.n], b[self.n :] - self.lo[self.n :])
        if missing > 0 and room.sum() > 0:
            share = np.clip(missing - np.concatenate([[0.0], np.cumsum(room)[:-1]]), 0.0, room)
            b[: self.n] += share
            b[self.n :] -= share
        return b

    def certify_tube(self, coef: Float64, intercept: float, epsilon: float, f: Float64) -> Values:
        """Return the values of a shipped machine with its tube."""
        b = self.recover(coef)
        g = self.gradient(b, f)
        multipliers = np.array([intercept + epsilon, intercept - epsilon])
        dual = -self.objective(b, f)
        gap = self.gap(b, self.costs(g, multipliers))
        return Values(dual + gap, dual, gap, self.violation(b, g), multipliers)


def check_nu_tube(nu: float) -> None:
    """Refuse a nu that no tube can have."""
    if not 0 < nu <= 1:
        raise InfeasibleError(f"nu={nu} is infeasible for regression: it must lie in (0, 1]")
