"""Solvers of structured machines."""
