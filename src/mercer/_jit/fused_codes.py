"""Numbers that name the elementwise lines of the fused kernels (no numba here: the kernels import this)."""

from __future__ import annotations

LINEAR = 0  # a s
POLYNOMIAL = 1  # (a s + b)^c, c a whole number
SIGMOID = 2  # tanh(a s + b)
RBF = 3  # exp(-a s)
MATERN32 = 4  # (1 + a d) exp(-a d), d = sqrt(s)
MATERN52 = 5  # (1 + a d + (a d)^2 / 3) exp(-a d)
