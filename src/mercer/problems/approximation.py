r"""How far a machine on approximate features is from the exact kernel machine.

Nyström's features are projections of the kernel's own, so that a machine on them is a function of the
kernel's space with the same norm: its primal value is an exact one. Its multipliers beta are feasible for the
exact dual, whose value there is lower by half of

    beta'(K - Z Z') beta >= 0,

and the sum of the machine's own gap and that half bounds how far its objective is from the exact optimum.
Random features lie outside the kernel's space. Looked at instead is the kernel machine with the same
multipliers and bias; its gap is the sum of the losses' shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mercer.arrays import Float64, Index
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.problem import relative

CONFIDENT = 2.58  # standard errors on each side of an estimate: 99 % of a normal distribution


@dataclass(frozen=True)
class DistanceFromExact:
    """How far the objective of a machine on features is from the best that any machine of the kernel has.

    Attributes
    ----------
    primal, dual : float
        The objective of the machine in the exact problem, and a lower bound on the exact optimum.
    gap, relative_gap : float
        Their difference, and its share of the larger value.
    kind : {"bound", "estimate"}
        "bound" if all of it was computed; "estimate" if kernel values of a sample of rows stand for all, or
        if the features lie outside the kernel's space.
    error : float
        Half the width of a 99 % confidence interval of an estimated ``gap``; 0 where nothing was sampled.
    n_components : int
        Number of features.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kind: Literal["bound", "estimate"]
    error: float
    n_components: int

    def __str__(self) -> str:
        share = f"{100 * self.relative_gap:.2g} %"
        if self.kind == "bound":
            return f"within {share} of the exact optimum"
        scale = max(abs(self.primal), abs(self.dual)) or 1.0
        wide = f" (\u00b1 {100 * self.error / scale:.2g})" if self.error else ""
        return f"about {share}{wide} from the exact optimum, by an estimate"


@dataclass(frozen=True)
class Part:
    """The distance of one function's machine: primal value, gap, half the width of its interval."""

    primal: float
    gap: float
    kind: Literal["bound", "estimate"]
    error: float = 0.0


def summed(parts: Sequence[Part], n_components: int, scale: float = 1.0) -> DistanceFromExact:
    """Return the distance of all functions together, in the estimator's own units."""
    primal = scale * math.fsum(p.primal for p in parts)
    gap = scale * math.fsum(p.gap for p in parts)
    kind: Literal["bound", "estimate"] = "bound" if all(p.kind == "bound" for p in parts) else "estimate"
    error = scale * math.hypot(*(p.error for p in parts))
    return DistanceFromExact(
        primal, primal - gap, gap, relative(gap, primal, primal - gap), kind, error, n_components
    )


def projected_part(primal: float, gap: float, missing: float, error: float, sampled: bool) -> Part:
    """Return the distance of a machine on projections.

    Parameters
    ----------
    primal, gap : float
        Of the machine in its own problem.
    missing, error : float
        beta'(K - Z Z')beta, and half the width of its interval.
    sampled : bool
        Whether it was estimated.
    """
    return Part(primal, gap + 0.5 * max(missing, 0.0), "estimate" if sampled else "bound", 0.5 * error)


def outside_part(
    problem: LinearRisk, beta: Float64, products: Float64, bias: float, rows: Index | None = None
) -> Part:
    """Return the distance of the kernel machine that has the multipliers of one on other features.

    Parameters
    ----------
    problem : LinearRisk
        Loss, targets, prices.
    beta : (n,) float64
        Multipliers.
    products : (m,) float64
        K beta at some rows.
    bias : float
        The bias.
    rows : (m,) intp, optional
        Which rows; all when not given. A uniform sample stands for the others.
    """
    take = slice(None) if rows is None else rows
    C, y, b = problem.C[take], problem.y[take], beta[take]
    f, there = products + bias, C > 0
    slope = np.where(there, -b / np.where(there, C, 1.0), 0.0)
    gaps = np.where(there, C * problem.loss.excess(y, f, slope), 0.0)
    losses = np.where(there, C * problem.loss.value(y, f), 0.0)
    share = problem.n / f.size
    ridge = 0.5 * share * float(b @ products) + problem.pull * bias + problem.constant
    error = 0.0
    if rows is not None and f.size > 1:
        error = CONFIDENT * problem.n * float(gaps.std(ddof=1)) / math.sqrt(f.size)
    return Part(ridge + share * float(losses.sum()), share * float(gaps.sum()), "estimate", error)
