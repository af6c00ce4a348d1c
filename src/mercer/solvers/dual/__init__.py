"""Solvers of box-constrained quadratic duals over a kernel matrix."""
