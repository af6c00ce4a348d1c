"""Losses with kinks that are not piecewise linear: a sequence of smooth problems with the same minimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.problems import Values, relative
from mercer.problems.losses.envelope import Envelope
from mercer.problems.risk import Risk
from mercer.solvers.base import Criterion, Limits, Listener, Status
from mercer.solvers.risk.newton import Newton, NewtonSolution

Float64 = NDArray[np.float64]

ROUNDS = 60
FASTER, FASTEST = 5.0, 1e5  # by which the envelope follows more closely each round, and in all


@dataclass
class Proximal:
    r"""Minimise a risk whose loss has kinks, by the method of multipliers.

    Each round replaces the loss by its envelope at the slopes of the round before, a smooth loss that
    Newton's method minimises, and takes the slopes found there. They are slopes of the loss itself, so that
    every round ends with a feasible point of the dual, whose gap is the stopping rule.

    Parameters
    ----------
    tol : float
        Largest relative gap ("gap") or largest distance of a slope from those of the loss at f ("kkt").
    criterion : {"kkt", "gap"}
        What ``tol`` measures. At a kink any slope between those of both sides is right, so "kkt" is
        measured by the gap, too.
    memory : int
        Bytes for the kernel matrix, and for a system's matrix.
    limits : Limits
        Newton steps and seconds.
    listener : callable, optional
        Called before every Newton step.

    References
    ----------
    .. [1] R. T. Rockafellar (1976). Augmented Lagrangians and applications of the proximal point algorithm in
       convex programming. *Mathematics of Operations Research* 1, 97-116.
    """

    tol: float = 1e-6
    criterion: Criterion = "gap"
    memory: int = 200_000_000
    limits: Limits | None = None
    listener: Listener | None = None

    def solve(self, gram: Gram, problem: Risk, start: Float64 | None = None) -> NewtonSolution:
        """Return a solution from ``start`` (coefficients of a neighbouring problem, or nothing)."""
        if problem.joint:
            raise ValueError(
                f"{problem.loss!r} has kinks and several functions, for which there is no solver"
            )
        there = np.flatnonzero(problem.C > 0)
        if there.size < problem.n:
            part = Risk(problem.loss, problem.y[there], problem.C[there], fit_intercept=problem.fit_intercept)
            found = self._solve(gram.subset(there), part, None if start is None else start[there])
            beta = np.zeros((problem.n, 1))
            beta[there] = found.b
            g = gram.exact().matvec(beta[:, 0])[:, None]
            values = problem.evaluate(beta, g, found.values.multipliers)
            return NewtonSolution(beta, g, values, found.n_iter, found.status, found.condition, found.note)
        return self._solve(gram, problem, start)

    def _solve(self, gram: Gram, problem: Risk, start: Float64 | None) -> NewtonSolution:
        limits = self.limits or Limits()
        bias = problem.best_bias(np.zeros((problem.n, 1)))
        slopes = problem.loss.derivative(problem.y, np.full(problem.n, bias[0]))
        first = 1.0 / max(float(np.std(problem.y)), 1e-12)
        rho, steps, beta = first, 0, start
        best: tuple[Float64, Float64, Values] | None = None
        status: Status = "iteration_limit"
        inner = None
        for _ in range(ROUNDS):
            envelope = Envelope(problem.loss, slopes, rho)
            smooth = Risk(envelope, problem.y, problem.C, fit_intercept=problem.fit_intercept)
            left = limits.steps_left(steps) if limits.max_iter >= 0 else -1
            inner = Newton(
                tol=1e-2 * self.tol,
                memory=self.memory,
                limits=Limits(left, limits.time_limit, limits.started),
                listener=self.listener,
            ).solve(gram, smooth, beta)
            steps += inner.n_iter
            beta = inner.b
            values = self._values(problem, inner)
            if best is None or values.gap < best[2].gap:
                best = (inner.b, inner.f, values)
            if relative(values.gap, values.primal, values.dual) <= self.tol:
                status = "optimal"
                break
            if inner.status in ("time_limit", "interrupted"):
                status = inner.status
                break
            if limits.steps_left(steps) == 0:
                break
            slopes = -inner.b[:, 0] / problem.C
            rho = min(FASTER * rho, FASTEST * first)
        assert best is not None
        assert inner is not None
        note = ""
        if status == "iteration_limit" and limits.steps_left(steps) > 0:
            gap = relative(best[2].gap, best[2].primal, best[2].dual)
            note = (
                f"the relative gap is {gap:.1e}, above tol={self.tol:g}, after {ROUNDS} rounds; the "
                f"condition number of the last Newton system is about {inner.condition:.1e}. Lower C "
                "or loosen tol"
            )
        return NewtonSolution(best[0], best[1], best[2], steps, status, inner.condition, note)

    @staticmethod
    def _values(problem: Risk, inner: NewtonSolution) -> Values:
        """Return the values under the loss itself, at the better of two biases."""
        both = (inner.values.multipliers, problem.best_bias(inner.f, inner.values.multipliers))
        return min((problem.evaluate(inner.b, inner.f, bias) for bias in both), key=lambda v: v.gap)
