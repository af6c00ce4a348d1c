"""Sums over the pairs of items in a query that stand too close or in the wrong order, in O(n log n).

Items of a query lie one after the other, in ascending order of their values f. A pair is two items i, j with
level_i > level_j; it counts while f_i - f_j < c. A tree of partial sums over the levels (Fenwick's) answers
what an item has to sum.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def sort_queries(f: np.ndarray, rows: np.ndarray, starts: np.ndarray, first: int, last: int,
                 order: np.ndarray) -> None:  # fmt: skip
    """Write the rows of the queries ``first`` to ``last``, each query's in ascending order of f.

    Parameters
    ----------
    f : (n,) float64
        Values.
    rows : (n,) int64
        The rows of all queries, one query after the other.
    starts : (queries + 1,) int64
        Where each query begins in ``rows``.
    first, last : int
        Which queries.
    order : (n,) int64
        Written.
    """
    for q in range(first, last):
        begin, end = starts[q], starts[q + 1]
        mine = rows[begin:end]
        places = np.argsort(f[mine], kind="mergesort")
        for t in range(end - begin):
            order[begin + t] = mine[places[t]]


@compiled(inner=True)
def _add(tree: np.ndarray, level: int, weight: float, value: float) -> None:
    t = level + 1
    while t < tree.shape[0]:
        tree[t, 0] += weight
        tree[t, 1] += value
        t += t & -t


@compiled(inner=True)
def _below(tree: np.ndarray, level: int) -> tuple[float, float]:
    weight, value = 0.0, 0.0
    t = level
    while t > 0:
        weight += tree[t, 0]
        value += tree[t, 1]
        t -= t & -t
    return weight, value


@compiled
def sum_pairs(f: np.ndarray, v: np.ndarray, weight: np.ndarray, levels: np.ndarray, counts: np.ndarray,
              starts: np.ndarray, first: int, last: int, c: float, out: np.ndarray) -> None:  # fmt: skip
    """Sum, for each item, the weights w and w v of its partners in pairs with f_i - f_j < c.

    Parameters
    ----------
    f, v, weight : (n,) float64
        Items in the order of their queries, ascending in f within each.
    levels : (n,) int64
        The number of each item's level within its query, from 0.
    counts, starts : (queries,), (queries + 1,) int64
        How many levels each query has, and where it begins.
    first, last : int
        Which queries.
    c : float
        The bound.
    out : (n, 4) float64
        Written: the sums of w and w v over partners of lower level, then over those of higher level.
    """
    most = 0
    for q in range(first, last):
        most = max(most, counts[q])
    whole = np.zeros((most + 1, 2))
    for q in range(first, last):
        begin, end = starts[q], starts[q + 1]
        tree = whole[: counts[q] + 1]
        tree[:] = 0.0
        j = end - 1
        for i in range(end - 1, begin - 1, -1):
            while j >= begin and f[i] - f[j] < c:
                _add(tree, levels[j], weight[j], weight[j] * v[j])
                j -= 1
            out[i, 0], out[i, 1] = _below(tree, levels[i])
        tree[:] = 0.0
        top = counts[q] - 1
        i = begin
        for j in range(begin, end):
            while i < end and f[i] - f[j] < c:
                _add(tree, top - levels[i], weight[i], weight[i] * v[i])
                i += 1
            out[j, 2], out[j, 3] = _below(tree, top - levels[j])
