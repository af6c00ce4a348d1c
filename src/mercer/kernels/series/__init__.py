"""Kernels between time series."""
