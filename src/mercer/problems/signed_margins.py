"""How clearly points are classified: signed margins and slacks, from the decisions of two-class machines."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Index = NDArray[np.intp]


def signs(labels: Index, n_classes: int, pairs: bool) -> Float64:
    """Return, per point and machine, +1 or -1 for the side a point should be on, 0 where it takes no part.

    Parameters
    ----------
    labels : (n,) int
        Class numbers.
    n_classes : int
        Number of classes.
    pairs : bool
        One machine per pair of classes, or one per class.
    """
    if n_classes == 2:
        return np.where(labels == 1, 1.0, -1.0)[:, None]
    if not pairs:
        return np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
    columns = [np.where(labels == i, 1.0, np.where(labels == j, -1.0, 0.0)) for i, j in _pairs(n_classes)]
    return np.stack(columns, axis=1)


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return list(combinations(range(n_classes), 2))


def signed_margins(decisions: Float64, labels: Index, n_classes: int, pairs: bool) -> Float64:
    """Return one margin per point, positive where the point is on the right side.

    Two classes: y f(x). Pairs: the least of the signed decisions of the pairs that the point's class is in.
    One machine per class: the decision of its class minus the largest of the others.
    """
    if n_classes == 2 or pairs:
        side = signs(labels, n_classes, pairs)
        return np.asarray(np.where(side == 0, np.inf, side * decisions).min(axis=1))
    own = np.take_along_axis(decisions, labels[:, None], axis=1)[:, 0]
    rivals = decisions.copy()
    np.put_along_axis(rivals, labels[:, None], -np.inf, axis=1)
    return np.asarray(own - rivals.max(axis=1))


def slacks(decisions: Float64, labels: Index, n_classes: int, pairs: bool) -> Float64:
    """Return max(0, 1 - y f(x)) per point and machine, 0 where a point takes no part in a pair."""
    side = signs(labels, n_classes, pairs)
    return np.where(side == 0, 0.0, np.maximum(0.0, 1.0 - side * decisions))
