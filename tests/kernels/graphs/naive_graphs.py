"""Graph kernels by their definitions, on (nodes, edges, labels) with undirected edges."""

import itertools
from collections import Counter

import numpy as np


def neighbours(n, edges):
    around = [[] for _ in range(n)]
    for u, v in edges:
        around[u].append(v)
        if u != v:
            around[v].append(u)
    return around


def colourings(graph, h):
    """Return the colours of all nodes after each refinement, as nested tuples."""
    n, edges, labels = graph
    around = neighbours(n, edges)
    colours = [(label,) for label in labels]
    found = [colours]
    for _ in range(h):
        colours = [(colours[u], tuple(sorted(colours[v] for v in around[u]))) for u in range(n)]
        found.append(colours)
    return found


def inner(a, b):
    return float(sum(a[key] * b[key] for key in a))


def distances(graph, weights=None):
    """Return all shortest distances by Floyd and Warshall."""
    n, edges, _ = graph
    D = np.full((n, n), np.inf)
    np.fill_diagonal(D, 0.0)
    for k, (u, v) in enumerate(edges):
        w = 1.0 if weights is None else weights[k]
        D[u, v] = min(D[u, v], w)
        D[v, u] = min(D[v, u], w)
    for k in range(n):
        D = np.minimum(D, D[:, [k]] + D[[k], :])
    return D


def path_counts(graph, colours, weights=None):
    n, D = graph[0], distances(graph, weights)
    return Counter(
        (colours[u], colours[v], D[u, v]) for u in range(n) for v in range(n) if u != v and D[u, v] < np.inf
    )


def weisfeiler_lehman(x, z, h, base):
    total = 0.0
    for a, b in zip(colourings(x, h), colourings(z, h), strict=True):
        if base == "subtree":
            total += inner(Counter(a), Counter(b))
        elif base == "edge":
            one = Counter(tuple(sorted((a[u], a[v]))) for u, v in x[1])
            two = Counter(tuple(sorted((b[u], b[v]))) for u, v in z[1])
            total += inner(one, two)
        else:
            total += inner(path_counts(x, a), path_counts(z, b))
    return total


def optimal_assignment(x, z, h):
    total = 0.0
    for a, b in zip(colourings(x, h), colourings(z, h), strict=True):
        one, two = Counter(a), Counter(b)
        total += sum(min(one[c], two[c]) for c in one)
    return total


def adjacency(graph, weights=None, directed=False):
    A = np.zeros((graph[0], graph[0]))
    for k, (u, v) in enumerate(graph[1]):
        w = 1.0 if weights is None else weights[k]
        A[u, v] += w
        if u != v and not directed:
            A[v, u] += w
    return A


def random_walk(x, z, decay, labels, directed=False):
    """Solve with the product graph, formed."""
    A, B = adjacency(x, directed=directed), adjacency(z, directed=directed)
    same = np.array([float(not labels or a == b) for a in x[2] for b in z[2]])
    W = np.kron(A, B) * np.outer(same, same)
    return float(same @ np.linalg.solve(np.eye(W.shape[0]) - decay * W, same)) if same.size else 0.0


def graphlets(graph, size):
    """Count subgraphs by their sorted degrees."""
    A = (adjacency(graph) > 0) & ~np.eye(graph[0], dtype=bool)
    sets = itertools.combinations(range(graph[0]), size)
    return Counter(tuple(sorted(A[np.ix_(s, s)].sum(axis=0).tolist())) for s in sets)
