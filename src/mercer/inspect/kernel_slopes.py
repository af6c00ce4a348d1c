"""Derivatives of kernel values by the features of one of the two points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.kernels import (
    ANOVA,
    Constant,
    Kernel,
    Matern,
    OnColumns,
    Power,
    Product,
    Scaled,
    Spline,
    Sum,
    ThinPlate,
)
from mercer.kernels.vector import ElementwiseKernel

STEP = 1e-100  # of the complex step: no difference is taken, so nothing cancels, however small it is


def weighted_slopes(kernel: Kernel, X: Float64, Z: Float64, W: Float64) -> Float64:
    r"""Return :math:`\sum_j W_{ij} \, \partial k(x_i, z_j) / \partial x_i`, a row for each point.

    Lines over the inner product or the squared distance are differentiated by a complex step,
    :math:`\varphi'(s) = \mathrm{Im} \, \varphi(s + i h) / h`, which is exact up to rounding; sums, products,
    powers and views follow by the rules of calculus.

    Parameters
    ----------
    kernel : Kernel
        Resolved, on rows of numbers.
    X, Z : (n, d), (m, d) float64
        Points.
    W : (n, m) float64
        Weights.

    References
    ----------
    Squire and Trapp (1998), Using complex variables to estimate derivatives of real functions, SIAM Review.
    """
    for kind, rule in RULES.items():
        if isinstance(kernel, kind):
            return rule(kernel, X, Z, W)
    if isinstance(kernel, ElementwiseKernel) and type(kernel).evaluate is ElementwiseKernel.evaluate:
        return _line(kernel, X, Z, W)
    raise TypeError(
        f"kernel={kernel!r} has no gradient here: use RBF, Matern with nu above 0.5, RationalQuadratic, "
        "Linear, Polynomial, Sigmoid, ANOVA, Spline, ThinPlate, or sums, products, powers and views of these"
    )


def _line(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    if (isinstance(kernel, Matern) and kernel.nu == 0.5) or (
        isinstance(kernel, ThinPlate) and kernel.needs_near
    ):
        raise TypeError(f"kernel={kernel!r} is not smooth: it has a kink at each training point")
    scales = kernel.scales()
    a = np.ones(X.shape[1]) if scales is None else np.asarray(scales, dtype=np.float64)
    U, V = X * a, Z * a
    if kernel.statistic == "dot":
        return np.asarray(a * ((W * _slope(kernel, U @ V.T)) @ V))
    S = np.zeros((X.shape[0], Z.shape[0]))
    for u, v in zip(U.T, V.T, strict=True):  # differences as they are: equal points have distance zero
        S += np.subtract.outer(u, v) ** 2
    P = np.where(S > 0.0, W * _slope(kernel, np.where(S > 0.0, S, 1.0)), 0.0)
    return np.asarray(2.0 * a * (P.sum(axis=1)[:, None] * U - P @ V))


def _slope(kernel: Any, S: Float64) -> Float64:
    return np.asarray(kernel.elementwise(S + 1j * STEP).imag / STEP)


def _sum(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    return weighted_slopes(kernel.k1, X, Z, W) + weighted_slopes(kernel.k2, X, Z, W)


def _product(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    first, second = (np.asarray(k.evaluate(X, Z), dtype=np.float64) for k in (kernel.k1, kernel.k2))
    return weighted_slopes(kernel.k1, X, Z, W * second) + weighted_slopes(kernel.k2, X, Z, W * first)


def _scaled(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    return weighted_slopes(kernel.kernel, X, Z, float(kernel.scale) * W)


def _power(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    p = float(kernel.exponent)
    inner = np.asarray(kernel.kernel.evaluate(X, Z), dtype=np.float64)
    return weighted_slopes(kernel.kernel, X, Z, W * p * inner ** (p - 1.0))


def _view(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    columns = kernel._chosen(X.shape[1])
    out = np.zeros(X.shape)
    inner = weighted_slopes(kernel.kernel, X[:, columns], Z[:, columns], W)
    np.add.at(out.T, columns, inner.T)
    return out


def _constant(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    return np.zeros(X.shape)


def _anova(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    gamma, p = float(kernel.gamma), int(kernel.degree)
    D = [np.subtract.outer(x, z) for x, z in zip(X.T, Z.T, strict=True)]
    E = [np.exp(-gamma * d**2) for d in D]
    outer = W * p * np.sum(E, axis=0) ** (p - 1)
    return np.stack([(outer * -2.0 * gamma * d * e).sum(axis=1) for d, e in zip(D, E, strict=True)], axis=1)


def _spline(kernel: Any, X: Float64, Z: Float64, W: Float64) -> Float64:
    anchors = kernel._anchors(X)
    out = np.empty(X.shape)
    for j, a in enumerate(anchors):
        s, t = (X[:, j] - a)[:, None], (Z[:, j] - a)[None, :]
        S, T = np.abs(s), np.abs(t)
        # m^2 (3 M - m) / 6 by the modulus of s, on the side where both lie.
        bend = np.where(s * t > 0, np.sign(s) * np.where(S < T, S * T - 0.5 * S**2, 0.5 * T**2), 0.0)
        out[:, j] = (W * (t + bend)).sum(axis=1)
    return out


RULES: dict[type[Any], Callable[[Any, Float64, Float64, Float64], Float64]] = {
    Sum: _sum,
    Product: _product,
    Scaled: _scaled,
    Power: _power,
    OnColumns: _view,
    Constant: _constant,
    ANOVA: _anova,
    Spline: _spline,
}
