"""How a dual is solved. A solver sees a Gram and a Dual, never data, labels or kernels."""

from mercer.solvers.base import Limits, Solution, Status
from mercer.solvers.decomposition import Decomposition

__all__ = ["Decomposition", "Limits", "Solution", "Status"]
