"""The elementwise line of a fused kernel, in place, on squared distances or inner products.

A line is a tuple, and its type chooses what is compiled: (a,) is the Gaussian exp(-a s), by far the most
used, whose loops then hold nothing else and compile in half the time; (squared, code, a, b, c) is any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled
from mercer._jit.exponential import exp_nonpositive
from mercer._jit.fused_codes import (
    LINEAR,
    MATERN32,
    MATERN52,
    POLYNOMIAL,
    SIGMOID,
)


@compiled(fastmath=CONTRACT, inner=True)
def _exp_in_place(s: np.ndarray) -> None:
    prefer_wide_vectors()
    for t in range(s.size):
        s[t] = exp_nonpositive(s[t])


@compiled(fastmath=CONTRACT, inner=True)
def _gauss(s: np.ndarray, a: float) -> None:
    prefer_wide_vectors()
    for t in range(s.size):
        s[t] = exp_nonpositive(-a * s[t])


@compiled(fastmath=CONTRACT, inner=True)
def _other(s: np.ndarray, code: int, a: float, b: float, c: float) -> None:
    """Any line but the Gaussian; those that need an exponential use one loop for it, which is long code."""
    prefer_wide_vectors()
    n = s.size
    one = s.dtype.type(1)  # a literal 1 would be an integer, and turn float32 into float64
    three = s.dtype.type(3)
    if code == LINEAR:
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
            far = s.dtype.type(1e4)  # where the exponential is as good as zero, and v^2 does not make it more
            for t in range(n):
                v = min(a * np.sqrt(s[t]), far)
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


def transform(s: np.ndarray, line: tuple[Any, ...]) -> None:
    """Replace each entry of ``s`` (1-D, contiguous) by the kernel value that it determines.

    The constants have the precision of ``s``.
    """
    if len(line) == 1:
        _gauss(s, *line)
    else:
        _other(s, *line[1:])


@overload(transform, inline="always", strict=False)
def _choose_line(s: Any, line: Any) -> Callable[[Any, Any], None]:
    if len(line) == 1:
        return lambda s, line: _gauss(s, line[0])
    return lambda s, line: _other(s, line[1], line[2], line[3], line[4])


def is_squared(line: tuple[Any, ...]) -> bool:
    """Return whether the line takes squared distances."""
    return len(line) == 1 or bool(line[0])


@overload(is_squared, inline="always", strict=False)
def _choose_squared(line: Any) -> Callable[[Any], bool]:
    if len(line) == 1:
        return lambda line: True
    return lambda line: line[0]
