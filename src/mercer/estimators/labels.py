"""Class labels, checked: which classes there are, which row belongs to which, what each weighs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64, Index
from mercer.estimators.splits import Labels


def check_labels(y: Any, whose: str) -> tuple[np.ndarray, Index]:
    """Return the classes in order, and the class number of each row.

    Parameters
    ----------
    y : array
        Labels.
    whose : str
        Name of the estimator, for messages.
    """
    if type(y) is not np.ndarray or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    assert_all_finite(y, estimator_name=whose, input_name="y")
    sortable = y.dtype.kind in "biufU"
    if not sortable:
        check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    if sortable and not _are_plainly_classes(classes, y.size):
        check_classification_targets(y)
    if classes.size < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {classes.size} class in y: {classes[:1]}"
        )
    return classes, numbers


def _are_plainly_classes(values: np.ndarray, n: int) -> bool:
    """Return whether a thorough look at a target is needless: few different whole numbers or texts."""
    whole = values.dtype.kind != "f" or bool((values % 1 == 0).all())
    return whole and 2 * values.size <= n


def weighed_labels(classes: np.ndarray, numbers: Index, class_weight: Any, base: Float64) -> Labels:
    """Return labels with the weights of their classes.

    Parameters
    ----------
    classes : array
        The classes, in order.
    numbers : (n,) intp
        The number of each row's class.
    class_weight : dict, "balanced" or None
        The parameter. "balanced" counts a row as often as its weight says.
    base : (n,) float64
        Sample weights.
    """
    if class_weight is None:
        factors = np.ones(classes.size)
    elif isinstance(class_weight, dict):
        factors = compute_class_weight(class_weight, classes=classes, y=classes[numbers])
    else:
        factors = compute_class_weight(
            class_weight, classes=np.arange(classes.size), y=numbers, sample_weight=base
        )
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError(f"class_weight={class_weight!r} must have finite values of at least 0")
    present = np.bincount(numbers[base > 0], minlength=classes.size)
    for c, label in enumerate(classes):
        if factors[c] == 0 or present[c] == 0:
            name = "class_weight" if factors[c] == 0 else "sample_weight"
            raise ValueError(f"{name} is zero for every row of class {label}: it cannot be learned")
    return Labels(classes, numbers, factors)
