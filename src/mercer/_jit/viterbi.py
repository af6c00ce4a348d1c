"""The best labels of chains, by dynamic programming."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def decode(
    scores: np.ndarray,
    offsets: np.ndarray,
    tables: np.ndarray,
    edges: np.ndarray,
    truth: np.ndarray,
    costs: np.ndarray,
    first: int,
    last: int,
    labels: np.ndarray,
    values: np.ndarray,
) -> None:
    """Find the best labels of the chains ``first`` to ``last``.

    Parameters
    ----------
    scores : (nodes, k) float64
        The score of each label at each node.
    offsets : (chains + 1,) int64
        Where each chain begins.
    tables : (1 + e, k, k) float64
        Scores of pairs of labels at neighbouring nodes: constant, and for each feature of the edge.
    edges : (nodes, e) float64
        Features of the edge from each node to the next.
    truth : (nodes,) int64
        True labels; empty without a loss.
    costs : (k, k) float64
        What a label costs in the place of the true one.
    first, last : int
        Which chains.
    labels : (nodes,) int64
        Written: the best labels.
    values : (chains,) float64
        Written: their score with the loss, less the score of the true labels.
    """
    k, features = scores.shape[1], edges.shape[1]
    augmented = truth.size > 0
    longest = 0
    for c in range(first, last):
        longest = max(longest, offsets[c + 1] - offsets[c])
    back = np.empty((longest, k), dtype=np.int64)
    best, fresh = np.empty(k), np.empty(k)
    table = tables[0].copy()
    for c in range(first, last):
        begin, end = offsets[c], offsets[c + 1]
        true = 0.0
        for t in range(begin, end):
            if t > begin and features > 0:
                for a in range(k):
                    for b in range(k):
                        total = tables[0, a, b]
                        for j in range(features):
                            total += edges[t - 1, j] * tables[1 + j, a, b]
                        table[a, b] = total
            if augmented:
                true += scores[t, truth[t]]
                if t > begin:
                    true += table[truth[t - 1], truth[t]]
            for b in range(k):
                own = scores[t, b]
                if augmented:
                    own += costs[truth[t], b]
                if t == begin:
                    fresh[b] = own
                    continue
                top, where = best[0] + table[0, b], 0
                for a in range(1, k):
                    value = best[a] + table[a, b]
                    if value > top:
                        top, where = value, a
                fresh[b] = own + top
                back[t - begin, b] = where
            best, fresh = fresh, best
        label = 0
        for b in range(1, k):
            if best[b] > best[label]:
                label = b
        values[c] = best[label] - true
        for t in range(end - 1, begin - 1, -1):
            labels[t] = label
            if t > begin:
                label = back[t - begin, label]


@compiled
def differences(
    nodes: np.ndarray,
    edges: np.ndarray,
    offsets: np.ndarray,
    truth: np.ndarray,
    labels: np.ndarray,
    k: int,
    constant: bool,
    begins: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Write the features of true labels less those of others as sparse rows.

    Parameters
    ----------
    nodes : (nodes, d) float64
        Features of the nodes.
    edges : (nodes, e) float64
        Features of the edge from each node to the next.
    offsets : (chains + 1,) int64
        Where each chain begins.
    truth, labels : (nodes,) int64
        True labels, and others.
    k : int
        Number of labels.
    constant : bool
        Whether each label has a constant feature.
    begins : (chains,) int64
        Where each row may be written.
    indices, data : array
        Written: places and values that are not zero, in ascending order of the places.
    counts : (chains,) int64
        Written: how many there are.
    """
    d, features = nodes.shape[1], edges.shape[1]
    wide = d + 1 if constant else d
    pairs = k * wide
    sums = np.zeros(pairs + (1 + features) * k * k)
    used = np.zeros(k, dtype=np.bool_)
    for c in range(offsets.size - 1):
        begin, end = offsets[c], offsets[c + 1]
        used[:] = False
        wrong_pairs = False
        for t in range(begin, end):
            right, wrong = truth[t], labels[t]
            if right != wrong:
                used[right] = used[wrong] = True
                for j in range(d):
                    sums[right * wide + j] += nodes[t, j]
                    sums[wrong * wide + j] -= nodes[t, j]
                if constant:
                    sums[right * wide + d] += 1.0
                    sums[wrong * wide + d] -= 1.0
            if t > begin and (right != wrong or truth[t - 1] != labels[t - 1]):
                wrong_pairs = True
                plus = pairs + truth[t - 1] * k + right
                minus = pairs + labels[t - 1] * k + wrong
                sums[plus] += 1.0
                sums[minus] -= 1.0
                for j in range(features):
                    sums[plus + (1 + j) * k * k] += edges[t - 1, j]
                    sums[minus + (1 + j) * k * k] -= edges[t - 1, j]
        at = begins[c]
        for label in range(k):
            if used[label]:
                for j in range(label * wide, (label + 1) * wide):
                    if sums[j] != 0.0:
                        indices[at] = j
                        data[at] = sums[j]
                        sums[j] = 0.0
                        at += 1
        if wrong_pairs:
            for j in range(pairs, sums.size):
                if sums[j] != 0.0:
                    indices[at] = j
                    data[at] = sums[j]
                    sums[j] = 0.0
                    at += 1
        counts[c] = at - begins[c]
