"""Solvers of penalised risks: Newton's method on any smooth convex loss, and selection of import vectors."""
