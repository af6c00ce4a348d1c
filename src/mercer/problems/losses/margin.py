# ruff: noqa: D102  what overrides a method is documented in the base class
"""Losses of a sign and a function value: functions of the margin u = y f.

The population minimisers are those of Hastie, Tibshirani and Friedman (2009), The Elements of Statistical
Learning, table 12.1.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit, xlogy

from mercer.arrays import Float64
from mercer.problems.losses.base import SLACK, BoxConjugate, Loss, Pieces


class MarginLoss(Loss):
    r"""A loss :math:`L(y, f) = \varphi(y f)` of labels +1 and -1.

    With :math:`a = -y s` the conjugate is :math:`\varphi^*(-a)`: a is the Lagrange multiplier of the point in
    units of its price.
    """

    targets: ClassVar[Literal["signs", "numbers", "any", "classes"]] = "signs"

    @property
    def tail_slope(self) -> float:
        """The limit of the loss's slope in the margin y f as that falls to minus infinity.

        Divided by its size, losses have the tail of the hinge, slope -1, and can be compared: -infinity for
        losses that grow faster than any line.
        """
        far = np.array([-1e8, -1e9])
        first, second = self.derivative(np.ones(2), far).tolist()
        return float(second) if abs(second - first) <= 1e-6 * abs(second) else -np.inf

    def population_minimiser(self, p: Float64) -> Float64:
        """Return the f that minimises p L(+1, f) + (1 - p) L(-1, f), for probabilities p."""
        both = np.array([1.0, -1.0])
        found = [self.best_constant(both, np.array([q, 1.0 - q])) for q in np.ravel(p)]
        return np.reshape(found, np.shape(p))


def _bounded(a: Float64, most: float) -> tuple[Float64, Float64]:
    """Return a clipped to [0, most], and a penalty: infinite where a was farther out than by rounding."""
    inside = np.clip(a, 0.0, most)
    scale = most if np.isfinite(most) else 1.0
    return inside, np.where(np.abs(a - inside) > SLACK * scale, np.inf, 0.0)


def _signed_box(y: Float64, most: float) -> BoxConjugate:
    """Return the conjugate a^2 / 4 - a of a squared hinge, for multipliers a y of at most ``most``."""
    bound = np.where(y > 0, most, -most)
    return BoxConjugate(y, 0.0, 0.5, np.minimum(bound, 0.0), np.maximum(bound, 0.0))


class Hinge(MarginLoss):
    r"""The loss of the support vector machine, :math:`L(y, f) = \max(0, 1 - y f)`.

    Its population minimiser is the sign of P(Y = +1) - 1/2: the class itself.

    References
    ----------
    .. [1] C. Cortes and V. Vapnik (1995). Support-vector networks. *Machine Learning* 20, 273-297.
    """

    name = "hinge"
    smooth: ClassVar[bool] = False

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, 1.0 - y * f)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return np.where(y * f < 1.0, -y, 0.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast(y, f).shape)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 1.0)
        return penalty - a

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 1.0)
        u = y * f
        return penalty + (1.0 - a) * np.maximum(1.0 - u, 0.0) + a * np.maximum(u - 1.0, 0.0)

    def pieces(self, y: Float64) -> Pieces:
        return Pieces(y[None, :].astype(np.float64), np.stack([np.minimum(-y, 0.0), np.maximum(-y, 0.0)]))

    def population_minimiser(self, p: Float64) -> Float64:
        return np.sign(np.asarray(p) - 0.5)


class PerceptronLoss(MarginLoss):
    r"""The loss of the perceptron, :math:`L(y, f) = \max(0, -y f)`: only errors cost.

    It asks for no margin, so f = 0 costs nothing and is the minimum of every penalised problem: a machine
    with this loss learns through its mistakes, on the way (:class:`mercer.Perceptron`), not at the minimum.
    It has no name by which estimators would take it; give the object.

    References
    ----------
    .. [1] F. Rosenblatt (1958). The perceptron. *Psychological Review* 65, 386-408.
    """

    smooth: ClassVar[bool] = False

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, -y * f)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return np.where(y * f < 0.0, -y, 0.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast(y, f).shape)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        _, penalty = _bounded(-y * s, 1.0)
        return penalty

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 1.0)
        u = y * f
        return penalty + (1.0 - a) * np.maximum(-u, 0.0) + a * np.maximum(u, 0.0)

    def pieces(self, y: Float64) -> Pieces:
        kinks = np.zeros((1, y.size))
        return Pieces(kinks, np.stack([np.minimum(-y, 0.0), np.maximum(-y, 0.0)]))

    def population_minimiser(self, p: Float64) -> Float64:
        return np.zeros(np.shape(p))


class SquaredHinge(MarginLoss):
    r"""The loss of the 2-norm soft margin, :math:`L(y, f) = \max(0, 1 - y f)^2`.

    Its population minimiser is 2 P(Y = +1) - 1.
    """

    name = "squared_hinge"

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.where(y * f < 1.0, 2.0, 0.0)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, np.inf)
        return penalty + 0.25 * a * a - a

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, np.inf)
        u = y * f
        return penalty + (np.maximum(1.0 - u, 0.0) - 0.5 * a) ** 2 + a * np.maximum(u - 1.0, 0.0)

    def box_conjugate(self, y: Float64) -> BoxConjugate:
        return _signed_box(y, np.inf)

    def population_minimiser(self, p: Float64) -> Float64:
        return 2.0 * np.asarray(p) - 1.0

    def probability(self, f: Float64) -> Float64:
        return np.clip(0.5 * (f + 1.0), 0.0, 1.0)


class HuberizedSquaredHinge(SquaredHinge):
    r"""The squared hinge, linear below :math:`y f = -1`: outliers have bounded influence.

    .. math:: L(y, f) = -4 y f \text{ where } y f < -1, \quad \max(0, 1 - y f)^2 \text{ elsewhere}

    Its population minimiser is 2 P(Y = +1) - 1.

    References
    ----------
    .. [1] S. Rosset and J. Zhu (2007). Piecewise linear regularized solution paths. *Annals of Statistics*
       35, 1012-1030.
    """

    name = "huberized_squared_hinge"

    def value(self, y: Float64, f: Float64) -> Float64:
        u = y * f
        return np.where(u < -1.0, -4.0 * u, np.maximum(0.0, 1.0 - np.maximum(u, -1.0)) ** 2)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return -2.0 * y * np.clip(1.0 - y * f, 0.0, 2.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        u = y * f
        return np.where((u < 1.0) & (u > -1.0), 2.0, 0.0)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 4.0)
        return penalty + 0.25 * a * a - a

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 4.0)
        u = y * f
        near = (np.clip(1.0 - u, 0.0, 2.0) - 0.5 * a) ** 2 + a * np.maximum(u - 1.0, 0.0)
        return penalty + near + (4.0 - a) * np.maximum(-1.0 - u, 0.0)

    def box_conjugate(self, y: Float64) -> BoxConjugate:
        return _signed_box(y, 4.0)


class BinomialDeviance(MarginLoss):
    r"""The loss of logistic regression, :math:`L(y, f) = \log(1 + e^{-y f})`.

    Its population minimiser is the log-odds, log P(Y = +1) - log P(Y = -1). The terms of the gap are
    Kullback-Leibler divergences between the probabilities of the dual and of the primal solution.
    """

    name = "binomial_deviance"

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.logaddexp(0.0, -y * f)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return np.asarray(-y * expit(-y * f))

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.asarray(expit(f) * expit(-f))

    def jet(self, y: Float64, f: Float64) -> tuple[Float64, Float64, Float64]:
        u = y * f
        small = np.exp(-np.abs(u))  # one exponential for all three
        share = 1.0 / (1.0 + small)
        other = small * share
        value = np.log1p(small) + np.maximum(-u, 0.0)
        return value, -y * np.where(u > 0, other, share), share * other

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 1.0)
        return penalty + np.asarray(xlogy(a, a) + xlogy(1.0 - a, 1.0 - a))

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-y * s, 1.0)
        u = y * f
        return (
            penalty
            + divergence(a, expit(-u), -np.logaddexp(0.0, u))
            + divergence(1.0 - a, expit(u), -np.logaddexp(0.0, -u))
        )

    def population_minimiser(self, p: Float64) -> Float64:
        p = np.asarray(p)
        with np.errstate(divide="ignore"):
            return np.log(p) - np.log1p(-p)

    def probability(self, f: Float64) -> Float64:
        return np.asarray(expit(f))


def divergence(p: Float64, q: Float64, log_q: Float64) -> Float64:
    """Return p log(p / q) - p + q without cancellation where p and q nearly agree: never negative."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.where(q > 0, (p - q) / q, np.inf)
        near = np.abs(t) < 1e-3
        small = np.where(near, t, 0.0)
        series = q * small * small * (0.5 - small / 6.0 + small * small / 12.0 - small**3 / 20.0)
    full = xlogy(p, p) - np.where(p > 0, p * log_q, 0.0) - p + q
    return np.where(near, series, np.maximum(full, 0.0))
