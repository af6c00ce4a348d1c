"""Machines on explicit features: the matrix is K = Z Z', and only products with Z are computed."""
