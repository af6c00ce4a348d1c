"""How good rankings are: measures that are means over queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, ndcg_score

from mercer.arrays import Float64, Index
from mercer.estimators.ranking._queries import checked_grades, numbered_queries
from mercer.estimators.sample_weights import checked_weights
from mercer.problems.pair_ranking import QueryPairs
from mercer.threads import Workers


def _checked(y_true: Any, y_score: Any, group: Any, whose: str) -> tuple[np.ndarray, Float64, Index]:
    y = checked_grades(y_true, whose)
    scores = checked_grades(y_score, whose).astype(np.float64)
    if y.size != scores.size:
        raise ValueError(f"{whose}: y_true has {y.size} entries and y_score {scores.size}")
    return y, scores, numbered_queries(group, y.size)


def _mean(
    of_query: Callable[[np.ndarray, np.ndarray], float],
    checked: tuple[np.ndarray, Float64, Index],
    refusal: str,
) -> float:
    """Return the mean over the queries that have a value."""
    y, scores, query = checked
    rows = np.argsort(query, kind="stable")
    parts = np.split(rows, np.flatnonzero(np.diff(query[rows])) + 1)
    values = np.array([of_query(y[part], scores[part]) for part in parts])
    values = values[~np.isnan(values)]
    if not values.size:
        raise ValueError(refusal)
    return float(values.mean())


def pair_accuracy(
    y_true: ArrayLike,
    y_score: ArrayLike,
    group: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of pairs in the right order, the mean over queries, in O(n log n).

    Parameters
    ----------
    y_true : array of shape (n,)
        Grades.
    y_score : array of shape (n,)
        Values that order the items.
    group : array of shape (n,), optional
        The query of each item; without it all are one query.
    sample_weight : array of shape (n,), optional
        Weights of the items; a pair has their product.

    Returns
    -------
    float
        A pair of equal values counts half; queries without any pair do not count.

    Examples
    --------
    >>> from mercer.ranking import pair_accuracy
    >>> pair_accuracy([3, 2, 1, 1, 0], [0.9, 0.5, 0.7, 0.1, 0.2], [0, 0, 0, 1, 1])
    0.33333333333333337
    """
    y, scores, query = _checked(y_true, y_score, group, "pair_accuracy")
    weight = np.ones(y.size) if sample_weight is None else checked_weights(sample_weight, y.size, None)
    workers, pairs = Workers(1), QueryPairs(y, query)
    every = pairs.weight_of_pairs(weight, workers)
    order = pairs.order(scores, workers)
    # Whole numbers in the order of the values, so that equal ones differ by nothing.
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    wrong = [
        np.bincount(pairs.query, weight * pairs.sums(ranks, ranks, weight, order, c, workers)[:, 0])
        for c in (-0.5, 0.5)
    ]
    there = every > 0
    if not there.any():
        raise ValueError("pair_accuracy: no query has two items of different y_true with a weight")
    return float(np.mean(1.0 - 0.5 * (wrong[0] + wrong[1])[there] / every[there]))


def kendall_tau(y_true: ArrayLike, y_score: ArrayLike, group: ArrayLike | None = None) -> float:
    """Return Kendall's tau-b, the mean over queries.

    Parameters
    ----------
    y_true : array of shape (n,)
        Grades.
    y_score : array of shape (n,)
        Values that order the items.
    group : array of shape (n,), optional
        The query of each item; without it all are one query.

    Returns
    -------
    float
        Between -1 and 1. Queries whose grades are all equal do not count; one whose values are all equal has
        the value 0.
    """

    def of_query(y: np.ndarray, scores: np.ndarray) -> float:
        if y.size < 2 or (y == y[0]).all():
            return float("nan")
        return 0.0 if (scores == scores[0]).all() else float(kendalltau(y, scores).statistic)

    checked = _checked(y_true, y_score, group, "kendall_tau")
    return _mean(of_query, checked, "kendall_tau: no query has two items of different y_true")


def ndcg(
    y_true: ArrayLike, y_score: ArrayLike, group: ArrayLike | None = None, k: int | None = None
) -> float:
    """Return the normalised discounted cumulative gain, the mean over queries.

    Parameters
    ----------
    y_true : array of shape (n,)
        Gains, at least 0; for exponential gains pass 2**grade - 1.
    y_score : array of shape (n,)
        Values that order the items; equal ones share their gains.
    group : array of shape (n,), optional
        The query of each item; without it all are one query.
    k : int, optional
        How many of the first items count; all by default.

    Returns
    -------
    float
        Between 0 and 1. Queries with fewer than two items, or without any gain, do not count.
    """

    def of_query(y: np.ndarray, scores: np.ndarray) -> float:
        if y.size < 2 or not y.any():
            return float("nan")
        return float(ndcg_score(y[None], scores[None], k=k))

    checked = _checked(y_true, y_score, group, "ndcg")
    return _mean(of_query, checked, "ndcg: no query has two items and a gain above 0")


def mean_average_precision(
    y_true: ArrayLike, y_score: ArrayLike, group: ArrayLike | None = None, relevant: float = 1.0
) -> float:
    """Return the mean over queries of the average precision.

    Parameters
    ----------
    y_true : array of shape (n,)
        Grades.
    y_score : array of shape (n,)
        Values that order the items.
    group : array of shape (n,), optional
        The query of each item; without it all are one query.
    relevant : float, default=1.0
        The least grade of a relevant item.

    Returns
    -------
    float
        Between 0 and 1. Queries without a relevant item do not count.
    """

    def of_query(y: np.ndarray, scores: np.ndarray) -> float:
        found = y >= relevant
        return float(average_precision_score(found, scores)) if found.any() else float("nan")

    checked = _checked(y_true, y_score, group, "mean_average_precision")
    return _mean(of_query, checked, f"mean_average_precision: no grade reaches relevant={relevant!r}")
