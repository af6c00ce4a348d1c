"""Machines as ONNX operators: functions of kernel values, and what is said from them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from mercer import estimators as e
from mercer.estimators.approximation._values import has_features
from mercer.io.errors import ModelFileError
from mercer.io.onnx import probability
from mercer.io.onnx.discriminants import (
    fisher_scores,
    flexible_scores,
    linear_scores,
    mixture_scores,
    quadratic_scores,
)
from mercer.io.onnx.graph import DOUBLE, INT64, STRING, Graph
from mercer.io.onnx.kernels import dense, kernel
from mercer.io.onnx.regressors import REGRESSIONS, combination, linear, regression, with_columns
from mercer.kernels import Kernel, Precomputed, as_kernel
from mercer.kernels.sklearn_kernels import is_sklearn_kernel

Output = tuple[str, int, list[Any]]  # name, type, shape
OUTPUTS = ("label", "decision", "probabilities", "prediction")


def check_machine(model: Any) -> None:
    """Refuse, by name, an estimator or a kernel that cannot be exported."""
    if type(model) not in MACHINES:
        can = ", ".join(sorted(cls.__name__ for cls in MACHINES))
        raise ModelFileError(f"{type(model).__name__} cannot be exported to ONNX; these can: {can}")
    if has_features(model):
        raise ModelFileError(
            f"this {type(model).__name__} has features in the place of its kernel (approximation="
            f"{model.approximation!r}) and cannot be exported to ONNX: mercer.save keeps it"
        )
    known = getattr(model, "kernel_", None)
    if is_sklearn_kernel(known):
        known = as_kernel(known)
    if known is not None and (not isinstance(known, Kernel) or isinstance(known, Precomputed)):
        raise ModelFileError(f"kernel {known!r} cannot be exported to ONNX: kernels on vectors can")
    if known is not None and not hasattr(model, "n_features_in_"):
        what = f"kernel {known.expression()} cannot be exported to ONNX: "
        raise ModelFileError(what + "kernels on vectors can, and it takes others")


def add_machine(g: Graph, model: Any, x: str) -> list[Output]:
    """Add a fitted estimator that was checked, on a table of numbers; return the graph's outputs."""
    return MACHINES[type(model)](g, model, x)


# -- regressors ---------------------------------------------------------------------------------------------


def _regressor(g: Graph, model: Any, x: str) -> list[Output]:
    F = regression(g, model, x)
    if getattr(model, "_predicts_flat", getattr(model, "_flat", True)):
        g.op("Reshape", F, g.const([-1], np.int64), out="prediction")
        return [("prediction", DOUBLE, ["rows"])]
    g.op("Identity", F, out="prediction")
    return [("prediction", DOUBLE, ["rows", "outputs"])]


# -- detectors ----------------------------------------------------------------------------------------------


def _verdict(g: Graph, scores: str, offset: Any) -> list[Output]:
    g.op("Sub", scores, g.const(float(np.ravel(offset)[0])), out="decision")
    inside = g.op("GreaterOrEqual", "decision", g.const(0.0))
    g.op("Where", inside, g.const(1, np.int64), g.const(-1, np.int64), out="label")
    return [("label", INT64, ["rows"]), ("decision", DOUBLE, ["rows"])]


def _products(g: Graph, model: Any, x: str) -> str:
    K = kernel(g, model.kernel_, x, dense(model.support_vectors_))
    return g.op("MatMul", K, g.const(model._coefficients[0]))


def _plane(g: Graph, model: Any, x: str) -> list[Output]:
    return _verdict(g, _products(g, model, x), model.offset_)


def _squares(g: Graph, model: Any, x: str, diagonal: str) -> str:
    """Add squared distances from the centre of a ball."""
    squares = g.affine(_products(g, model, x), -2.0, float(model.center_squared_norm_))
    return g.clip(g.op("Add", squares, diagonal), low=0.0)


def _ball(g: Graph, model: Any, x: str) -> list[Output]:
    return _verdict(g, g.op("Neg", _squares(g, model, x, kernel(g, model.kernel_, x, None))), model.offset_)


def _slab(g: Graph, model: Any, x: str) -> list[Output]:
    diagonal = kernel(g, model.kernel_, x, None)
    inside = g.op("Sub", g.const(float(model._squared_radius)), _squares(g, model, x, diagonal))
    K = kernel(g, model.kernel_, x, dense(model._slab_points))
    coef, offsets = model._slab_coef, model._slab_offsets
    along = g.op("Sub", g.op("MatMul", K, g.const(coef[:, :-1])), g.const(offsets[None]))
    rest = g.affine(g.op("MatMul", K, g.const(coef[:, -1])), -2.0, float(model._mean_squared_norm))
    rest = g.op("Sub", g.op("Add", rest, diagonal), g.sum(g.op("Mul", along, along), 1))
    within = g.op("Sub", g.const(float(model._squared_width)), g.clip(rest, low=0.0))
    return _verdict(g, g.op("Min", inside, within), model.offset_)


# -- classifiers --------------------------------------------------------------------------------------------


def _labelled(g: Graph, model: Any, choice: str, outputs: list[Output]) -> list[Output]:
    labels = model.classes_
    if all(isinstance(label, str) for label in labels.tolist()):
        dtype, kind = object, STRING
    elif labels.dtype.kind in "biuf":
        dtype, kind = (np.float64, DOUBLE) if labels.dtype.kind == "f" else (np.int64, INT64)
    else:
        raise ModelFileError(
            f"classes of type {labels.dtype} cannot be exported to ONNX; numbers and text can"
        )
    g.op("Gather", g.const(labels.astype(dtype), dtype), choice, out="label")
    return [("label", kind, ["rows"]), *outputs]


def _decided(g: Graph, F: str, width: int | None) -> Output:
    """Name the decisions: a vector if there is no width."""
    if width is None:
        g.op("Reshape", F, g.const([-1], np.int64), out="decision")
        return "decision", DOUBLE, ["rows"]
    g.op("Identity", F, out="decision")
    return "decision", DOUBLE, ["rows", width]


def _probable(g: Graph, p: str, k: int) -> Output:
    g.op("Identity", p, out="probabilities")
    return "probabilities", DOUBLE, ["rows", k]


def _machines(g: Graph, model: Any, x: str) -> str:
    """Add the decisions of all two-class machines, one column each."""
    segments, machines = model._segments()
    weights = np.zeros((model.support_.size, machines))
    for s in segments:
        weights[s.start : s.stop, s.outputs] = s.coef
    F = combination(g, model.kernel_, x, model.support_vectors_, weights, model.intercept_)
    return with_columns(g, model, x, F)


def _pairs(g: Graph, model: Any, x: str, logits: Callable[[str], str | None]) -> list[Output]:
    """Add a classifier made of two-class machines, with probabilities if it has logits."""
    F, k = _machines(g, model, x), model.classes_.size
    if k == 2:
        decision = _decided(g, F, None)
        choice = g.op("Cast", g.op("GreaterOrEqual", "decision", g.const(0.0)), to=INT64)
    elif model.multiclass == "ovr":
        decision, choice = _decided(g, F, k), g.op("ArgMax", F, axis=1, keepdims=0)
    else:
        scores, choice = _votes(g, model, F)
        decision = _decided(g, scores, k if scores != F else k * (k - 1) // 2)
    outputs = [decision]
    z = logits(F)
    if z is not None:
        if k == 2:
            p = probability.two_classes(g, z, choice)
        else:
            couple = probability.couple_rest if model.multiclass == "ovr" else probability.couple_pairs
            p = couple(g, z, k, choice)
        outputs.append(_probable(g, p, k))
    threshold = getattr(model, "threshold", 0.0)
    if threshold:  # probabilities know nothing of it
        choice = g.op("Cast", g.op("GreaterOrEqual", "decision", g.const(threshold)), to=INT64)
    return _labelled(g, model, choice, outputs)


def _votes(g: Graph, model: Any, F: str) -> tuple[str, str]:
    """Return the names of the decisions and of the predicted class's number."""
    k = model.classes_.size
    pairs = list(combinations(range(k), 2))
    first, second = np.zeros((2, len(pairs), k))
    for n, (i, j) in enumerate(pairs):
        first[n, i] = second[n, j] = 1.0

    def votes(kind: str) -> str:
        won = g.number(g.op(kind, F, g.const(0.0)))
        return g.op("Add", g.op("MatMul", won, g.const(first - second)), g.const(second.sum(axis=0)))

    confidence = g.op("MatMul", F, g.const(first - second))
    share = g.op("Div", confidence, g.affine(g.op("Abs", confidence), 3.0, 3.0))
    broken = g.op("Add", votes("GreaterOrEqual"), share)
    choice = g.op("ArgMax", broken if model.break_ties else votes("Greater"), axis=1, keepdims=0)
    return (F if model.decision_function_shape == "ovo" else broken), choice


def _joint_margin(g: Graph, model: Any, x: str) -> list[Output]:
    """Add a function for each class, the largest of which wins."""
    F = _machines(g, model, x)
    decision = _contrast(g, F, model.classes_.size)
    threshold = getattr(model, "threshold", 0.0)
    if threshold:
        choice = g.op("Cast", g.op("GreaterOrEqual", "decision", g.const(threshold)), to=INT64)
    else:
        choice = g.op("ArgMax", F, axis=1, keepdims=0)
    return _labelled(g, model, choice, [decision])


def _svc(g: Graph, model: Any, x: str) -> list[Output]:
    if getattr(model, "_joint", False):
        return _joint_margin(g, model, x)
    knots = getattr(model, "link_knots_", None)

    def logits(F: str) -> str | None:
        return None if knots is None else probability.link(g, F, knots, model.link_slopes_)

    return _pairs(g, model, x, logits)


def _ordinal(g: Graph, model: Any, x: str) -> list[Output]:
    """Add one function that thresholds cut: a class is the number of thresholds below it."""
    return _cut(g, model, _machines(g, model, x), "Greater")


def _prank(g: Graph, model: Any, x: str) -> list[Output]:
    """Add the perceptron of ordered classes: a class is the number of thresholds that f reaches."""
    weights = np.repeat(model.dual_coef_.sum(axis=0)[:, None], model.intercept_.size, axis=1)
    F = combination(g, model.kernel_, x, model.support_vectors_, weights, model.intercept_)
    return _cut(g, model, F, "GreaterOrEqual")


def _cut(g: Graph, model: Any, F: str, beyond: str) -> list[Output]:
    """Add classes in their order, given the function above each threshold."""
    k = model.classes_.size
    above = g.number(g.op(beyond, F, g.const(0.0)))
    choice = g.op("Cast", g.sum(above, 1), to=INT64)
    if k == 2:
        return _labelled(g, model, choice, [_decided(g, F, None)])
    sums = g.op("MatMul", F, g.const(np.triu(np.ones((k - 1, k)), 1)))
    return _labelled(g, model, choice, [_decided(g, sums, k)])


def _convex(g: Graph, model: Any, x: str) -> list[Output]:
    """Add a classifier with any loss: two-class machines, or one function for each class."""
    if not model._joint:
        proper = hasattr(model, "predict_proba")
        return _pairs(g, model, x, lambda F: probability.loss_logits(g, model.loss_, F) if proper else None)
    F, k = _machines(g, model, x), model.classes_.size
    decision = _contrast(g, F, k)
    choice = g.op("ArgMax", F, axis=1, keepdims=0)
    return _labelled(g, model, choice, [decision, _probable(g, probability.softmax(g, F), k)])


def _contrast(g: Graph, F: str, k: int) -> Output:
    """Name the decisions of a function for each class; of two classes, the difference."""
    if k > 2:
        return _decided(g, F, k)
    return _decided(g, g.op("Sub", g.column(F, 1), g.column(F, 0)), None)


def _largest(g: Graph, model: Any, F: str, at_zero: str = "GreaterOrEqual") -> list[Output]:
    """Add a classifier whose largest value wins; of two classes, one value and its sign."""
    k = model.classes_.size
    if k == 2:
        decision = _decided(g, F, None)
        return _labelled(
            g, model, g.op("Cast", g.op(at_zero, "decision", g.const(0.0)), to=INT64), [decision]
        )
    return _labelled(g, model, g.op("ArgMax", F, axis=1, keepdims=0), [_decided(g, F, k)])


def _ridge_classifier(g: Graph, model: Any, x: str) -> list[Output]:
    F = combination(g, model.kernel_, x, model.X_fit_, model._coef, model.intercept_)
    return _largest(g, model, F, "Greater")


def _online_classifier(g: Graph, model: Any, x: str) -> list[Output]:
    F = combination(g, model.kernel_, x, model.support_vectors_, model.dual_coef_.T, model.intercept_)
    return _largest(g, model, F)


def _perceptron(g: Graph, model: Any, x: str) -> list[Output]:
    return _largest(g, model, linear(g, model, x))


def _weights(g: Graph, model: Any, x: str) -> list[Output]:
    """Add a linear classifier, with probabilities if its loss has them."""
    F, k = linear(g, model, x), model.classes_.size
    if not hasattr(model, "predict_proba"):
        return _largest(g, model, F, "Greater")
    if k == 2:
        decision = _decided(g, F, None)
        choice = g.op("Cast", g.op("Greater", "decision", g.const(0.0)), to=INT64)
    else:
        decision, choice = _decided(g, F, k), g.op("ArgMax", F, axis=1, keepdims=0)
    z = probability.loss_logits(g, model.loss_, F)
    p = probability.two_classes(g, z, choice) if k == 2 else probability.couple_rest(g, z, k, choice)
    return _labelled(g, model, choice, [decision, _probable(g, p, k)])


def _weighted_plane(g: Graph, model: Any, x: str) -> list[Output]:
    return _verdict(g, g.op("MatMul", x, g.const(model.coef_)), model.offset_)


def _discriminant(scores: Callable[[Graph, Any, str], str]) -> Callable[[Graph, Any, str], list[Output]]:
    def add(g: Graph, model: Any, x: str) -> list[Output]:
        F, k = scores(g, model, x), model.classes_.size
        choice = g.op("ArgMax", F, axis=1, keepdims=0)
        outputs = [_contrast(g, F, k), _probable(g, probability.softmax(g, F), k)]
        return _labelled(g, model, choice, outputs)

    return add


MACHINES: dict[type, Callable[[Graph, Any, str], list[Output]]] = {
    e.SVC: _svc,
    e.NuSVC: _svc,
    e.SVCPath: _svc,
    e.OrdinalSVC: _ordinal,
    e.CrammerSingerSVC: _joint_margin,
    e.KernelClassifier: _convex,
    e.KernelLogisticRegression: _convex,
    e.KernelRidgeClassifier: _ridge_classifier,
    e.KernelPerceptron: _online_classifier,
    e.KernelAdatron: _online_classifier,
    e.PRank: _prank,
    e.Perceptron: _perceptron,
    e.LinearSVC: _weights,
    e.LinearClassifier: _weights,
    e.LinearOneClassSVM: _weighted_plane,
    e.KernelFisherDiscriminant: _discriminant(fisher_scores),
    e.LinearDiscriminantAnalysis: _discriminant(linear_scores),
    e.PenalizedDiscriminantAnalysis: _discriminant(linear_scores),
    e.QuadraticDiscriminantAnalysis: _discriminant(quadratic_scores),
    e.RegularizedDiscriminantAnalysis: _discriminant(quadratic_scores),
    e.FlexibleDiscriminantAnalysis: _discriminant(flexible_scores),
    e.MixtureDiscriminantAnalysis: _discriminant(mixture_scores),
    **dict.fromkeys(REGRESSIONS, _regressor),
    e.OneClassSVM: _plane,
    e.SVDD: _ball,
    e.SphereAndSlab: _slab,
}
