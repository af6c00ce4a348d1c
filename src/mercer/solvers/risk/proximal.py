"""Losses with kinks that are not piecewise linear: a sequence of smooth problems with the same minimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Values, relative
from mercer.problems.losses.envelope import Envelope
from mercer.problems.risk import Risk
from mercer.solvers.base import Limits, Reached, Solver, Status
from mercer.solvers.needs import A_RISK, DEFINITE, ONE_FUNCTION
from mercer.solvers.risk.newton import Newton

ROUNDS = 60
IDLE = 2  # rounds that rounding ended early and that brought the gap no nearer: it has the last word
GAIN = 0.5  # share of the gap that counts as nearer
FASTER, FASTEST = 5.0, 1e5  # by which the envelope follows more closely each round, and in all


@dataclass(kw_only=True, repr=False)
class Proximal(Solver):
    r"""Minimise a risk whose loss has kinks, by the method of multipliers.

    Each round replaces the loss by its envelope at the slopes of the round before, a smooth loss that
    Newton's method minimises, and takes the slopes found there. They are slopes of the loss itself, so that
    every round ends with a feasible point of the dual, whose gap is the stopping rule.

    References
    ----------
    .. [1] R. T. Rockafellar (1976). Augmented Lagrangians and applications of the proximal point algorithm in
       convex programming. *Mathematics of Operations Research* 1, 97-116.
    """

    name: ClassVar[str] = "proximal"
    needs = (A_RISK, DEFINITE, ONE_FUNCTION)
    single_precision: ClassVar[bool] = True

    def run(self, gram: Gram, problem: Risk, start: Float64 | None) -> Reached:
        """Solve smooth problems from ``start`` (coefficients of a neighbouring problem, or nothing)."""
        there = np.flatnonzero(problem.C > 0)
        if there.size < problem.n:
            found = self._solve(
                gram.subset(there), problem.at(there), None if start is None else start[there]
            )
            beta = np.zeros((problem.n, 1))
            beta[there] = found.b
            g = gram.exact().matvec(beta[:, 0])[:, None]
            return replace(found, b=beta, f=g)
        return self._solve(gram, problem, start)

    def _solve(self, gram: Gram, problem: Risk, start: Float64 | None) -> Reached:
        limits = self.limits or Limits()
        bias = problem.best_bias(np.zeros((problem.n, 1)))
        slopes = problem.loss.derivative(problem.y, problem.fitted(np.zeros((problem.n, 1)), bias)[:, 0])
        first = 1.0 / max(float(np.std(problem.y)), 1e-12)
        rho, steps, rounds, idle, beta = first, 0, 0, 0, start
        best: tuple[Float64, Float64, Values] | None = None
        status: Status = "iteration_limit"
        inner = None
        for _ in range(ROUNDS):
            rounds += 1
            envelope = Envelope(problem.loss, slopes, rho)
            smooth = problem.with_loss(envelope)
            left = limits.steps_left(steps) if limits.max_iter >= 0 else -1
            inner = Newton(
                tol=1e-2 * self.tol,
                criterion="gap",
                block_bytes=self.block_bytes,
                limits=Limits(left, limits.time_limit, limits.started),
                listener=self.listener,
            ).run(gram, smooth, beta)
            steps += inner.n_iter
            beta = inner.b
            values = self._values(problem, inner)
            idle = idle + 1 if inner.stopped == "ill_conditioned" else 0
            if best is None or values.gap < best[2].gap:
                idle = idle if best is not None and values.gap > GAIN * best[2].gap else 0
                best = (inner.b, inner.f, values)
            if relative(values.gap, values.primal, values.dual) <= self.tol:
                status = "optimal"
                break
            if inner.stopped in ("time_limit", "interrupted"):
                status = inner.stopped
                break
            if limits.steps_left(steps) == 0 or idle >= IDLE:
                break
            slopes = -inner.b[:, 0] / problem.C
            rho = min(FASTER * rho, FASTEST * first)
        assert best is not None
        assert inner is not None
        note = ""
        if status == "iteration_limit" and limits.steps_left(steps) > 0:
            status = "ill_conditioned"
            gap = relative(best[2].gap, best[2].primal, best[2].dual)
            note = (
                f"the relative gap is {gap:.1e}, above tol={self.tol:g}, after {rounds} rounds; the "
                f"condition number of the last Newton system is about {inner.condition:.1e}. Lower C "
                "or loosen tol"
            )
        return Reached(
            best[0],
            best[1],
            steps,
            status,
            multipliers=best[2].multipliers,
            note=note,
            condition=inner.condition,
        )

    @staticmethod
    def _values(problem: Risk, inner: Reached) -> Values:
        """Return the values under the loss itself, at the better of two biases."""
        both = (inner.multipliers, problem.best_bias(inner.f, inner.multipliers))
        return min((problem.evaluate(inner.b, inner.f, bias) for bias in both), key=lambda v: v.gap)
