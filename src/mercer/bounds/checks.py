"""Checks of what the theorems assume about their numbers, and the two terms that most of them share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.arrays import Float64


def share(name: str, value: float) -> float:
    """Return a number strictly between 0 and 1, or say which one is not."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name}={value} must lie strictly between 0 and 1")
    return float(value)


def sure(delta: float) -> float:
    """Return ``delta``, the probability with which a promise may fail, if it is one."""
    return share("delta", delta)


def root_of_dual(dual: float) -> float:
    """Return sqrt(-W) of a dual value W that is less than 0, or say that it is not."""
    if not (dual < 0.0 and math.isfinite(dual)):
        raise ValueError(f"dual={dual} must be less than 0: at W = 0 the weight vector vanishes")
    return math.sqrt(-dual)


def positive(name: str, value: float) -> float:
    """Return a finite number greater than 0, or say which one is not."""
    if not (value > 0.0 and math.isfinite(value)):
        raise ValueError(f"{name}={value} must be a finite number greater than 0")
    return float(value)


def not_negative(name: str, value: float) -> float:
    """Return a finite number of at least 0, or say which one is not."""
    if not (value >= 0.0 and math.isfinite(value)):
        raise ValueError(f"{name}={value} must be a finite number of at least 0")
    return float(value)


def count(name: str, value: float, least: int = 1) -> int:
    """Return a whole number of at least ``least``, or say which one is not."""
    if value != int(value) or value < least:
        raise ValueError(f"{name}={value} must be an integer of at least {least}")
    return int(value)


def numbers(name: str, values: ArrayLike, *, least: float = -math.inf) -> Float64:
    """Return finite numbers in a vector, or say which are not."""
    out: NDArray[Any] = np.asarray(values, dtype=np.float64)
    if out.ndim != 1 or out.size == 0:
        raise ValueError(f"{name} must be a vector with at least one entry, its shape is {out.shape}")
    if not np.isfinite(out).all() or out.min() < least:
        raise ValueError(
            f"{name} must be finite numbers" + (f" of at least {least:g}" if least > -1e300 else "")
        )
    return out


def deviation(n: int, delta: float) -> float:
    r"""Return :math:`3 \sqrt{\ln(2/\delta) / (2n)}`, the price of having seen only n points.

    One part is for the mean of functions with values in [0, 1] (McDiarmid's inequality), two are for the
    empirical Rademacher complexity in place of its expectation; each holds with probability 1 - delta/2.
    """
    return 3.0 * math.sqrt(math.log(2.0 / sure(delta)) / (2.0 * count("n", n)))
