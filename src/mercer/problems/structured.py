r"""Penalised risk of a function whose values are structures.

    minimise    1/2 ||w||^2 + sum_i C_i H_i(w),     H_i(w) = max_y s_i(y)
                s_i(y) = Delta(y_i, y) - <w, psi(x_i, y_i) - psi(x_i, y)>

The dual has a variable for every wrong output y of every row,

    maximise    sum_iy alpha_iy Delta(y_i, y) - 1/2 ||w(alpha)||^2,     w(alpha) = sum_iy alpha_iy d_iy
    subject to  alpha >= 0,   sum_y alpha_iy <= C_i,                    d_iy = psi(x_i, y_i) - psi(x_i, y)

and all but those of outputs that were met stay at zero. For any w and any feasible alpha

    primal - dual = sum_i [C_i H_i(w) - sum_y alpha_iy s_i(y)] + 1/2 ||w - w(alpha)||^2,

no term of which is negative. H_i needs the best of all outputs: where the argmax is not exact, H_i is bounded
from below only, and the dual is all that is proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64, Ints
from mercer.gram.joint import JointFeatures
from mercer.problems.output_pool import OutputPool, summed
from mercer.problems.problem import FEASIBLE, Machine, Problem, Values, relative, total
from mercer.structured.examples import ROUNDING, refuse_inexact

EPS = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class StructuredMachine(Machine):
    """Weights of joint features (``coef``), and the outputs with their multipliers that prove their worth."""

    rows: Ints
    outputs: Any
    multipliers: Float64

    @property
    def margin(self) -> float:
        """1 / ||w||, infinite for w = 0."""
        size = float(np.linalg.norm(self.coef))
        return 1.0 / size if size > 0 else math.inf


class StructuredRisk(Problem):
    r"""The hinge loss of structures, with the margin of each output scaled to its loss.

    A point is (w, alpha), one after the other: weights, and the multipliers of the outputs in the pool, which
    solvers fill. Its products are the values :math:`H_i(w)`.

    Parameters
    ----------
    joint : JointFeatures
        The examples.
    C : (n,) float64
        Price of each row.

    References
    ----------
    I. Tsochantaridis, T. Joachims, T. Hofmann and Y. Altun (2005), Large margin methods for structured and
    interdependent output variables, JMLR 6.
    """

    def __init__(self, joint: JointFeatures, C: Float64) -> None:
        self.examples, self.C = joint.examples, C
        self.n, self.width = joint.n, joint.width
        self.pool = OutputPool(joint.examples)
        self.reaches = "optimal" if self.examples.exact else "stationary"

    # -- points ----------------------------------------------------------------------------------------------

    def point(self, w: Float64, alpha: Float64) -> Float64:
        """Return weights and multipliers as one point."""
        return np.concatenate([w, alpha])

    def parts(self, b: Float64) -> tuple[Float64, Float64]:
        """Return the weights and the multipliers of a point."""
        return b[: self.width], b[self.width :]

    def start(self) -> Float64:
        """Return zero."""
        return np.zeros(self.width + self.pool.size)

    def nearest(self, b: Float64) -> Float64:
        """Return a point whose multipliers are feasible, with the weights that they stand for."""
        alpha = np.maximum(b[self.width :], 0.0)
        sums = self.pool.totals(alpha)
        with np.errstate(divide="ignore", invalid="ignore"):
            shrink = np.where(sums > self.C, self.C / sums, 1.0)
        alpha = alpha * shrink[self.pool.owners]
        return self.point(self.pool.weights(alpha), alpha)

    def beta(self, b: Float64) -> Float64:
        """Return the weights."""
        return b[: self.width]

    def recover(self, coef: Any) -> Float64:
        """Return the point of a machine: its outputs are taken into the pool."""
        machine: StructuredMachine = coef
        alpha = np.zeros(0)
        if machine.rows.size and self.examples.suits(machine.rows, machine.outputs):
            numbers = self.pool.add(machine.rows, machine.outputs)
            there = numbers >= 0
            alpha = summed(numbers[there], machine.multipliers[there], self.pool.size)
        return self.nearest(self.point(machine.coef, alpha))

    def machine(self, b: Float64, f: Float64) -> StructuredMachine:
        """Return the weights, with the outputs whose multipliers are positive."""
        w, alpha = self.parts(b)
        used = np.flatnonzero(alpha > 0)
        outputs = self.examples.structure.collected([self.pool.outputs[k] for k in used])
        return StructuredMachine(w, 0.0, f, self.pool.owners[used], outputs, alpha[used])

    # -- the verdict -----------------------------------------------------------------------------------------

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return primal, dual, gap and violation of a point, from one pass over all rows at its weights."""
        w, alpha = self.parts(b)
        return self._judged(w, self.pool, alpha, noise)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, from one pass over all rows at its weights."""
        assert isinstance(machine, StructuredMachine)
        pool = OutputPool(self.examples)
        rows = np.asarray(machine.rows, dtype=np.intp)
        numbers = pool.add(rows, machine.outputs)
        there = numbers >= 0
        alpha = summed(numbers[there], machine.multipliers[there], pool.size)
        return self._judged(machine.coef, pool, alpha, noise)

    def _judged(self, w: Float64, pool: OutputPool, alpha: Float64, noise: Float64 | float) -> Values:
        rows = np.arange(self.n)
        _, values, bounds = self.examples.worst(rows, w)
        scores = pool.scores(w)
        least = self.lowest(pool, scores, np.maximum(values, 0.0))
        self.check_exact(least, bounds, w)
        upper = np.where(self.C > 0, np.maximum(bounds, least), 0.0)
        ridge = 0.5 * float(w @ w)
        primal = ridge + float(self.C @ least)
        sums = pool.totals(alpha)
        nothing = np.zeros(0)
        infeasible = bool((alpha < 0).any()) or bool((sums > self.C * (1 + FEASIBLE) + 1e-300).any())
        if infeasible or not math.isfinite(primal):
            return Values.infeasible(primal, nothing)
        away = w - pool.weights(alpha)
        # What every row lacks: no term is negative, since no output of the pool exceeds the best.
        slack = np.maximum(self.C * upper - pool.totals(alpha * scores), 0.0)
        gap = float(slack.sum()) + 0.5 * float(away @ away)
        rounding = total(self.C + sums, noise) + EPS * (abs(primal) + float(alpha @ np.abs(pool.losses)))
        rounding += EPS * float(np.abs(alpha) @ np.sqrt(pool.squares)) * float(np.linalg.norm(away))
        if self.examples.exact:
            dual = primal - gap
        else:
            dual = (
                primal
                - float((self.C * least - pool.totals(alpha * scores)).sum())
                - 0.5 * float(away @ away)
            )
            if math.isfinite(gap):
                primal = ridge + float(self.C @ upper)
        violation = self._violation(least, scores, pool, alpha, sums, away)
        return Values(primal, dual, gap, violation, nothing, rounding, ridge + float(self.C @ least))

    @staticmethod
    def lowest(pool: OutputPool, scores: Float64, values: Float64) -> Float64:
        """Return the largest s that is known of each row: what the argmax found, or what the pool has."""
        known = values.copy()
        np.maximum.at(known, pool.owners, scores)
        return known

    def check_exact(self, least: Float64, bounds: Float64, w: Float64) -> None:
        """Refuse an argmax that says it is exact where the pool knows better outputs."""
        missed = least - bounds
        allowed = ROUNDING * (1.0 + float(np.linalg.norm(w)) * self.examples.reach)
        if self.examples.exact and (missed > allowed).any():
            row = int((missed - allowed).argmax())
            refuse_inexact(self.examples.structure, row, float(missed[row]))

    def _violation(
        self, best: Float64, scores: Float64, pool: OutputPool, alpha: Float64, sums: Float64, away: Float64
    ) -> float:
        """Return how far outputs with multipliers fall behind the best, and w behind its multipliers."""
        used = alpha > FEASIBLE * self.C[pool.owners]
        behind = best[pool.owners[used]] - scores[used]
        idle = (sums < self.C * (1 - FEASIBLE)) & (self.C > 0)  # rows whose true output has a multiplier
        worst = max(float(behind.max(initial=0.0)), float(best[idle].max(initial=0.0)))
        return max(worst, float(np.abs(away).max(initial=0.0)))

    def met(self, values: Values, criterion: str, tol: float) -> bool:
        """Return whether the relative gap meets a tolerance; of an inexact argmax, the gap that it sees."""
        if self.reaches == "optimal":
            return super().met(values, "gap", tol)
        seen = values.size  # the primal value as far as the argmax sees it
        return relative(seen - values.dual, seen, values.dual) <= tol
