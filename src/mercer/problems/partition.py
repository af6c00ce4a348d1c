r"""Partitions of points in feature space.

    minimise    sum_i w_i ||phi(x_i) - mu_c(i)||^2      over the clusters c(i),

mu_c the weighted mean of cluster c. With D = diag(w)^(1/2) and the orthonormal columns of cluster indicators
this is tr DKD - tr Q'DKDQ, so no partition into k clusters is below

    tr DKD - (the sum of the k largest eigenvalues of DKD).

The problem is not convex: a partition that no reassignment improves is stationary, and its distance from the
bound is all that is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.problems.problem import FEASIBLE, Machine, Problem, Values, total

EPS = 8 * float(np.finfo(np.float64).eps)
SAME = 1e-9  # of the objective: a gain that is rounding


@dataclass(frozen=True)
class PartitionMachine(Machine):
    """Means of clusters: ``coef`` (n, k) are the points' parts in them, ``products`` is K coef."""

    @property
    def squared_norms(self) -> Float64:
        """The squared length of each mean."""
        return np.asarray(np.einsum("ic,ic->c", self.coef, self.products))


class KernelPartition(Problem):
    r"""The sum of squared distances from the means of k clusters.

    A point is the number of each point's cluster; its products are the inner products of all points with the
    means.

    Parameters
    ----------
    diag : (n,) float64
        k(x, x).
    weight : (n,) float64
        Weights of the points.
    k : int
        Clusters.
    leading : callable
        Returns the sum of the k largest eigenvalues of the weighted kernel matrix, and a bound on its error.

    References
    ----------
    I. S. Dhillon, Y. Guan and B. Kulis (2004), Kernel k-means, spectral clustering and normalized cuts, KDD.
    H. Zha, X. He, C. Ding, M. Gu and H. Simon (2001), Spectral relaxation for k-means clustering, NIPS 14.
    """

    reaches = "stationary"

    def __init__(
        self, diag: Float64, weight: Float64, k: int, leading: Callable[[], tuple[float, float]]
    ) -> None:
        self.diag, self.weight, self.k, self.leading = diag, weight, k, leading
        self.n = diag.size
        self._bound: tuple[float, float] | None = None

    # -- points ----------------------------------------------------------------------------------------------

    def start(self) -> Float64:
        """Return one cluster."""
        return np.zeros(self.n)

    def nearest(self, b: Float64) -> Float64:
        """Return numbers of clusters."""
        return np.clip(np.round(b), 0, self.k - 1)

    def beta(self, b: Float64) -> Float64:
        """Return the points' parts in the means, a column for each cluster."""
        labels = b.astype(np.intp)
        sums = np.bincount(labels, weights=self.weight, minlength=self.k)
        coef = np.zeros((self.n, self.k))
        here = self.weight > 0
        coef[np.flatnonzero(here), labels[here]] = self.weight[here] / sums[labels[here]]
        return coef

    def recover(self, coef: Float64) -> Float64:
        """Return the clusters of given parts."""
        return np.asarray(coef.argmax(axis=1), dtype=np.float64)

    def machine(self, b: Float64, f: Float64) -> PartitionMachine:
        """Return the means."""
        return PartitionMachine(self.beta(b), np.zeros(self.k), f)

    def distances(self, coef: Float64, f: Float64) -> Float64:
        """Return squared distances of all points from the means; infinite from an empty cluster's."""
        norms = np.einsum("ic,ic->c", coef, f)
        squares = np.maximum(self.diag[:, None] - 2.0 * f + norms, 0.0)
        return np.where(coef.any(axis=0), squares, np.inf)

    # -- the verdict -----------------------------------------------------------------------------------------

    def bound(self) -> tuple[float, float]:
        """Return what no partition is below, and a bound on its error."""
        if self._bound is None:
            trace = float(self.weight @ self.diag)
            largest, error = self.leading()
            self._bound = max(trace - largest - error, 0.0), error
        return self._bound

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return the objective, the bound, their distance, and what a reassignment would still gain."""
        coef = self.beta(b)
        squares = self.distances(coef, f)
        own = squares[np.arange(self.n), b.astype(np.intp)]
        there = self.weight > 0
        value = float(self.weight[there] @ own[there])
        gain = float(self.weight[there] @ (own - squares.min(axis=1))[there])
        bound, error = self.bound()
        trace = float(self.weight @ np.abs(self.diag))
        rounding = 4.0 * total(self.weight, noise) + EPS * trace + error
        bound = min(bound, value)  # what is above it is rounding
        gain = gain if gain > SAME * trace else 0.0
        if value > SAME * trace and not coef.any(axis=0).all():
            gain = value  # an empty cluster could have a point of its own
        return Values(
            value, bound, value - bound, gain / max(value, SAME * trace, 1e-300), np.zeros(0), rounding, trace
        )

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what shipped means are worth; nothing where they are not those of a partition."""
        b = self.recover(machine.coef)
        away = float(np.abs(machine.coef - self.beta(b)).max(initial=0.0))
        if away > FEASIBLE:
            return Values.infeasible(math.inf, np.zeros(0))
        return self.evaluate(b, f, None, noise)

    def met(self, values: Values, criterion: str, tol: float) -> bool:
        """Return whether no reassignment gains more than a share ``tol`` of the objective."""
        return values.violation <= tol


def clusters_of(squares: Float64, labels: Index) -> Index:
    """Return the nearest mean of each point: its own unless another is nearer by more than rounding."""
    best = squares.argmin(axis=1)
    rows: Any = np.arange(labels.size)
    own, other = squares[rows, labels], squares[rows, best]
    return np.where(other < own - EPS * (np.abs(own) + np.abs(other)), best, labels)
