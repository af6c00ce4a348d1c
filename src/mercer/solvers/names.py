"""The solvers by name."""

from __future__ import annotations

from mercer.solvers.ascent import Ascent
from mercer.solvers.base import Solver
from mercer.solvers.chunking import Chunking
from mercer.solvers.decomposition import Decomposition
from mercer.solvers.interior_point import InteriorPoint
from mercer.solvers.primal import Lagrangian, Subgradient
from mercer.solvers.smo import SMO

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
