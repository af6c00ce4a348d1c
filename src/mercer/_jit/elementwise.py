"""The elementwise line of a fused kernel, in place, on squared distances or inner products."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.codes import (
    LINEAR,
    MATERN32,
    MATERN52,
    POLYNOMIAL,
    RBF,
    SIGMOID,
)
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.exponential import exp_nonpositive


@compiled(fastmath=CONTRACT, inner=True)
def _exp_in_place(s: np.ndarray) -> None:
    prefer_wide_vectors()
    for t in range(s.size):
        s[t] = exp_nonpositive(s[t])


@compiled(fastmath=CONTRACT)
def transform(s: np.ndarray, code: int, a: float, b: float, c: float) -> None:
    """Replace each entry of ``s`` (1-D, contiguous) by the kernel value that it determines.

    The constants have the precision of ``s``. All lines that need an exponential share one loop for it: it is
    long code, and compiling it once is enough.
    """
    prefer_wide_vectors()
    n = s.size
    one = s.dtype.type(1)  # a literal 1 would be an integer, and turn float32 into float64
    three = s.dtype.type(3)
    if code == RBF:
        for t in range(n):
            s[t] = -a * s[t]
        _exp_in_place(s)
    elif code == LINEAR:
        for t in range(n):
            s[t] = a * s[t]
    elif code == POLYNOMIAL:
        if c == 2:
            for t in range(n):
                v = a * s[t] + b
                s[t] = v * v
        elif c == 3:
            for t in range(n):
                v = a * s[t] + b
                s[t] = v * v * v
        else:
            for t in range(n):
                v = a * s[t] + b
                w = one
                for _ in range(int(c)):
                    w = w * v
                s[t] = w
    else:
        argument = s.copy()
        if code == SIGMOID:
            for t in range(n):
                v = a * s[t] + b
                argument[t] = v
                s[t] = -abs(v + v)
        else:
            for t in range(n):
                v = a * np.sqrt(s[t])
                argument[t] = v
                s[t] = -v
        _exp_in_place(s)
        if code == SIGMOID:
            for t in range(n):
                q = (one - s[t]) / (one + s[t])
                s[t] = q if argument[t] >= 0 else -q
        elif code == MATERN32:
            for t in range(n):
                s[t] = (one + argument[t]) * s[t]
        elif code == MATERN52:
            for t in range(n):
                v = argument[t]
                s[t] = (one + v + v * v / three) * s[t]
