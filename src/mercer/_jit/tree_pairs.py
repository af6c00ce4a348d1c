"""Kernels between trees: nodes are paired by sorted codes, and pairs valued from the leaves to the roots.

A forest comes as a tuple of arrays: ``starts`` (where each tree's nodes begin; children come before their
parents), ``kind`` (nodes of one kind are paired), ``count``, ``child_starts`` and ``children``;
``turn_starts``, ``turn`` and ``turn_kind`` (each tree's nodes that take part, sorted by kind) and ``rank`` (a
node's place among those of its kind in its tree).
"""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled

Trees = tuple[np.ndarray, ...]


@compiled(inner=True)
def paired(
    first: Trees, i: int, second: Trees, j: int, offset: np.ndarray, group: np.ndarray, width: np.ndarray
) -> int:
    """Find, for each node of tree i, the nodes of tree j of its kind; return how many pairs there are.

    The pairs of node x are numbered from ``offset[x]`` (-1: none); the nodes of tree j stand in its ``turn``
    from ``group[x]`` on, ``width[x]`` of them.
    """
    starts, _, _, _, _, turn_starts, turn, turn_kind, _ = first
    _, _, _, _, _, other_turn_starts, _, other_kind, _ = second
    begin = starts[i]
    offset[: starts[i + 1] - begin] = -1
    total = 0
    a, a_end = turn_starts[i], turn_starts[i + 1]
    b, b_end = other_turn_starts[j], other_turn_starts[j + 1]
    while a < a_end and b < b_end:
        kind = turn_kind[a]
        if kind < other_kind[b]:
            a += 1
        elif kind > other_kind[b]:
            b += 1
        else:
            end = b
            while end < b_end and other_kind[end] == kind:
                end += 1
            while a < a_end and turn_kind[a] == kind:
                x = turn[a] - begin
                offset[x] = total
                group[x] = b
                width[x] = end - b
                total += end - b
                a += 1
            b = end
    return total


@compiled(inner=True)
def subset_value(
    first: Trees,
    i: int,
    second: Trees,
    decay: float,
    offset: np.ndarray,
    group: np.ndarray,
    width: np.ndarray,
    values: np.ndarray,
) -> float:
    """Return the sum over pairs of nodes with one production of decay prod (1 + value of their children)."""
    starts, kind, count, child_starts, children, _, _, _, _ = first
    _, other_kind, other_count, other_child_starts, other_children, _, other_turn, _, other_rank = second
    begin = starts[i]
    total = 0.0
    for x in range(starts[i + 1] - begin):
        if offset[x] < 0:
            continue
        node = begin + x
        for q in range(width[x]):
            other = other_turn[group[x] + q]
            value = decay
            for c in range(child_starts[node + 1] - child_starts[node]):
                u = children[child_starts[node] + c]
                v = other_children[other_child_starts[other] + c]
                if child_starts[u + 1] > child_starts[u] and kind[u] == other_kind[v]:
                    value *= 1.0 + values[offset[u - begin] + other_rank[v]]
            values[offset[x] + q] = value
            total += count[node] * other_count[other] * value
    return total


@compiled(inner=True)
def partial_value(
    first: Trees,
    i: int,
    second: Trees,
    depth: float,
    width_decay: float,
    step: float,
    terminal: float,
    offset: np.ndarray,
    group: np.ndarray,
    width: np.ndarray,
    values: np.ndarray,
    row: np.ndarray,
) -> float:
    """Return the sum over pairs of nodes with one label of what all partial trees below them share.

    ``step`` is the weight of going on to the next child in both trees.
    """
    starts, kind, count, child_starts, children, _, _, _, _ = first
    _, other_kind, other_count, other_child_starts, other_children, _, other_turn, _, other_rank = second
    begin = starts[i]
    square = width_decay * width_decay
    total = 0.0
    for x in range(starts[i + 1] - begin):
        if offset[x] < 0:
            continue
        node = begin + x
        n = child_starts[node + 1] - child_starts[node]
        for q in range(width[x]):
            other = other_turn[group[x] + q]
            m = other_child_starts[other + 1] - other_child_starts[other]
            if n == 0 or m == 0:
                value = depth * square * terminal
            else:
                # row[t]: all matches among the children so far, decayed up to here and to child t
                row[:m] = 0.0
                common = 0.0
                for c in range(n):
                    u = children[child_starts[node] + c]
                    run = 0.0
                    before = 0.0
                    for t in range(m):
                        v = other_children[other_child_starts[other] + t]
                        run *= width_decay
                        if kind[u] == other_kind[v]:
                            match = values[offset[u - begin] + other_rank[v]] * (1.0 + step * before)
                            common += match
                            run += match
                        before = row[t]
                        row[t] = width_decay * before + run
                value = depth * (square + common)
            values[offset[x] + q] = value
            total += count[node] * other_count[other] * value
    return total


@compiled(inner=True)
def largest(starts: np.ndarray) -> int:
    """Return the length of the longest stretch."""
    most = 0
    for i in range(starts.size - 1):
        most = max(most, starts[i + 1] - starts[i])
    return most


@compiled
def tree_kernel(
    first: Trees,
    rows: np.ndarray,
    second: Trees,
    columns: np.ndarray,
    start: int,
    stop: int,
    partial: bool,
    depth: float,
    width_decay: float,
    step: float,
    terminal: float,
    symmetric: bool,
    diagonal: bool,
    out: np.ndarray,
) -> None:
    """Fill rows ``start`` to ``stop`` of ``out``: trees ``rows`` of one forest with ``columns`` of another.

    With ``symmetric``, rows[i] is columns[i], and only values on and above the diagonal are computed; with
    ``diagonal`` only those on it, into the first column. Kinds are labels if ``partial``, else productions,
    and ``depth`` is the decay.
    """
    most = largest(first[0])
    offset = np.empty(most, dtype=np.int64)
    group = np.empty(most, dtype=np.int64)
    width = np.empty(most, dtype=np.int64)
    row = np.empty(largest(second[3]))
    values = np.empty(1024)
    for i in range(start, stop):
        low = i if symmetric or diagonal else 0
        high = i + 1 if diagonal else columns.size
        for j in range(low, high):
            x, z = rows[i], columns[j]
            size = paired(first, x, second, z, offset, group, width)
            if size > values.size:
                values = np.empty(2 * size)
            if partial:
                value = partial_value(
                    first, x, second, depth, width_decay, step, terminal, offset, group, width, values, row
                )
            else:
                value = subset_value(first, x, second, depth, offset, group, width, values)
            if diagonal:
                out[i, 0] = value
            else:
                out[i, j] = value
