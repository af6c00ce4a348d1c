"""The ridge of canonical correlations as a parameter: given, or chosen by held-out or by shuffled pairs."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv

from mercer.arrays import Float64, Index

DEFAULT_RIDGES: Float64 = np.logspace(-4, 1, 6)
FOLDS = 5


def check_ridge(ridge: Any) -> tuple[float, float] | None:
    """Return the ridges of the two views, or None if they are to be chosen."""
    if isinstance(ridge, str):
        return None
    pair = (ridge, ridge) if isinstance(ridge, Real) else tuple(ridge)
    good = len(pair) == 2 and all(isinstance(r, Real) and not isinstance(r, bool) for r in pair)
    if not good or not all(0.0 < r < np.inf for r in pair):
        raise ValueError(
            f"ridge={ridge!r} must be a positive number, one for each of the two views, 'cv' or 'permutation'"
        )
    return float(pair[0]), float(pair[1])


def check_ridges(ridges: Any) -> Float64:
    """Return the values to choose from, ascending."""
    if ridges is None:
        return DEFAULT_RIDGES
    grid = np.asarray(ridges)
    if grid.ndim != 1 or grid.size == 0 or grid.dtype.kind not in "fiu":
        raise ValueError(f"ridges={ridges!r} must be a non-empty sequence of positive numbers")
    if not ((grid > 0) & np.isfinite(grid)).all():
        raise ValueError(f"ridges={ridges!r} must be positive and finite")
    return np.unique(grid.astype(np.float64))


def pair_splits(cv: Any, n: int, seed: np.random.Generator) -> list[tuple[Index, Index]]:
    """Return the splits of n pairs that ``cv`` stands for; None for five folds of shuffled pairs."""
    if cv is None:
        cv = KFold(min(FOLDS, n), shuffle=True, random_state=int(seed.integers(2**31)))
    return [(np.asarray(a), np.asarray(b)) for a, b in check_cv(cv).split(np.zeros((n, 1)))]
