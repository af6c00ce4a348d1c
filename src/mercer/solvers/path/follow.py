"""The exact solution of a family of problems for every value of its parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram import MatrixGram
from mercer.problems import Dual
from mercer.problems.parametric_family import ParametricFamily
from mercer.solvers.base import Limits, Status
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.path.breakpoints import KINDS, Path, Record

__all__ = ["Path", "PathSolver"]

CAPACITY = 128  # members of the elbow that room is made for at first
SLICE_WORK = 4e7  # kernel values touched between two looks at the clock
MEND = 1e-9  # relative change of t by which a restart gets past a knot that holds the walk
DIRECT_STEPS = 200  # steps per variable of a direct solution; the walk mends what they leave
LOST = 1e-3  # share of what the variables were once, below which K a of the walk is rounding of what it was
SETTLED = 1e-9  # share of a piece within which a direct solution is at rest


@dataclass
class PathSolver:
    """Follow the solution of a parametric family of duals as its parameter falls.

    From one knot to the next only the variables of the elbow move, on a straight line that one linear system
    gives. Its Cholesky factor is updated at each knot. A member that would make it singular is exchanged for
    another, K a is computed anew from time to time, and where rounding or ties stop the walk it starts again
    from a direct solution.

    Parameters
    ----------
    limits : Limits
        Knots (``max_iter``) and seconds.
    listener : callable, optional
        Called with the parameter and the number of events after every slice.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support vector machine,
    JMLR 5. Gill, Golub, Murray and Saunders (1974), Methods for modifying matrix factorizations, Mathematics
    of Computation 28.
    """

    limits: Limits | None = None
    listener: Callable[[float, int], None] | None = None

    def solve(self, K: Float64, family: ParametricFamily, t_end: float, t_start: float = np.inf) -> Path:
        """Return the path from ``t_start`` (infinity: from where it begins to move) down to ``t_end``.

        The walk begins at infinity in any case: that beginning is known exactly.
        """
        return _Walk(self, K, family, t_end).run().below(t_start)


class _Walk:
    def __init__(self, options: PathSolver, K: Float64, family: ParametricFamily, t_end: float) -> None:
        self.o, self.limits = options, options.limits or Limits()
        self.family, self.t_end, self.n = family, t_end, family.n
        self.whole = K
        self.K, means = _centred(K, family)
        self.largest = largest = float(np.diagonal(K).max(initial=0.0))
        self.record = Record(means, largest, family.rests[:, -1] - family.rests[:, 0])
        self.scratch = np.empty(max(self.n, 1)), np.empty(max(self.n, 1)), np.empty(self.n)
        self.kappa = 0.0
        if family.bias:  # of the size of the entries, but where they are rounding
            self.kappa = max(float(np.mean(np.diagonal(self.K))), 1e-8 * largest) or 1.0
        self.walker = _jit.path_pivots.Walker(
            np.zeros(self.n), np.zeros(self.n), np.zeros(self.n, dtype=np.int64),
            np.zeros(max(CAPACITY, 1), dtype=np.int64), np.zeros((CAPACITY, CAPACITY)),
            np.zeros(3), np.zeros(4, dtype=np.int64),
        )  # fmt: skip
        self.ground = self._ground(family)
        self.settled = True  # whether the first point is exact before the walk has looked at it
        self._from_the_limit()

    def _ground(self, family: ParametricFamily) -> Any:
        return _jit.path_pivots.Ground(
            self.K,
            family.rests,
            family.slopes,
            family.bias,
            family.level,
            family.tilt,
            self.kappa,
            self.largest,
        )

    def _log(self, knots: int) -> Any:
        return _jit.path_pivots.Log(
            np.empty(knots), np.empty((knots, self.n)), np.empty((knots, self.n)), np.empty(4 * knots),
            np.empty((4 * knots, 2), dtype=np.int64), np.zeros(2, dtype=np.int64),
        )  # fmt: skip

    # -- the walk ----------------------------------------------------------------------------------------

    def run(self) -> Path:
        knots = int(np.clip(SLICE_WORK / (self.n * (self.n + 100.0)), 4, 256))
        log = self._log(knots)
        status: Status = "optimal"
        events, restarts_here = 0, 0
        self.walker.scalars[0] = max(self.walker.scalars[0], self.t_end)
        self._knot(log)
        if self.walker.scalars[0] <= self.t_end:  # nothing moves before the end
            self.record.take(log, all_of_it=True)
            return self._path(status)
        while True:
            before = float(self.walker.scalars[0])
            reason = _jit.path_walk.walk(self.ground, self.walker, log, self.t_end, *self.scratch)
            events += int(log.filled[1])
            self.record.take(log)
            t = float(self.walker.scalars[0])
            if self.o.listener is not None:
                self.o.listener(t, events)
            if reason == _jit.path_walk.END:
                break
            if self.limits.steps_left(events) == 0 or self.limits.out_of_time():
                status = "iteration_limit" if self.limits.steps_left(events) == 0 else "time_limit"
                self._knot(log)
                break
            if reason == _jit.path_walk.GROW:
                self._grow()
            elif reason in (_jit.path_walk.STUCK, _jit.path_walk.DRIFT):
                restarts_here = restarts_here + 1 if t >= before else 0
                self._restart(log, restarts_here)
                if self.walker.scalars[0] <= self.t_end:
                    self._knot(log)
                    break
        self.record.take(log, all_of_it=True)
        return self._path(status)

    def _path(self, status: Status) -> Path:
        """Return the path, with K a computed anew where it is small beside what the walk began with."""
        path = self.record.path(status, self.family)
        size = np.abs(path.a).sum(axis=1)
        lost = size < LOST * np.maximum.accumulate(size)
        if lost.any():
            a = path.a[lost]
            path.products[lost] = 0.5 * (a @ self.whole + a @ self.whole.T)
        return path

    def _knot(self, log: Any) -> None:
        """Write where the walk stands."""
        w, k = self.walker, int(log.filled[0])
        members = w.members[: w.counts[0]]
        piece, a = w.state[members] // 2, w.a.copy()
        rests = self.family.rests[members]
        every = np.arange(members.size)
        a[members] = np.clip(a[members], rests[every, piece], rests[every, piece + 1])
        log.knot_t[k], log.knot_a[k], log.knot_base[k] = w.scalars[0], a, w.base
        log.filled[0] = k + 1

    def _grow(self) -> None:
        w = self.walker
        size = 2 * w.R.shape[0]
        R, members = np.zeros((size, size)), np.zeros(size, dtype=np.int64)
        R[: w.R.shape[0], : w.R.shape[0]] = w.R
        members[: w.members.size] = w.members
        self.walker = w._replace(R=R, members=members)
        self.scratch = np.empty(max(size, self.n)), np.empty(max(size, self.n)), self.scratch[2]

    def _restart(self, log: Any, tried: int) -> None:
        """Go on from a direct solution a little further down."""
        t = max(self.t_end, float(self.walker.scalars[0]) * (1.0 - MEND * 8.0**tried))
        log.event_t[0], log.event[0] = t, (KINDS.index("restart"), -1)
        log.filled[1] = 1
        self._direct(t)

    # -- the beginnings ----------------------------------------------------------------------------------

    def _from_the_limit(self) -> None:
        """Start where the solution begins to move: before, every variable rests or balances the others."""
        f, w = self.family, self.walker
        limit = f.limit()
        every = np.arange(self.n)
        tied = np.flatnonzero(limit.piece >= 0)
        w.state[:] = 2 * limit.rest
        w.a[:] = f.rests[every, limit.rest]
        pinned = 0.0
        if tied.size and f.bias:
            pinned = self._balance(tied, limit.piece, limit.total)
        elif tied.size:
            self._settle_each(tied, limit.piece)
        w = self.walker
        _jit.path_pivots.refresh(self.ground, w)
        if f.bias and not tied.size:
            first = self._closing(w.state % 2 == 0)
        else:
            first = self._first(limit.costs, w.base + pinned)
        w.scalars[0] = first
        if not self.settled:
            # Exchanges and direct solves leave a little to mend: just before the first event, not at it.
            w.scalars[0] = max(first, self.t_end) * (1.0 + 1e-6)
        if f.bias and w.counts[0]:
            i = int(w.members[0])
            w.scalars[1] = -(w.base[i] + w.scalars[0] * f.slopes[i, w.state[i] // 2])
        if not self.settled:
            log = self._log(64)
            _jit.path_walk.walk(self.ground, w, log, float(w.scalars[0]), *self.scratch)
            w.counts[3] = 0

    def _first(self, costs: Float64, cost: Float64) -> float:
        """Return the largest t at which a resting variable's marginal cost, ``cost + t costs``, is zero."""
        w, pieces = self.walker, costs.shape[1]
        j, every, rests = w.state // 2, np.arange(self.n), w.state % 2 == 0
        up = costs[every, np.minimum(j, pieces - 1)]
        down = -costs[every, np.maximum(j - 1, 0)]
        with np.errstate(divide="ignore", invalid="ignore"):
            grows = np.where(rests & (j < pieces) & (up > 0), -cost / up, 0.0)
            shrinks = np.where(rests & (j > 0) & (down > 0), cost / down, 0.0)
        return float(max(grows.max(initial=0.0), shrinks.max(initial=0.0)))

    def _closing(self, rests: NDArray[np.bool_]) -> float:
        """Return the t at which the interval of the bias, open for large t, closes to a point."""
        f, w = self.family, self.walker
        j = w.state // 2
        every = np.arange(self.n)
        grows, shrinks = rests & (j < f.slopes.shape[1]), rests & (j > 0)
        if not grows.any() or not shrinks.any():
            return 0.0
        up = f.slopes[every[grows], j[grows]]
        down = f.slopes[every[shrinks], j[shrinks] - 1]
        t = 0.0
        while True:  # Newton's method on a convex, piecewise linear function ends after finitely many steps
            top, bottom = -w.base[grows] - t * up, -w.base[shrinks] - t * down
            p, q = int(np.argmax(top)), int(np.argmin(bottom))
            width, slope = float(top[p] - bottom[q]), float(down[q] - up[p])
            if width <= 0.0 or slope >= 0.0:
                return t
            further = t - width / slope
            if further <= t * (1.0 + 1e-15):
                return t
            t = further

    def _balance(self, tied: NDArray[np.intp], piece: NDArray[np.int64], total: float) -> float:
        """Bring the sum of the tied variables down to ``total`` along its own path; return the bias there.

        The limit leaves them free to share a fixed sum; the best share is that of least norm. At the largest
        sum all are at their upper ends.
        """
        f, w = self.family, self.walker
        ends = np.zeros_like(f.rests[:, :2])
        ends[tied, 0], ends[tied, 1] = f.rests[tied, piece[tied]], f.rests[tied, piece[tied] + 1]
        whole = float(ends[:, 1].sum())
        others = np.setdiff1d(np.arange(self.n), tied)
        state = w.state.copy()
        rest_sum = float(w.a[others].sum())
        inner = ParametricFamily(ends, np.zeros((self.n, 1)), True, rest_sum, 1.0, f.dual)
        w.state[:] = -1
        w.state[tied] = 2
        _jit.path_pivots.refresh(self.ground, w)
        w.scalars[:2] = whole, 0.0
        ground, log = self._ground(inner), self._log(64)
        while True:
            reason = _jit.path_walk.walk(ground, w, log, total, *self.scratch)
            log.filled[:] = 0
            if reason == _jit.path_walk.END:
                break
            if reason == _jit.path_walk.GROW:
                self._grow()
                w = self.walker
            elif (
                reason != _jit.path_walk.SLICE
            ):  # ties or rounding: a direct solution has none of that trouble
                w.state[:] = state
                return self._settle(tied, piece, total)
        inner_state = w.state[tied].copy()
        w.state[:] = state
        w.state[tied] = 2 * piece[tied] + inner_state
        w.counts[1] = 0
        return float(w.scalars[1])

    def _settle_each(self, tied: NDArray[np.intp], piece: NDArray[np.int64]) -> None:
        """Without a bias the tied are free on their pieces: the end of a path along their linear term."""
        f, w = self.family, self.walker
        w.a[tied] = 0.0
        _jit.path_pivots.refresh(self.ground, w)
        ends = np.column_stack([f.rests[tied, piece[tied]], f.rests[tied, piece[tied] + 1]])
        slopes = w.base[tied][:, None].copy()
        w.a[tied] = np.clip(0.0, ends[:, 0], ends[:, 1])
        if slopes.any():
            inner = ParametricFamily(ends, slopes, False, 0.0, 0.0, f.dual)
            w.a[tied] = PathSolver().solve(self.K[np.ix_(tied, tied)], inner, 1.0).a[-1]
        self._gather(0.0)
        self.settled = False

    def _settle(self, tied: NDArray[np.intp], piece: NDArray[np.int64], total: float) -> float:
        """Find the tied variables by a direct solve of their own small problem; return the bias there."""
        f, w = self.family, self.walker
        w.a[tied] = 0.0
        _jit.path_pivots.refresh(self.ground, w)
        part = np.ascontiguousarray(self.K[np.ix_(tied, tied)])
        lo, hi = f.rests[tied, piece[tied]].copy(), f.rests[tied, piece[tied] + 1].copy()
        group = np.zeros(tied.size, dtype=np.int64)
        dual = Dual(w.base[tied].copy(), lo, hi, group=group, sums=np.array([total]))
        scale = max(float(np.abs(w.base).max(initial=0.0)), self.largest * float(np.abs(f.rests).max()))
        solution = self._solver(scale).solve(MatrixGram(part, True), dual)
        w.a[tied] = solution.b
        self._gather()
        self.settled = False
        return float(solution.values.multipliers[0])

    def _solver(self, scale: float) -> Decomposition:
        limits = Limits(max_iter=DIRECT_STEPS * self.n + 100_000)
        return Decomposition(tol=max(1e-10 * scale, 1e-300), limits=limits)

    def _direct(self, t: float) -> None:
        """Solve the problem at t from where the walk stands, and find an elbow with a regular system."""
        f, w = self.family, self.walker
        C = 1.0 / t
        dual = f.dual(C)
        scale = max(1.0, float(np.abs(w.base).max(initial=0.0)) * C)
        start = dual.recover(C * w.a)
        solution = self._solver(scale).solve(MatrixGram(self.K, True), dual, start)
        w.a[:] = dual.beta(solution.b) / C
        w.scalars[0] = t
        if solution.values.multipliers.size:
            w.scalars[1] = solution.values.multipliers[0] / C
        self._gather()
        self.walker.counts[3] = 1  # a knot belongs here once the elbow has settled

    def _gather(self, near: float = SETTLED) -> None:
        """Take elbow and states from the variables' values; what is ``near`` a resting point rests."""
        f, w = self.family, self.walker
        nearest = np.abs(f.rests - w.a[:, None]).argmin(axis=1)
        every = np.arange(self.n)
        value = f.rests[every, nearest]
        width = f.rests[:, -1] - f.rests[:, 0]
        rests = np.abs(w.a - value) <= near * width
        w.a[rests] = value[rests]
        w.state[:] = 2 * nearest
        w.counts[:] = 0
        free = np.flatnonzero(~rests)
        if free.size + 2 > w.R.shape[0]:
            while free.size + 2 > self.walker.R.shape[0]:
                self._grow()
            w = self.walker
        _jit.path_pivots.refresh(self.ground, w)
        log = self._log(max(1, free.size))
        x, _, z = self.scratch
        piece = (f.rests[free, 1:-1] < w.a[free, None]).sum(axis=1)
        for i, j in zip(free, piece, strict=True):
            w.state[i] = 2 * j
            _jit.path_pivots.enter(self.ground, w, log, int(i), int(j), 1.0, x, z)
            log.filled[:] = 0
        _jit.path_pivots.refresh(self.ground, w)


def _centred(K: Float64, family: ParametricFamily) -> tuple[Float64, Float64]:
    """Return a symmetric K, centred where that changes nothing but the bias, and what was taken off the rows.

    With a sum of zero a kernel matrix may be moved by any function of its rows plus the same of its columns;
    the centred one is best conditioned.
    """
    K = 0.5 * (K + K.T)
    if not family.bias or family.level != 0.0 or family.tilt != 0.0:
        return K, np.zeros(family.n)
    means = K.mean(axis=1)
    means -= 0.5 * means.mean()
    K -= means[:, None]
    K -= means[None, :]
    return K, means
