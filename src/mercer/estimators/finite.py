"""The last thing a fit does: look whether every number that it ships is one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

# Infinite or undefined by their meaning: unknown gaps, margins of w = 0, scores of splits that have none.
MEANT = frozenset(
    {"certificate_", "certificates_", "condition_", "history_", "margin_", "trace_", "cv_results_"}
)
REMEDY = (
    "The data or the parameters are beyond what float64 can hold: scale the features (StandardScaler), or "
    "choose less extreme parameters"
)


def check_finite_model(
    estimator: BaseEstimator, *, infinite: Collection[str] = (), remedy: str = REMEDY
) -> None:
    """Refuse a fitted estimator that holds nan or infinity; afterwards it counts as not fitted.

    Parameters
    ----------
    estimator : BaseEstimator
        At the end of its ``fit``. What counts is everything that is no parameter: arrays, sparse matrices,
        numbers, and lists, tuples, dictionaries and records of them. Nested estimators are passed over: they
        end their own fits.
    infinite : collection of str
        Attributes that may be infinite, though not nan, by their meaning.
    remedy : str
        What the message tells the user to do.

    Raises
    ------
    ValueError
        With the attribute, how many of its numbers are not finite, the first of them and the remedy.
    """
    # A parameter's name neither begins nor ends with an underscore; asking for them all would take longer.
    held = {
        name: value
        for name, value in vars(estimator).items()
        if (name.endswith("_") or name.startswith("_")) and name not in MEANT
    }
    for name, value in held.items():
        for where, numbers in _arrays(value, name):
            bad = _first_bad(numbers, nan_only=name in infinite)
            if bad is not None:
                count, place, first = bad
                for fitted in held:
                    if fitted.endswith("_"):
                        delattr(estimator, fitted)
                at = f"at {place}, " if place else ""
                raise ValueError(
                    f"{type(estimator).__name__}: {count} of the {numbers.size} numbers of {where} "
                    f"came out as no finite number ({at}{first}). {remedy}"
                )


def _arrays(value: Any, where: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of floats inside a value, with where they stand."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            yield where, value
        elif value.dtype.kind == "O":
            for k, item in enumerate(value.flat):
                yield from _arrays(item, f"{where}[{k}]")
    elif sp.issparse(value):
        yield from _arrays(getattr(value, "data", None), where)
    elif isinstance(value, float | np.floating):
        yield where, np.asarray(value, dtype=np.float64)
    elif isinstance(value, list | tuple):
        for k, item in enumerate(value):
            yield from _arrays(item, f"{where}[{k}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _arrays(item, f"{where}[{key!r}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name), f"{where}.{field.name}")


def _first_bad(numbers: np.ndarray, *, nan_only: bool) -> tuple[int, str, Any] | None:
    """Return how many numbers are bad, the index of the first and its value; None if all are good."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not nan_only and np.isfinite(numbers.sum()):  # needs no memory, and settles nearly every case
            return None
    wrong = np.isnan(numbers) if nan_only else ~np.isfinite(numbers)
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return None
    place = np.unravel_index(int(np.argmax(wrong)), numbers.shape)
    return count, ", ".join(str(int(i)) for i in place), numbers[place]
