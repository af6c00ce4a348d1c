"""The elementwise line of a fused kernel, applied in place to a run of squared distances or inner products."""

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


@compiled(fastmath=CONTRACT)
def transform(s: np.ndarray, code: int, a: float, b: float, c: float) -> None:
    """Replace each entry of ``s`` (1-D, contiguous) by the kernel value that it determines.

    The constants have the precision of ``s``.
    """
    prefer_wide_vectors()
    n = s.size
    one = s.dtype.type(1)  # a literal 1 would be an integer, and turn float32 into float64
    three = s.dtype.type(3)
    if code == RBF:
        for t in range(n):
            s[t] = exp_nonpositive(-a * s[t])
    elif code == LINEAR:
        for t in range(n):
            s[t] = a * s[t]
    elif code == POLYNOMIAL:
        if c == 1:
            for t in range(n):
                s[t] = a * s[t] + b
        elif c == 2:
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
    elif code == SIGMOID:
        for t in range(n):
            v = a * s[t] + b
            w = abs(v)
            e = exp_nonpositive(-(w + w))
            q = (one - e) / (one + e)
            s[t] = q if v >= 0 else -q
    elif code == MATERN32:
        for t in range(n):
            v = a * np.sqrt(s[t])
            s[t] = (one + v) * exp_nonpositive(-v)
    elif code == MATERN52:
        for t in range(n):
            v = a * np.sqrt(s[t])
            s[t] = (one + v + v * v / three) * exp_nonpositive(-v)
