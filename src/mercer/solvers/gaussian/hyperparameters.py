"""Maximising the evidence over the parameters of kernel and noise, from several starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from mercer.arrays import Float64
from mercer.problems.evidence import Evidence
from mercer.solvers.base import Limits

STEPS = 8  # of `climb`, each an evaluation
LONGEST = 1.0  # step of a parameter's logarithm
SETTLED = 2e-9  # relative rise of the evidence that is not worth another evaluation, as L-BFGS has it
NUDGE = 1e-4  # of a parameter's logarithm, for differences of gradients
TIED = 1e-9  # relative difference of values that rounding may account for


class Found(NamedTuple):
    """The best parameters seen, their evidence, and how the search ended."""

    theta: Float64
    evidence: Evidence
    evaluations: int
    status: str
    message: str


class _OutOfTime(Exception):  # noqa: N818  it is no error
    """The seconds are used up."""


def remembering(evidence: Callable[[Float64], Evidence]) -> Callable[[Float64], Evidence]:
    """Return the same function, which computes nothing twice.

    Parameters
    ----------
    evidence : callable
        theta -> Evidence.
    """
    seen: dict[bytes, Evidence] = {}

    def again(theta: Float64) -> Evidence:
        key = np.asarray(theta, dtype=np.float64).tobytes()
        if key not in seen:
            seen[key] = evidence(theta)
        return seen[key]

    return again


def curvature(evidence: Callable[[Float64], Evidence], theta: Float64) -> Float64:
    """Return the second derivatives of minus the evidence, by differences of its gradients.

    Parameters
    ----------
    evidence : callable
        theta -> Evidence with its gradient.
    theta : (p,) array
        Where.

    Returns
    -------
    (p, p) array
    """
    here = evidence(theta).gradient
    rows = [here - evidence(theta + NUDGE * e).gradient for e in np.eye(theta.size)]
    H: Float64 = np.array(rows) / NUDGE
    return 0.5 * (H + H.T)


def climb(
    evidence: Callable[[Float64], Evidence], theta: Float64, H: Float64, bounds: Float64, limits: Limits
) -> tuple[Float64, bool]:
    """Return a better theta by quasi-Newton steps from a known curvature, and whether it is the maximum.

    Near the maximum this takes a few evaluations where a method that begins without a curvature takes a
    dozen. It ends where a step does not help; others go on from there.

    Parameters
    ----------
    evidence : callable
        theta -> Evidence with its gradient.
    theta : (p,) array
        Where to begin.
    H : (p, p) array
        Second derivatives of minus the evidence near by.
    bounds : (p, 2) array
        Of theta.
    limits : Limits
        Seconds.
    """
    low, high = bounds.T
    here = evidence(theta)
    for _ in range(STEPS):
        if limits.out_of_time():
            break
        g = here.gradient
        free = np.flatnonzero(((theta > low) | (g > 0)) & ((theta < high) | (g < 0)))
        if np.linalg.eigvalsh(H[np.ix_(free, free)]).min(initial=np.inf) <= 0:
            return theta, False
        step = np.zeros(theta.size)
        step[free] = np.linalg.solve(H[np.ix_(free, free)], g[free])
        step *= min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        if float(g @ step) <= SETTLED * max(1.0, abs(here.value)):
            return theta, True
        there = np.clip(theta + step, low, high)
        found = evidence(there)
        if not found.value > here.value:
            return theta, False
        s, change = there - theta, g - found.gradient
        if s @ change > 0:  # the update of Broyden, Fletcher, Goldfarb and Shanno
            Hs = H @ s
            H = H - np.outer(Hs, Hs) / (s @ Hs) + np.outer(change, change) / (s @ change)
        theta, here = there, found
    return theta, False


def stay(function: Any, start: Float64, bounds: Float64) -> tuple[Float64, float]:
    """Return the start: an optimizer for what is at its maximum already."""
    return start, function(start)[0]


def maximise(
    evidence: Callable[[Float64], Evidence],
    starts: list[Float64],
    bounds: Float64,
    *,
    limits: Limits,
    optimizer: Any = "fmin_l_bfgs_b",
    listener: Callable[[int, float], None] | None = None,
) -> Found:
    """Maximise a smooth function with bounds, from each of several starts.

    Parameters
    ----------
    evidence : callable
        theta -> Evidence with its gradient.
    starts : list of (p,) array
        Where to begin.
    bounds : (p, 2) array
        Of theta.
    limits : Limits
        Iterations of each start, and seconds for all.
    optimizer : str or callable
        A name stands for L-BFGS with bounds.
        A callable takes (function, start, bounds), where the function returns minus the evidence and its
        gradient, and returns the best theta and its value, as in scikit-learn.
    listener : callable, optional
        Hears the number and the value of each evaluation.

    Returns
    -------
    Found

    References
    ----------
    .. [1] R. H. Byrd, P. Lu, J. Nocedal and C. Zhu (1995). A limited memory algorithm for bound constrained
       optimization. *SIAM Journal on Scientific Computing* 16(5), 1190-1208.
    """
    best: list[tuple[Float64, Evidence]] = []
    seen: dict[bytes, Evidence] = {}
    count = 0

    def settle(theta: Float64) -> None:
        """Prefer where an optimizer has come to rest to a point on its way with as good a value."""
        found = seen.get(np.asarray(theta, dtype=np.float64).tobytes())
        if found is not None and found.value >= best[0][1].value - TIED * abs(best[0][1].value):
            best[:] = [(np.array(theta, dtype=np.float64), found)]

    def objective(theta: Float64, eval_gradient: bool = True) -> Any:
        nonlocal count
        if best and limits.out_of_time():
            raise _OutOfTime
        found = evidence(np.asarray(theta, dtype=np.float64))
        count += 1
        seen[np.asarray(theta, dtype=np.float64).tobytes()] = found
        if listener is not None:
            listener(count, found.value)
        if not best or found.value > best[0][1].value:
            best[:] = [(np.array(theta, dtype=np.float64), found)]
        return (-found.value, -found.gradient) if eval_gradient else -found.value

    status, message = "optimal", ""
    try:
        for start in starts:
            point = np.clip(start, bounds[:, 0], bounds[:, 1])
            if callable(optimizer):
                theta, _ = optimizer(objective, point, bounds)
                objective(np.clip(np.asarray(theta, dtype=np.float64), bounds[:, 0], bounds[:, 1]))
                continue
            most = limits.max_iter if limits.max_iter >= 0 else 15000
            options: Any = {"maxiter": most}
            box: Any = Bounds(bounds[:, 0], bounds[:, 1])
            result = minimize(objective, point, jac=True, bounds=box, method="L-BFGS-B", options=options)
            settle(result.x)
            if not result.success and result.nit >= most:
                status, message = "iteration_limit", str(result.message)
    except _OutOfTime:
        status = "time_limit"
    if limits.out_of_time():  # the last evaluation may not have been finished
        status = "time_limit"
    theta, found = best[0]
    return Found(theta, found, count, status, message)
