"""How a problem is solved. A solver sees a Gram and a Problem, never labels or kernels."""

from mercer.solvers.base import Limits, Reached, Solution, Solver, Status, UnsuitableSolverError
from mercer.solvers.dual.ascent import Ascent
from mercer.solvers.dual.chunking import Chunking
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.feature_weights import Lagrangian, Subgradient
from mercer.solvers.dual.interior_point import InteriorPoint
from mercer.solvers.dual.ordered_thresholds import OrderedThresholds
from mercer.solvers.dual.smo import SMO
from mercer.solvers.linear.coordinate_descent import CoordinateDescent
from mercer.solvers.linear.dual_newton import DualNewton
from mercer.solvers.linear.newton import LinearNewton
from mercer.solvers.needs import SOLVERS, as_solver, learn_solvers, suited
from mercer.solvers.progress import Progress
from mercer.solvers.risk.convex_concave import ConvexConcave
from mercer.solvers.risk.newton import Newton
from mercer.solvers.risk.proximal import Proximal

SOLVER_NAMES = learn_solvers()

__all__ = [
    "SMO",
    "SOLVERS",
    "SOLVER_NAMES",
    "Ascent",
    "Chunking",
    "ConvexConcave",
    "CoordinateDescent",
    "Decomposition",
    "DualNewton",
    "InteriorPoint",
    "Lagrangian",
    "Limits",
    "LinearNewton",
    "Newton",
    "OrderedThresholds",
    "Progress",
    "Proximal",
    "Reached",
    "Solution",
    "Solver",
    "Status",
    "Subgradient",
    "UnsuitableSolverError",
    "as_solver",
    "suited",
]


def __dir__() -> list[str]:
    return sorted(__all__)
