"""Newton's method in the weights of explicit features, for any convex loss."""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram.features import Features
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.problem import relative
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.linear.needs import ON_FEATURES
from mercer.solvers.linear.newton_system import NewtonSystem
from mercer.solvers.linear.surface import Surface
from mercer.solvers.progress import Progress, wants_to_know
from mercer.solvers.risk.newton_step import Slope, convex_search

LOOSE = 0.1  # relative residual of a system far from the optimum
NARROWER = 3.0  # by which the envelope follows more closely each round
NARROWEST = 1e-7  # width of the last envelope, relative to the first
WARM = 0.2  # width of the first one, relative, where the slopes are those of a neighbour
CLOSE = 0.5  # share of the gap that the weights may have in it before the slopes are renewed
GAIN = 1e-10  # relative fall of the surface that counts as progress
MIXED = 1e-9  # relative gap below which a difference of values proves too little
MOST = 600  # steps; some dozens are the rule, and only rounding asks for more
MANY_ROWS, SHARE = 50_000, 8  # so many rows begin where one in so many of them ends
TOLD, NEAR = 100, 1e-5  # rows for each feature that tell the curvature, down to such a relative gap
FEWEST = 30  # rows of each class that a sample needs
ROUGH = 1e-3  # relative gap at which the sample has told what it knows
SMALL = 300  # features whose systems one thread solves as fast
IDLE = 8  # steps without progress after which rounding has the last word


@dataclass(kw_only=True, repr=False)
class LinearNewton(Solver):
    r"""Minimise a :class:`~mercer.problems.linear_risk.LinearRisk` over weights and bias.

    A step solves :math:`(I + Z^T D Z) \delta = Z^T \beta - w` with the curvatures D and the multipliers
    :math:`\beta_i = -C_i L'(y_i, f_i)`: by a factorisation where there are few features, else by
    preconditioned conjugate gradients. The multipliers are a point of the dual, and the gap between it and
    the weights, :math:`\tfrac12 \|w - Z^T \beta\|^2`, is the stopping rule.

    A loss with kinks is replaced by an envelope without them, and the slopes found there are those at which
    the next, narrower one is taken: the method of multipliers.

    References
    ----------
    .. [1] C.-J. Lin, R. C. Weng and S. S. Keerthi (2008). Trust region Newton method for large-scale logistic
       regression. *Journal of Machine Learning Research* 9, 627-650.
    .. [2] R. T. Rockafellar (1976). Augmented Lagrangians and applications of the proximal point algorithm in
       convex programming. *Mathematics of Operations Research* 1, 97-116.
    """

    name: ClassVar[str] = "linear_newton"
    needs = (ON_FEATURES,)
    side_by_side: ClassVar[range] = range(0)  # the threads share the rows instead

    def run(self, gram: Features, problem: LinearRisk, start: Float64 | None) -> Reached:  # type: ignore[override]
        """Take Newton steps from ``start`` (a neighbouring problem's point, or nothing)."""
        steps = 0
        if start is None and gram.n >= MANY_ROWS:
            start, steps = self._of_some_rows(gram, problem)
        run = LinearNewtonRun(self, gram, problem)
        run.n_iter = steps
        return run.run(start)

    def _of_some_rows(self, gram: Features, problem: LinearRisk) -> tuple[Float64 | None, int]:
        """Return weights and bias of a sample of the rows, where a step costs little, and the steps taken."""
        rows = np.sort(np.random.default_rng(0).choice(gram.n, gram.n // SHARE, replace=False))
        if problem.loss.targets == "signs":
            there = problem.y[rows[problem.C[rows] > 0]] > 0
            if min(np.count_nonzero(there), np.count_nonzero(~there)) < FEWEST:
                return None, 0  # a class that the sample hardly knows
        part = gram.subset(rows)
        some = problem.on_rows(part, rows)
        reached = replace(self, tol=max(self.tol, ROUGH), listener=None).run(part, some, None)
        return reached.b[: part.width + 1], reached.n_iter


class Best:
    """The best that was seen: a pair of weights and multipliers, or the best of each.

    Any weights may be compared with any multipliers. The difference of two values is rounded, so that where
    it is small only a pair, whose gap is a sum of non-negative terms, counts.
    """

    def __init__(self) -> None:
        self.pair = self.mixed = math.inf  # relative gaps
        self.smallest = math.inf  # gap of a pair
        self.primal, self.dual = math.inf, -math.inf

    @property
    def known(self) -> bool:
        """Whether anything was seen."""
        return self.primal < math.inf

    @property
    def relative_gap(self) -> float:
        """The smaller of both gaps."""
        return min(self.pair, self.mixed)

    def see(self, primal: float, gap: float, w: Float64, bias: float, beta: Float64) -> None:
        """Look at weights and multipliers."""
        if gap < self.smallest or not self.known:
            self.smallest, self.together = gap, (w, bias, beta)
            self.pair = relative(gap, primal, primal - gap)
        if primal < self.primal:
            self.primal, self.lowest = primal, (w, bias)
        if primal - gap > self.dual or not hasattr(self, "highest"):
            self.dual, self.highest = primal - gap, beta
        self.mixed = max(relative(self.primal - self.dual, self.primal, self.dual), MIXED)

    def point(self) -> tuple[Float64, float, Float64]:
        """Return the weights, the bias and the multipliers that are proved best."""
        apart = self.primal - self.dual < self.smallest and self.mixed > MIXED
        apart = apart or self.mixed < self.pair
        return (*self.lowest, self.highest) if apart else self.together


class LinearNewtonRun:
    """The state of one solve: weights, bias, values f, and what the surface says there."""

    def __init__(self, options: LinearNewton, features: Features, problem: LinearRisk) -> None:
        self.o, self.Z, self.p = options, features, problem
        self.limits = options.limits or Limits()
        self.surface = Surface(problem, features.workers)
        scale = problem.bias_scale
        self.bias_ridge = None if scale == 0 else 0.0 if math.isinf(scale) else scale**-2
        self.system = NewtonSystem(features, self.bias_ridge)
        self.rng = np.random.default_rng(0)
        self.w, self.bias = np.zeros(features.width), 0.0
        self.f = np.zeros(problem.n)
        self.n_iter = 0
        self.best = Best()

    def run(self, start: Float64 | None) -> Reached:
        """Take steps until the gap is small, or a limit is hit."""
        beta = None
        if start is not None:
            w, self.bias, beta = self.p.parts(start)
            self.w = w.copy()
            self.f = self.Z.times(self.w) + self.bias
            if beta.size == 0:
                beta = self.p.coefficients(self.f)
        status: Status
        # The threads of BLAS cost more than they bring where the systems are small.
        small = self.p.width <= SMALL
        try:
            with self.Z.workers.one_blas_thread() if small else nullcontext():
                status = self._smooth() if self.p.loss.smooth else self._rounds(beta)
        except KeyboardInterrupt:
            status = "interrupted"
        if not self.best.known:
            self.best.see(0.0, math.inf, self.w, self.bias, self.p.coefficients(self.f))
        w, bias, beta = self.best.point()
        return Reached(self.p.point(w, bias, beta), self.Z.times(w) + bias, self.n_iter, status)

    # -- rounds ----------------------------------------------------------------------------------------------

    def _smooth(self) -> Status:
        return self._steps(0.0)

    def _rounds(self, beta: Float64 | None) -> Status:
        """Minimise envelopes, each at the slopes of the one before."""
        p = self.p
        there = p.C > 0
        spread = 1.0
        if p.loss.targets != "signs":
            total = float(p.C.sum())
            mean = float(p.C @ p.y) / total
            spread = math.sqrt(float(p.C @ (p.y - mean) ** 2) / total) or 1.0
        if beta is None:
            a, width = np.zeros(p.n), spread
        else:  # from a neighbour: what is nearly right already need not be smoothed away
            a, width = np.zeros(p.n), WARM * spread
            a[there] = beta[there] / p.C[there]
            if self.surface.form is not None:
                a = np.clip(a, self.surface.form.lo, self.surface.form.hi)
        while True:
            self.surface.smoothen(a, width)
            status = self._steps(self.close)
            if status != "optimal" or self._finished():
                return status
            if width <= NARROWEST * spread:
                return "ill_conditioned"
            assert self.latest is not None
            a[there] = self.latest[there] / p.C[there]
            width /= NARROWER

    def _finished(self) -> bool:
        return self.best.relative_gap <= self.o.tol

    # -- steps -----------------------------------------------------------------------------------------------

    close = CLOSE
    settled = False  # whether the weights are nearly those that the multipliers make
    latest: Float64 | None = None

    def _steps(self, close: float) -> Status:
        """Take Newton steps until the gap is small or, of an envelope, is that of the losses alone."""
        p, idle, smallest, lowest = self.p, 0, math.inf, math.inf
        while True:
            if p.free_bias:
                bias = self.surface.best_bias(self.f - self.bias, self.bias)
                self.f += bias - self.bias
                self.bias = bias
            value, beta, D = self.surface.at(self.f)
            if p.free_bias:
                beta = p.mended(beta, D)
            self.latest = beta
            curved = int(np.count_nonzero(D))
            H = line = None
            direct = self.system.factored(curved)
            # Far from the end some of the rows tell the curvature of all of them well enough.
            many = p.n >= MANY_ROWS and curved > 2 * TOLD * p.width
            sampled = direct and many and self.best.relative_gap > NEAR
            if direct and not sampled:
                H, line, sums = self.Z.gram_of_columns(D, beta)
            else:
                sums = self.Z.transposed_times(beta)
            away = self.w - sums
            off = p.mismatch(self.bias, beta)
            in_weights = 0.5 * float(away @ away) + 0.5 * off * off
            losses, in_losses = self.surface.losses(self.f, beta if close > 0 else None)
            gap = in_weights + in_losses
            primal = p.ridge(self.w, self.bias) + losses
            self.best.see(primal, gap, self.w, self.bias, beta)
            self._tell(gap, primal, beta, away)
            self.settled = close == 0.0 or in_weights < close * in_losses
            if self._finished() or (self.settled and close > 0):
                return "optimal"
            value += p.ridge(self.w, self.bias)
            fell = lowest - value > GAIN * abs(value) or in_weights < 0.9 * smallest
            idle = 0 if fell else idle + 1
            smallest, lowest = min(smallest, in_weights), min(lowest, value)
            if self.n_iter >= MOST:
                return "ill_conditioned"
            if idle >= IDLE:
                return "optimal" if close > 0 else "ill_conditioned"
            if self.limits.steps_left(self.n_iter) == 0:
                return "iteration_limit"
            if self.limits.out_of_time():
                return "time_limit"
            self.n_iter += 1
            gradient = away
            if self.bias_ridge is not None:
                gradient = np.append(away, self.bias_ridge * self.bias + p.pull - float(beta.sum()))
            if sampled:
                H, line = self.system.of_some_rows(D, TOLD * p.width, self.rng)
            if H is not None and line is not None:
                step = self.system.direct(H, line, D, gradient)
            else:
                rest = min(LOOSE, math.sqrt(in_weights / max(abs(primal), 1e-300)))
                step = self.system.iterative(D, gradient, max(rest, 1e-8), self.limits.out_of_time, self.rng)
            self._move(step)

    def _move(self, step: Float64) -> None:
        """Go along a direction as far as the surface falls."""
        dw, db = step[: self.p.width], float(step[-1]) if self.bias_ridge is not None else 0.0
        change = self.Z.times(dw)
        change += db
        ridge = self.bias_ridge or 0.0
        norm = float(self.w @ self.w) + ridge * self.bias**2 + 2.0 * self.p.pull * self.bias
        linear = float(self.w @ dw) + ridge * self.bias * db + self.p.pull * db
        square = float(dw @ dw) + ridge * db * db

        def along(t: float) -> Slope:
            losses, slope = self.surface.along(self.f, change, t)
            return Slope(0.5 * norm + t * linear + 0.5 * t * t * square + losses, linear + t * square + slope)

        first = along(0.0)
        if not first.slope < 0.0:
            return
        t = 1.0 if abs(first.slope) <= 1e-13 * abs(first.value) else convex_search(along, first)
        self.w = self.w + t * dw
        self.bias += t * db
        self.f += t * change

    # -- what is known ---------------------------------------------------------------------------------------

    def _tell(self, gap: float, primal: float, beta: Float64, away: Float64) -> None:
        if not wants_to_know(self.o.listener):
            return
        assert self.o.listener is not None
        self.o.listener(
            Progress(
                n_iter=self.n_iter,
                seconds=time.perf_counter() - self.limits.started,
                violation=float(np.abs(away).max(initial=0.0)),
                primal=primal,
                dual=primal - gap,
                gap=gap,
                margin=1.0 / (float(np.linalg.norm(self.w)) or math.nan),
                n_support=int(np.count_nonzero(beta)),
                evaluations=0,
                b=self.p.point(self.w, self.bias, beta),
                f=self.f,
            )
        )
