"""Choosing the ridge of canonical correlations: by pairs held out, or by pairs shuffled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv

from mercer.estimators.projection._base import Float64
from mercer.gram import Gram
from mercer.problems.canonical import canonical_pair, held_out_correlations, permuted_sums
from mercer.problems.coordinates import Coordinates

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


@dataclass(frozen=True)
class RidgeChoice:
    """The two views, and what to choose from."""

    grams: tuple[Gram, Gram]
    views: tuple[Coordinates, ...]
    reduce: Callable[[Gram], Coordinates]
    grid: Float64
    k: int
    seed: np.random.Generator

    def by(self, method: str, cv: Any, n_permutations: int) -> tuple[float, dict[str, Float64]]:
        """Return the best ridge, the largest of equals, and what it was chosen by."""
        score, results = self.cross_validate(cv) if method == "cv" else self.permute(n_permutations)
        best = np.flatnonzero(score >= score.max() - 1e-12)[-1]
        return float(self.grid[best]), {"ridges": self.grid, **results}

    def cross_validate(self, cv: Any) -> tuple[Float64, dict[str, Float64]]:
        """Return the mean correlation on held-out pairs for each ridge."""
        n = self.grams[0].n
        if cv is None:
            cv = KFold(min(FOLDS, n), shuffle=True, random_state=int(self.seed.integers(2**31)))
        splits = [(np.asarray(a), np.asarray(b)) for a, b in check_cv(cv).split(np.zeros((n, 1)))]
        values = held_out_correlations(self.grams, self.reduce, self.grid, splits, self.k)
        mean = values.mean(axis=(0, 2))
        return mean, {"split_correlations": values, "mean_test_score": mean}

    def permute(self, times: int) -> tuple[Float64, dict[str, Float64]]:
        """Return how many standard deviations the true pairs are ahead of shuffled ones, for each ridge."""
        n = self.grams[0].n
        orders = [self.seed.permutation(n) for _ in range(times)]
        shuffled = permuted_sums(self.views[0], self.views[1], self.grid, self.k, orders)
        true = np.array([self._sum(float(ridge)) for ridge in self.grid])
        spread = np.maximum(shuffled.std(axis=0, ddof=1), 1e-12 * self.k)
        z = (true - shuffled.mean(axis=0)) / spread
        p = (1.0 + (shuffled >= true).sum(axis=0)) / (1.0 + times)
        return z, {"sums": true, "permuted_sums": shuffled, "z": z, "p_value": p}

    def _sum(self, ridge: float) -> float:
        kappa = (ridge * self.views[0].variance, ridge * self.views[1].variance)
        return float(canonical_pair(self.views[0], self.views[1], kappa, self.k).values.sum())
