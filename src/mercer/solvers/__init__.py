"""How a problem is solved. A solver sees a Gram and a Problem, never labels or kernels."""

from mercer.solvers.base import Limits, Reached, Solution, Solver, Status, UnsuitableSolverError
from mercer.solvers.clustering.lloyd import Lloyd
from mercer.solvers.dual.ascent import Ascent
from mercer.solvers.dual.chunking import Chunking
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.feature_weights import Lagrangian, Subgradient
from mercer.solvers.dual.interior_point import InteriorPoint
from mercer.solvers.dual.ordered_thresholds import OrderedThresholds
from mercer.solvers.dual.smo import SMO
from mercer.solvers.joint.simplex_blocks import SimplexBlocks
from mercer.solvers.linear.coordinate_descent import CoordinateDescent
from mercer.solvers.linear.dual_newton import DualNewton
from mercer.solvers.linear.weights_newton import LinearNewton
from mercer.solvers.needs import SOLVERS, as_solver, learn_solvers, suited
from mercer.solvers.progress import Progress
from mercer.solvers.ranking.pair_newton import PairNewton
from mercer.solvers.risk.convex_concave import ConvexConcave
from mercer.solvers.risk.newton import Newton
from mercer.solvers.risk.proximal import Proximal
from mercer.solvers.structured.block_frank_wolfe import BlockFrankWolfe
from mercer.solvers.structured.cutting_planes import CuttingPlanes
from mercer.solvers.structured.subgradient import StochasticSubgradient

SOLVER_NAMES = learn_solvers()

__all__ = [
    "SMO",
    "SOLVERS",
    "SOLVER_NAMES",
    "Ascent",
    "BlockFrankWolfe",
    "Chunking",
    "ConvexConcave",
    "CoordinateDescent",
    "CuttingPlanes",
    "Decomposition",
    "DualNewton",
    "InteriorPoint",
    "Lagrangian",
    "Limits",
    "LinearNewton",
    "Lloyd",
    "Newton",
    "OrderedThresholds",
    "PairNewton",
    "Progress",
    "Proximal",
    "Reached",
    "SimplexBlocks",
    "Solution",
    "Solver",
    "Status",
    "StochasticSubgradient",
    "Subgradient",
    "UnsuitableSolverError",
    "as_solver",
    "suited",
]


def __dir__() -> list[str]:
    return sorted(__all__)
