"""Newton's method, semismooth where the curvature jumps, for any convex loss with a continuous derivative."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.base import kept
from mercer.problems import Values, relative
from mercer.problems.risk import Risk, Root
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.needs import A_RISK, DEFINITE, SMOOTH
from mercer.solvers.progress import Progress
from mercer.solvers.risk.newton_step import (
    PATIENCE,
    Landmarks,
    OldFactor,
    Slope,
    Step,
    conjugate_gradients,
    convex_search,
    direct,
    full_rank,
)

SMALL = 500  # unknowns of one function up to which a factorisation costs less than anything else
DIRECT = 2000  # and up to which it costs no more than some dozens of products with K
FEW = 40  # so many: conjugate gradients that have not got there by then give way to a factorisation
LOOSE = 1e-3  # relative residual of a system far from the optimum
EXACT = 1e-10  # and the least that is asked for
POOR, EARLY = 0.9, 6  # share of the gap left by a step, not an early one, that asks for more exact ones
GAIN = 1e-10  # relative fall of the objective that counts as progress
MOST = 500  # steps; a few dozen are the rule, and only rounding asks for more
IDLE = 6  # steps without progress after which rounding has the last word


@dataclass(kw_only=True, repr=False)
class Newton(Solver):
    r"""Minimise a :class:`~mercer.problems.risk.Risk` on a :class:`~mercer.gram.Gram`.

    A step replaces the loss by its second-order expansion at f. Written for the coefficients it is

    .. math:: \beta^+ = \hat\beta + G u, \qquad \hat\beta_i = -C_i L'(y_i, f_i), \qquad
        (I + G^T K G) u = G^T (K \beta - K \hat\beta) - G^T 1 \, \Delta b

    with :math:`G G^T` the curvature: only points that have any are unknowns. The bias is made optimal before
    each step, so that :math:`\hat\beta` is a feasible point of the dual, and its own duality gap is the
    stopping rule.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams (2006). *Gaussian Processes for Machine Learning*, 3.4. MIT
       Press.
    .. [2] O. Chapelle (2007). Training a support vector machine in the primal. *Neural Computation* 19,
       1155-1178.
    .. [3] L. Qi and J. Sun (1993). A nonsmooth version of Newton's method. *Mathematical Programming* 58.
    """

    name: ClassVar[str] = "newton"
    needs = (A_RISK, SMOOTH, DEFINITE)
    side_by_side: ClassVar[range] = range(100, 1025)
    single_precision: ClassVar[bool] = True

    @property
    def memory(self) -> int:
        """Bytes for the kernel matrix, and for a system's matrix. Larger ones are not formed."""
        return 2 * self.block_bytes

    def run(self, gram: Gram, problem: Risk, start: Float64 | None) -> Reached:
        """Take Newton steps from ``start`` (coefficients of a neighbouring problem, or nothing)."""
        return _Run(self, gram, problem).run(start)


class _Point:
    """Coefficients, K times them, and the bias."""

    __slots__ = ("beta", "bias", "g")

    def __init__(self, beta: Float64, g: Float64, bias: Float64) -> None:
        self.beta, self.g, self.bias = beta, g, bias


class _Run:
    """The state of one solve."""

    def __init__(self, options: Newton, gram: Gram, problem: Risk) -> None:
        self.o, self.gram, self.problem = options, gram, problem
        self.limits = options.limits or Limits()
        self.matrix = kept(gram, options.memory)
        self.landmarks: Landmarks | None = None
        self.factor: OldFactor | None = None  # of the last system that was factorised
        self.stubborn = False  # conjugate gradients did not get there once
        self.loose = LOOSE  # less where steps gained little
        self.gap = math.inf  # before the last step
        self.condition = float("nan")
        self.n_iter = 0
        self.best: tuple[_Point, Values] | None = None

    def run(self, start: Float64 | None) -> Reached:
        status: Status = "optimal"
        point = self._start(start)
        try:
            status, point = self._iterate(point)
        except KeyboardInterrupt:
            status = "interrupted"
        shipped, values = self._shipped(point, finished=status == "optimal")
        if self._finished(values):
            status = "optimal"
        note = ""
        if status == "iteration_limit" and self.limits.steps_left(self.n_iter) > 0:
            status, note = "ill_conditioned", self._excuse(values)
        return Reached(
            shipped.beta,
            shipped.g,
            self.n_iter,
            status,
            multipliers=shipped.bias,
            note=note,
            condition=self.condition,
        )

    def _start(self, start: Float64 | None) -> _Point:
        p = self.problem
        beta = np.zeros((p.n, p.outputs)) if start is None else start.reshape(p.n, p.outputs).copy()
        g = self.matrix.exact().products(beta) if start is not None else np.zeros_like(beta)
        return _Point(beta, g, p.best_bias(g))

    def _iterate(self, point: _Point) -> tuple[Status, _Point]:
        p = self.problem
        value = lowest = self._primal(point)
        idle = 0
        while True:
            f = p.fitted(point.g, point.bias)
            hat = p.coefficients(f)
            g_hat = self.matrix.exact().products(hat)
            target = _Point(hat, g_hat, p.best_bias(g_hat, point.bias))
            values = p.evaluate(hat, g_hat, target.bias)
            progress = self._remember(target, values)
            self._tell(target, values)
            if self._finished(values):
                return "optimal", point
            if idle >= IDLE or self.n_iter >= MOST:
                return "iteration_limit", point
            if self.limits.steps_left(self.n_iter) == 0:
                return "iteration_limit", point
            if self.limits.out_of_time():
                return "time_limit", point
            self.n_iter += 1
            point = self._step(point, f, target, value, values)
            value = self._primal(point)
            # Against the lowest of all: rounding may raise the value, and to fall again is no progress.
            idle = 0 if progress or lowest - value > GAIN * abs(lowest) else idle + 1
            lowest = min(lowest, value)

    def _step(self, point: _Point, f: Float64, target: _Point, value: float, values: Values) -> _Point:
        p = self.problem
        root = p.root(f)
        aim = target
        if root.point.size:
            solved = self._solve_system(root, point, target, values)
            move = root.times(solved.u, p.n)
            bias = point.bias + solved.bias.reshape(point.bias.shape)
            aim = _Point(target.beta + move, target.g + self.matrix.exact().products(move), bias)
        moved = self._search(point, f, aim, value)
        if moved is None and aim is not target:  # rounding made a system's solution point uphill
            moved = self._search(point, f, _Point(target.beta, target.g, point.bias), value)
        return moved if moved is not None else aim

    def _solve_system(self, root: Root, point: _Point, target: _Point, values: Values) -> Step:
        right = root.transposed_times(point.g - target.g)
        sums, border = None, None
        if self.problem.has_free_part:
            sums, border = -self.problem.free_sums(target.beta).ravel(), self.problem.border(root)
        unknowns = root.point.size
        fits = 8 * unknowns**2 <= self.o.memory
        # The system is solved as exactly as the gap deserves: ever better near the end.
        rest = relative(values.gap, values.primal, values.dual)
        if self.n_iter > EARLY and not rest <= POOR * self.gap:
            self.loose *= 0.1
        self.gap = rest
        tol = max(min(self.loose, math.sqrt(rest)) if math.isfinite(rest) else self.loose, EXACT)
        cheap = fits and unknowns <= DIRECT // self.problem.outputs
        if fits and (unknowns <= SMALL // self.problem.outputs or self.stubborn):
            inverse = None
            if self.factor is not None and cheap and unknowns > SMALL:
                inverse = self.factor.inverse(root)
            if inverse is not None:
                step = self._iterated(root, right, sums, inverse, tol, border, FEW)
                if step.reached:
                    return step
            return self._noted(direct(self.matrix, root, right, sums, border))
        if self.landmarks is None:
            n = self.matrix.n
            self.landmarks = Landmarks(self.matrix, max(1, min(full_rank(n), self.o.memory // (16 * n))))
        step = self._iterated(root, right, sums, self.landmarks, tol, border, FEW if cheap else PATIENCE)
        if not step.reached and fits and not self.limits.out_of_time():
            self.stubborn = True
            return self._noted(direct(self.matrix, root, right, sums, border))
        return step

    def _iterated(
        self,
        root: Root,
        right: Float64,
        sums: Float64 | None,
        inverse: Landmarks | Callable[[Float64], Float64],
        tol: float,
        border: Float64 | None,
        patience: int,
    ) -> Step:
        stop = self.limits.out_of_time
        return conjugate_gradients(self.matrix, root, right, sums, inverse, tol, stop, border, patience)

    def _noted(self, step: Step) -> Step:
        self.condition, self.factor = step.condition, step.factor
        return step

    def _search(self, point: _Point, f: Float64, aim: _Point, value: float) -> _Point | None:
        """Return the point to which the direction leads; None if it does not lead down."""
        p = self.problem
        delta, k_delta = aim.beta - point.beta, aim.g - point.g
        change = k_delta + p.free_part(aim.bias - point.bias)
        linear = float(np.einsum("im,im->", point.beta, k_delta))
        square = float(np.einsum("im,im->", delta, k_delta))
        norm = float(np.einsum("im,im->", point.beta, point.g))

        def along(t: float) -> Slope:
            there = f + t * change
            quadratic = 0.5 * norm + t * linear + 0.5 * t * t * square
            slope = linear + t * square + float(np.einsum("im,im->", p.slopes(there), change))
            return Slope(quadratic + p.loss_sum(there), slope)

        first = along(0.0)
        if not first.slope < 0.0:
            return None
        # Where the value cannot tell, Newton's step it is.
        t = 1.0 if abs(first.slope) <= 1e-12 * abs(value) else convex_search(along, first)
        beta, g = point.beta + t * delta, point.g + t * k_delta
        return _Point(beta, g, p.best_bias(g, point.bias + t * (aim.bias - point.bias)))

    def _primal(self, point: _Point) -> float:
        quadratic = 0.5 * float(np.einsum("im,im->", point.beta, point.g))
        return quadratic + self.problem.loss_sum(self.problem.fitted(point.g, point.bias))

    def _remember(self, target: _Point, values: Values) -> bool:
        """Keep the best proved point; return whether this one is clearly better than the one before."""
        if self.best is None or values.gap < self.best[1].gap:
            clearly = self.best is None or not values.gap > 0.9 * self.best[1].gap
            self.best = (target, values)
            return clearly
        return False

    def _shipped(self, point: _Point, *, finished: bool) -> tuple[_Point, Values]:
        """Return the proved point, or before the end perhaps one that is clearly lower or proved better."""
        values = self.problem.evaluate(point.beta, point.g, point.bias)
        if self.best is None:
            return point, values
        proved = self.best[1]
        if finished or not self._beats(values, proved):
            return self.best
        # Many steps leave rounding in K beta, which may be all that makes this point the better one.
        g = self.matrix.exact().products(point.beta)
        fresh = _Point(point.beta, g, self.problem.best_bias(g, point.bias))
        values = self.problem.evaluate(fresh.beta, fresh.g, fresh.bias)
        return (fresh, values) if self._beats(values, proved) else self.best

    @staticmethod
    def _beats(values: Values, proved: Values) -> bool:
        """Return whether a point is clearly lower than the proved one, or proved better."""
        slack = 0.5 * (proved.gap if math.isfinite(proved.gap) else 0.0)
        return values.primal < proved.primal - slack or values.gap < proved.gap

    def _finished(self, values: Values) -> bool:
        if self.o.criterion == "kkt":
            return values.violation <= self.o.tol
        return relative(values.gap, values.primal, values.dual) <= self.o.tol

    def _excuse(self, values: Values) -> str:
        gap = relative(values.gap, values.primal, values.dual)
        known = (
            f"the condition number of the Newton system is about {self.condition:.1e}"
            if math.isfinite(self.condition)
            else "the Newton system is singular to working precision"
        )
        return (
            f"rounding errors keep the relative gap at {gap:.1e}, above tol={self.o.tol:g}: {known}. Lower "
            "C, loosen tol, remove duplicate rows or scale the features"
        )

    def _tell(self, target: _Point, values: Values) -> None:
        if self.o.listener is None:
            return
        self.o.listener(
            Progress(
                n_iter=self.n_iter,
                seconds=time.perf_counter() - self.limits.started,
                violation=values.violation,
                primal=values.primal,
                dual=values.dual,
                gap=values.gap,
                margin=math.nan,
                n_support=int(np.count_nonzero(np.abs(target.beta).max(axis=1))),
                evaluations=self.gram.evaluations,
                b=target.beta,
                f=target.g,
            )
        )
