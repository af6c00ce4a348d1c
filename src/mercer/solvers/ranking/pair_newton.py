"""Newton's method for pairs that shall stand in order, with sums over pairs by sorting."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.base import kept
from mercer.problems import Values, relative
from mercer.problems.pair_ranking import PairRanking, Slopes
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.needs import DEFINITE, PAIRS
from mercer.solvers.progress import progress, wants_to_know

MOST = 1000  # steps; a few dozen are the rule
PATIENCE = 400  # products of one system
LOOSE = 0.1  # relative residual of a system far from the optimum
FLAT = 0.1  # share of its first slope at which a search along a direction ends
NARROWEST = 1e-10  # width of the rounded hinge: below, rounding has the last word
IDLE = 50  # steps without a smaller gap, at one width, after which rounding has the last word


@dataclass(kw_only=True, repr=False)
class PairNewton(Solver):
    r"""Minimise a :class:`~mercer.problems.pair_ranking.PairRanking`.

    A step solves :math:`(I + H K) \delta = b(f) - \beta`, with b the multipliers that belong to the values f
    and H the curvature of the pairs' losses, by conjugate gradients in the norm of K. A product with H takes
    O(n log n), one with K is O(n d) for a linear kernel. The hinge is rounded off over a width that shrinks
    as far as the gap demands.

    References
    ----------
    .. [1] O. Chapelle and S. S. Keerthi (2010). Efficient algorithms for ranking with SVMs. *Information
       Retrieval* 13, 201-215.
    .. [2] C.-P. Lee and C.-J. Lin (2014). Large-scale linear RankSVM. *Neural Computation* 26, 781-817.
    """

    name: ClassVar[str] = "pair_newton"
    needs = (PAIRS, DEFINITE)

    def run(self, gram: Gram, problem: PairRanking, start: Float64 | None) -> Reached:
        """Take Newton steps from ``start``, or from nothing."""
        if problem.features is None:
            problem.matrix = kept(gram, 2 * self.block_bytes)
        return _Run(self, gram, problem).run(problem.start() if start is None else start)


class _Run:
    """The state of one solve."""

    def __init__(self, options: PairNewton, gram: Gram, problem: PairRanking) -> None:
        self.o, self.gram, self.problem = options, gram, problem
        self.limits = options.limits or Limits()
        self.n_iter = 0

    def run(self, start: Float64) -> Reached:
        p = self.problem
        self.beta = start[: p.n].copy()
        self.width = 1.0 if p.squared else min(max(float(start[p.n]), NARROWEST), 1.0)
        self.f = p.product(self.beta) if self.beta.any() else np.zeros(p.n)
        status: Status
        try:
            status = self._iterate()
        except KeyboardInterrupt:
            status = "interrupted"
        return Reached(np.append(self.beta, self.width), self.f, self.n_iter, status)

    def _iterate(self) -> Status:
        p, tol = self.problem, self.o.tol
        best, idle = math.inf, 0
        while True:
            at = p.slopes(self.f, self.width)
            away = at.b - self.beta
            k_away = p.product(away)
            values = p.judged(self.beta, self.f, at, away, k_away)
            self._tell()
            if relative(values.gap, values.primal, values.dual) <= tol:
                self._prefer_few(at)
                return "optimal"
            idle = 0 if values.gap < 0.99 * best else idle + 1
            best = min(best, values.gap)
            if self.limits.steps_left(self.n_iter) == 0:
                return "iteration_limit"
            if self.limits.out_of_time():
                return "time_limit"
            if self.n_iter >= MOST or idle >= IDLE:
                return "ill_conditioned"
            self.n_iter += 1
            allowed = tol * abs(values.primal)
            left = values.gap - at.excess
            if at.excess > 0.5 * allowed and left <= 0.25 * max(at.excess, allowed):
                if self.width <= NARROWEST:
                    return "ill_conditioned"
                self.width *= min(max(0.4 * allowed / at.excess, 0.1), 0.5)
                idle, best = 0, math.inf
                continue
            self._step(at, away, k_away, values)

    def _step(self, at: Slopes, away: Float64, k_away: Float64, values: Values) -> None:
        p = self.problem
        rest = math.sqrt(max(float(away @ k_away), 0.0) / max(abs(values.primal), 1e-300))
        delta, k_delta = self._solved(at, away, k_away, max(min(LOOSE, rest), 1e-10))
        linear, square = float(self.beta @ k_delta), float(delta @ k_delta)

        def slope(t: float) -> float:
            there = p.slopes(self.f + t * k_delta, self.width)
            return linear + t * square - float(there.b @ k_delta)

        t = flat_place(slope, linear - float(at.b @ k_delta))
        self.beta = self.beta + t * delta
        self.f = p.product(self.beta)

    def _solved(self, at: Slopes, right: Float64, k_right: Float64, tol: float) -> tuple[Float64, Float64]:
        """Return (I + H K)^-1 right and K times it, by conjugate gradients in the norm of K."""
        p = self.problem
        x, kx = np.zeros(p.n), np.zeros(p.n)
        rest, k_rest = right.copy(), k_right.copy()
        way, k_way = rest.copy(), k_rest.copy()
        square = float(rest @ k_rest)
        enough = tol * tol * square
        for _ in range(PATIENCE):
            image = way + p.curved(at, k_way)
            steep = float(k_way @ image)
            if not steep > 0.0:
                break
            t = square / steep
            x, kx = x + t * way, kx + t * k_way
            rest, k_rest = rest - t * image, k_rest - t * p.product(image)
            fresh = float(rest @ k_rest)
            if not fresh > enough or self.limits.out_of_time():
                break
            way, k_way = rest + fresh / square * way, k_rest + fresh / square * k_way
            square = fresh
        return x, kx

    def _prefer_few(self, at: Slopes) -> None:
        """Take the multipliers' own function, which has fewer items, where it is as good as asked for."""
        f = self.problem.product(at.b)
        values = self.problem.evaluate(np.append(at.b, self.width), f)
        if relative(values.gap, values.primal, values.dual) <= self.o.tol:
            self.beta, self.f = at.b, f

    def _tell(self) -> None:
        if wants_to_know(self.o.listener):
            assert self.o.listener is not None
            point = np.append(self.beta, self.width)
            seen = progress(self.problem, point, self.f, self.n_iter, self.limits, self.gram.evaluations)
            self.o.listener(seen)


def flat_place(slope: Callable[[float], float], first: float) -> float:
    """Return a place in (0, 1] where the slope of a convex function is small beside its first one.

    Parameters
    ----------
    slope : callable
        Given a place, the slope there: it ascends.
    first : float
        The slope at 0, which is negative.
    """
    low, high = 0.0, 1.0
    at_low, at_high = first, slope(1.0)
    if at_high <= FLAT * abs(first):
        return 1.0
    t = 1.0
    for _ in range(30):
        t = low + (high - low) * min(max(at_low / (at_low - at_high), 0.05), 0.95)
        here = slope(t)
        if abs(here) <= FLAT * abs(first):
            return t
        if here < 0:
            low, at_low = t, here
        else:
            high, at_high = t, here
    return low if low > 0 else t
