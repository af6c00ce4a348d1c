"""Numbers that name the elementwise lines of the fused kernels (no numba here: the kernels import this)."""

from __future__ import annotations

LINEAR = 0  # a s
POLYNOMIAL = 1  # (a s + b)^c
SIGMOID = 2  # tanh(a s + b)
RBF = 3  # exp(-a s)
RATIONAL_QUADRATIC = 4  # (1 + a s)^(-b)
MATERN12 = 5  # exp(-a d), d = sqrt(s)
MATERN32 = 6  # (1 + a d) exp(-a d)
MATERN52 = 7  # (1 + a d + (a d)^2 / 3) exp(-a d)
