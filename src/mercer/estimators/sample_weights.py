"""Sample weights, checked."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from mercer.kernels.data import naming

HEAVIEST = 1e50  # sample weight: its products with other numbers must not overflow


def checked_weights(sample_weight: Any, n: int, estimator: Any) -> np.ndarray:
    """Return the weights of n rows as float64, or raise."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, float(sample_weight))
    with naming("sample_weight"):
        weight: np.ndarray = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", estimator=estimator
        )
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}; for {n} rows it must be ({n},)")
    if not (weight > 0).any():
        found = "zero" if not (weight < 0).any() else "zero or negative"
        raise ValueError(
            "Invalid input - all samples have zero or negative weights: "
            f"sample_weight is {found} for all {n} rows, and nothing is left to fit"
        )
    if (weight < 0).any():
        raise ValueError(
            "Negative values in data passed to `sample_weight`: sample_weight has "
            f"{int((weight < 0).sum())} negative entries, weights must be at least 0"
        )
    if weight.max() > HEAVIEST:
        raise ValueError(
            f"sample_weight reaches {weight.max():.3g} (row {int(weight.argmax())}), and may be at most "
            f"{HEAVIEST:g}: divide all weights by a constant and multiply C by it"
        )
    return weight
