"""Parameters, checked before any work: the message names the parameter, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.user_warnings import warn_user

INF = float("inf")


def check_real(name: str, value: Any, low: float, high: float = INF, *, closed: bool = True) -> float:
    """Return ``value`` as a float in [low, high], or in (low, high) when not ``closed``."""
    left, right = ("[", "]" if high < INF else ")") if closed else ("(", ")")
    allowed = f"a real number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be {allowed}")
    number = float(value)
    inside = low <= number <= high if closed else low < number < high
    if not inside or number in (INF, -INF):
        raise ValueError(f"{name}={value!r} must be {allowed}")
    return number


def check_count(name: str, value: Any, low: int = 1, high: int | None = None, *, why: str = "") -> int:
    """Return ``value`` as an int between ``low`` and ``high``; ``why`` says where ``high`` comes from."""
    allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    allowed += f" ({why})" if why else ""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} must be {allowed}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name}={value!r} must be {allowed}")
    return number


def check_choice(name: str, value: Any, options: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``options``."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, options))}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` if it is a boolean."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} must be True or False")
    return bool(value)


def check_grid(name: str, values: Any) -> Float64:
    """Return ``values`` as a sorted grid of distinct numbers in [0, 1]."""
    grid = np.asarray(values)
    if grid.ndim != 1 or grid.size == 0 or grid.dtype.kind not in "fiu":
        raise ValueError(f"{name}={values!r} must be a non-empty sequence of numbers in [0, 1]")
    grid = np.unique(grid.astype(np.float64))
    if not (grid[0] >= 0.0 and grid[-1] <= 1.0):
        raise ValueError(f"{name}={values!r} must lie in [0, 1]")
    return grid


def check_priors(priors: Any, proportions: Float64) -> Float64:
    """Return the class priors: the observed ``proportions`` unless ``priors`` is given, made to sum to 1."""
    if priors is None:
        return proportions
    given = np.asarray(priors)
    if given.ndim != 1 or given.dtype.kind not in "fiu" or len(given) != len(proportions):
        raise ValueError(f"priors={priors!r} must be {len(proportions)} numbers, one for each class")
    given = given.astype(np.float64)
    total = float(given.sum())
    if not np.all(given >= 0.0) or not 0.0 < total < INF:
        raise ValueError(f"priors must be non-negative and sum to 1, not {priors!r}")
    if abs(total - 1.0) > 1e-5:
        warn_user(f"The priors do not sum to 1, but to {total:g}. Renormalizing", UserWarning)
    normalised: Float64 = given / given.sum()
    return normalised
