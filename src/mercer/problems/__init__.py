"""What is optimised: objective, optimality conditions, bias, primal value, gap, and the reductions.

A problem knows nothing of how it is solved; a solver is handed one together with a kernel matrix.

>>> import numpy as np
>>> from mercer.gram import gram
>>> from mercer.kernels import Linear
>>> from mercer.problems import soft_margin
>>> from mercer.solvers import Decomposition
>>> X, y = np.array([[-2.0], [-1.0], [1.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
>>> solution = Decomposition(tol=1e-6).solve(gram(Linear(), X), soft_margin(y, C=np.full(4, 10.0)))
>>> round(solution.values.primal, 3), round(solution.values.dual, 3)
(0.5, 0.5)
"""

from mercer.problems.approximation import DistanceFromExact
from mercer.problems.certificate import Certificate, certified, combine
from mercer.problems.classification import HardMargin, HardMarginThroughOrigin, soft_margin, squared_hinge
from mercer.problems.dual import Dual
from mercer.problems.problem import InfeasibleError, Machine, Problem, Values, relative
from mercer.problems.risk import Risk

__all__ = [
    "Certificate",
    "DistanceFromExact",
    "Dual",
    "HardMargin",
    "HardMarginThroughOrigin",
    "InfeasibleError",
    "Machine",
    "Problem",
    "Risk",
    "Values",
    "certified",
    "combine",
    "relative",
    "soft_margin",
    "squared_hinge",
]


def __dir__() -> list[str]:
    return sorted(__all__)
