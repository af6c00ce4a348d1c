"""Factorisations, eigenpairs and linear systems of kernel matrices."""
