"""What the Gram layer needs to know of a kernel to compute it inside its own loops.

A fused kernel is one elementwise line over a statistic that all such kernels share:

    k(x, z) = f(s(x, z)),    s = <x, z>  or  s = ||x - z||^2

and the line ``f`` is one of a handful, told apart by a number (`mercer.kernels.fused` has the names).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mercer._jit.fused_codes import (
    LINEAR,
    MATERN32,
    MATERN52,
    POLYNOMIAL,
    RBF,
    SIGMOID,
)

__all__ = [
    "LINEAR",
    "MATERN32",
    "MATERN52",
    "POLYNOMIAL",
    "RBF",
    "SIGMOID",
    "Fused",
    "Statistic",
]

Statistic = Literal["dot", "sqdist"]


@dataclass(frozen=True)
class Fused:
    """The line ``code`` with constants a, b, c over ``statistic``.

    Parameters
    ----------
    statistic : {"dot", "sqdist"}
        The inner product <x, z> or the squared distance ||x - z||^2, written s below; d = sqrt(s).
    code : int
        LINEAR: a s. POLYNOMIAL: (a s + b)^c. SIGMOID: tanh(a s + b). RBF: exp(-a s).
        MATERN32: (1 + a d) exp(-a d).
        MATERN52: (1 + a d + (a d)^2 / 3) exp(-a d).
    a, b, c : float
        The line's constants; those that it does not use are 0.
    """

    statistic: Statistic
    code: int
    a: float
    b: float = 0.0
    c: float = 0.0
