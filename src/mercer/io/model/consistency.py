"""Whether the parts of a model fit together: compiled loops trust the lengths that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.io.errors import ModelFileError
from mercer.kernels import Kernel
from mercer.kernels.data import is_sparse


def _refuse(model: Any, why: str) -> None:
    raise ModelFileError(f"the parts of the {type(model).__name__} do not fit together: {why}")


def parts(model: Any) -> Iterator[Any]:
    """Yield a model and every estimator inside it."""
    yield model
    for value in vars(model).values():
        yield from _inside(value)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, BaseEstimator):
        yield from parts(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _inside(item)


def check(model: Any) -> None:
    """Refuse a model whose fitted attributes contradict each other.

    Parameters
    ----------
    model : estimator
        As it was built from a file.
    """
    for part in parts(model):
        state = vars(part)
        _check_shape(part, state)
        if "support_" in state and "dual_coef_" in state:
            _check_machine(part, state)
        if "classes_" in state:
            _check_classes(part, state)
        if "kernel_" in state and not isinstance(state["kernel_"], Kernel):
            _refuse(part, "kernel_ is not a kernel")


def _check_shape(model: Any, state: dict[str, Any]) -> None:
    shape = state.get("shape_fit_")
    if shape is not None:
        sound = isinstance(shape, tuple) and 1 <= len(shape) <= 2
        if not sound or not all(type(s) is int and s >= 0 for s in shape):
            _refuse(model, f"shape_fit_ is {shape!r:.40}")
    features = state.get("n_features_in_")
    if features is None:
        return
    if not isinstance(features, int | np.integer) or features < 0:
        _refuse(model, f"n_features_in_ is {features!r:.40}")
    names = state.get("feature_names_in_")
    if names is not None and (np.shape(names) != (features,)):
        _refuse(model, f"{np.shape(names)} names for {features} features")
    for name in ("support_vectors_", "X_fit_", "_kept_x", "_slab_points"):
        kept: Any = state.get(name)
        ready = isinstance(kept, np.ndarray) or is_sparse(kept)
        if ready and kept.ndim == 2 and kept.size and kept.shape[1] != features:
            _refuse(model, f"{name} has {kept.shape[1]} columns for {features} features")


def _check_machine(model: Any, state: dict[str, Any]) -> None:
    support, coef = state["support_"], state["dual_coef_"]
    if not isinstance(support, np.ndarray) or support.ndim != 1 or support.dtype.kind not in "iu":
        _refuse(model, "support_ is not a list of row numbers")
    dense: Any = coef if isinstance(coef, np.ndarray) else coef.toarray() if is_sparse(coef) else np.empty(0)
    if dense.ndim != 2 or dense.dtype.kind != "f" or dense.shape[1] != support.size:
        _refuse(model, f"dual_coef_ has shape {np.shape(coef)} for {support.size} support vectors")
    if not np.isfinite(dense).all():
        _refuse(model, "dual_coef_ is not finite")
    rows = state["shape_fit_"][0] if isinstance(state.get("shape_fit_"), tuple) else None
    if support.size and (int(support.min()) < 0 or (rows is not None and int(support.max()) >= rows)):
        _refuse(model, f"support_ names rows outside 0 to {rows}")
    kept = state.get("support_vectors_")
    pairwise = isinstance(state.get("kernel_"), Kernel) and state["kernel_"].pairwise
    if kept is not None and not pairwise:
        count = kept.shape[0] if hasattr(kept, "shape") else len(kept)
        if count != support.size:
            _refuse(model, f"{count} support vectors for {support.size} row numbers")
        values = kept.data if is_sparse(kept) else kept
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isfinite(values).all():
            _refuse(model, "support_vectors_ is not finite")
    intercept: Any = state.get("intercept_")
    if not isinstance(intercept, np.ndarray) or intercept.ndim != 1 or intercept.dtype.kind != "f":
        _refuse(model, "intercept_ is not a list of numbers")
    elif not np.isfinite(intercept).all():
        _refuse(model, "intercept_ is not finite")
    if "_n_support" in state:
        _check_pairs(model, state, dense.shape, intercept)


def _check_pairs(model: Any, state: dict[str, Any], shape: tuple[int, ...], intercept: np.ndarray) -> None:
    counts, classes = state["_n_support"], state.get("classes_")
    if not isinstance(counts, np.ndarray) or counts.ndim != 1 or counts.dtype.kind not in "iu":
        _refuse(model, "the numbers of support vectors are not whole numbers")
    if (counts < 0).any() or int(counts.sum()) != shape[1]:
        _refuse(model, f"the numbers of support vectors {counts.tolist()!r:.60} do not sum to {shape[1]}")
    k = np.size(classes) if classes is not None else 0
    if k != counts.size or k < 2:
        _refuse(model, f"{counts.size} numbers of support vectors for {k} classes")
    pairs = getattr(model, "multiclass", "ovo") == "ovo"
    rows = 1 if k == 2 else k - 1 if pairs else k
    machines = 1 if k == 2 else k * (k - 1) // 2 if pairs else k
    if shape[0] != rows or intercept.size != machines:
        _refuse(
            model, f"dual_coef_ has shape {shape} and intercept_ {intercept.size} entries for {k} classes"
        )
    knots: Any = state.get("link_knots_")
    slopes: Any = state.get("link_slopes_")
    if knots is None and slopes is None:
        return
    for name, link in (("link_knots_", knots), ("link_slopes_", slopes)):
        if not isinstance(link, np.ndarray) or link.ndim != 3 or link.shape[:2] != (machines, 2):
            _refuse(model, f"{name} has shape {np.shape(link)} for {machines} machines")
    if np.shape(knots) != np.shape(slopes):
        _refuse(model, "link_knots_ and link_slopes_ differ in shape")


def _check_classes(model: Any, state: dict[str, Any]) -> None:
    classes = state["classes_"]
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        return  # several outputs, or an estimator with another idea of classes
    if len(set(classes.tolist())) != classes.size:
        _refuse(model, "the same class stands twice in classes_")
