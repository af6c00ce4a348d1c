"""Random walks on products of two graphs, and small subgraphs."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled

ACCURACY = 1e-30  # of squared residuals, relative


@compiled
def spectral_walks(
    values: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    rows: np.ndarray,
    other_values: np.ndarray,
    other_weights: np.ndarray,
    other_starts: np.ndarray,
    columns: np.ndarray,
    decay: float,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with sum_ab w_a w_b / (1 - decay v_a v_b), v the eigenvalues of two graphs."""
    for i in range(rows.size):
        for j in range(i if symmetric else 0, columns.size):
            total = 0.0
            for a in range(starts[rows[i]], starts[rows[i] + 1]):
                scaled = decay * values[a]
                part = 0.0
                for b in range(other_starts[columns[j]], other_starts[columns[j] + 1]):
                    part += other_weights[b] / (1.0 - scaled * other_values[b])
                total += weights[a] * part
            out[i, j] = total
            if symmetric:
                out[j, i] = total


@compiled(inner=True)
def step_product(
    us: np.ndarray,
    vs: np.ndarray,
    size: int,
    place: np.ndarray,
    width: int,
    starts: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    other_starts: np.ndarray,
    other_nodes: np.ndarray,
    other_weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
) -> None:
    """Set y = W x, W the adjacency of the product graph, whose nodes are ``size`` pairs of equal labels."""
    for p in range(size):
        total = 0.0
        for k in range(starts[us[p]], starts[us[p] + 1]):
            row = (nodes[k]) * width
            part = 0.0
            for q in range(other_starts[vs[p]], other_starts[vs[p] + 1]):
                at = place[row + other_nodes[q]]
                if at >= 0:
                    part += other_weights[q] * x[at]
            total += weights[k] * part
        y[p] = total


@compiled
def labelled_walks(
    node_starts: np.ndarray,
    labels: np.ndarray,
    starts: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    other_node_starts: np.ndarray,
    other_labels: np.ndarray,
    other_starts: np.ndarray,
    other_nodes: np.ndarray,
    other_weights: np.ndarray,
    columns: np.ndarray,
    decay: float,
    conjugate: bool,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with 1' (I - decay W)^-1 1 for pairs of graphs, W the adjacency of their product graph.

    ``nodes`` are numbers inside of each graph. By conjugate gradients if W is symmetric, else by its series.
    """
    most = 1
    for i in range(rows.size):
        for j in range(columns.size):
            n = node_starts[rows[i] + 1] - node_starts[rows[i]]
            m = other_node_starts[columns[j] + 1] - other_node_starts[columns[j]]
            most = max(most, n * m)
    place = np.empty(most, dtype=np.int64)
    us, vs = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    x, r, p, y = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    for i in range(rows.size):
        begin, end = node_starts[rows[i]], node_starts[rows[i] + 1]
        own = starts[begin : end + 1]
        for j in range(i if symmetric else 0, columns.size):
            first, last = other_node_starts[columns[j]], other_node_starts[columns[j] + 1]
            theirs = other_starts[first : last + 1]
            width = last - first
            size = 0
            for u in range(end - begin):
                for v in range(width):
                    place[u * width + v] = -1
                    if labels[begin + u] == other_labels[first + v]:
                        place[u * width + v] = size
                        us[size] = u
                        vs[size] = v
                        size += 1
            x[:size] = 1.0
            step_product(
                us, vs, size, place, width, own, nodes, weights, theirs, other_nodes, other_weights, x, y
            )
            square = 0.0
            for k in range(size):
                r[k] = decay * y[k]  # 1 - (I - decay W) 1
                p[k] = r[k]
                square += r[k] * r[k]
            goal = ACCURACY * size
            steps = 0
            limit = 4 * size + 100 if conjugate else 1000000
            while square > goal and steps < limit:
                steps += 1
                step_product(
                    us, vs, size, place, width, own, nodes, weights, theirs, other_nodes, other_weights, p, y
                )
                if conjugate:
                    curvature = 0.0
                    for k in range(size):
                        y[k] = p[k] - decay * y[k]
                        curvature += p[k] * y[k]
                    length = square / curvature
                    new = 0.0
                    for k in range(size):
                        x[k] += length * p[k]
                        r[k] -= length * y[k]
                        new += r[k] * r[k]
                    for k in range(size):
                        p[k] = r[k] + (new / square) * p[k]
                    square = new
                else:
                    square = 0.0
                    for k in range(size):
                        x[k] += p[k]
                        p[k] = decay * y[k]
                        square += p[k] * p[k]
            total = 0.0
            for k in range(size):
                total += x[k]
            out[i, j] = total
            if symmetric:
                out[j, i] = total


@compiled
def triples(near: np.ndarray, counts: np.ndarray) -> None:
    """Count the subgraphs of three nodes by their number of edges; ``near`` is a symmetric 0-1 matrix."""
    n = near.shape[0]
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                counts[near[a, b] + near[a, c] + near[b, c]] += 1.0


@compiled(inner=True)
def kind_of_four(near: np.ndarray, a: int, b: int, c: int, d: int) -> int:
    """Return the sum of cubes of the degrees of a subgraph of four nodes, which tells all eleven apart."""
    ab, ac, ad = near[a, b], near[a, c], near[a, d]
    bc, bd, cd = near[b, c], near[b, d], near[c, d]
    da, db, dc, dd = ab + ac + ad, ab + bc + bd, ac + bc + cd, ad + bd + cd
    kind: int = da * da * da + db * db * db + dc * dc * dc + dd * dd * dd
    return kind


@compiled
def quadruples(near: np.ndarray, kinds: np.ndarray, counts: np.ndarray) -> None:
    """Count the subgraphs of four nodes by their kind."""
    n = near.shape[0]
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                for d in range(c + 1, n):
                    counts[kinds[kind_of_four(near, a, b, c, d)]] += 1.0


@compiled
def chosen(near: np.ndarray, kinds: np.ndarray, nodes: np.ndarray, counts: np.ndarray) -> None:
    """Count chosen subgraphs, a row of nodes each, by their kind."""
    for s in range(nodes.shape[0]):
        a, b, c = nodes[s, 0], nodes[s, 1], nodes[s, 2]
        if nodes.shape[1] == 3:
            counts[near[a, b] + near[a, c] + near[b, c]] += 1.0
        else:
            counts[kinds[kind_of_four(near, a, b, c, nodes[s, 3])]] += 1.0
