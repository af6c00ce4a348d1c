r"""Pairs within queries that shall stand in order, at least one apart.

    minimise    1/2 ||w||^2 + C sum w_i w_j L(f_i - f_j)    over the pairs of a query with y_i > y_j

and L(m) = max(0, 1 - m) or its square. The dual has a multiplier a_ij for each pair, and with b_i the sum of
the multipliers of the pairs that i shall win less those of the pairs that it shall lose

    maximise    sum a_ij - 1/2 b'K b                                 over 0 <= a_ij <= C w_i w_j,
    maximise    sum a_ij - 1/2 b'K b - sum a_ij^2 / (4 C w_i w_j)    over 0 <= a_ij for the square.

Pairs are too many to be kept. A proof takes multipliers that f determines: for the square those that belong
to f, a = 2 C w_i w_j max(0, 1 - m); for the hinge those of a hinge that is rounded off over a width d,
a = C w_i w_j min(1, max(0, 1 - m) / d). Their sums over pairs come from sorted values in O(n log n), and

    primal - dual = 1/2 (beta - b)'K (beta - b) + sum [C w_i w_j L(m) - a (1 - m)],

where the second sum, which has no negative term, is that of the hinge alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.gram import Features, Gram
from mercer.problems.problem import Machine, Problem, Values, total
from mercer.threads import Workers

EPS = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RankMachine(Machine):
    """A function that ranks, and the width over which its proof rounds off the hinge."""

    width: float = 1.0


class QueryPairs:
    """Items, their queries, and the level of each within its query.

    Parameters
    ----------
    y : (n,) array
        What the order of a query's items follows.
    query : (n,) int
        The number of each item's query.
    """

    def __init__(self, y: Any, query: Index) -> None:
        self.n = int(query.size)
        self.rows = np.lexsort((y, query)).astype(np.int64)
        sorted_query, sorted_y = query[self.rows], np.asarray(y)[self.rows]
        fresh = np.concatenate([[True], sorted_query[1:] != sorted_query[:-1]])
        self.starts = np.append(np.flatnonzero(fresh), self.n).astype(np.int64)
        steps = np.cumsum(fresh | np.concatenate([[True], sorted_y[1:] != sorted_y[:-1]])) - 1
        sizes = np.diff(self.starts)
        self.levels = np.empty(self.n, dtype=np.int64)
        self.levels[self.rows] = steps - np.repeat(steps[self.starts[:-1]], sizes)
        self.counts = (steps[self.starts[1:] - 1] - steps[self.starts[:-1]] + 1).astype(np.int64)
        self.query = np.empty(self.n, dtype=np.int64)
        self.query[self.rows] = np.repeat(np.arange(sizes.size), sizes)

    def order(self, f: Float64, workers: Workers) -> Index:
        """Return the rows, a query after the other, ascending in f within each."""
        order = np.empty(self.n, dtype=np.int64)
        values = np.ascontiguousarray(f, dtype=np.float64)

        def sort(first: int, last: int) -> None:
            _jit.ranked_pairs.sort_queries(values, self.rows, self.starts, first, last, order)

        workers.ranges(self.counts.size, sort)
        return order

    def sums(
        self, f: Float64, v: Float64, weight: Float64, order: Index, bound: float, workers: Workers
    ) -> Float64:
        """Return the sums of ``weight`` and ``weight * v`` over the partners of each row, (n, 4).

        Partners are those of lower level (the first two columns) and of higher level in pairs whose values
        differ by less than ``bound``.
        """
        found = np.empty((self.n, 4))
        sorted_ones = f[order], v[order], weight[order], self.levels[order]

        def add(first: int, last: int) -> None:
            _jit.ranked_pairs.sum_pairs(*sorted_ones, self.counts, self.starts, first, last, bound, found)

        workers.ranges(self.counts.size, add)
        out = np.empty_like(found)
        out[order] = found
        return out

    def weight_of_pairs(self, weight: Float64, workers: Workers) -> Float64:
        """Return the sum of w_i w_j over the pairs of each query."""
        sums = self.sums(np.zeros(self.n), weight, weight, self.rows, np.inf, workers)
        return np.asarray(np.bincount(self.query, weights=weight * sums[:, 0]), dtype=np.float64)


@dataclass(frozen=True)
class Slopes:
    """What the pairs say at given values: losses, the multipliers that belong to them, the curvature."""

    f: Float64  # less the mean of each query
    order: Index
    width: float
    loss: float  # C sum w_i w_j L(m)
    b: Float64  # what the multipliers add up to, for each row
    excess: float  # by how much the multipliers fall short of proving the loss
    met: Float64  # the weight of each row's pairs that are curved
    bounds: tuple[float, ...]  # pairs between these are curved
    curvature: float
    size: float  # C times the weight of the pairs that lose, and the size of f


class PairRanking(Problem):
    r"""The margin of pairs within queries.

    A point is the coefficients of the items, and after them the width over which the hinge is rounded off.

    Parameters
    ----------
    matrix : Gram
        K: a proof needs products with it.
    pairs : QueryPairs
        Items and queries.
    C : float
        Price of a pair.
    weight : (n,) float64
        w.
    squared : bool
        Whether the hinge is squared.

    References
    ----------
    .. [1] R. Herbrich, T. Graepel and K. Obermayer (2000). Large margin rank boundaries for ordinal
       regression. *Advances in Large Margin Classifiers*, 115-132. MIT Press.
    .. [2] T. Joachims (2006). Training linear SVMs in linear time. *KDD*, 217-226.
    .. [3] C.-P. Lee and C.-J. Lin (2014). Large-scale linear RankSVM. *Neural Computation* 26, 781-817.
    """

    def __init__(
        self,
        matrix: Gram,
        pairs: QueryPairs,
        C: float,
        weight: Float64,
        *,
        squared: bool = False,
        workers: Workers | None = None,
    ) -> None:
        self.matrix, self.pairs, self.C, self.squared = matrix, pairs, float(C), squared
        self.weight = np.ascontiguousarray(weight, dtype=np.float64)
        self.n, self.workers = pairs.n, workers or Workers(1)
        Z = matrix.features()
        self.features = None if Z is None else Features(Z, self.workers)

    def product(self, v: Float64) -> Float64:
        """Return K v, by the features where the kernel is linear."""
        if self.features is not None:
            return self.features.times(self.features.transposed_times(v))
        return np.asarray(self.matrix.exact().products(v[:, None])[:, 0])

    # -- points ----------------------------------------------------------------------------------------------

    def start(self) -> Float64:
        """Return zero, and a width of one."""
        return np.append(np.zeros(self.n), 1.0)

    def nearest(self, b: Float64) -> Float64:
        """Return the point itself: all are feasible."""
        return b

    def beta(self, b: Float64) -> Float64:
        """Return the coefficients."""
        return b[: self.n]

    def recover(self, coef: Float64) -> Float64:
        """Return the point of given coefficients, with a width of one where none is given."""
        return coef.copy() if coef.size > self.n else np.append(coef, 1.0)

    # -- values ----------------------------------------------------------------------------------------------

    def slopes(self, f: Float64, width: float) -> Slopes:
        """Return what the pairs say at f, with the hinge rounded off over a width."""
        pairs, w, C = self.pairs, self.weight, self.C
        means = np.bincount(pairs.query, weights=f) / np.diff(pairs.starts)
        f = f - means[pairs.query]  # differences are all that counts, and small numbers have small errors
        order = pairs.order(f, self.workers)
        near = pairs.sums(f, f, w, order, 1.0, self.workers)
        missing = near[:, 0] * (1.0 - f) + near[:, 1]  # of each row to its lower partners
        owed = near[:, 2] * (1.0 + f) - near[:, 3]
        size = C * float(w @ near[:, 0])
        if self.squared:
            b = 2.0 * C * w * (missing - owed)
            loss = max(C * float(w @ missing) - 0.5 * float(b @ f), 0.0)
            met = near[:, 0] + near[:, 2]
            return Slopes(f, order, width, loss, b, 0.0, met, (1.0,), 2.0 * C, size)
        full = pairs.sums(f, f, w, order, 1.0 - width, self.workers)
        band = near - full
        share = (band[:, 0] * (1.0 - f) + band[:, 1]) / width
        lost = (band[:, 2] * (1.0 + f) - band[:, 3]) / width
        b = C * w * (full[:, 0] + share - full[:, 2] - lost)
        loss = max(C * float(w @ missing), 0.0)
        proved = C * float(w @ (full[:, 0] + share)) - float(b @ f)
        met = band[:, 0] + band[:, 2]
        bounds = (1.0, 1.0 - width)
        return Slopes(f, order, width, loss, b, max(loss - proved, 0.0), met, bounds, C / width, size)

    def curved(self, at: Slopes, v: Float64) -> Float64:
        """Return the curvature of the losses times a vector of values."""
        sums = [
            self.pairs.sums(at.f, v, self.weight, at.order, bound, self.workers)[:, [1, 3]].sum(axis=1)
            for bound in at.bounds
        ]
        others = sums[0] if len(sums) == 1 else sums[0] - sums[1]
        return np.asarray(at.curvature * self.weight * (at.met * v - others))

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return what a point is worth, given f = K beta."""
        beta, at = self.beta(b), self.slopes(f, float(b[self.n]))
        away = beta - at.b
        return self.judged(beta, f, at, away, self.product(away), noise)

    def judged(
        self, beta: Float64, f: Float64, at: Slopes, away: Float64, k_away: Float64,
        noise: Float64 | float = 0.0,
    ) -> Values:  # fmt: skip
        """Return what coefficients are worth, given how far they are from the multipliers at f."""
        norm = float(beta @ f)
        primal = 0.5 * norm + at.loss
        gap = 0.5 * max(float(away @ k_away), 0.0) + at.excess
        violation = float(np.abs(k_away).max(initial=0.0))
        largest = 1.0 + float(np.abs(at.f).max(initial=0.0))
        sharp = largest if self.squared else 1.0 / at.width  # differences of sums, divided by the width
        rounding = total(np.abs(at.b) + np.abs(beta), noise)
        rounding += EPS * (abs(primal) + at.size * largest * max(sharp, 1.0))
        return Values(primal, primal - gap, gap, violation, np.zeros(0), rounding, 0.5 * abs(norm) + at.loss)

    def met(self, values: Values, criterion: str, tol: float) -> bool:
        """Return whether the relative gap meets a tolerance: at a kink every slope is right."""
        return super().met(values, "gap", tol)

    # -- the way back ----------------------------------------------------------------------------------------

    def machine(self, b: Float64, f: Float64) -> RankMachine:
        """Return the function."""
        return RankMachine(self.beta(b), 0.0, f, float(b[self.n]))

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = K coef."""
        assert isinstance(machine, RankMachine)
        return self.evaluate(np.append(machine.coef, machine.width), f, None, noise)
