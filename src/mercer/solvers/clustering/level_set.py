"""The connected components of a level set, as far as straight lines between points tell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from mercer.arrays import Float64, Index

ROWS = 20_000  # points of lines that are looked at together
CLOSEST = 5  # pairs of points by which two components may yet be joined
MOST = 60  # components up to which all pairs of them are looked at
Inside = Callable[[Float64], np.ndarray]


def joined(A: Float64, B: Float64, inside: Inside, n_points: int) -> np.ndarray:
    """Return for each pair of rows whether all points of the line between them lie inside.

    Parameters
    ----------
    A, B : (m, d) float64
        The ends, which are inside.
    inside : callable
        Whether rows lie inside.
    n_points : int
        Points of each line, without its ends.
    """
    shares = np.arange(1, n_points + 1) / (n_points + 1)
    out = np.empty(len(A), dtype=bool)
    step = max(1, ROWS // n_points)
    for first in range(0, len(A), step):
        a, b = A[first : first + step], B[first : first + step]
        line = a[:, None, :] + shares[None, :, None] * (b - a)[:, None, :]
        out[first : first + step] = inside(line.reshape(-1, A.shape[1])).reshape(len(a), -1).all(axis=1)
    return out


def level_set_components(X: Float64, inside: Inside, *, n_neighbors: int, n_points: int) -> Index:
    """Return the number of each point's component of a level set that holds all of them.

    Two points belong together if a chain of lines inside the set joins them. Lines to the nearest neighbours
    are looked at first, then those between the closest points of different components.

    Parameters
    ----------
    X : (n, d) float64
        Points inside.
    inside : callable
        Whether rows lie inside.
    n_neighbors, n_points : int
        Neighbours of each point, and points of each line.
    """
    n = len(X)
    if n < 2:
        return np.zeros(n, dtype=np.intp)
    near = np.asarray(KDTree(X).query(X, k=min(n, n_neighbors + 1))[1])[:, 1:]
    first, second = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    keep = joined(X[first], X[second], inside, n_points)
    edges = [(first[keep], second[keep])]
    labels = _components(edges, n)
    trees = [KDTree(X[labels == c]) for c in range(labels.max() + 1)]
    if len(trees) > MOST:
        return labels
    members = [np.flatnonzero(labels == c) for c in range(len(trees))]
    for a in range(len(trees)):
        for b in range(a + 1, len(trees)):
            distance, which = map(np.asarray, trees[b].query(X[members[a]]))
            order = np.argsort(distance, kind="stable")[:CLOSEST]
            left, right = members[a][order], members[b][which[order]]
            keep = joined(X[left], X[right], inside, n_points)
            edges.append((left[keep], right[keep]))
    return _components(edges, n)


def nearest_component(
    Z: Float64, X: Float64, labels: np.ndarray, inside: Inside, *, n_neighbors: int, n_points: int
) -> np.ndarray:
    """Return the components of new points inside: of the nearest point that a line inside joins them to.

    Where no line does, it is that of the nearest point.

    Parameters
    ----------
    Z : (m, d) float64
        New points inside.
    X, labels : (n, d) float64, (n,) intp
        Known points, and their components.
    inside, n_neighbors, n_points
        As in ``level_set_components``.
    """
    k = min(len(X), n_neighbors)
    near = np.asarray(KDTree(X).query(Z, k=k)[1]).reshape(len(Z), k)
    good = joined(np.repeat(Z, k, axis=0), X[near.ravel()], inside, n_points).reshape(len(Z), k)
    first = np.where(good.any(axis=1), good.argmax(axis=1), 0)
    return np.asarray(labels[near[np.arange(len(Z)), first]])


def _components(edges: list[tuple[Index, Index]], n: int) -> Index:
    rows, columns = (np.concatenate(ends) for ends in zip(*edges, strict=True))
    graph = coo_array((np.ones(rows.size), (rows, columns)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
