"""Graphs of any make in one plain form: a dictionary of arrays, which model files can hold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.kernels.containers import listed, shown
from mercer.kernels.data import is_sparse

KEYS = ("nodes", "edges", "directed", "labels", "vectors", "edge_labels", "weights")
KINDS = (
    "a networkx or igraph graph, an adjacency matrix, an edge list, an adjacency dictionary, a dictionary "
    "with 'edges' and 'labels', or a pair (one of these, node labels)"
)
Graph = dict[str, Any]


class Attributes:
    """Where labels and weights are found in graphs with attributes.

    Parameters
    ----------
    node_label, edge_label, weight : str or None
        Names of the attributes; None for no such thing.
    """

    def __init__(self, node_label: Any, edge_label: Any, weight: Any) -> None:
        self.node_label, self.edge_label, self.weight = node_label, edge_label, weight


def check_graphs(X: Any, attributes: Attributes, *, estimator: Any = None, name: str = "X") -> list[Graph]:
    """Return graphs in their plain form, or say which item is none.

    Parameters
    ----------
    X : sequence or array
        The graphs.
    attributes : Attributes
        Where labels and weights are found.
    estimator : object or str, optional
        Whose data they are, for messages.
    name : str
        What the data are called in messages.
    """
    if hasattr(X, "nodes") or hasattr(X, "vs"):
        raise TypeError(f"{name} must be a list of graphs; it is a single graph. Put it into a list.")
    items = listed(X, of="graphs", estimator=estimator, name=name)
    out = []
    for i, item in enumerate(items):
        try:
            out.append(item if _is_plain(item) else plain(item, attributes))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}[{i}] {error}") from None
    return out


def _is_plain(item: Any) -> bool:
    if type(item) is not dict or tuple(item) != KEYS:
        return False
    edges = item["edges"]
    return isinstance(edges, np.ndarray) and edges.dtype == np.int64


def plain(item: Any, attributes: Attributes) -> Graph:
    """Return one graph in its plain form."""
    if hasattr(item, "vs") and hasattr(item, "es"):
        return _igraph(item, attributes)
    if hasattr(item, "nodes") and hasattr(item, "is_directed"):
        return _networkx(item, attributes)
    if isinstance(item, Mapping) and "edges" in item:
        return _described(item)
    if _is_structure(item):
        return _structure(item)
    if isinstance(item, tuple | list) and len(item) in (2, 3) and _is_structure(item[0]):
        return _structure(*item)
    raise TypeError(f"is {shown(item)}; a graph kernel compares graphs: {KINDS}.")


def _is_structure(item: Any) -> bool:
    """Return whether something is a matrix, an edge list or an adjacency dictionary."""
    if is_sparse(item) or (isinstance(item, np.ndarray) and item.ndim == 2):
        return True
    if isinstance(item, Mapping | set | frozenset):
        return True
    return isinstance(item, list | tuple) and all(
        isinstance(edge, list | tuple)
        and len(edge) in (2, 3)
        and not isinstance(edge[0], list | tuple | dict)
        for edge in item
    )


def _structure(item: Any, labels: Any = None, edge_labels: Any = None) -> Graph:
    if is_sparse(item) or isinstance(item, np.ndarray):
        return _matrix(item, labels)
    names: list[Hashable] = []
    edges: list[tuple[Any, ...]]
    if isinstance(item, Mapping):
        if item and all(isinstance(key, tuple) and len(key) == 2 for key in item):  # edges with weights
            edges = [(*edge, weight) for edge, weight in item.items()]
        else:
            names = list(item)
            edges = [
                (u, v, *((w,) if isinstance(around, Mapping) else ()))
                for u, around in item.items()
                for v, w in (around.items() if isinstance(around, Mapping) else [(v, 1.0) for v in around])
            ]
        both = {edge[:2] for edge in edges}
        directed = any((v, u) not in both for u, v in both)
        if not directed:  # each edge stands there twice
            once = _once(both)
            edges = [edge for edge in edges if edge[:2] in once]
    else:
        edges, directed = [tuple(edge) for edge in item], False
        if isinstance(item, set | frozenset):
            both = {edge[:2] for edge in edges}
            if edges and all((v, u) in both for u, v in both):
                once = _once(both)
                edges = [edge for edge in edges if edge[:2] in once]
    if isinstance(labels, Mapping):
        names = [*names, *(node for node in labels if node not in set(names))]
    elif labels is not None and not names:
        names = list(range(len(labels)))
    seen = dict.fromkeys(names)
    for edge in edges:
        seen.setdefault(edge[0])
        seen.setdefault(edge[1])
    if labels is not None and not isinstance(labels, Mapping) and len(labels) != len(seen):
        raise ValueError(f"has {len(seen)} nodes, but {len(labels)} labels.")
    number = {node: k for k, node in enumerate(seen)}
    pairs = np.array([(number[e[0]], number[e[1]]) for e in edges], dtype=np.int64).reshape(-1, 2)
    weights = [float(e[2]) if len(e) == 3 else 1.0 for e in edges]
    if isinstance(labels, Mapping):
        missing = next((node for node in seen if node not in labels), None)
        if missing is not None:
            raise ValueError(f"has no label for its node {missing!r}.")
        labels = [labels[node] for node in seen]
    if isinstance(edge_labels, Mapping):
        edge_labels = [edge_labels.get(e[:2], edge_labels.get((e[1], e[0]))) for e in edges]
    return made(len(seen), pairs, directed, labels, edge_labels, weights)


def _once(both: set[Any]) -> set[Any]:
    """Return one direction of each edge that is there in both."""
    once: set[Any] = set()
    for u, v in both:
        if (v, u) not in once:
            once.add((u, v))
    return once


def _matrix(A: Any, labels: Any) -> Graph:
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"is a matrix of shape {A.shape}; an adjacency matrix is square.")
    if is_sparse(A):
        A = A.tocoo()
        rows, columns, weights = A.row, A.col, A.data
        directed = (A != A.T).nnz > 0 if A.nnz else False
    else:
        rows, columns = np.nonzero(A)
        weights, directed = A[rows, columns], bool((A != A.T).any())
    keep = slice(None) if directed else rows <= columns
    edges = np.column_stack([rows, columns]).astype(np.int64)[keep]
    return made(A.shape[0], edges, directed, labels, None, np.asarray(weights, dtype=np.float64)[keep])


def _described(item: Mapping[str, Any]) -> Graph:
    unknown = [key for key in item if key not in KEYS]
    if unknown:
        raise ValueError(f"is a dictionary with the key {unknown[0]!r}; known are {', '.join(KEYS)}.")
    labels, vectors = item.get("labels"), item.get("vectors")
    edges = np.asarray(item["edges"]).reshape(-1, 2)
    if edges.size and edges.dtype.kind not in "iu":
        raise TypeError("has edges that are no pairs of node numbers.")
    known = [len(part) for part in (labels, vectors) if part is not None]
    n = item.get("nodes", known[0] if known else int(edges.max()) + 1 if edges.size else 0)
    graph = made(
        int(n), edges, bool(item.get("directed", False)), labels, item.get("edge_labels"), item.get("weights")
    )
    return {**graph, "vectors": _vectors(vectors, int(n))} if vectors is not None else graph


def _networkx(graph: Any, attributes: Attributes) -> Graph:
    number = {node: k for k, node in enumerate(graph.nodes())}
    edges = [(number[u], number[v]) for u, v in graph.edges()]
    data = [found for _, found in graph.nodes(data=True)]
    between = [found for *_, found in graph.edges(data=True)]
    return made(
        len(number), np.array(edges, dtype=np.int64).reshape(-1, 2), bool(graph.is_directed()),
        _attribute(data, attributes.node_label, "node", list(number)),
        _attribute(between, attributes.edge_label, "edge", edges),
        _attribute(between, attributes.weight, "edge", edges),
    )  # fmt: skip


def _attribute(found: list[Any], name: Any, what: str, names: Sequence[Any]) -> list[Any] | None:
    """Return an attribute of all nodes or edges; None if none of them has it."""
    if name is None or not any(name in one for one in found):
        return None
    for one, which in zip(found, names, strict=True):
        if name not in one:
            raise ValueError(f"has no attribute {name!r} at its {what} {which!r}, but at others.")
    return [one[name] for one in found]


def _igraph(graph: Any, attributes: Attributes) -> Graph:
    def values(sequence: Any, name: Any) -> Any:
        return sequence[name] if name is not None and name in sequence.attributes() else None

    return made(
        int(graph.vcount()), np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2),
        bool(graph.is_directed()), values(graph.vs, attributes.node_label),
        values(graph.es, attributes.edge_label), values(graph.es, attributes.weight),
    )  # fmt: skip


def made(n: int, edges: Any, directed: bool, labels: Any, edge_labels: Any, weights: Any) -> Graph:
    """Return the plain form of checked parts."""
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise ValueError(f"has {n} nodes, but an edge with node {int(edges.max())}.")
    vectors = None
    if labels is not None:
        labels = labels.tolist() if isinstance(labels, np.ndarray) and labels.ndim == 1 else list(labels)
        if len(labels) != n:
            raise ValueError(f"has {n} nodes, but {len(labels)} labels.")
        if labels and isinstance(labels[0], list | np.ndarray):
            labels, vectors = None, _vectors(labels, n)
        else:
            labels = _hashable(labels, "node")
    if edge_labels is not None:
        edge_labels = _hashable(edge_labels, "edge")
        if len(edge_labels) != len(edges):
            raise ValueError(f"has {len(edges)} edges, but {len(edge_labels)} edge labels.")
    if weights is not None:
        weights = np.array(weights, dtype=np.float64)
        if weights.shape != (len(edges),):
            raise ValueError(f"has {len(edges)} edges, but weights of shape {weights.shape}.")
        if not np.isfinite(weights).all():
            raise ValueError("has a weight that is not finite.")
        if (weights == 1.0).all():
            weights = None
    parts = n, edges, directed, labels, vectors, edge_labels, weights
    return dict(zip(KEYS, parts, strict=True))


def _hashable(labels: Iterable[Any], what: str) -> list[Any]:
    labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for label in labels:
        if not isinstance(label, str | int | float | tuple) or label != label:
            raise TypeError(f"has a {what} whose label is {shown(label)}; labels are strings or numbers.")
    return labels


def _vectors(vectors: Any, n: int) -> Any:
    if n == 0 and len(vectors) == 0:
        return np.zeros((0, 0))
    table = np.array([np.asarray(v, dtype=np.float64) for v in vectors], dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != n or not np.isfinite(table).all():
        raise ValueError(f"has {n} nodes, but vectors of shape {table.shape}, or some that are not finite.")
    return table
