"""Data sets of items that are no vectors: whatever holds them, a list of them."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from mercer.kernels.data import estimator_name


def listed(X: Any, *, of: str, estimator: Any = None, name: str = "X") -> list[Any]:
    """Return the items of a data set as a list, or say why it has none.

    Parameters
    ----------
    X : sequence, array or series of a data frame
        The data; a table of one column is as good.
    of : str
        What the items are, for messages.
    estimator : object or str, optional
        Whose data they are, for messages.
    name : str
        What the data are called in messages.
    """
    whom = f" by {estimator_name(estimator)}" if estimator is not None else ""
    if isinstance(X, str | bytes | Mapping | set | frozenset) or not isinstance(X, Sized):
        raise TypeError(
            f"{name} must be a list or array of {of}{whom}; it is a {type(X).__name__}. Put a single item "
            "into a list."
        )
    shape = getattr(X, "shape", None)
    if shape is not None:
        if len(shape) == 2 and shape[1] == 1:
            X = np.asarray(X)[:, 0]
        elif len(shape) != 1:
            raise ValueError(f"{name} has shape {tuple(shape)}; it must be a list or array of {of}{whom}.")
    items = list(X)
    if not items:
        raise ValueError(f"Found array with 0 sample(s) in {name} while a minimum of 1 is required{whom}.")
    return items


def shown(item: Any) -> str:
    """Return what a wrong item is, in words."""
    missing = item is None or (isinstance(item, float) and item != item)
    return f"missing ({item!r})" if missing else f"a {type(item).__name__}"
