"""What solvers may need of a problem, each with the sentence that says what is missing and what to do."""

from __future__ import annotations

import numpy as np

from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.base import Need, Solver

A_FIXED_SUM = Need(
    lambda solver, gram, problem: problem.group is not None,
    lambda solver, gram, problem: (
        "exchanges between two variables whose sum is fixed, and without a bias no sum is: use "
        'fit_intercept=True, or solver="ascent", which is its form for a fixed bias'
    ),
)

NO_FIXED_SUM = Need(
    lambda solver, gram, problem: problem.group is None,
    lambda solver, gram, problem: (
        "changes one variable at a time, which would break the sums that this problem fixes beside its bias "
        '(nu machines, balls, one-class planes): use solver="decomposition", "smo", "chunking" or '
        '"interior_point"'
    ),
)

POSITIVE_SEMIDEFINITE = Need(
    lambda solver, gram, problem: gram.is_psd is not False,
    lambda solver, gram, problem: (
        "factorises the kernel matrix, which must be positive semi-definite, and this kernel is not: use "
        'solver="decomposition" or "smo"'
    ),
)


def _block_bytes(problem: Dual) -> int:
    return 8 * problem.n * problem.n


IN_MEMORY = Need(
    lambda solver, gram, problem: _block_bytes(problem) <= solver.block_bytes,
    lambda solver, gram, problem: (
        f"keeps the whole kernel matrix in memory: {problem.n} points take {_block_bytes(problem) / 1e6:.0f} "
        f"MB, and {solver.block_bytes / 1e6:.0f} MB are allowed: raise cache_size to at least "
        f'{2 * _block_bytes(problem) / 1e6:.0f}, or use solver="decomposition", "chunking" or "ascent"'
    ),
)


def _bounded(solver: Solver, gram: Gram, problem: Dual) -> bool:
    return not problem.has_shift and bool(np.isfinite(problem.hi - problem.lo).all())


A_LINEAR_LOSS = Need(
    _bounded,
    lambda solver, gram, problem: (
        "follows a subgradient whose size C bounds; squared losses have no such bound: use "
        'loss="hinge" (or "epsilon_insensitive"), or another solver'
    ),
)

ONE_BIAS = Need(
    lambda solver, gram, problem: (
        problem.group is None or (problem.sums.size == 1 and float(problem.sums[0]) == 0.0)
    ),
    lambda solver, gram, problem: (
        "is for the soft margin and the tube (SVC with a finite C, SVR); this problem is another one: use "
        'solver="decomposition"'
    ),
)

FEATURES = Need(
    lambda solver, gram, problem: gram.features() is not None,
    lambda solver, gram, problem: (
        'works on the weights of the features and needs the data of a linear kernel: use kernel="linear" '
        'with vectors, or solver="decomposition"'
    ),
)
