"""How a dual is solved. A solver sees a Gram and a Dual, never labels or kernels."""

from mercer.solvers.ascent import Ascent
from mercer.solvers.base import Limits, Progress, Solution, Solver, Status, UnsuitableSolverError
from mercer.solvers.chunking import Chunking
from mercer.solvers.decomposition import Decomposition
from mercer.solvers.interior_point import InteriorPoint
from mercer.solvers.names import SOLVER_NAMES, as_solver
from mercer.solvers.primal import Lagrangian, Subgradient
from mercer.solvers.smo import SMO

__all__ = [
    "SMO",
    "SOLVER_NAMES",
    "Ascent",
    "Chunking",
    "Decomposition",
    "InteriorPoint",
    "Lagrangian",
    "Limits",
    "Progress",
    "Solution",
    "Solver",
    "Status",
    "Subgradient",
    "UnsuitableSolverError",
    "as_solver",
]
