"""Maximising the evidence over the parameters of kernel and noise, from several starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from mercer.arrays import Float64
from mercer.problems.evidence import Evidence
from mercer.solvers.base import Limits

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
