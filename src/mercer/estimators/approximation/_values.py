"""Functions of features: their values at new points, a few rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Segment, Workers, cross_products
from mercer.kernels import Kernel
from mercer.kernels.data import size, take

# What a fit on features leaves behind; its dual_coef_ is not that of an exact fit.
OF_FEATURES = (
    "feature_map_",
    "feature_weights_",
    "distance_from_exact_",
    "n_components_",
    "dual_coef_",
    "_feature_price",
)
NUMBERS = 1 << 21  # features in memory at a time, per thread


def has_features(model: Any) -> bool:
    """Return whether a fitted estimator is a machine on features that stand for its kernel."""
    return "feature_map_" in vars(model)


def has_landmarks(features: Any) -> bool:
    """Return whether a fitted map is one of ours from landmarks, whose features are projections."""
    return isinstance(getattr(features, "kernel_", None), Kernel) and hasattr(features, "normalization_")


def feature_products(model: Any, X: Any, workers: Workers) -> Float64:
    """Return <w, z(x)> of checked data, a column for each function.

    Parameters
    ----------
    model : estimator
        Fitted on features.
    X : array, CSR or sequence
        Points.
    workers : Workers
        Threads.
    """
    features, W = model.feature_map_, np.atleast_2d(model.feature_weights_).T
    if has_landmarks(features):
        coef = np.ascontiguousarray(features.normalization_ @ W)
        segment = Segment(0, coef.shape[0], coef, np.arange(coef.shape[1]))
        points = features.components_
        return cross_products(features.kernel_, X, points, [segment], coef.shape[1], workers)
    n = size(X)
    out = np.empty((n, W.shape[1]))
    step = max(16, NUMBERS // max(1, W.shape[0]))

    def part(start: int, stop: int) -> None:
        for a in range(start, stop, step):
            b = min(a + step, stop)
            out[a:b] = transformed(features, take(X, np.arange(a, b))) @ W

    workers.ranges(n, part)
    return out


def transformed(features: Any, rows: Any) -> Float64:
    """Return features of rows, dense, in double precision."""
    Z: Any = features.transform(rows)
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)
