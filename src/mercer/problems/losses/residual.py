# ruff: noqa: D102  what overrides a method is documented in the base class
"""Losses of a number and its estimate: functions of the residual r = y - f."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from mercer.arrays import Float64
from mercer.problems.losses.base import SLACK, BoxConjugate, Loss, Pieces
from mercer.values import is_real


class ResidualLoss(Loss):
    r"""A loss :math:`L(y, f) = \rho(y - f)`.

    With :math:`a = -s` the conjugate is :math:`s y + \rho^*(a)`: a is the point's coefficient in units of its
    price.
    """

    targets: ClassVar[Literal["signs", "numbers", "any", "classes"]] = "numbers"

    @abstractmethod
    def _conjugate(self, a: Float64) -> Float64:
        """Return sup_r a r - rho(r)."""

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        return s * y + self._conjugate(-s)

    def in_units(self, scale: float) -> ResidualLoss:
        """Return the loss whose parameters, given in units of a scale, are those of y itself.

        Parameters
        ----------
        scale : float
            The spread of the residuals.
        """
        raise ValueError(f"loss={self!r} has no parameter in the units of y: scale= does not apply to it")

    def _check_number(self, name: str, least: float, most: float = np.inf, *, open_: bool) -> None:
        value = getattr(self, name)
        low = is_real(value) and (value > least if open_ else value >= least)
        high = is_real(value) and (value < most)
        if not (low and high):
            above = "above" if open_ else "of at least"
            below = "" if np.isinf(most) else f" and below {most:g}"
            self._refuse(name, value, f"a finite number {above} {least:g}{below}")


def _bounded(a: Float64, low: float, high: float) -> tuple[Float64, Float64]:
    inside = np.clip(a, low, high)
    return inside, np.where(np.abs(a - inside) > SLACK * max(abs(low), abs(high)), np.inf, 0.0)


def _even_box(y: Float64, e: float, r: float, most: float) -> BoxConjugate:
    """Return the conjugate e |a| + r a^2 / 2 of residuals, for coefficients of at most ``most``."""
    return BoxConjugate(y, e, r, np.full(y.shape, -most), np.full(y.shape, most))


class SquaredError(ResidualLoss):
    r"""Least squares, :math:`L(y, f) = (y - f)^2`; for labels +1 and -1 it is :math:`(1 - y f)^2`.

    Its population minimiser is the mean, which for labels is 2 P(Y = +1) - 1. With the price C it is kernel
    ridge regression with alpha = 1 / (2 C) and an unpenalised bias.
    """

    name = "squared_error"
    targets: ClassVar[Literal["signs", "numbers", "any", "classes"]] = "any"

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.asarray((y - f) ** 2)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return -2.0 * (y - f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.full(np.broadcast(y, f).shape, 2.0)

    def _conjugate(self, a: Float64) -> Float64:
        return 0.25 * a * a

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        return np.asarray((y - f + 0.5 * s) ** 2)

    def box_conjugate(self, y: Float64) -> BoxConjugate:
        return _even_box(y, 0.0, 0.5, np.inf)

    def population_minimiser(self, p: Float64) -> Float64:
        """Return the f that minimises p L(+1, f) + (1 - p) L(-1, f)."""
        return 2.0 * np.asarray(p) - 1.0

    def probability(self, f: Float64) -> Float64:
        return np.clip(0.5 * (f + 1.0), 0.0, 1.0)


class Huber(ResidualLoss):
    r"""Huber's loss: quadratic for small residuals, linear for large ones.

    .. math:: L(y, f) = \tfrac12 r^2 \text{ where } |r| \le c, \quad c |r| - \tfrac12 c^2 \text{ elsewhere}

    Its population minimiser lies between median and mean: the point whose clipped residuals balance.

    Parameters
    ----------
    threshold : float, default=1.345
        c, in the units of y. 1.345 standard deviations of Gaussian noise lose 5 % of efficiency.

    References
    ----------
    .. [1] P. J. Huber (1964). Robust estimation of a location parameter. *Annals of Mathematical Statistics*
       35, 73-101.
    """

    name = "huber"

    def __init__(self, threshold: float = 1.345) -> None:
        self.threshold = threshold

    def validate(self) -> None:
        self._check_number("threshold", 0.0, open_=True)

    def in_units(self, scale: float) -> ResidualLoss:
        return Huber(self.threshold * scale)

    def value(self, y: Float64, f: Float64) -> Float64:
        c, r = self.threshold, np.abs(y - f)
        near = np.minimum(r, c)
        return np.asarray(0.5 * near * near + c * (r - near))

    def derivative(self, y: Float64, f: Float64) -> Float64:
        return np.clip(f - y, -self.threshold, self.threshold)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.where(np.abs(y - f) <= self.threshold, 1.0, 0.0)

    def _conjugate(self, a: Float64) -> Float64:
        a, penalty = _bounded(a, -self.threshold, self.threshold)
        return penalty + 0.5 * a * a

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        c = self.threshold
        a, penalty = _bounded(-s, -c, c)
        r = y - f
        near = 0.5 * (np.clip(r, -c, c) - a) ** 2
        return penalty + near + (c - a) * np.maximum(r - c, 0.0) + (c + a) * np.maximum(-r - c, 0.0)

    def box_conjugate(self, y: Float64) -> BoxConjugate:
        return _even_box(y, 0.0, 1.0, self.threshold)


class EpsilonInsensitive(ResidualLoss):
    r"""The loss of support vector regression, :math:`L(y, f) = \max(0, |y - f| - \epsilon)`.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half width of the tube in which errors are free.

    References
    ----------
    .. [1] A. Smola and B. Scholkopf (2004). A tutorial on support vector regression. *Statistics and
       Computing* 14, 199-222.
    """

    name = "epsilon_insensitive"
    smooth: ClassVar[bool] = False

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def validate(self) -> None:
        self._check_number("epsilon", 0.0, open_=False)

    def in_units(self, scale: float) -> ResidualLoss:
        return EpsilonInsensitive(self.epsilon * scale)

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(np.abs(y - f) - self.epsilon, 0.0)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        r = y - f
        return np.where(np.abs(r) > self.epsilon, -np.sign(r), 0.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast(y, f).shape)

    def _conjugate(self, a: Float64) -> Float64:
        a, penalty = _bounded(a, -1.0, 1.0)
        return penalty + self.epsilon * np.abs(a)

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        a, penalty = _bounded(-s, -1.0, 1.0)
        r = (y - f) * np.where(a < 0, -1.0, 1.0)
        a = np.abs(a)
        right = (1.0 - a) * np.maximum(r - self.epsilon, 0.0) + a * np.maximum(self.epsilon - r, 0.0)
        return penalty + right + np.maximum(-r - self.epsilon, 0.0)

    def pieces(self, y: Float64) -> Pieces:
        slopes = np.repeat(np.array([[-1.0], [0.0], [1.0]]), y.size, axis=1)
        return Pieces(np.stack([y - self.epsilon, y + self.epsilon]), slopes)


class SquaredEpsilonInsensitive(ResidualLoss):
    r"""The quadratic epsilon-insensitive loss, :math:`L(y, f) = \max(0, |y - f| - \epsilon)^2`.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half width of the tube in which errors are free.
    """

    name = "squared_epsilon_insensitive"

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def validate(self) -> None:
        self._check_number("epsilon", 0.0, open_=False)

    def in_units(self, scale: float) -> ResidualLoss:
        return SquaredEpsilonInsensitive(self.epsilon * scale)

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(np.abs(y - f) - self.epsilon, 0.0) ** 2

    def derivative(self, y: Float64, f: Float64) -> Float64:
        r = y - f
        return -2.0 * np.sign(r) * np.maximum(np.abs(r) - self.epsilon, 0.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.where(np.abs(y - f) >= self.epsilon, 2.0, 0.0)

    def _conjugate(self, a: Float64) -> Float64:
        return self.epsilon * np.abs(a) + 0.25 * a * a

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        r = (y - f) * np.where(s > 0, -1.0, 1.0)
        a = np.abs(s)
        right = (np.maximum(r - self.epsilon, 0.0) - 0.5 * a) ** 2 + a * np.maximum(self.epsilon - r, 0.0)
        return np.asarray(right + np.maximum(-r - self.epsilon, 0.0) ** 2)

    def box_conjugate(self, y: Float64) -> BoxConjugate:
        return _even_box(y, self.epsilon, 0.5, np.inf)


class Pinball(ResidualLoss):
    r"""The loss of quantile regression, :math:`L(y, f) = \max(q r, (q - 1) r)`.

    Its population minimiser is the q-quantile.

    Parameters
    ----------
    quantile : float, default=0.5
        q, between 0 and 1.

    References
    ----------
    .. [1] I. Takeuchi, Q. V. Le, T. D. Sears and A. J. Smola (2006). Nonparametric quantile estimation.
       *Journal of Machine Learning Research* 7, 1231-1264.
    """

    name = "pinball"
    smooth: ClassVar[bool] = False

    def __init__(self, quantile: float = 0.5) -> None:
        self.quantile = quantile

    def validate(self) -> None:
        self._check_number("quantile", 0.0, 1.0, open_=True)

    def value(self, y: Float64, f: Float64) -> Float64:
        r = y - f
        return np.maximum(self.quantile * r, (self.quantile - 1.0) * r)

    def derivative(self, y: Float64, f: Float64) -> Float64:
        r = y - f
        return np.where(r > 0, -self.quantile, np.where(r < 0, 1.0 - self.quantile, 0.0))

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast(y, f).shape)

    def _conjugate(self, a: Float64) -> Float64:
        return _bounded(a, self.quantile - 1.0, self.quantile)[1]

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        q, r = self.quantile, y - f
        a, penalty = _bounded(-s, q - 1.0, q)
        return penalty + (q - a) * np.maximum(r, 0.0) + (a - (q - 1.0)) * np.maximum(-r, 0.0)

    def pieces(self, y: Float64) -> Pieces:
        slopes = np.repeat(np.array([[-self.quantile], [1.0 - self.quantile]]), y.size, axis=1)
        return Pieces(y[None, :].astype(np.float64), slopes)
