"""Solvers of problems that have all classes at once."""
