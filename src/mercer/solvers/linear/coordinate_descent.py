"""Coordinate descent on the dual of a machine on features, with shrinking."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram.features import Features
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses.base import box_conjugate_of
from mercer.problems.problem import relative
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.linear.needs import ON_FEATURES, PENALISED_BIAS, QUADRATIC_CONJUGATE
from mercer.solvers.linear.surface import Surface
from mercer.solvers.progress import Progress, wants_to_know

TIGHTER = 0.25  # by which the inner tolerance falls when all meet it and the gap does not
MOST = 100_000  # sweeps; only rounding asks for more
IDLE = 30  # looks at the gap without progress after which rounding has the last word


@dataclass(kw_only=True, repr=False)
class CoordinateDescent(Solver):
    r"""Minimise a :class:`~mercer.problems.linear_risk.LinearRisk` over its multipliers, one at a time.

    With :math:`w = Z^T \beta` at hand, the best value of one multiplier costs a product with one row of Z.
    Sweeps go through the rows in random order. Multipliers that a bound holds firmly leave play; all come
    back before the end. It is at its best with many features of which a row has few.

    Parameters
    ----------
    seed : int
        Of the order.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan (2008). A dual coordinate
       descent method for large-scale linear SVM. *ICML*, 408-415.
    """

    seed: int = 0

    name: ClassVar[str] = "coordinate_descent"
    needs = (ON_FEATURES, PENALISED_BIAS, QUADRATIC_CONJUGATE)
    side_by_side: ClassVar[range] = range(1, 1 << 62)

    def run(self, gram: Features, problem: LinearRisk, start: Float64 | None) -> Reached:  # type: ignore[override]
        """Sweep from ``start`` (a neighbouring problem's point, or nothing)."""
        return _Run(self, gram, problem).run(start)


class _Run:
    """The state of one solve."""

    def __init__(self, options: CoordinateDescent, features: Features, problem: LinearRisk) -> None:
        self.o, self.Z, self.p = options, features, problem
        self.limits = options.limits or Limits()
        self.surface = Surface(problem, features.workers)
        form = box_conjugate_of(problem.loss, problem.y)
        assert form is not None
        there = problem.C > 0
        C = np.where(there, problem.C, 1.0)
        self.linear, self.e, self.r = np.ascontiguousarray(form.p), form.e, form.r / C
        self.lo, self.hi = np.where(there, form.lo * C, 0.0), np.where(there, form.hi * C, 0.0)
        self.squares = features.norms**2
        self.rows = np.flatnonzero(there)
        self.scale = problem.bias_scale**2
        self.n_iter = 0

    def run(self, start: Float64 | None) -> Reached:
        p = self.p
        beta = np.zeros(p.n) if start is None else np.clip(p.parts(start)[2], self.lo, self.hi)
        self.beta, self.order = beta, self.rows.copy()
        self._refresh()
        status: Status
        try:
            status = self._sweeps()
        except KeyboardInterrupt:
            status = "interrupted"
            self._refresh()
        return Reached(
            p.point(self.w, float(self.bias[0]), self.beta),
            self.Z.times(self.w) + self.bias[0],
            self.n_iter,
            status,
        )

    def _refresh(self) -> None:
        """Compute w and b anew: what many small steps have summed up is rounded."""
        self.w = self.Z.transposed_times(self.beta)
        self.bias = np.array([self.scale * (float(self.beta.sum()) - self.p.pull)])

    def _sweeps(self) -> Status:
        state = np.array([0x9E3779B97F4A7C15 ^ (self.o.seed * 2 + 1)], dtype=np.uint64)
        size = self.rows.size
        active, limit, inner, target, idle = size, math.inf, 0.1, math.inf, 0
        since, next_look, smallest = 0, 1, math.inf
        while True:
            whole = active == size
            active, worst, growth = self._sweep(active, limit, state)
            self.n_iter += 1
            since += 1
            if target == math.inf:
                target = inner * max(worst, 1e-300)
            # The next sweep lets go of what is held more firmly than anything in play is wrong.
            limit = worst if worst > 0 else math.inf
            calm = worst <= target
            stopped = self.limits.steps_left(self.n_iter) == 0 or self.limits.out_of_time()
            # While a sweep still gains more than the gap may be, the gap is larger; a look costs some sweeps.
            hopeless = growth > self.o.tol * abs(self._dual())
            if (calm and whole) or (since >= next_look and not hopeless) or stopped:
                since = 0
                gap = self._gap(active)
                if gap <= self.o.tol:
                    return "optimal"
                if stopped:
                    left = self.limits.steps_left(self.n_iter)
                    return "iteration_limit" if left == 0 else "time_limit"
                next_look = min(next_look + max(1, next_look // 4), 50)
                idle = idle + 1 if gap > 0.99 * smallest else 0
                smallest = min(smallest, gap)
                if (idle >= IDLE and calm) or self.n_iter >= MOST:
                    return "ill_conditioned"
            if calm:
                if whole:
                    target *= TIGHTER
                active, limit = size, math.inf

    def _dual(self) -> float:
        """Return the dual value by the weights as they are summed up, which is rough."""
        value = float(self.linear @ self.beta) - 0.5 * float((self.r * self.beta) @ self.beta)
        if self.e > 0:
            value -= self.e * float(np.abs(self.beta).sum())
        bias = float(self.bias[0]) ** 2 / self.scale if self.scale > 0 else 0.0
        return value - 0.5 * float(self.w @ self.w) - 0.5 * bias

    def _sweep(self, active: int, limit: float, state: np.ndarray) -> tuple[int, float, float]:
        rest = (
            self.squares, self.linear, self.e, self.r, self.lo, self.hi, self.beta, self.w, self.bias,
            self.scale, self.order, active, limit, state,
        )  # fmt: skip
        loops = _jit.coordinate_descent
        if self.Z.sparse:
            Z = self.Z.Z
            left, worst, growth = loops.sweep_sparse(Z.indptr, Z.indices, Z.data, *rest)
        else:
            left, worst, growth = loops.sweep_dense(self.Z.Z, *rest)
        return int(left), float(worst), float(growth)

    def _gap(self, active: int) -> float:
        """Return the relative gap of the point, w computed anew."""
        p = self.p
        self._refresh()
        f = self.Z.times(self.w) + self.bias[0]
        losses, gap = self.surface.losses(f, self.beta)
        primal = p.ridge(self.w, float(self.bias[0])) + losses
        if wants_to_know(self.o.listener):
            assert self.o.listener is not None
            self.o.listener(
                Progress(
                    n_iter=self.n_iter,
                    seconds=time.perf_counter() - self.limits.started,
                    violation=gap,
                    primal=primal,
                    dual=primal - gap,
                    gap=gap,
                    margin=1.0 / (float(np.linalg.norm(self.w)) or math.nan),
                    n_support=int(np.count_nonzero(self.beta)),
                    evaluations=0,
                    b=p.point(self.w, float(self.bias[0]), self.beta),
                    f=f,
                )
            )
        return relative(gap, primal, primal - gap)
