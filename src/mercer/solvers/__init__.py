"""How a dual is solved. A solver sees a Gram and a Dual, never labels or kernels."""

from mercer.solvers.base import Limits, Progress, Solution, Solver, Status, UnsuitableSolverError
from mercer.solvers.dual.ascent import Ascent
from mercer.solvers.dual.chunking import Chunking
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.feature_weights import Lagrangian, Subgradient
from mercer.solvers.dual.interior_point import InteriorPoint
from mercer.solvers.dual.smo import SMO
from mercer.solvers.names import SOLVER_NAMES, as_solver

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
