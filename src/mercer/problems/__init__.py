"""What is optimised: objective, optimality conditions, bias, primal value, gap, and the reductions.

A problem knows nothing of how it is solved.
"""

from mercer.problems.certificate import Certificate, combine, relative
from mercer.problems.classification import HardMargin, HardMarginThroughOrigin, soft_margin, squared_hinge
from mercer.problems.dual import Dual, InfeasibleError, Machine, Values

__all__ = [
    "Certificate",
    "Dual",
    "HardMargin",
    "HardMarginThroughOrigin",
    "InfeasibleError",
    "Machine",
    "Values",
    "combine",
    "relative",
    "soft_margin",
    "squared_hinge",
]
