"""The best labels of rows whose labels, each on or off, are the nodes of trees."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def decode(
    scores: np.ndarray,
    order: np.ndarray,
    parents: np.ndarray,
    tables: np.ndarray,
    truth: np.ndarray,
    first: int,
    last: int,
    labels: np.ndarray,
    values: np.ndarray,
) -> None:
    """Find the best labels of the rows ``first`` to ``last``.

    Parameters
    ----------
    scores : (rows, k) float64
        What a label adds when it is on.
    order : (k,) int64
        Labels, each after its parent.
    parents : (k,) int64
        Of each label; -1 for a root.
    tables : (k, 2, 2) float64
        What the states of a label's parent (first) and of itself (second) add together.
    truth : (rows, k) int64
        True labels; of no rows without a loss.
    first, last : int
        Which rows.
    labels : (rows, k) int64
        Written: the best labels.
    values : (rows,) float64
        Written: their score with the loss, less the score of the true labels.
    """
    k = scores.shape[1]
    augmented = truth.shape[0] > 0
    best = np.empty((k, 2))
    choice = np.empty((k, 2), dtype=np.int64)
    for i in range(first, last):
        true = 0.0
        for node in range(k):
            best[node, 0], best[node, 1] = 0.0, scores[i, node]
            if augmented:
                best[node, 1 - truth[i, node]] += 1.0
                true += scores[i, node] * truth[i, node]
                if parents[node] >= 0:
                    true += tables[node, truth[i, parents[node]], truth[i, node]]
        top = 0.0
        for step in range(k - 1, -1, -1):
            node = order[step]
            parent = parents[node]
            if parent < 0:
                top += max(best[node, 0], best[node, 1])
                continue
            for state in range(2):
                off, on = tables[node, state, 0] + best[node, 0], tables[node, state, 1] + best[node, 1]
                choice[node, state] = 1 if on > off else 0
                best[parent, state] += max(on, off)
        for step in range(k):
            node = order[step]
            parent = parents[node]
            if parent < 0:
                labels[i, node] = 1 if best[node, 1] > best[node, 0] else 0
            else:
                labels[i, node] = choice[node, labels[i, parent]]
        values[i] = top - true
