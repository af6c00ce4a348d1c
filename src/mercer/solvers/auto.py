"""The solvers by name, and the one place that chooses."""

from __future__ import annotations

from mercer.gram import Gram
from mercer.problems import Problem
from mercer.solvers.base import Solver
from mercer.solvers.dual.ascent import Ascent
from mercer.solvers.dual.chunking import Chunking
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.feature_weights import Lagrangian, Subgradient
from mercer.solvers.dual.interior_point import InteriorPoint
from mercer.solvers.dual.smo import SMO
from mercer.solvers.risk.convex_concave import ConvexConcave
from mercer.solvers.risk.newton import Newton
from mercer.solvers.risk.proximal import Proximal

# What "auto" tries, in this order.
PREFERRED: tuple[type[Solver], ...] = (Decomposition, Newton, Proximal, InteriorPoint, ConvexConcave)
STUDIED: tuple[type[Solver], ...] = (SMO, Chunking, Ascent, Lagrangian, Subgradient)

SOLVERS: dict[str, type[Solver]] = {solver.name: solver for solver in (*PREFERRED, *STUDIED)}
SOLVER_NAMES = ("auto", *SOLVERS)


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


def suited(gram: Gram, problem: Problem) -> Solver:
    """Return the solver for a problem: the first of the preferred ones whose needs it meets.

    Parameters
    ----------
    gram : Gram
        The kernel matrix.
    problem : Problem
        The problem.
    """
    for candidate in PREFERRED:
        solver = candidate()
        if solver.unmet(gram, problem) is None:
            return solver
    # The last need of the last candidate says what stands in the way.
    solver.check(gram, problem)
    raise AssertionError("a solver that refuses a problem says why")
