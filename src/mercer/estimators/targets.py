"""The targets of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d


def check_targets(y: Any, whose: str) -> np.ndarray:
    """Return finite float64 numbers in a vector, or say what is wrong with them.

    Parameters
    ----------
    y : array
        Targets.
    whose : str
        Name of the estimator, for messages.

    Returns
    -------
    ndarray of shape (n,)
    """
    if y is None:
        raise ValueError(f"{whose} requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind not in "biuf":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers; its entries are of type {y.dtype}") from error
    assert_all_finite(y, input_name="y", estimator_name=whose)
    return np.asarray(y, dtype=np.float64)


def check_outputs(y: Any, whose: str) -> np.ndarray:
    """Return finite float64 numbers, a vector or a column for each output.

    Parameters
    ----------
    y : array
        Targets.
    whose : str
        Name of the estimator, for messages.
    """
    if y is not None:
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=whose)
    if y is None or y.ndim == 1:
        return check_targets(y, whose)
    return np.stack([check_targets(column, whose) for column in y.T], axis=1)
