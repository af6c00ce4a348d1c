"""Choosing the ridge of canonical correlations: by pairs held out, or by pairs shuffled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems.canonical_correlations import column_correlations, shrinkage
from mercer.problems.coordinates import Coordinates
from mercer.solvers.projection.canonical_pair import canonical_pair, leading_singular

TILE = 2048  # rows that are multiplied at a time

Reduce = Callable[[Gram], Coordinates]


@dataclass(frozen=True)
class RidgeChoice:
    """The two views, and what to choose from."""

    grams: tuple[Gram, Gram]
    views: tuple[Coordinates, ...]
    reduce: Reduce
    grid: Float64
    k: int

    def cross_validate(self, splits: list[tuple[Index, Index]]) -> tuple[float, dict[str, Float64]]:
        """Return the ridge of largest mean correlation on held-out pairs, and what it was chosen by."""
        values = held_out_correlations(self.grams, self.reduce, self.grid, splits, self.k)
        mean = values.mean(axis=(0, 2))
        return self._best(mean, {"split_correlations": values, "mean_test_score": mean})

    def permute(self, orders: list[Index]) -> tuple[float, dict[str, Float64]]:
        """Return the ridge that puts the true pairs most standard deviations ahead of shuffled ones."""
        shuffled = permuted_sums(self.views[0], self.views[1], self.grid, self.k, orders)
        true = np.array([self._sum(float(ridge)) for ridge in self.grid])
        spread = np.maximum(shuffled.std(axis=0, ddof=1), 1e-12 * self.k)
        z = (true - shuffled.mean(axis=0)) / spread
        p = (1.0 + (shuffled >= true).sum(axis=0)) / (1.0 + len(orders))
        return self._best(z, {"sums": true, "permuted_sums": shuffled, "z": z, "p_value": p})

    def _best(self, score: Float64, results: dict[str, Float64]) -> tuple[float, dict[str, Float64]]:
        """Return the ridge of the largest score, the largest ridge of equals."""
        best = np.flatnonzero(score >= score.max() - 1e-12)[-1]
        return float(self.grid[best]), {"ridges": self.grid, **results}

    def _sum(self, ridge: float) -> float:
        kappa = (ridge * self.views[0].variance, ridge * self.views[1].variance)
        return float(canonical_pair(self.views[0], self.views[1], kappa, self.k).values.sum())


def held_out_correlations(
    grams: tuple[Gram, Gram],
    reduce: Reduce,
    ridges: Float64,
    splits: list[tuple[Index, Index]],
    k: int,
) -> Float64:
    """Return correlations on held-out pairs for each split and ridge, (splits, ridges, k).

    Each split takes one decomposition of each view, whatever the number of ridges.

    Parameters
    ----------
    grams : pair of Gram
        Of the views.
    reduce : callable
        Gram -> Coordinates.
    ridges : (g,) array
        In units of each view's variance.
    splits : list of (train, test)
        Indices.
    k : int
        Number of components.

    Returns
    -------
    (s, g, k) array
        0 for components that a split is too small for.
    """
    out = np.zeros((len(splits), ridges.size, k))
    for s, (train, test) in enumerate(splits):
        views = [reduce(gram.subset(train)) for gram in grams]
        values = [
            np.asarray(
                gram.block(test, train if v.landmarks is None else train[v.landmarks]), dtype=np.float64
            )
            for gram, v in zip(grams, views, strict=True)
        ]
        most = min(k, *(v.d.size for v in views))
        for g, ridge in enumerate(ridges):
            kappa = (ridge * views[0].variance, ridge * views[1].variance)
            pair = canonical_pair(views[0], views[1], kappa, most)
            scores = [
                K @ v.coefficients(w)[0]  # the shift does not matter to a correlation
                for K, v, w in zip(values, views, (pair.first, pair.second), strict=True)
            ]
            out[s, g, :most] = column_correlations(scores[0], scores[1])
    return out


def permuted_sums(
    first: Coordinates,
    second: Coordinates,
    ridges: Float64,
    k: int,
    permutations: list[Index],
) -> Float64:
    """Return the sums of the k leading regularised correlations after each permutation, (p, ridges).

    Parameters
    ----------
    first, second : Coordinates
        Of the views.
    ridges : (g,) array
        In units of each view's variance.
    k : int
        Number of components.
    permutations : list of index arrays
        Of the second view's rows.

    Returns
    -------
    (p, g) array
    """
    out = np.empty((len(permutations), ridges.size))
    for p, order in enumerate(permutations):
        cross = _paired(first.U, second.U, order)
        for g, ridge in enumerate(ridges):
            R1 = shrinkage(first, ridge * first.variance)
            R2 = shrinkage(second, ridge * second.variance)
            out[p, g] = leading_singular(R1[:, None] * cross * R2, k)[1].sum()
    return out


def _paired(A: Float64, B: Float64, order: Index) -> Float64:
    """Return A' B[order] without a copy of B."""
    out = np.zeros((A.shape[1], B.shape[1]))
    for start in range(0, order.size, TILE):
        out += A[start : start + TILE].T @ B[order[start : start + TILE]]
    return out
