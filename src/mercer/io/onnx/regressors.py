"""Regression functions as ONNX operators, a column for each output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import kernel_ridge, linear_model, multioutput

from mercer import estimators as e
from mercer.estimators.parametric import has_parametric
from mercer.io.errors import ModelFileError
from mercer.io.onnx.graph import INT64, Graph
from mercer.io.onnx.kernels import dense, kernel
from mercer.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from mercer.problems.splines.natural_cubic import interval_polynomials

Values = Callable[[Graph, Any, str], str]


def combination(g: Graph, k: Any, x: str, points: Any, coef: np.ndarray, intercept: Any) -> str:
    """Add F = K(x, points) coef + intercept, a column for each function."""
    F = g.op("MatMul", kernel(g, k, x, dense(points)), g.const(coef))
    return g.op("Add", F, g.const(np.reshape(intercept, (1, -1))))


def with_columns(g: Graph, model: Any, x: str, F: str) -> str:
    """Add what features beside the kernel contribute to functions, where a model has such columns."""
    if not has_parametric(model) or not model.parametric_coef_.size:
        return F
    features = model.parametric_.weights(model.n_features_in_)
    if features is None:
        raise ModelFileError(
            f"parametric {model.parametric_!r} cannot be exported to ONNX: columns that are features can"
        )
    W = np.zeros((model.n_features_in_, model.parametric_coef_.shape[0]))
    W[features] = model.parametric_coef_.T
    return g.op("Add", F, g.op("MatMul", x, g.const(W)))


def _support_vectors(g: Graph, model: Any, x: str) -> str:
    coef = np.asarray(model._coefficients).T
    F = combination(g, model.kernel_, x, model.support_vectors_, coef, model.intercept_)
    return with_columns(g, model, x, F)


def _ridge(g: Graph, model: Any, x: str) -> str:
    F = combination(g, model.kernel_, x, model.X_fit_, model._coef, model.intercept_)
    return with_columns(g, model, x, F)


def _process(g: Graph, model: Any, x: str) -> str:
    bias = model._y_mean + (model.intercept_ if has_parametric(model) else 0.0)
    F = combination(g, model._smooth, x, model.X_fit_, model._coef() * model._y_std, bias)
    return with_columns(g, model, x, F)


def _online(g: Graph, model: Any, x: str) -> str:
    return combination(g, model.kernel_, x, model.support_vectors_, model.dual_coef_.T, model.intercept_)


# -- splines -------------------------------------------------------------------------------------------------


def _hinges(g: Graph, model: Any, x: str) -> str:
    """Add the sum of products of hinges; a factor that is not there is 1."""
    factors = []
    for v, t, s in zip(model.term_variables_.T, model.term_knots_.T, model.term_signs_.T, strict=True):
        there = v >= 0
        column = g.op("Gather", x, g.const(np.where(there, v, 0), np.int64), axis=1)
        slope = np.where(there, s, 0).astype(np.float64)
        level = np.where(there, -s * t, 1.0)
        line = g.op("Add", g.op("Mul", column, g.const(slope[None])), g.const(level[None]))
        factors.append(g.clip(line, low=0.0))
    terms = factors[0]
    for factor in factors[1:]:
        terms = g.op("Mul", terms, factor)
    return g.op("MatMul", terms, g.const(model.coef_.reshape(model.n_terms_, -1)))


def _additive(g: Graph, model: Any, x: str) -> str:
    """Add the level and the piecewise cubics: each row looks up the polynomial of its interval."""
    total = g.op("Add", g.op("MatMul", x, g.const(np.zeros((model.n_features_in_, model._values.shape[1])))),
                 g.const(np.reshape(model.intercept_, (1, -1))))  # fmt: skip
    for j in range(model.n_features_in_):
        at = model._owners == j
        if not at.any():
            continue
        knots = model._knots[at]
        pieces = interval_polynomials(knots, model._values[at], model._curvatures[at])
        column = g.op("Gather", x, g.const([j], np.int64), axis=1)
        above = g.op("GreaterOrEqual", column, g.const(knots[None]))
        place = g.op("ReduceSum", g.op("Cast", above, to=INT64), g.const([1], np.int64), keepdims=0)
        left = g.op("Gather", g.const(knots[np.maximum(np.arange(knots.size + 1) - 1, 0)]), place, axis=0)
        d = g.op("Sub", column, g.unsqueeze(left, 1))
        value = g.op("Gather", g.const(np.ascontiguousarray(pieces[:, 3])), place, axis=0)
        for power in (2, 1, 0):
            coef = g.op("Gather", g.const(np.ascontiguousarray(pieces[:, power])), place, axis=0)
            value = g.op("Add", coef, g.op("Mul", d, value))
        total = g.op("Add", total, value)
    return total


# -- scikit-learn's, which flexible discriminants may hold --------------------------------------------------


def _foreign_ridge(g: Graph, model: Any, x: str) -> str:
    width = model.X_fit_.shape[1]
    gamma = 1.0 / width if model.gamma is None else float(model.gamma)
    known: dict[str, Kernel] = {
        "linear": Linear(),
        "rbf": RBF(gamma),
        "laplacian": Laplacian(gamma),
        "poly": Polynomial(degree=model.degree, gamma=gamma, coef0=model.coef0),
        "polynomial": Polynomial(degree=model.degree, gamma=gamma, coef0=model.coef0),
        "sigmoid": Sigmoid(gamma=gamma, coef0=model.coef0),
    }
    if not isinstance(model.kernel, str) or model.kernel not in known:
        raise ModelFileError(
            f"kernel {model.kernel!r} of scikit-learn's KernelRidge cannot be exported to ONNX"
        )
    coef = np.reshape(model.dual_coef_, (model.X_fit_.shape[0], -1))
    return combination(g, known[model.kernel], x, model.X_fit_, coef, np.zeros(coef.shape[1]))


def linear(g: Graph, model: Any, x: str) -> str:
    """Add F = x coef' + intercept, a column for each function."""
    F = g.op("MatMul", x, g.const(np.atleast_2d(model.coef_).T))
    return g.op("Add", F, g.const(np.reshape(model.intercept_, (1, -1))))


def _each_output(g: Graph, model: Any, x: str) -> str:
    return g.op("Concat", *(regression(g, part, x) for part in model.estimators_), axis=1)


def regression(g: Graph, model: Any, x: str) -> str:
    """Add any regressor that is known, or refuse it by name."""
    values = {**REGRESSIONS, **FOREIGN}.get(type(model))
    if values is None:
        can = ", ".join(sorted({cls.__name__ for cls in (*REGRESSIONS, *FOREIGN)}))
        raise ModelFileError(f"regressor {type(model).__name__} cannot be exported to ONNX; these can: {can}")
    return values(g, model, x)


REGRESSIONS: dict[type, Values] = {
    e.SVR: _support_vectors,
    e.NuSVR: _support_vectors,
    e.SVRPath: _support_vectors,
    e.KernelRegressor: _support_vectors,
    e.LinearRegressor: linear,
    e.LinearSVR: linear,
    e.KernelRidge: _ridge,
    e.GaussianProcessRegressor: _process,
    e.OnlineSVR: _online,
    e.KernelWidrowHoff: _online,
    e.MARS: _hinges,
    e.AdaptiveAdditiveSplines: _additive,
}
FOREIGN: dict[type, Values] = {
    kernel_ridge.KernelRidge: _foreign_ridge,
    linear_model.LinearRegression: linear,
    linear_model.Ridge: linear,
    multioutput.MultiOutputRegressor: _each_output,
}
