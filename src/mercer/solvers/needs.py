"""What solvers may need of a problem, each need with the sentence for those who fail it; and the chooser.

A solver that "auto" considers is one of those ``FOR_DUALS`` or ``FOR_RISKS``; the first whose needs a problem
meets solves it.
"""

from __future__ import annotations

import numpy as np

from mercer.gram import Gram
from mercer.gram.features import Features
from mercer.problems import Dual, Problem
from mercer.problems.joint_margin import JointMargin
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.pair_ranking import PairRanking
from mercer.problems.risk import Risk
from mercer.problems.structured import StructuredRisk
from mercer.solvers.base import Need, Solver
from mercer.values import subclasses

# -- of box-constrained duals --------------------------------------------------------------------------------

A_DUAL = Need(
    lambda solver, gram, problem: isinstance(problem, Dual) and not problem.sums_vary,
    lambda solver, gram, problem: (
        "solves box-constrained duals (support vector machines, piecewise-linear losses), and this problem "
        'is of another kind: use solver="auto"'
    ),
)

GROUP_SUMS = Need(
    lambda solver, gram, problem: problem.equalities is None,
    lambda solver, gram, problem: (
        "exchanges variables whose sum is fixed, and this problem has other linear equalities (an "
        'unpenalised parametric part): use solver="interior_point"'
    ),
)

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


def _bounded(solver: Solver, gram: Gram, problem: Dual) -> bool:
    return not problem.has_shift and bool(np.isfinite(problem.hi - problem.lo).all())


A_LINEAR_LOSS = Need(
    _bounded,
    lambda solver, gram, problem: (
        "follows a subgradient whose size C bounds; squared losses have no such bound: use "
        'loss="hinge" (or "epsilon_insensitive"), or another solver'
    ),
)

A_LINEAR_LOSS_OR_NONE = Need(
    lambda solver, gram, problem: problem.unbounded_without_margin or _bounded(solver, gram, problem),
    lambda solver, gram, problem: (
        "goes to the saddle point of a Lagrangian whose multipliers C bounds, or of one without any loss "
        '(C=inf); squared losses have no such bound: use loss="hinge" (or "epsilon_insensitive"), or another '
        "solver"
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

AN_ORDER = Need(
    lambda solver, gram, problem: isinstance(problem, Dual) and problem.sums_vary,
    lambda solver, gram, problem: (
        "keeps thresholds in order, which this problem has none of or which come in order by themselves "
        '(implicit constraints): use solver="auto"'
    ),
)

SIMPLICES = Need(
    lambda solver, gram, problem: isinstance(problem, JointMargin),
    lambda solver, gram, problem: (
        "solves the margin of all classes together (CrammerSingerSVC, multiclass='joint'), and this problem "
        'is of another kind: use solver="auto"'
    ),
)

PAIRS = Need(
    lambda solver, gram, problem: isinstance(problem, PairRanking),
    lambda solver, gram, problem: (
        'puts pairs within queries in order (RankSVM), and this problem is of another kind: use solver="auto"'
    ),
)

# -- of penalised risks --------------------------------------------------------------------------------------

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

# -- the choice ----------------------------------------------------------------------------------------------

FOR_DUALS = ("decomposition", "interior_point")
FOR_RISKS = ("newton", "proximal", "convex_concave")
# Planes are few where weights are; with many weights, steps on single rows get farther in a pass.
FEW_WEIGHTS, MANY_WEIGHTS, WEIGHTS = ("cutting_planes",), ("block_frank_wolfe",), 300
# On explicit features Newton's method is best, but where a loss has kinks and the features are many.
FEW_FEATURES = ("linear_newton",)
MANY_FEATURES = ("coordinate_descent", "linear_newton")
MANY, MANY_OF_SPARSE_ROWS = 2000, 100
# The linear kernel's dual is solved in the weights of features where these are few beside the rows.
LINEAR_KERNEL = ("dual_newton", *FOR_DUALS)
MANY_ROWS, FEW, ROWS_FOR_EACH = 3000, 500, 20
SOLVERS: dict[str, type[Solver]] = {}  # by name, those that "auto" tries first, in its order


def learn_solvers() -> tuple[str, ...]:
    """Find the solvers that have a name; the package calls this once all are there.

    Returns
    -------
    tuple of str
        What estimators take as ``solver``.
    """
    found = {cls.name: cls for cls in subclasses(Solver) if cls.name}
    first = (*FOR_DUALS, *FOR_RISKS, *MANY_FEATURES)
    SOLVERS.update((name, found[name]) for name in (*first, *sorted(found.keys() - set(first))))
    return ("auto", *SOLVERS)


def as_solver(solver: str | Solver) -> Solver | None:
    """Return the solver that a name stands for, with its default options, or the solver itself.

    Parameters
    ----------
    solver : str or Solver
        "auto" stands for none yet: :func:`suited` chooses when the problem is known.
    """
    if isinstance(solver, Solver):
        return solver
    return None if solver == "auto" else SOLVERS[solver]()


def _has_few_features(gram: Gram) -> bool:
    Z = gram.features() if gram.n >= MANY_ROWS else None
    return Z is not None and Z.shape[1] <= min(FEW, gram.n // ROWS_FOR_EACH)


def suited(gram: Gram, problem: Problem) -> Solver:
    """Return the solver for a problem: the first of the preferred ones whose needs it meets.

    Parameters
    ----------
    gram : Gram
        The kernel matrix.
    problem : Problem
        The problem.
    """
    names: tuple[str, ...] = FOR_RISKS
    if isinstance(problem, StructuredRisk):
        names = FEW_WEIGHTS if problem.width <= WEIGHTS else MANY_WEIGHTS
    elif isinstance(problem, JointMargin):
        names = ("simplex_blocks",)
    elif isinstance(problem, PairRanking):
        names = ("pair_newton",)
    elif isinstance(problem, Dual) and problem.sums_vary:
        names = ("ordered_thresholds",)
    elif isinstance(problem, Dual):
        names = LINEAR_KERNEL if _has_few_features(gram) else FOR_DUALS
    elif isinstance(gram, Features) and isinstance(problem, LinearRisk):
        many = gram.width > (MANY_OF_SPARSE_ROWS if gram.sparse else MANY)
        names = MANY_FEATURES if many and not problem.loss.smooth else FEW_FEATURES
    for name in names:
        solver = SOLVERS[name]()
        if solver.unmet(gram, problem) is None:
            return solver
    # The last need of the last candidate says what stands in the way.
    solver.check(gram, problem)
    raise AssertionError("a solver that refuses a problem says why")
