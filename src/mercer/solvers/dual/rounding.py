"""What float64 can tell of a violation, and what single precision can."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.dual.working_set import choose

SAMPLE = 1024  # points, at most, on which the error of single precision is measured
NOISE = 1e-11  # KKT violation, relative to K beta and to the user's unit, that rounding may leave


def resolution(problem: Dual, b: Float64, f: Float64) -> float:
    """Return a violation at ``b``, with f = K beta, that no method can be sure to lower in float64."""
    unit = problem.tolerance(1.0, problem.objective(b, f))
    return NOISE * max(unit, float(np.abs(f).max(initial=0.0)))


def mend_sample(gram: Gram, problem: Dual, b: Float64, f: Float64) -> float:
    """Recompute K beta in float64 at some points, in f itself; return a bound on the error of the others.

    These are the points that decide the violation and a spread sample of the others. The largest error among
    hundreds of points, times 1.5, bounds that of all but a freak.

    Parameters
    ----------
    gram : Gram
        K, in single precision.
    problem : Dual
        The problem.
    b, f : (copies n,), (n,) float64
        A point, and K beta as single precision has it.
    """
    beta = problem.beta(b)
    support = np.flatnonzero(beta)
    size = int(np.clip(problem.n // 8, 128, SAMPLE))
    worst = choose(problem, b, problem.gradient(b, f), size // 4, size)
    spread = np.linspace(0, problem.n - 1, size).astype(np.intp)
    sample = np.unique(np.concatenate([worst, spread]))
    true = np.zeros(sample.size)
    for s in range(0, support.size, SAMPLE):
        part = support[s : s + SAMPLE]
        true += gram.exact_block(sample, part) @ beta[part]
    error = float(np.abs(true - f[sample]).max())
    f[sample] = true
    return 1.5 * error
