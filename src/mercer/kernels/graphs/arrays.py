"""Many graphs as one: arrays over all nodes and edges of a data set."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.graphs.reading import Graph
from mercer.kernels.numbering import Numbering


class GraphArrays:
    """A data set of plain graphs, its nodes numbered through.

    Parameters
    ----------
    graphs : list of dict
        Plain graphs.
    labels, edge_labels : Numbering
        Numbers of labels, which are added to.
    """

    def __init__(self, graphs: list[Graph], labels: Numbering, edge_labels: Numbering) -> None:
        self.graphs = graphs
        sizes = np.array([graph["nodes"] for graph in graphs], dtype=np.int64)
        self.node_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        number = labels.number
        self.labels: Index = np.array(
            [
                number(label)
                for graph in graphs
                for label in (graph["labels"] if graph["labels"] is not None else [None] * graph["nodes"])
            ],
            dtype=np.int64,
        )
        self.edge_counts = np.array([len(graph["edges"]) for graph in graphs], dtype=np.int64)
        self.edges: Index = np.concatenate([graph["edges"] for graph in graphs])
        self.edges = self.edges + np.repeat(self.node_starts[:-1], self.edge_counts)[:, None]
        number = edge_labels.number
        self.edge_labels: Index = np.array(
            [
                number(label)
                for graph in graphs
                for label in (
                    graph["edge_labels"] if graph["edge_labels"] is not None else [None] * len(graph["edges"])
                )
            ],
            dtype=np.int64,
        )
        if len(edge_labels) >= 1 << 20:
            raise ValueError(f"the graphs have {len(edge_labels)} different edge labels; at most 2^20 - 1.")
        self.directed = np.repeat([graph["directed"] for graph in graphs], self.edge_counts)

    @property
    def sizes(self) -> Index:
        """Numbers of nodes."""
        return np.diff(self.node_starts)

    @cached_property
    def neighbours(self) -> tuple[Index, ...]:
        """Edges that leave each node (both directions of undirected ones), and that enter it.

        Starts, nodes and edge labels of the one, then of the other.
        """
        one, two, labels = self.edges[:, 0], self.edges[:, 1], self.edge_labels
        back = ~self.directed & (one != two)
        leaving = _lists(
            np.concatenate([one, two[back]]),
            np.concatenate([two, one[back]]),
            np.concatenate([labels, labels[back]]),
            self.labels.size,
        )
        way = self.directed
        return (*leaving, *_lists(two[way], one[way], labels[way], self.labels.size))

    @property
    def has_steps(self) -> bool:
        """Whether all distances are numbers of steps: no graph has weights."""
        return all(graph["weights"] is None for graph in self.graphs)

    @cached_property
    def pair_starts(self) -> Index:
        """Where the ordered pairs of nodes of each graph begin."""
        return np.concatenate([[0], np.cumsum(self.sizes**2)]).astype(np.int64)

    @cached_property
    def distances(self) -> Float64:
        """Lengths of the shortest paths between all nodes of each graph, infinite where there is none."""
        out = np.empty(int(self.pair_starts[-1]))
        starts, nodes = self.neighbours[:2]
        _jit.graph_rows.step_distances(self.node_starts, starts, nodes, self.pair_starts, out)
        for g, graph in enumerate(self.graphs):
            if graph["weights"] is None:
                continue
            if graph["weights"].min() < 0:
                raise ValueError(f"X[{g}] has an edge of negative weight: no path is shortest.")
            part = slice(self.pair_starts[g], self.pair_starts[g + 1])
            out[part] = shortest_path(lengths(graph), method="D").ravel()
        return out


def _lists(source: Index, target: Index, labels: Index, n: int) -> tuple[Index, Index, Index]:
    order = np.argsort(source, kind="stable")
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=starts[1:])
    return starts, target[order], labels[order]


def adjacency(graph: Graph) -> Float64:
    """Return the weighted adjacency matrix of a plain graph; parallel edges add up."""
    A = np.zeros((graph["nodes"], graph["nodes"]))
    one, two = graph["edges"][:, 0], graph["edges"][:, 1]
    weights = np.ones(one.size) if graph["weights"] is None else graph["weights"]
    np.add.at(A, (one, two), weights)
    if not graph["directed"]:
        both = one != two
        np.add.at(A, (two[both], one[both]), weights[both])
    return A


def lengths(graph: Graph) -> Any:
    """Return the lengths of a plain graph's edges as a sparse matrix; of parallel edges the shortest."""
    one, two, weights = graph["edges"][:, 0], graph["edges"][:, 1], graph["weights"]
    if not graph["directed"]:
        one, two, weights = np.append(one, two), np.append(two, one), np.append(weights, weights)
    order = np.lexsort((weights, two, one))
    one, two, weights = one[order], two[order], weights[order]
    first = np.ones(one.size, dtype=bool)
    first[1:] = (one[1:] != one[:-1]) | (two[1:] != two[:-1])
    shape = (graph["nodes"], graph["nodes"])
    return sp.csr_matrix((weights[first], (one[first], two[first])), shape=shape)
