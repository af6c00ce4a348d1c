"""Log-odds that are linear in a few coefficients: the problem behind links and sigmoids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mercer.arrays import Float64


@dataclass(frozen=True)
class BernoulliFit:
    r"""Minimise the deviance of targets in [0, 1], with a quadratic penalty and lower bounds.

    .. math::
        \min_{c \ge \ell} \; \sum_i w_i \left[ \log(1 + e^{z_i}) - t_i z_i \right] + \tfrac12 c^T P c,
        \qquad z = B c

    It is convex; targets strictly between 0 and 1 keep the optimum finite.

    Attributes
    ----------
    design : ndarray of shape (n, k)
        B.
    target : ndarray of shape (n,)
        t.
    weight : ndarray of shape (n,)
        w.
    penalty : ndarray of shape (k, k)
        P, positive semi-definite.
    least : ndarray of shape (k,)
        The lower bounds; minus infinity for none.
    """

    design: Float64
    target: Float64
    weight: Float64
    penalty: Float64
    least: Float64

    @classmethod
    def free(cls, design: Float64, target: Float64) -> BernoulliFit:
        """Return the problem with unit weights, no penalty and no bounds."""
        n, k = design.shape
        return cls(design, target, np.ones(n), np.zeros((k, k)), np.full(k, -np.inf))

    def value(self, c: Float64) -> float:
        """Return the objective at c."""
        z = self.design @ c
        return float(self.weight @ (np.logaddexp(0.0, z) - self.target * z) + 0.5 * c @ self.penalty @ c)

    def slopes(self, c: Float64) -> tuple[Float64, Float64]:
        """Return the gradient and the Hessian at c."""
        p = expit(self.design @ c)
        gradient = self.design.T @ (self.weight * (p - self.target)) + self.penalty @ c
        hessian = (self.design.T * (self.weight * p * (1.0 - p))) @ self.design + self.penalty
        return gradient, hessian


def platt_targets(positive: NDArray[np.bool_], one: float, zero: float) -> Float64:
    r"""Return Platt's targets :math:`(W_+ + 1) / (W_+ + 2)` and :math:`1 / (W_- + 2)`.

    They are the posterior means of the classes' frequencies, and keep the slopes of separable data finite.

    Parameters
    ----------
    positive : (n,) bool array
        Whether the point is of the class that positive decisions mean.
    one, zero : float
        The total weights :math:`W_+` and :math:`W_-` of the two classes.
    """
    return np.where(positive, (one + 1.0) / (one + 2.0), 1.0 / (zero + 2.0))
