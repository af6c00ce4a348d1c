"""The proof of how good a fit is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

ROUNDING = 1e-12  # a relative gap in float64 says no more than this, however small it comes out


@dataclass(frozen=True)
class Certificate:
    """What is known of the distance between a fit and the best possible one.

    By weak duality ``dual <= optimum <= primal``; the fit's objective is ``primal``, so it is at most ``gap``
    above the optimum.

    Attributes
    ----------
    primal : float
        Value of the primal objective at the fitted function and bias.
    dual : float
        Value of the dual objective: no function has a smaller primal value.
    gap : float
        primal - dual, computed as a sum of non-negative terms; nan when the kernel is not positive
        semi-definite, because it would bound nothing.
    relative_gap : float
        gap / max(abs(primal), abs(dual)), 0 when both are 0.
    kkt_violation : float
        The largest violation of the optimality conditions.
    n_iter : int
        Steps taken by the solver.
    status : str
        "optimal", "stationary" (the kernel is not positive semi-definite), "iteration_limit", "time_limit" or
        "interrupted".
    criterion : str
        What the solver stopped on: "kkt" or "gap".
    parts : tuple of Certificate
        One per binary problem, whose values this certificate sums (``kkt_violation``: the largest).
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    n_iter: int
    status: str
    criterion: str
    parts: tuple[Certificate, ...] = ()

    def __str__(self) -> str:
        if math.isnan(self.gap):
            return (
                f"{self.status}: KKT violation {self.kkt_violation:.2g} (kernel not positive semi-definite)"
            )
        if math.isinf(self.gap):
            return f"{self.status}: nothing proved, KKT violation {self.kkt_violation:.2g}"
        proved = max(self.relative_gap, ROUNDING)
        return f"{self.status}: proved within {100 * proved:.2g} % of the best possible"


def relative(gap: float, primal: float, dual: float) -> float:
    """Return gap / max(abs(primal), abs(dual)), 0 when both are 0 and infinite while the primal is."""
    if math.isinf(gap):
        return math.inf
    scale = max(abs(primal), abs(dual))
    return gap / scale if scale > 0 else 0.0


_SEVERITY = ("optimal", "stationary", "iteration_limit", "time_limit", "interrupted")


def combine(parts: list[Certificate]) -> Certificate:
    """Return the certificate of independent problems: values add, the worst violation and status stay."""
    if len(parts) == 1:
        return replace(parts[0], parts=(parts[0],))
    primal = math.fsum(p.primal for p in parts) if not any(math.isinf(p.primal) for p in parts) else math.inf
    dual = math.fsum(p.dual for p in parts)
    gap = math.fsum(p.gap for p in parts) if not any(math.isinf(p.gap) for p in parts) else math.inf
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=relative(gap, primal, dual),
        kkt_violation=max(p.kkt_violation for p in parts),
        n_iter=sum(p.n_iter for p in parts),
        status=max((p.status for p in parts), key=_SEVERITY.index),
        criterion=parts[0].criterion,
        parts=tuple(parts),
    )
