"""What solvers of penalised risks may need, each with the sentence that says what is missing."""

from __future__ import annotations

from mercer.problems.risk import Risk
from mercer.solvers.base import Need

A_RISK = Need(
    lambda solver, gram, problem: isinstance(problem, Risk),
    lambda solver, gram, problem: (
        "minimises a loss that is not piecewise linear; this problem is a box-constrained dual: use "
        'solver="auto" or "decomposition"'
    ),
)

SMOOTH = Need(
    lambda solver, gram, problem: problem.loss.smooth,
    lambda solver, gram, problem: (
        f'needs a continuous derivative, and {problem.loss!r} has kinks: use solver="auto" or "proximal"'
    ),
)

DEFINITE = Need(
    lambda solver, gram, problem: gram.is_psd is not False,
    lambda solver, gram, problem: (
        'needs a positive semi-definite kernel matrix, and this one is not: use solver="auto" or '
        '"convex_concave"'
    ),
)

ONE_FUNCTION = Need(
    lambda solver, gram, problem: not problem.joint,
    lambda solver, gram, problem: (
        f"fits one function at a time, and {problem.loss!r} has kinks and several functions, for which there "
        "is no solver"
    ),
)

SMOOTH_IF_INDEFINITE = Need(
    lambda solver, gram, problem: problem.loss.smooth,
    lambda solver, gram, problem: (
        f"needs a continuous derivative: {problem.loss!r} has kinks, and the kernel is not positive "
        "semi-definite. For one of the two there is a solver, for both together only where the loss is "
        "piecewise linear"
    ),
)

THE_MATRIX = Need(
    lambda solver, gram, problem: 8 * gram.n**2 <= 2 * solver.block_bytes,
    lambda solver, gram, problem: (
        f"decomposes the kernel matrix, which is not positive semi-definite and takes "
        f"{8e-6 * gram.n**2:.0f} MB of cache_size ({2e-6 * solver.block_bytes:.0f} MB are there for each "
        "problem): raise it, or use another kernel"
    ),
)
