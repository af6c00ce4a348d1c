"""The solvers by name."""

from __future__ import annotations

from mercer.solvers.base import Solver
from mercer.solvers.dual.ascent import Ascent
from mercer.solvers.dual.chunking import Chunking
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.feature_weights import Lagrangian, Subgradient
from mercer.solvers.dual.interior_point import InteriorPoint
from mercer.solvers.dual.smo import SMO

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (Decomposition, SMO, Chunking, Ascent, InteriorPoint, Lagrangian, Subgradient)
}
SOLVER_NAMES = ("auto", *SOLVERS)


def as_solver(solver: str | Solver) -> Solver:
    """Return the solver that a name stands for, with its default options, or the solver itself.

    Parameters
    ----------
    solver : str or Solver
        "auto" is the decomposition method, which solves every problem.
    """
    if isinstance(solver, Solver):
        return solver
    return SOLVERS["decomposition" if solver == "auto" else solver]()
