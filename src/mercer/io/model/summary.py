"""What people want to know of a model at a glance."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.io.model.training_data import fitted_part


def summarize(model: Any) -> dict[str, Any]:
    """Return what people want to know of a model, as text and plain numbers.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    dict
        estimator, steps, kernel, classes, n_features, feature_names, n_support, certificate; what a model
        does not have is left out.
    """
    last = fitted_part(model)
    known: dict[str, Any] = {"estimator": type(last).__name__}
    if last is not model:
        known["container"] = type(model).__name__
        known["steps"] = [type(step).__name__ for _, step in getattr(model, "steps", [])]
    kernel = getattr(last, "kernel_", None)
    if kernel is not None:
        known["kernel"] = kernel.expression() if hasattr(kernel, "expression") else str(kernel)
    classes = getattr(last, "classes_", None)
    if isinstance(classes, np.ndarray):
        known["classes"] = [str(label) for label in classes.tolist()]
    features = getattr(model, "n_features_in_", None)
    if features is not None:
        known["n_features"] = int(features)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        known["feature_names"] = [str(name) for name in names]
    if isinstance(getattr(last, "support_", None), np.ndarray):
        known["n_support"] = int(last.support_.size)
    certificate = getattr(last, "certificate_", None)
    if certificate is not None:
        known["certificate"] = str(certificate)
    return known
