"""Targets that were transformed before a regression, on their way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from mercer.io.errors import ModelFileError
from mercer.io.onnx.graph import Graph

FUNCTIONS: dict[Any, Callable[[Graph, str], str]] = {
    np.exp: lambda g, x: g.op("Exp", x),
    np.expm1: lambda g, x: g.affine(g.op("Exp", x), 1.0, -1.0),
    np.square: lambda g, x: g.op("Mul", x, x),
    np.sqrt: lambda g, x: g.op("Sqrt", x),
    np.log: lambda g, x: g.op("Log", x),
    np.log1p: lambda g, x: g.op("Log", g.affine(x, 1.0, 1.0)),
}


def check_target(transformer: Any) -> None:
    """Refuse, by name, a transformation of the target whose inverse is not known here."""
    if type(transformer) is FunctionTransformer:
        if transformer.inverse_func is not None and transformer.inverse_func not in FUNCTIONS:
            called = getattr(transformer.inverse_func, "__name__", repr(transformer.inverse_func))
            can = ", ".join(function.__name__ for function in FUNCTIONS)
            raise ModelFileError(
                f"the function {called} of the target cannot be exported to ONNX; these of NumPy can: {can}"
            )
    elif type(transformer) not in (StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler):
        raise ModelFileError(
            f"{type(transformer).__name__} of the target cannot be exported to ONNX; StandardScaler, "
            "RobustScaler, MinMaxScaler, MaxAbsScaler and functions of NumPy can"
        )


def undo_target(g: Graph, transformer: Any, x: str) -> str:
    """Add the inverse of a fitted transformer that was checked."""
    if type(transformer) is FunctionTransformer:
        return x if transformer.inverse_func is None else FUNCTIONS[transformer.inverse_func](g, x)
    factor, shift = _line(transformer)
    if factor is not None:
        # A constant beside a matrix product would be merged into it by onnxruntime, in single precision.
        factors = g.op("Add", g.op("Mul", x, g.const(0.0)), g.const(np.ravel(factor)))
        x = g.op("Mul", x, factors)
    return x if shift is None else g.op("Add", x, g.const(np.ravel(shift)))


def _line(scaler: Any) -> tuple[Any, Any]:
    """Return the factor and the shift with which a scaler goes back."""
    if type(scaler) is StandardScaler:
        return scaler.scale_, scaler.mean_ if scaler.with_mean else None
    if type(scaler) is RobustScaler:
        return scaler.scale_, scaler.center_
    if type(scaler) is MinMaxScaler:
        return 1.0 / scaler.scale_, -scaler.min_ / scaler.scale_
    return scaler.scale_, None
