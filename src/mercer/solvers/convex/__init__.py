"""Solvers of penalised risks: Newton's method on any smooth convex loss, and selection of import vectors."""

from mercer.solvers.convex.concave import ConvexConcave
from mercer.solvers.convex.newton import Newton, NewtonSolution
from mercer.solvers.convex.proximal import Proximal

__all__ = ["ConvexConcave", "Newton", "NewtonSolution", "Proximal"]
