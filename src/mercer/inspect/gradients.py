"""Gradients of kernel expansions: how a prediction changes with each column."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from mercer.arrays import Float64
from mercer.inspect.expansions import Expansion, machine_of
from mercer.inspect.kernel_slopes import weighted_slopes
from mercer.kernels.trends import JoinedTrend, PolynomialTrend

PANEL = 4_000_000  # kernel values at a time


def gradient(model: Any, X: Any) -> Float64:
    r"""Return the derivatives of a model's function by each column, at each row.

    .. math::
        \nabla f(x) = \sum_i c_i \, \nabla_x k(x_i, x) + \sum_j d_j \, \nabla p_j(x)

    They are exact up to rounding, for every smooth kernel: Gaussian, Matern with nu above 1/2, rational
    quadratic, polynomial, spline and the like, their sums, products and views of columns, your own one-line
    kernels, and parametric columns. A pipeline's scalings are accounted for, so that units are those of X.

    Parameters
    ----------
    model : estimator
        A fitted kernel expansion (`SVC`, `SVR`, `OneClassSVM`, `KernelRidge`, `KernelLogisticRegression`,
        ...), alone, in a pipeline after scalers, or found by a search.
    X : array of shape (n, d)
        Rows.

    Returns
    -------
    (n, d) or (n, k, d) float64
        Derivatives of the decision value or the prediction; of k functions (pairs of classes, outputs) one
        after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> from mercer.inspect import gradient
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.0).fit(X, X @ [2.0, -1.0])
    >>> gradient(model, X[:1]).round(2)
    array([[ 2., -1.]])
    """
    machine, inner = machine_of(model, X)
    whole = getattr(model, "best_estimator_", model)
    factor = np.ones(1)
    if isinstance(whole, Pipeline):
        for name, step in whole.steps[:-1]:
            factor = factor * _derivative(name, step)
    expansion = Expansion.of(machine)
    Z = expansion.rows(inner)
    expansion.check(machine, Z)
    parts = max(1, PANEL // max(1, expansion.points.shape[0]))
    out = np.concatenate([_gradients(expansion, Z[s : s + parts]) for s in range(0, Z.shape[0], parts)])
    out = out * factor
    return out[:, 0] if out.shape[1] == 1 else out


def sensitivity(model: Any, X: Any) -> Float64:
    r"""Return the mean absolute derivative of a model's function by each column.

    .. math:: \frac1n \sum_i \Bigl| \frac{\partial f(x_i)}{\partial x_{ij}} \Bigr|

    Parameters
    ----------
    model : estimator
        As for :func:`gradient`.
    X : array of shape (n, d)
        Rows to average over.

    Returns
    -------
    (d,) or (k, d) float64
        In units of f for each unit of the column: multiply by the columns' standard deviations to compare
        columns of different units.
    """
    return np.asarray(np.abs(gradient(model, X)).mean(axis=0))


def _gradients(expansion: Expansion, Z: Float64) -> Float64:
    out = np.empty((Z.shape[0], expansion.coef.shape[1], Z.shape[1]))
    for k, column in enumerate(expansion.coef.T):
        W = np.broadcast_to(column, (Z.shape[0], column.size))
        out[:, k] = weighted_slopes(expansion.kernel, Z, expansion.points, W)
    if expansion.trend is not None:
        out += _trend_gradients(expansion.trend, expansion.trend_coef, Z)
    return out


def _trend_gradients(trend: Any, coef: Float64, Z: Float64) -> Float64:
    """Return the gradients of polynomials, (n, k, d)."""
    if not isinstance(trend, PolynomialTrend | JoinedTrend):
        raise TypeError("the parametric part is a function without known derivatives")
    out = np.zeros((Z.shape[0], coef.shape[0], Z.shape[1]))
    for m, product in enumerate(trend.monomials(Z.shape[1])):
        for j in set(product):
            others = list(product)
            others.remove(j)
            slope = product.count(j) * np.prod(Z[:, others], axis=1)
            out[:, :, j] += slope[:, None] * coef[:, m]
    return out


def _derivative(name: str, step: Any) -> Float64:
    """Return what one unit of each column becomes in a scaling step of a pipeline."""
    if step is None or step == "passthrough":
        return np.ones(1)
    if isinstance(step, StandardScaler | RobustScaler | MaxAbsScaler):
        return np.ones(1) if step.scale_ is None else 1.0 / np.asarray(step.scale_, dtype=np.float64)
    if isinstance(step, MinMaxScaler) and not step.clip:
        return np.asarray(step.scale_, dtype=np.float64)
    raise TypeError(
        f"step {name!r} of the pipeline ({type(step).__name__}) is not a scaling of columns: pass the last "
        "step and the transformed rows"
    )
