"""exp(x) for x <= 0, written so that LLVM vectorises it.

Write x = k ln 2 + r with integer k and |r| <= ln(2)/2; then exp(x) = 2^k exp(r), where exp(r) is a polynomial
and 2^k is put together from its bits. ln 2 is split in two parts so that r is exact (Cody and Waite, 1980).
Relative error: about 2e-7 in float32, 4e-16 in float64. Below the smallest normal number the result is
flushed to about that number's size, which is zero for every use here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from mercer._jit.bits import float32_from_bits, float64_from_bits
from mercer._jit.compiler import CONTRACT, compiled

_F = np.float32
_LOG2E_32 = _F(1.4426950408889634)
_LN2_HI_32 = _F(0.693359375)
_LN2_LO_32 = _F(-2.12194440e-4)
_LOWEST_32 = _F(-87.0)
_C2, _C3, _C4 = _F(0.5), _F(1.6666665459e-1), _F(4.1665795894e-2)
_C5, _C6, _C7 = _F(8.3334519073e-3), _F(1.3981999507e-3), _F(1.9875691500e-4)
_HALF_32, _ONE_32 = _F(0.5), _F(1.0)
_BIAS_32, _SHIFT_32 = np.int32(127), np.int32(23)

_LOG2E = 1.4426950408889634
_LN2_HI = 6.93145751953125e-1
_LN2_LO = 1.42860682030941723212e-6
_LOWEST = -708.0
_BIAS, _SHIFT = np.int64(1023), np.int64(52)


@compiled(fastmath=CONTRACT, inline=True)
def exp32(x: Any) -> Any:
    """exp(x), x <= 0, in float32."""
    x = max(x, _LOWEST_32)
    k = np.int32(x * _LOG2E_32 - _HALF_32)
    kf = _F(k)
    r = (x - kf * _LN2_HI_32) - kf * _LN2_LO_32
    p = _C7 * r + _C6
    p = p * r + _C5
    p = p * r + _C4
    p = p * r + _C3
    p = p * r + _C2
    p = p * (r * r) + r + _ONE_32
    return p * float32_from_bits(np.int32((k + _BIAS_32) << _SHIFT_32))


@compiled(fastmath=CONTRACT, inline=True)
def exp64(x: Any) -> Any:
    """exp(x), x <= 0, in float64: Taylor's polynomial of degree 13 on |r| <= ln(2)/2."""
    x = max(x, _LOWEST)
    k = np.int64(x * _LOG2E - 0.5)
    kf = np.float64(k)
    r = (x - kf * _LN2_HI) - kf * _LN2_LO
    p = 1.6059043836821613e-10 * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.388888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * (r * r) + r + 1.0
    return p * float64_from_bits((k + _BIAS) << _SHIFT)


def exp_nonpositive(x: float) -> float:
    """exp(x), x <= 0, in the precision of x."""
    return math.exp(min(x, 0.0))  # uncompiled; the unused end of a tile may hold anything


@overload(exp_nonpositive, inline="always", strict=False)
def _choose_precision(x: Any) -> Callable[[float], float]:
    if x == types.float32:
        return lambda x: exp32(x)
    return lambda x: exp64(x)
