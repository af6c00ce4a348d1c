"""Kernels between trees."""
