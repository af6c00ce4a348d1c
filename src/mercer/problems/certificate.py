"""The proof of how good a fit is, made in one place for all problems and all solvers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Float64
from mercer.problems.kernel_weights import WeightSlack
from mercer.problems.problem import Machine, Problem, Values, meets, relative

ROUNDING = 1e-12  # a relative gap in float64 says no more than this, however small it comes out

KNOWN = 1e-3  # share of the objective that rounding may hide, whatever tol says

# From best to worst: several problems together have the worst status of any.
STATUSES = (
    "optimal",
    "stationary",
    "ill_conditioned",
    "iteration_limit",
    "time_limit",
    "interrupted",
    "infeasible",
    "unbounded",
)


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
        Value of the dual objective: no function has a smaller primal value. Minus infinity where the
        multipliers are infeasible, and nothing is proved.
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
        "optimal": the violation or the gap, whichever ``criterion`` names, meets ``tol``, or the gap is no
        larger than its own rounding error. "stationary": the same for a kernel that is not positive
        semi-definite, without a gap; for a structure whose argmax is not exact; and for a partition that no
        single step improves. "ill_conditioned": rounding forbids any further gain. "iteration_limit",
        "time_limit", "interrupted": why the solver stopped early. "infeasible", "unbounded": the multipliers
        prove nothing, or the problem has no optimum.
    criterion : str
        What the solver stopped on: "kkt", "gap" or "growth".
    parts : tuple of Certificate
        One per binary problem, whose values this certificate sums (``kkt_violation``: the largest).
    rounding : float
        A bound on the rounding error of ``primal``, ``dual`` and ``gap``.
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
    rounding: float = 0.0

    def __str__(self) -> str:
        if math.isnan(self.gap):
            return (
                f"{self.status}: KKT violation {self.kkt_violation:.2g} (kernel not positive semi-definite)"
            )
        scale = max(abs(self.primal), abs(self.dual))
        if math.isfinite(self.gap) and scale <= self.rounding:
            return f"{self.status}: the objective is 0 within rounding"
        proved = max(self.relative_gap, relative(self.rounding, self.primal, self.dual), ROUNDING)
        if math.isinf(self.gap) or math.isinf(proved):
            return f"{self.status}: nothing proved, KKT violation {self.kkt_violation:.2g}"
        return f"{self.status}: proved within {_percent(proved)} of the best possible"


def _percent(proved: float) -> str:
    """Return a relative gap in words that are the same on every processor: rounded up to a power of ten.

    How far below its tolerance a solver ends is a matter of rounding; from 1 % on, two digits are shown.
    """
    if proved < 0.01:
        return f"{max(10.0 ** math.ceil(round(math.log10(proved), 6) + 2), 1e-4):g} %"
    unit = 10.0 ** (math.floor(math.log10(proved)) - 1)
    percent = 100 * unit * math.ceil(proved / unit * (1 - 1e-12))
    return f"{percent:.{1 if percent < 10 else 0}f} %"


def certified(
    problem: Problem,
    machine: Machine,
    *,
    tol: float,
    criterion: str,
    n_iter: int,
    stopped: str,
    psd: bool = True,
    noise: Float64 | float = 0.0,
) -> Certificate:
    """Return the certificate of a shipped machine.

    The point that the machine stands for is recovered, its feasibility checked, and its values computed in
    float64. The status follows from these numbers; what the solver believes counts for nothing.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    machine : Machine
        What is shipped, with K coef.
    tol, criterion
        What was asked for.
    n_iter : int
        Steps of the solver.
    stopped : str
        Why the solver stopped: a limit, or what it takes for the optimum.
    psd : bool
        Whether the kernel is positive semi-definite: only then does a gap bound anything.
    noise : float or (n,) float64
        A bound on the error of K coef.
    """
    if problem.known is not None:  # nothing is left to compute, so nothing can overflow
        values = problem.certify(machine, machine.products, noise)
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # the status tells of values that overflow
            values = problem.certify(machine, machine.products, noise)
    return concluded(
        problem,
        values,
        tol=tol,
        criterion=criterion,
        n_iter=n_iter,
        stopped=stopped,
        psd=psd,
    )


def concluded(
    problem: Problem | None,
    values: Values,
    *,
    tol: float,
    criterion: str,
    n_iter: int,
    stopped: str,
    psd: bool,
) -> Certificate:
    """Return the certificate of values; ``tol`` is in the units of the problem or, without one, in theirs."""
    status = verdict(problem, values, criterion, tol, stopped, psd)
    gap = values.gap if psd else math.nan
    return Certificate(
        values.primal,
        values.dual,
        gap,
        relative(gap, values.primal, values.dual) if psd else gap,
        values.violation,
        n_iter,
        status,
        criterion,
        rounding=values.rounding,
    )


def verdict(
    problem: Problem | None, values: Values, criterion: str, tol: float, stopped: str, psd: bool
) -> str:
    """Return the status that numbers deserve: "optimal" where they meet ``tol`` or are rounding alone."""
    if stopped == "interrupted":
        return stopped  # whoever pressed Ctrl-C wants to know, however good the point is
    finite = math.isfinite(values.primal) and math.isfinite(values.dual)
    if problem is not None and problem.reaches == "stationary":
        if finite and problem.met(values, criterion, tol):
            return problem.reaches
        return "ill_conditioned" if stopped in ("optimal", "stationary") else stopped
    if psd and values.feasible and finite:
        met = meets(values, criterion, tol, tol) if problem is None else problem.met(values, criterion, tol)
        met = met or values.gap <= values.rounding
        # A gap that is lost in its own rounding error proves nothing.
        scale = max(abs(values.primal), abs(values.dual), values.size)
        met = met and (values.rounding <= max(tol, KNOWN) * scale or scale == 0.0)
    else:
        allowed = tol if problem is None else problem.allowed(tol, values)
        met = not psd and finite and values.violation <= allowed
    if met:
        return "optimal" if psd else "stationary"
    if stopped not in ("optimal", "stationary"):
        return stopped  # a limit
    if psd and not values.feasible:
        return "infeasible"
    # Whatever the solver believes. A dual that has stopped growing proves nothing.
    return "iteration_limit" if criterion == "growth" else "ill_conditioned"


def combine(parts: list[Certificate]) -> Certificate:
    """Return the certificate of independent problems: values add, the worst violation and status stay."""
    if len(parts) == 1:
        return replace(parts[0], parts=(parts[0],))
    primal = _sum([p.primal for p in parts])
    dual = _sum([p.dual for p in parts])
    gap = _sum([p.gap for p in parts])
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=relative(gap, primal, dual),
        kkt_violation=max(p.kkt_violation for p in parts),
        n_iter=sum(p.n_iter for p in parts),
        status=max((p.status for p in parts), key=STATUSES.index),
        criterion=parts[0].criterion,
        parts=tuple(parts),
        rounding=_sum([p.rounding for p in parts]),
    )


def jointly(certificate: Certificate, slack: WeightSlack, tol: float) -> Certificate:
    """Return the certificate of machines and weights of kernels together, given that of the machines.

    The joint dual value is lower than the machines' own by the slack of the weights, and the gap larger. Both
    must be small: the machines meet their criterion, and the slack (with ``criterion="gap"``, the whole gap)
    is at most ``tol`` of the objective.

    Parameters
    ----------
    certificate : Certificate
        Of the machines with the kernel that is shipped.
    slack : WeightSlack
        How far the weights are from the best ones for the shipped coefficients.
    tol : float
        What was asked for.
    """
    dual, gap = certificate.dual - slack.value, certificate.gap + slack.value
    rounding = certificate.rounding + slack.rounding
    missing = gap if certificate.criterion == "gap" else slack.value
    met = relative(missing, certificate.primal, dual) <= tol or missing <= rounding
    early = certificate.status == "optimal" and not met
    return replace(
        certificate,
        dual=dual,
        gap=gap,
        relative_gap=relative(gap, certificate.primal, dual),
        status="iteration_limit" if early else certificate.status,
        rounding=rounding,
    )


def _sum(values: list[float]) -> float:
    infinite = [v for v in values if math.isinf(v)]
    return infinite[0] if infinite else math.fsum(values)
