"""Items in queries as one problem, and how its function is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64, Index
from mercer.estimators.splits import Outputs, Part
from mercer.problems.pair_ranking import QueryPairs


def checked_grades(y: Any, whose: str) -> np.ndarray:
    """Return what orders items: numbers, finite.

    Parameters
    ----------
    y : array
        Grades.
    whose : str
        Who asks, for messages.
    """
    if y is None:
        raise ValueError(f"This {whose} estimator requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, estimator_name=whose, input_name="y")
    if y.dtype.kind not in "biuf":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{whose}: y has entries that are no numbers. Unknown label type: the order of items needs "
                "numbers, larger ones for better items"
            ) from error
        assert_all_finite(y, estimator_name=whose, input_name="y")
    return np.asarray(y)


def numbered_queries(group: Any, n: int) -> Index:
    """Return the number of each row's query; one query for all without any ``group``.

    Parameters
    ----------
    group : array of shape (n,) or None
        What query each row belongs to: numbers or names, in any order.
    n : int
        Rows.
    """
    if group is None:
        return np.zeros(n, dtype=np.intp)
    group = column_or_1d(group)
    if group.size != n:
        raise ValueError(
            f"group has {group.size} entries for {n} rows: it names the query of each row, and is not the "
            "queries' sizes (for these: np.repeat(np.arange(len(sizes)), sizes))"
        )
    if group.dtype.kind == "f":
        assert_all_finite(group, input_name="group")
    return np.asarray(np.unique(group, return_inverse=True)[1])


class Queries(Outputs):
    """One function that orders the items of every query.

    Parameters
    ----------
    pairs : QueryPairs
        Items and queries.
    base : (n,) float64
        Sample weights.
    """

    def __init__(self, pairs: QueryPairs, base: Float64) -> None:
        super().__init__(None, base)
        self.tasks = [Part(np.arange(base.size), pairs)]

    def starts(self, model: Any) -> list[Any] | None:
        known = super().starts(model)
        return None if known is None else [np.append(known[0], model.smoothing_)]

    def pack(self, model: Any, X: Any, machines: list[Any]) -> None:
        super().pack(model, X, machines)
        model.smoothing_ = machines[0].width
