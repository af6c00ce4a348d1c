"""Solvers of partitions."""
