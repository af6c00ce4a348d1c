"""Regression functions as ONNX operators, a column for each output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import kernel_ridge, linear_model, multioutput

from mercer import estimators as e
from mercer.io.errors import ModelFileError
from mercer.io.onnx.graph import Graph
from mercer.io.onnx.kernels import dense, kernel
from mercer.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Sigmoid

Values = Callable[[Graph, Any, str], str]


def combination(g: Graph, k: Any, x: str, points: Any, coef: np.ndarray, intercept: Any) -> str:
    """Add F = K(x, points) coef + intercept, a column for each function."""
    F = g.op("MatMul", kernel(g, k, x, dense(points)), g.const(coef))
    return g.op("Add", F, g.const(np.reshape(intercept, (1, -1))))


def _support_vectors(g: Graph, model: Any, x: str) -> str:
    coef = np.asarray(model._coefficients).T
    return combination(g, model.kernel_, x, model.support_vectors_, coef, model.intercept_)


def _ridge(g: Graph, model: Any, x: str) -> str:
    return combination(g, model.kernel_, x, model.X_fit_, model._coef, model.intercept_)


def _process(g: Graph, model: Any, x: str) -> str:
    return combination(g, model.kernel_, x, model.X_fit_, model._coef() * model._y_std, model._y_mean)


def _online(g: Graph, model: Any, x: str) -> str:
    return combination(g, model.kernel_, x, model.support_vectors_, model.dual_coef_.T, model.intercept_)


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


def _linear(g: Graph, model: Any, x: str) -> str:
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
    e.KernelRidge: _ridge,
    e.GaussianProcessRegressor: _process,
    e.OnlineSVR: _online,
    e.KernelWidrowHoff: _online,
}
FOREIGN: dict[type, Values] = {
    kernel_ridge.KernelRidge: _foreign_ridge,
    linear_model.LinearRegression: _linear,
    linear_model.Ridge: _linear,
    multioutput.MultiOutputRegressor: _each_output,
}
