"""Newton's method for a few coefficients with lower bounds."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.problems.bernoulli_fit import BernoulliFit

ROUNDS = 100  # a dozen are usual


def projected_newton(problem: BernoulliFit, start: Float64) -> Float64:
    """Minimise by projected Newton steps from a feasible ``start``.

    Steps are halved until they gain enough. When the model promises no more than rounding, its last step is
    taken as it is: that near the optimum it squares the error, which the value is too coarse to show.

    References
    ----------
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints, SIAM J.
    Control and Optimization 20.
    """
    c, least = start, problem.least
    now = problem.value(c)
    for _ in range(ROUNDS):
        gradient, hessian = problem.slopes(c)
        hessian[np.diag_indices_from(hessian)] += 1e-12 * (1.0 + hessian.trace())
        free = (c > least) | (gradient <= 0)
        step = np.zeros(c.size)
        step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        if -float(gradient @ step) <= 1e-14 * (1.0 + abs(now)):
            return np.maximum(c + step, least)
        length = 1.0
        while True:
            moved = np.maximum(c + length * step, least)
            then = problem.value(moved)
            if then <= now + 1e-4 * float(gradient @ (moved - c)) or length < 1e-12:
                break
            length *= 0.5
        if then >= now:
            break  # rounding forbids any further step
        c, now = moved, then
    return c
