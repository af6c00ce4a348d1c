"""Kernels between graphs."""
