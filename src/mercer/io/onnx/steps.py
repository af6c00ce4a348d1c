"""The preparation before a machine: scikit-learn's transformers as ONNX operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from mercer.io.errors import ModelFileError
from mercer.io.onnx.columns import MISSING, Part, numbers, take
from mercer.io.onnx.encoders import encode, is_missing
from mercer.io.onnx.graph import Graph

Parts = list[Part]


def add_step(g: Graph, name: str, step: Any, parts: Sequence[Part]) -> Parts:
    """Add a fitted transformer; return the columns that it makes, or refuse it by name."""
    kind = type(step)
    if step is None or isinstance(step, str):
        if step not in (None, "passthrough"):
            raise ModelFileError(f"step {name!r} is {step!r}, which is not a transformer")
        return list(parts)
    if kind is Pipeline:
        for inner_name, inner in step.steps:
            parts = add_step(g, inner_name, inner, parts)
        return list(parts)
    if kind in STRUCTURE:
        return STRUCTURE[kind](g, name, step, parts)
    if kind not in NUMERIC:
        can = ", ".join(sorted(cls.__name__ for cls in (*NUMERIC, *STRUCTURE, Pipeline)))
        raise ModelFileError(f"step {name!r} ({kind.__name__}) cannot be exported to ONNX; these can: {can}")
    return [NUMERIC[kind](g, step, numbers(g, parts, f"step {name!r} ({kind.__name__})"))]


# -- several columns, several ways ------------------------------------------------------------------------


def _by_columns(g: Graph, name: str, step: Any, parts: Sequence[Part]) -> Parts:
    out: Parts = []
    for inner_name, inner, _ in step.transformers_:
        columns = step._transformer_to_input_indices[inner_name]
        if len(columns) == 0 or (isinstance(inner, str) and inner == "drop"):
            continue
        made = add_step(g, inner_name, inner, take(g, parts, columns))
        out += _weighed(g, step, inner_name, made)
    return out


def _union(g: Graph, name: str, step: Any, parts: Sequence[Part]) -> Parts:
    out: Parts = []
    for inner_name, inner in step.transformer_list:
        if not (isinstance(inner, str) and inner == "drop"):
            out += _weighed(g, step, inner_name, add_step(g, inner_name, inner, parts))
    return out


def _weighed(g: Graph, step: Any, name: str, parts: Parts) -> Parts:
    weight = (step.transformer_weights or {}).get(name)
    if weight is None or not parts:
        return parts
    table = numbers(g, parts, f"the weight of {name!r}")
    return [Part(g.scaled(table.name, float(weight)), table.width)]


def _function(g: Graph, name: str, step: Any, parts: Sequence[Part]) -> Parts:
    if step.func is not None:
        called = getattr(step.func, "__name__", repr(step.func))
        raise ModelFileError(f"step {name!r} calls the function {called}: it cannot be exported to ONNX")
    return list(parts)


def _impute(g: Graph, name: str, step: Any, parts: Sequence[Part]) -> Parts:
    """Fill in what is missing, column by column: text by its reading, numbers by a choice."""
    refusal = f"step {name!r} (SimpleImputer) cannot be exported to ONNX: "
    out: Parts = []
    absent: list[str] = []
    first = 0
    for part in parts:
        values = list(step.statistics_[first : first + part.width])
        first += part.width
        if part.text:
            if step.add_indicator:
                raise ModelFileError(refusal + "its indicator looks at text")
            token = MISSING if is_missing(step.missing_values) else step.missing_values
            fills = {t: values[0] if meant == token else meant for t, meant in part.fills.items()}
            out.append(Part(part.name, 1, True, {token: values[0], **fills}))
            continue
        if any(isinstance(value, str) for value in values):
            raise ModelFileError(refusal + "it puts text into a column of numbers")
        fill = np.array([np.nan if is_missing(value) else float(value) for value in values])
        if is_missing(step.missing_values):
            hole = g.op("IsNaN", part.name)
        elif isinstance(step.missing_values, str):
            raise ModelFileError(refusal + f"missing_values={step.missing_values!r} in a column of numbers")
        else:
            hole = g.op("Equal", part.name, g.const(float(step.missing_values)))
        absent.append(hole)
        filled = Part(g.op("Where", hole, g.const(fill[None]), part.name), part.width)
        kept = np.flatnonzero(~np.isnan(fill))  # a column without any value was left out
        out += take(g, [filled], kept.tolist()) if kept.size else []
    if step.add_indicator and step.indicator_.features_.size:
        holes = g.number(absent[0] if len(absent) == 1 else g.op("Concat", *absent, axis=1))
        out += take(g, [Part(holes, first)], step.indicator_.features_.tolist())
    return out


# -- tables of numbers --------------------------------------------------------------------------------------


def _standard(g: Graph, step: Any, x: Part) -> Part:
    out = g.op("Sub", x.name, g.const(step.mean_)) if step.with_mean else x.name
    return Part(g.scaled(out, 1.0 / step.scale_) if step.with_std else out, x.width)


def _robust(g: Graph, step: Any, x: Part) -> Part:
    out = g.op("Sub", x.name, g.const(step.center_)) if step.with_centering else x.name
    return Part(g.scaled(out, 1.0 / step.scale_) if step.with_scaling else out, x.width)


def _largest(g: Graph, step: Any, x: Part) -> Part:
    out = g.scaled(x.name, 1.0 / step.scale_)
    return Part(g.clip(out, -1.0, 1.0) if getattr(step, "clip", False) else out, x.width)


def _range(g: Graph, step: Any, x: Part) -> Part:
    out = g.op("Add", g.scaled(x.name, step.scale_), g.const(step.min_))
    return Part(g.clip(out, *map(float, step.feature_range)) if step.clip else out, x.width)


def _pca(g: Graph, step: Any, x: Part) -> Part:
    out = g.op("MatMul", g.op("Sub", x.name, g.const(step.mean_)), g.const(step.components_.T))
    if step.whiten:
        deviations = np.sqrt(step.explained_variance_)
        out = g.scaled(out, 1.0 / np.maximum(deviations, np.finfo(deviations.dtype).eps))
    return Part(out, step.components_.shape[0])


def _svd(g: Graph, step: Any, x: Part) -> Part:
    return Part(g.op("MatMul", x.name, g.const(step.components_.T)), step.components_.shape[0])


def _unit(g: Graph, step: Any, x: Part) -> Part:
    if step.norm == "l2":
        size = g.op("Sqrt", g.sum(g.op("Mul", x.name, x.name), 1, keep=True))
    elif step.norm == "l1":
        size = g.sum(g.op("Abs", x.name), 1, keep=True)
    else:
        size = g.op("ReduceMax", g.op("Abs", x.name), axes=[1], keepdims=1)
    safe = g.op("Where", g.op("Equal", size, g.const(0.0)), g.const(1.0), size)
    return Part(g.op("Div", x.name, safe), x.width)


def _binary(g: Graph, step: Any, x: Part) -> Part:
    return Part(g.number(g.op("Greater", x.name, g.const(float(step.threshold)))), x.width)


def _some(g: Graph, step: Any, x: Part) -> Part:
    (part,) = take(g, [x], np.flatnonzero(step.get_support()).tolist())
    return part


def _polynomials(g: Graph, step: Any, x: Part) -> Part:
    made = []
    for powers in step.powers_:
        term = None
        for j in np.flatnonzero(powers):
            factor = g.power(g.column(x.name, int(j)), float(powers[j]))
            term = factor if term is None else g.op("Mul", term, factor)
        if term is None:  # the constant
            zeros = g.op("Mul", g.column(x.name, 0), g.const(0.0))
            term = g.op("Add", zeros, g.const(1.0))
        made.append(g.unsqueeze(term, 1))
    return Part(made[0] if len(made) == 1 else g.op("Concat", *made, axis=1), len(made))


def _powers(g: Graph, step: Any, x: Part) -> Part:
    rate = np.reshape(step.lambdas_, (1, -1)).astype(np.float64)
    if step.method == "box-cox":
        out = _box_cox(g, g.op("Log", x.name), rate)
    else:  # Yeo-Johnson: positive values above 1, negative ones below it with the other rate
        up = g.op("Log", g.affine(g.clip(x.name, low=0.0), 1.0, 1.0))
        down = g.op("Log", g.affine(g.clip(g.op("Neg", x.name), low=0.0), 1.0, 1.0))
        out = g.op("Sub", _box_cox(g, up, rate), _box_cox(g, down, 2.0 - rate))
    made = Part(out, x.width)
    return _standard(g, step._scaler, made) if step.standardize else made


def _box_cox(g: Graph, log: str, rate: np.ndarray) -> str:
    """Add (exp(rate log) - 1) / rate, by its series where the rate is so small that it would cancel."""
    small = np.abs(rate) < 1e-6
    safe = np.where(small, 1.0, rate)
    full = g.affine(g.op("Exp", g.op("Mul", log, g.const(safe))), 1.0, -1.0)
    full = g.op("Div", full, g.const(safe))
    series = g.op("Mul", log, g.affine(g.op("Mul", log, g.const(0.5 * rate)), 1.0, 1.0))
    return g.op("Where", g.const(small, np.bool_), series, full)


NUMERIC: dict[type, Callable[[Graph, Any, Part], Part]] = {
    StandardScaler: _standard,
    RobustScaler: _robust,
    MaxAbsScaler: _largest,
    MinMaxScaler: _range,
    PCA: _pca,
    TruncatedSVD: _svd,
    Normalizer: _unit,
    Binarizer: _binary,
    VarianceThreshold: _some,
    PolynomialFeatures: _polynomials,
    PowerTransformer: _powers,
}
STRUCTURE: dict[type, Callable[[Graph, str, Any, Sequence[Part]], Parts]] = {
    ColumnTransformer: _by_columns,
    FeatureUnion: _union,
    FunctionTransformer: _function,
    SimpleImputer: _impute,
    OneHotEncoder: encode,
    OrdinalEncoder: encode,
    TargetEncoder: encode,
}
