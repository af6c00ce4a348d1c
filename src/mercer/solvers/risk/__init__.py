"""Solvers of penalised risks: Newton's method on any smooth convex loss, and selection of import vectors."""

from mercer.solvers.risk.convex_concave import ConvexConcave
from mercer.solvers.risk.newton import Newton, NewtonSolution
from mercer.solvers.risk.proximal import Proximal

__all__ = ["ConvexConcave", "Newton", "NewtonSolution", "Proximal"]
