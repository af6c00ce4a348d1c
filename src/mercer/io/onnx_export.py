"""Models as ONNX graphs."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import estimators
from mercer._version import __version__
from mercer.io.errors import ModelFileError
from mercer.io.onnx_graph import IR, OPSET, Graph, kernel
from mercer.io.training import fitted_part
from mercer.kernels import Kernel, Precomputed
from mercer.kernels.data import is_sparse
from mercer.problems.calibration import LARGEST_LOGIT

DOUBLE, INT64, STRING = 11, 7, 8  # as ONNX numbers them
CLASSIFIERS, REGRESSORS, PLANES, BALLS = ("SVC", "NuSVC"), ("SVR", "NuSVR"), ("OneClassSVM",), ("SVDD",)


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a model as an ONNX graph of plain operators in double precision.

    The input is X, a double tensor of shape (rows, features). Outputs:

    - classifiers: ``label`` (int64 or string), ``decision`` (as ``decision_function``) and, for two classes
      with ``probability=True``, ``probabilities``
    - regressors: ``prediction``
    - detectors: ``label`` (+1 or -1) and ``decision``

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, OneClassSVM or SVDD, or a Pipeline of scalers that ends with one
        Fitted, with a kernel on vectors. Other models, kernels and steps are refused by name.
    path : str or path, optional
        Where to write it, too.

    Returns
    -------
    onnx.ModelProto
        Checked by ONNX's own checker.
    """
    check_is_fitted(model)
    g = Graph()
    last = fitted_part(model)
    kind = type(last).__name__
    known = (*CLASSIFIERS, *REGRESSORS, *PLANES, *BALLS)
    if kind not in known or type(last) is not getattr(estimators, kind, None):
        raise ModelFileError(f"{kind} cannot be exported to ONNX; {', '.join(known)} can")
    if not isinstance(last.kernel_, Kernel) or isinstance(last.kernel_, Precomputed):
        raise ModelFileError(f"kernel {last.kernel_!r} cannot be exported to ONNX: kernels on vectors can")
    width = int(getattr(model, "n_features_in_", last.shape_fit_[-1]))
    x = "X"
    for name, step in model.steps[:-1] if last is not model else []:
        x = _step(g, name, step, x)
    Z = last.support_vectors_
    Z = np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64)
    g.widths[x] = Z.shape[1]
    K = kernel(g, last.kernel_, x, Z)
    make = _classifier if kind in CLASSIFIERS else _regressor if kind in REGRESSORS else _detector
    outputs = make(g, last, x, K)
    return _finish(g, width, outputs, path)


def _finish(g: Graph, width: int, outputs: list[tuple[str, int, list[Any]]], path: Any) -> Any:
    helper = g.onnx.helper
    graph = helper.make_graph(
        g.nodes,
        "mercer",
        [helper.make_tensor_value_info("X", DOUBLE, ["rows", width])],
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs],
        g.constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="mercer")
    made.ir_version = IR
    made.producer_version = __version__
    g.onnx.checker.check_model(made)
    if path is not None:
        Path(path).write_bytes(made.SerializeToString())
    return made


# -- preparation ------------------------------------------------------------------------------------------


def _step(g: Graph, name: str, step: Any, x: str) -> str:
    """Add a step of a pipeline."""
    kind = type(step).__name__
    if step == "passthrough" or step is None:
        return x
    if kind == "StandardScaler":
        x = g.op("Sub", x, g.const(step.mean_)) if step.with_mean else x
        return g.scaled(x, 1.0 / step.scale_) if step.with_std else x
    if kind == "RobustScaler":
        x = g.op("Sub", x, g.const(step.center_)) if step.with_centering else x
        return g.scaled(x, 1.0 / step.scale_) if step.with_scaling else x
    if kind == "MaxAbsScaler":
        return g.scaled(x, 1.0 / step.scale_)
    if kind == "MinMaxScaler":
        x = g.op("Add", g.scaled(x, step.scale_), g.const(step.min_))
        if not step.clip:
            return x
        low, high = step.feature_range
        return g.op("Min", g.op("Max", x, g.const(low)), g.const(high))
    if kind == "SimpleImputer" and _is_plain_imputer(step):
        return g.op("Where", g.op("IsNaN", x), g.const(step.statistics_), x)
    if kind == "PCA":
        x = g.op("MatMul", g.op("Sub", x, g.const(step.mean_)), g.const(step.components_.T))
        return g.scaled(x, 1.0 / np.sqrt(step.explained_variance_)) if step.whiten else x
    raise ModelFileError(
        f"step {name!r} ({kind}) cannot be exported to ONNX; StandardScaler, RobustScaler, "
        f"MinMaxScaler, MaxAbsScaler, "
        "SimpleImputer of numbers and PCA can"
    )


def _is_plain_imputer(step: Any) -> bool:
    """Return whether an imputer puts one number per column in the place of nan."""
    missing, values = step.missing_values, np.asarray(step.statistics_)
    if step.add_indicator or not isinstance(missing, float) or not np.isnan(missing):
        return False
    return values.dtype.kind == "f" and bool(np.isfinite(values).all())


# -- machines ---------------------------------------------------------------------------------------------


def _regressor(g: Graph, model: Any, x: str, K: str) -> list[tuple[str, int, list[Any]]]:
    f = g.op("MatMul", K, g.const(model._coefficients[0]))
    g.op("Add", f, g.const(model.intercept_[0]), out="prediction")
    return [("prediction", DOUBLE, ["rows"])]


def _detector(g: Graph, model: Any, x: str, K: str) -> list[tuple[str, int, list[Any]]]:
    f = g.op("MatMul", K, g.const(model._coefficients[0]))
    if type(model).__name__ in BALLS:
        squares = g.affine(f, -2.0, float(model.center_squared_norm_))
        squares = g.op("Max", g.op("Add", squares, kernel(g, model.kernel_, x, None)), g.const(0.0))
        f = g.op("Neg", squares)
    g.op("Sub", f, g.const(float(np.ravel(model.offset_)[0])), out="decision")
    inside = g.op("GreaterOrEqual", "decision", g.const(0.0))
    g.op("Where", inside, g.const(1, np.int64), g.const(-1, np.int64), out="label")
    return [("label", INT64, ["rows"]), ("decision", DOUBLE, ["rows"])]


def _classifier(g: Graph, model: Any, x: str, K: str) -> list[tuple[str, int, list[Any]]]:
    segments, machines = model._segments()
    weights = np.zeros((model.support_.size, machines))
    for s in segments:
        weights[s.start : s.stop, s.outputs] = s.coef
    F = g.op("Add", g.op("MatMul", K, g.const(weights)), g.const(model.intercept_))
    k = model.classes_.size
    outputs: list[tuple[str, int, list[Any]]] = []
    if k == 2:
        g.op("Reshape", F, g.const([-1], np.int64), out="decision")
        choice = g.op("Cast", g.op("GreaterOrEqual", "decision", g.const(0.0)), to=INT64)
        outputs.append(("decision", DOUBLE, ["rows"]))
        if getattr(model, "link_knots_", None) is not None:
            outputs.append(_two_probabilities(g, model))
    else:
        scores, choice = _many(g, model, F)
        g.op("Identity", scores, out="decision")
        outputs.append(("decision", DOUBLE, ["rows", k if scores != F else machines]))
    labels = model.classes_
    text = labels.dtype.kind not in "biu"
    if text and labels.dtype.kind not in "UO":
        raise ModelFileError(
            f"classes of type {labels.dtype} cannot be exported to ONNX; whole numbers and text can"
        )
    values = np.array([str(v) for v in labels], dtype=object) if text else labels.astype(np.int64)
    g.op("Gather", g.const(values, object if text else np.int64), choice, out="label")
    return [("label", STRING if text else INT64, ["rows"]), *outputs]


def _many(g: Graph, model: Any, F: str) -> tuple[str, str]:
    """Return the names of the decisions and of the predicted class's number."""
    k = model.classes_.size
    if model.multiclass == "ovr":
        return F, g.op("ArgMax", F, axis=1, keepdims=0)
    pairs = list(combinations(range(k), 2))
    first, second = np.zeros((2, len(pairs), k))
    for n, (i, j) in enumerate(pairs):
        first[n, i] = second[n, j] = 1.0

    def votes(kind: str) -> str:
        won = g.op("Cast", g.op(kind, F, g.const(0.0)), to=DOUBLE)
        return g.op("Add", g.op("MatMul", won, g.const(first - second)), g.const(second.sum(axis=0)))

    confidence = g.op("MatMul", F, g.const(first - second))
    share = g.op("Div", confidence, g.affine(g.op("Abs", confidence), 3.0, 3.0))
    broken = g.op("Add", votes("GreaterOrEqual"), share)
    choice = g.op("ArgMax", broken if model.break_ties else votes("Greater"), axis=1, keepdims=0)
    return (F if model.decision_function_shape == "ovo" else broken), choice


def _two_probabilities(g: Graph, model: Any) -> tuple[str, int, list[Any]]:
    """Add the piecewise linear link; its sign agrees with the decision's, so the predicted class leads."""
    z = None
    for side, sign in ((1, 1.0), (0, -1.0)):
        knots, slopes = model.link_knots_[0, side], model.link_slopes_[0, side]
        widths = np.append(np.diff(knots), np.inf)
        u = g.op("Max", g.affine("decision", sign), g.const(0.0))
        for knot, width, slope in zip(knots, widths, slopes, strict=True):
            if width == 0 or slope == 0:
                continue
            piece = g.op("Max", g.affine(u, 1.0, -float(knot)), g.const(0.0))
            piece = g.op("Min", piece, g.const(width)) if np.isfinite(width) else piece
            piece = g.affine(piece, sign * float(slope))
            z = piece if z is None else g.op("Add", z, piece)
    z = g.affine("decision", 0.0) if z is None else z
    z = g.op("Min", g.op("Max", z, g.const(-LARGEST_LOGIT)), g.const(LARGEST_LOGIT))
    columns = [
        g.op("Unsqueeze", g.op("Sigmoid", g.affine(z, sign)), g.const([1], np.int64)) for sign in (-1.0, 1.0)
    ]
    g.op("Concat", *columns, axis=1, out="probabilities")
    return "probabilities", DOUBLE, ["rows", 2]
