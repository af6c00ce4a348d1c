"""Regularised least squares, directly and by conjugate gradients."""
