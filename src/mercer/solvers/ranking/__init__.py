"""Solvers of pairs that shall stand in order."""
