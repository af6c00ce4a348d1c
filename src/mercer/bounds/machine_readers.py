"""Reading fitted machines: what the lines need to know, by what a machine is able to say of itself.

A machine of another package, or one that comes later, is read when it has these attributes; :func:`register`
is for machines that have others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.bounds.detector_lines import Ball, BallAndSlab, Plane
from mercer.bounds.regressor_lines import Regression
from mercer.bounds.two_class_machine import TwoClass
from mercer.estimators import (
    SVDD,
    KernelAdatron,
    KernelLogisticRegression,
    KernelRidgeClassifier,
    Perceptron,
    SphereAndSlab,
)
from mercer.estimators.approximation._values import has_features
from mercer.estimators.online import OnlineMachine
from mercer.estimators.parametric import has_parametric
from mercer.estimators.splits import one_versus_one, one_versus_rest, unpack
from mercer.gram import Gram

CONSTANT = 1e-9  # relative spread of k(x, x) below which points lie on a sphere around the origin


@dataclass(frozen=True)
class Part:
    """One two-class or regression problem of a model: its function, its rows and its name."""

    machine: TwoClass | Regression | Ball | Plane
    rows: np.ndarray | None = None
    title: str = ""


Reader = Callable[[Any, Any, Any, Gram], list[Part]]
_readers: list[tuple[Callable[[Any], bool], Reader]] = []


def register(applies: Callable[[Any], bool], reader: Reader) -> None:
    """Add support for another kind of model to `report`.

    Parameters
    ----------
    applies : callable
        model -> whether the reader is for it.
    reader : callable
        (model, X, y, gram) -> a list of :class:`Part`.
    """
    _readers.insert(0, (applies, reader))


def read(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    """Return the machines that a fitted model is made of."""
    if has_parametric(model):
        raise UnreadError(
            f"bounds.report does not support this {type(model).__name__}: its parametric columns are not "
            "penalised, so no norm bounds its functions; fit it with parametric=None, or hold out rows"
        )
    if has_features(model):
        raise UnreadError(
            f"nothing is promised for this {type(model).__name__}: its features (approximation="
            f"{model.approximation!r}) were chosen with the training data in sight; hold rows out"
        )
    for applies, reader in _readers:
        if applies(model):
            return reader(model, X, y, matrix)
    raise TypeError(why_not(model))


def why_not(model: Any) -> str | None:
    """Return in a sentence why no theorem is about a fitted model; None if some reader takes it."""
    name = type(model).__name__
    if any(applies(model) for applies, _ in _readers):
        return None
    if not hasattr(model, "predict"):
        return f"bounds.report does not support {name}: it makes no predictions"
    if hasattr(model, "classes_") and len(model.classes_) > 2 and hasattr(model, "dual_coef_"):
        return (
            f"the theorems are about functions of two classes, and this {name} decides between "
            f"{len(model.classes_)} by one joint function"
        )
    return (
        f"bounds.report does not support {name}: the theorems need the norm of its function in a feature "
        "space (mercer.bounds.register adds support)"
    )


class UnreadError(ValueError):
    """A machine that no theorem is about, although others of its class are read; the message says why."""


# -- classifiers ---------------------------------------------------------------------------------------------


def _pairs(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    classes, labels = model.classes_, model._known_labels(y)
    n, k = labels.size, model.classes_.size
    split = one_versus_one if model.multiclass == "ovo" else one_versus_rest
    pairs = model.multiclass == "ovo"
    F = _decisions(model, X, matrix)
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    loss = getattr(model, "loss", "hinge")
    machine = "nu" if hasattr(model, "rho_") else "hard" if math.isinf(model.C) else "soft"
    if machine == "soft" and loss == "squared_hinge":
        machine = "squared"
    elif machine == "soft" and loss != "hinge":
        machine = "loss"
    biased = getattr(model, "fit_intercept", True)
    parts = []
    for number, task in enumerate(split(labels, k, np.ones(n, dtype=bool))):
        coef = unpack(task, number, model.support_, model._coefficients, labels[model.support_], n, pairs)
        price = _price(model, machine, labels[task.rows], coef)
        a = np.abs(coef)
        free = bool(((a > 1e-8 * a.max(initial=0.0)) & (a < price * (1 - 1e-8))).any())
        rival = "the rest" if task.negative < 0 else repr(_plain(classes[task.negative]))
        parts.append(
            Part(
                TwoClass(
                    sign=task.sign,
                    values=np.ascontiguousarray(F[task.rows, number]),
                    bias=float(model.intercept_[number]) if biased else None,
                    norm=_norm(coef, F[task.rows, number] - model.intercept_[number]),
                    diagonal=diagonal[task.rows],
                    n_support=int(np.count_nonzero(coef)),
                    machine=machine,
                    ridge=1.0 / (2.0 * price) if machine == "squared" else None,
                    determined=free or not biased or machine in ("hard", "squared"),
                    gap=float(model.certificate_.parts[number].relative_gap),
                ),
                task.rows,
                f"{_plain(classes[task.positive])!r} against {rival}",
            )
        )
    return parts


def _functions(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    """Read a classifier that is a function <w, phi(x)> + b for two classes, or one for each of more."""
    classes = model.classes_
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which the model has not seen")
    labels = np.searchsorted(classes, np.asarray(y))
    n, k = labels.size, len(classes)
    F = np.asarray(model.decision_function(X), dtype=np.float64).reshape(n, -1)
    biased = getattr(model, "fit_intercept", True)
    biases = np.zeros(F.shape[1]) + (np.ravel(model.intercept_) if biased else 0.0)
    coef = _coefficient_columns(model, n)
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    parts = []
    for o, task in enumerate(one_versus_rest(labels, k, np.ones(n, dtype=bool))):
        machine = TwoClass(
            sign=task.sign, values=np.ascontiguousarray(F[:, o]), bias=float(biases[o]) if biased else None,
            norm=_norm(coef[:, o], F[:, o] - biases[o]), diagonal=diagonal, machine="loss",
        )  # fmt: skip
        name = f"{_plain(classes[task.positive])!r} against the rest" if k > 2 else ""
        parts.append(Part(machine, None, name))
    return parts


def _coefficient_columns(model: Any, n: int) -> Float64:
    """Return the coefficients of all training points, a column for each function."""
    packed = np.asarray(model.dual_coef_, dtype=np.float64)
    if not hasattr(model, "support_"):
        return packed.reshape(n, -1)
    whole = np.zeros((n, packed.shape[0]))
    whole[model.support_] = packed.T
    return whole


def _decisions(model: Any, X: Any, matrix: Gram) -> Float64:
    """Return f of each machine at the training points; of one machine by the matrix that is there already."""
    if len(model.intercept_) > 1:
        return np.asarray(model._raw_decision(X))
    whole = np.zeros(matrix.n)
    whole[model.support_] = model._coefficients[0]
    return np.asarray(matrix.matvec(whole) + model.intercept_)[:, None]


def _price(model: Any, machine: str, labels: np.ndarray, coef: Float64) -> Float64:
    """Return the upper bounds of the multipliers; the squared hinge has none, and C stands for its price."""
    if machine == "nu":  # the scaled machine's bound is that of its largest multipliers
        return np.full(labels.size, np.abs(coef).max(initial=0.0))
    return np.asarray(model.C * model.class_weight_[labels], dtype=np.float64)


def _perceptron(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    """Read a machine that was made by its updates: a perceptron, or another one that saw a stream."""
    k = len(model.classes_)
    F = np.asarray(model.decision_function(X), dtype=np.float64)
    F = F[:, None] if F.ndim == 1 else F
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which the model has not seen")
    labels = np.searchsorted(model.classes_, np.asarray(y))
    biases = np.zeros(F.shape[1]) + np.ravel(getattr(model, "intercept_", 0.0))
    biased = getattr(model, "fit_intercept", bool(biases.any()))
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    kind = "stream" if isinstance(model, KernelAdatron) else "perceptron"
    own_radius = getattr(model, "radius", 1.0) is None and not _at_the_bound(model, diagonal)
    remembered = int(biased and own_radius)
    norms, updates = _weight_norms(model, F - biases), _updates(model, F.shape[1])
    parts = []
    for o, task in enumerate(one_versus_rest(labels, k, np.ones(labels.size, dtype=bool))):
        machine = TwoClass(
            sign=task.sign, values=np.ascontiguousarray(F[:, o]), bias=float(biases[o]) if biased else None,
            norm=float(norms[o]), diagonal=diagonal, machine=kind, updates=updates[o], remembered=remembered,
        )  # fmt: skip
        name = f"{_plain(model.classes_[task.positive])!r} against the rest" if k > 2 else ""
        parts.append(Part(machine, None, name))
    return parts


def _at_the_bound(model: Any, diagonal: Float64) -> bool:
    """Return whether the farthest point lies as far out as the kernel allows: any other sample would do."""
    kernel = getattr(model, "kernel_", None)
    bound = None if kernel is None else kernel.diagonal_bound
    return bound is not None and bool(diagonal.max() >= bound * (1.0 - CONSTANT))


def _weight_norms(model: Any, inner: Float64) -> Float64:
    """Return ||w|| of each machine, given <w, phi(x_i)> at the training points."""
    if isinstance(model, Perceptron) or (isinstance(model, OnlineMachine) and not model._pairwise_kernel):
        return np.asarray(model._norms())
    if hasattr(model, "coef_") and not hasattr(model, "dual_coef_"):
        return np.asarray(np.linalg.norm(np.atleast_2d(model.coef_), axis=1))
    if inner.shape[1] == 1:
        return np.array([_norm(_all_coefficients(model, inner.shape[0]), inner[:, 0])])
    coef = np.zeros(inner.shape)
    coef[model.support_] = model.dual_coef_.T
    return np.array([_norm(coef[:, o], inner[:, o]) for o in range(inner.shape[1])])


def _updates(model: Any, machines: int) -> list[int]:
    known = np.ravel(getattr(model, "n_updates_", model.mistakes_))
    if known.size == machines and getattr(model, "budget", None) is None:
        return [int(k) for k in known]
    return [int(known.sum())] * machines  # a budget that machines share makes each depend on all updates


# -- regressors ----------------------------------------------------------------------------------------------


def _regressor(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    values = np.asarray(model.predict(X), dtype=np.float64)
    if values.ndim != 1:
        raise UnreadError(f"the theorems are about one target, and this model predicts {values.shape[1]}")
    intercept = getattr(model, "intercept_", None)
    bias = None if intercept is None else float(np.ravel(intercept)[0])
    if not getattr(model, "fit_intercept", True):
        bias = None
    coef = _all_coefficients(model, values.size)
    squared = not hasattr(model, "support_")
    machine = Regression(
        y=np.asarray(y, dtype=np.float64), values=values, bias=bias, norm=_norm(coef, values - (bias or 0.0)),
        diagonal=np.asarray(matrix.diag(), dtype=np.float64),
        epsilon=0.0 if squared else getattr(model, "epsilon", None),
        n_support=None if squared else int(np.count_nonzero(coef)),
    )  # fmt: skip
    return [Part(machine)]


# -- detectors -----------------------------------------------------------------------------------------------


def _ball(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    distances = model.distance(X, diag=diagonal) if model._pairwise_kernel else model.distance(X)
    ball = Ball(
        np.square(distances), float(model.radius_) ** 2, float(model.center_squared_norm_), diagonal,
        float(model.outside_fraction_), int(model.support_.size), float(model.gap),
    )  # fmt: skip
    return [Part(ball)]


def _ball_and_slab(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    known = {"diag": diagonal} if model._pairwise_kernel else {}
    squares, residuals = np.square(model.distance(X, **known)), np.square(model.residual(X, **known))
    return [
        Part(
            BallAndSlab(
                squares=squares, squared_radius=float(model.radius_) ** 2,
                centre_norm=float(model.center_squared_norm_), diagonal=diagonal,
                outside=float((np.asarray(model.predict(X, **known)) < 0).mean()),
                n_support=int(model.support_.size), residuals=residuals,
                squared_width=float(model.width_) ** 2, mean_norm=float(model._mean_squared_norm),
                height=float(model._mean_squared_norm - np.square(model._slab_offsets).sum()),
                axes=int(model.n_components),
            )
        )
    ]  # fmt: skip


def _plane(model: Any, X: Any, y: Any, matrix: Gram) -> list[Part]:
    diagonal = np.asarray(matrix.diag(), dtype=np.float64)
    scores = np.asarray(model.score_samples(X), dtype=np.float64)
    rho = float(np.ravel(model.offset_)[0])
    coef = _all_coefficients(model, scores.size)
    norm, total = _norm(coef, scores), float(coef.sum())
    outside, support = float(model.outside_fraction_), int(model.support_.size)
    level = float(diagonal[0])
    if np.ptp(diagonal) > CONSTANT * abs(level):
        return [Part(Plane(scores - rho, rho, norm, diagonal, outside, support))]
    # On a sphere around the origin a plane cuts out what a ball around w / sum(coef) does.
    centre = (norm / total) ** 2
    squares = np.maximum(level - 2.0 * scores / total + centre, 0.0)
    return [
        Part(Ball(squares, max(level - 2.0 * rho / total + centre, 0.0), centre, diagonal, outside, support))
    ]


# -- shared --------------------------------------------------------------------------------------------------


def _norm(coef: Float64, values: Float64) -> float:
    """Return ||w|| from its coefficients and <w, phi(x_i)>: w'w = sum_i coef_i <w, phi(x_i)>."""
    return math.sqrt(max(float(coef @ values), 0.0))


def _all_coefficients(model: Any, n: int) -> Float64:
    packed = model.dual_coef_
    coef = np.asarray(packed.toarray() if hasattr(packed, "toarray") else packed, dtype=np.float64).ravel()
    if coef.size == n and not hasattr(model, "support_"):
        return coef
    whole = np.zeros(n)
    whole[model.support_] = coef
    return whole


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_regressor(model: Any) -> bool:
    no_other = not any(
        hasattr(model, name) for name in ("classes_", "offset_", "support_outputs_", "labels_")
    )
    return no_other and hasattr(model, "dual_coef_") and hasattr(model, "predict")


def _is_plane(model: Any) -> bool:
    named = all(hasattr(model, name) for name in ("offset_", "score_samples", "outside_fraction_"))
    return named and not hasattr(model, "labels_")


def _is_perceptron(model: Any) -> bool:
    ordered = getattr(model, "multiclass", "ovr") == "joint"  # whose bound is another one
    counts = hasattr(model, "mistakes_") or hasattr(model, "n_updates_")
    return hasattr(model, "classes_") and counts and not ordered


def _is_pairs(model: Any) -> bool:
    pairs = getattr(model, "multiclass", "ovo") in ("ovo", "ovr")  # not thresholds of ordered classes
    names = ("classes_", "margin_", "certificate_", "_raw_decision")
    return pairs and all(hasattr(model, name) for name in names)


def _is_function(model: Any) -> bool:
    if isinstance(model, KernelLogisticRegression):
        return len(model.classes_) == 2  # more classes share one joint function
    return isinstance(model, KernelRidgeClassifier)


register(_is_regressor, _regressor)
register(_is_plane, _plane)
register(lambda model: isinstance(model, SVDD), _ball)
register(lambda model: isinstance(model, SphereAndSlab), _ball_and_slab)
register(_is_perceptron, _perceptron)
register(_is_pairs, _pairs)
register(_is_function, _functions)
