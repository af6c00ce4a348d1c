"""Lloyd's iteration in feature space."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems.partition import KernelPartition, clusters_of
from mercer.solvers.base import Limits, Need, Reached, Solver, Status
from mercer.solvers.dual.round_loop import LimitReached
from mercer.solvers.progress import Progress, wants_to_know

SLICE = 1000  # rows of the matrix between two looks at the clock

PARTITIONS = Need(
    lambda solver, gram, problem: isinstance(problem, KernelPartition),
    lambda solver, gram, problem: (
        "divides points into clusters, and this problem is of another kind: use KernelKMeans, or "
        'solver="auto"'
    ),
)


@dataclass(kw_only=True, repr=False)
class Lloyd(Solver):
    r"""Assign each point to the nearest mean, move the means, until nothing changes; from several starts.

    Inner products of all points with all means are kept, and what moves between clusters is all that has to
    be computed: the memory is n k, whatever the size of the kernel matrix.

    Parameters
    ----------
    init : {"k-means++", "random"} or array of int
        Where to begin: points far from each other, points at random, or these rows.
    n_init : int
        Starts, of which the best result is taken.
    sweeps : int
        Most assignments of all points from one start.
    seed : int
        Of the starts.
    ranks : (n,) array of int, optional
        Equal for equal points, in an order that depends on the points alone: starts are drawn in it, so that
        neither the order of the rows nor their repetition changes them. Without it every row is a point.

    References
    ----------
    .. [1] D. Arthur and S. Vassilvitskii (2007). k-means++: the advantages of careful seeding. *SODA*,
       1027-1035.
    .. [2] I. S. Dhillon, Y. Guan and B. Kulis (2004). Kernel k-means, spectral clustering and normalized
       cuts. *KDD*, 551-556.
    """

    init: Any = "k-means++"
    n_init: int = 1
    sweeps: int = 300
    seed: int = 0
    ranks: Any = None

    name: ClassVar[str] = "lloyd"
    needs = (PARTITIONS,)

    def run(self, gram: Gram, problem: KernelPartition, start: Float64 | None) -> Reached:
        """Run from each start."""
        return _Run(self, gram, problem).run(start)


class _Run:
    """The state of one solve."""

    def __init__(self, options: Lloyd, gram: Gram, problem: KernelPartition) -> None:
        self.o, self.gram, self.p = options, gram.exact(), problem
        self.limits = options.limits or Limits()
        self.random = np.random.default_rng(options.seed)
        self.there = np.flatnonzero(problem.weight > 0)
        # Distinct points: a row of each, the number of each row's point, and their weights.
        ranks = np.arange(problem.n) if options.ranks is None else np.asarray(options.ranks)
        _, first, self.number = np.unique(ranks[self.there], return_index=True, return_inverse=True)
        self.points = self.there[first]
        self.mass = np.bincount(self.number, weights=problem.weight[self.there])
        self.n_iter = 0
        self.best, self.value = problem.start().astype(np.intp), math.inf
        self.status: Status = "stationary"

    def run(self, start: Float64 | None) -> Reached:
        try:
            if start is not None:
                self._from(self.p.nearest(start).astype(np.intp))
            else:
                for _ in range(max(1, self.o.n_init)):
                    self._from(self._assigned(self._seeds()))
        except LimitReached as stop:
            self.status = stop.status
        except KeyboardInterrupt:
            self.status = "interrupted"
        b = self.best.astype(np.float64)
        return Reached(b, self._products(self.p.beta(b)), max(1, self.n_iter), self.status)

    def _products(self, coef: Float64) -> Float64:
        out = np.zeros((self.p.k, self.p.n))
        for c in range(self.p.k):
            used = np.flatnonzero(coef[:, c])
            if used.size:
                self.gram.add_product(used, np.ascontiguousarray(coef[used, c]), out[c])
        return np.ascontiguousarray(out.T)

    # -- starts ----------------------------------------------------------------------------------------------

    def _seeds(self) -> Index:
        """Return the rows whose points are the first means."""
        if not isinstance(self.o.init, str):
            return np.asarray(self.o.init, dtype=np.intp)
        mass, points, k = self.mass, self.points, min(self.p.k, self.points.size)
        share = mass / mass.sum()
        if self.o.init == "random":
            return points[self.random.choice(points.size, size=k, replace=False, p=share)]
        chosen = [int(points[self.random.choice(points.size, p=share)])]
        nearest = self._squares(np.array(chosen), points)[:, 0]
        trials = 2 + int(math.log(self.p.k))
        while len(chosen) < k:
            chance = mass * nearest
            if chance.sum() <= 0.0:  # fewer different points than clusters
                break
            tried = points[self.random.choice(points.size, size=trials, p=chance / chance.sum())]
            after = np.minimum(nearest[:, None], self._squares(tried, points))
            pick = int((mass @ after).argmin())
            chosen.append(int(tried[pick]))
            nearest = after[:, pick]
            self._look()
        return np.array(chosen, dtype=np.intp)

    def _squares(self, rows: Index, others: Index) -> Float64:
        """Return the squared distances of other rows, down, from some rows, across."""
        K = np.asarray(self.gram.block(rows, others), dtype=np.float64)
        return np.maximum(self.p.diag[others, None] - 2.0 * K.T + self.p.diag[rows], 0.0)

    def _assigned(self, rows: Index) -> Index:
        return np.asarray(self._squares(rows, np.arange(self.p.n)).argmin(axis=1), dtype=np.intp)

    # -- the iteration ---------------------------------------------------------------------------------------

    def _from(self, labels: Index) -> None:
        """Iterate from a partition; keep the result if it is the best so far."""
        weight, k = self.p.weight, self.p.k
        if self.value == math.inf:
            self.best = labels
        sums = np.zeros((k, self.p.n))  # inner products of all points with the sums of the clusters
        for c in range(k):
            self._add(np.flatnonzero(labels == c), 1.0, sums[c])
        status: Status = "iteration_limit"
        for _ in range(self.o.sweeps):
            self.n_iter += 1
            squares = self._from_means(labels, sums)
            value = float(weight @ squares[np.arange(self.p.n), labels])
            if value < self.value:
                self.best, self.value = labels.copy(), value
            new = self._filled(clusters_of(squares, labels), squares)
            moved = new != labels
            gain = float(weight @ (squares[np.arange(self.p.n), labels] - squares.min(axis=1)))
            self._tell(labels, sums, value, gain)
            if not moved.any() or gain <= self.o.tol * value:
                status = "stationary"
                break
            for c in range(k):
                self._add(np.flatnonzero(moved & (labels == c)), -1.0, sums[c])
                self._add(np.flatnonzero(moved & (new == c)), 1.0, sums[c])
            labels = new
        if self.value == value:
            self.status = status

    def _add(self, rows: Index, sign: float, out: Float64) -> None:
        """Add the products with some rows, in slices between which the clock is looked at."""
        rows = rows[self.p.weight[rows] > 0]
        for first in range(0, rows.size, SLICE):
            part = rows[first : first + SLICE]
            self.gram.add_product(part, sign * self.p.weight[part], out)
            self._look()

    def _from_means(self, labels: Index, sums: Float64) -> Float64:
        """Return the squared distances of all points from the means."""
        weight = self.p.weight
        sizes = np.bincount(labels, weights=weight, minlength=self.p.k)
        inside = np.bincount(labels, weights=weight * sums[labels, np.arange(self.p.n)], minlength=self.p.k)
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = self.p.diag - 2.0 * sums / sizes[:, None] + (inside / sizes**2)[:, None]
        return np.where(sizes[:, None] > 0, np.maximum(squares, 0.0), np.inf).T

    def _filled(self, labels: Index, squares: Float64) -> Index:
        """Return a partition whose empty clusters got the points that are farthest from their means."""
        empty = np.flatnonzero(np.bincount(labels[self.there], minlength=self.p.k) == 0)
        own = labels[self.points]
        sizes = np.bincount(own, minlength=self.p.k)
        far = squares[self.points, own]
        for c in empty:
            i = int(far.argmax())
            if far[i] <= 1e-12 * float(self.p.diag.max()) or sizes[own[i]] < 2:
                break  # every point is a mean already
            sizes[own[i]] -= 1
            labels[self.there[self.number == i]], far[i] = c, 0.0  # with all rows that are this point
        return labels

    def _look(self) -> None:
        if self.limits.out_of_time():
            raise LimitReached("time_limit")
        if self.limits.steps_left(self.n_iter) == 0:
            raise LimitReached("iteration_limit")

    def _tell(self, labels: Index, sums: Float64, value: float, gain: float) -> None:
        if self.o.listener is None or not wants_to_know(self.o.listener):
            return
        b = labels.astype(np.float64)
        sizes = np.bincount(labels, weights=self.p.weight, minlength=self.p.k)
        share = gain / value if value > 0 else 0.0
        f = (sums / np.where(sizes > 0, sizes, 1.0)[:, None]).T
        self.o.listener(
            Progress(
                n_iter=self.n_iter,
                seconds=time.perf_counter() - self.limits.started,
                violation=share,
                primal=value,
                dual=-math.inf,
                gap=math.inf,
                margin=math.nan,
                n_support=self.there.size,
                evaluations=self.gram.evaluations,
                b=b,
                f=f,
            )
        )
