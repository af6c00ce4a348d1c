"""Numbers beyond the range of float64, refused in words: of columns before a fit, of rows after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.problems.discriminant.summary import ClassSummary

# Variances are squares, and sums and ratios of them: these leave room for both.
LARGEST = 1e145
SMALLEST = 1e-145
FEW = 64  # rows that are looked at first


def named_column(estimator: Any, j: int) -> str:
    """Write which column it is, with its name if it has one."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {j} of X" if names is None else f"column {j} of X ({str(names[j])!r})"


def check_columns(estimator: Any, X: Float64) -> None:
    """Refuse columns whose squares overflow."""
    size = np.maximum(X.max(axis=0), -X.min(axis=0))
    worst = int(size.argmax())
    if size[worst] > LARGEST:
        raise ValueError(
            f"{named_column(estimator, worst)} reaches {size[worst]:.3g}: variances of such numbers are "
            f"beyond float64; values up to {LARGEST:g} are allowed. Scale the columns (StandardScaler), or "
            "check their units"
        )


def check_spread(estimator: Any, X: Float64, summary: ClassSummary) -> None:
    """Refuse columns that vary, but whose variance underflows."""
    few = X[summary.codes == int(summary.sizes.argmax())][:FEW]
    if (few.max(axis=0) - few.min(axis=0) > np.maximum(1e-3 * np.abs(few[0]), 4.0 * SMALLEST)).all():
        return  # a few rows of one class vary enough for all
    spread = summary.spread(X)
    tiny = np.flatnonzero((spread > 0.0) & (spread < SMALLEST))
    if tiny.size:
        worst = int(tiny[spread[tiny].argmin()])
        raise ValueError(
            f"{named_column(estimator, worst)} varies by no more than {spread[worst]:.3g} within the "
            f"classes: variances of such numbers are beyond float64; spreads from {SMALLEST:g} on can be "
            "borne. Scale the columns (StandardScaler), or leave this one out"
        )


def check_scores(estimator: Any, X: Any, scores: Float64) -> None:
    """Refuse rows so far from the training data that no class has a density that is a number."""
    bad = np.flatnonzero(~np.isfinite(scores.max(axis=1, initial=-np.inf)))
    if bad.size == 0:
        return
    row = int(bad[0])
    largest = ""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f":
        j = int(np.abs(X[row]).argmax())
        largest = f"; its largest value is {X[row, j]:.3g} in {named_column(estimator, j)}"
    raise ValueError(
        f"row {row} of X (and {bad.size - 1} more) lies too far from the training data of "
        f"{type(estimator).__name__} for class probabilities in float64{largest}. Check its units, or scale "
        "it as the training data were scaled"
    )
