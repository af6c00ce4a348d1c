# ruff: noqa: D102  what overrides a method is documented in the base class
"""Walks that two graphs have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.data import Array, Data, size
from mercer.kernels.graphs.arrays import adjacency
from mercer.kernels.graphs.base import GraphKernel
from mercer.kernels.numbering import Numbering
from mercer.kernels.prepared import Prepared, raw
from mercer.kernels.vector import check_number


class WalkGraphs(Prepared):
    """Graphs, prepared for walks.

    Attributes
    ----------
    items : list of dict
        Plain graphs.
    which : int64 array
        These items among the graphs that were prepared together.
    labels : Numbering
        Numbers of node labels.
    arrays : tuple of arrays
        Starts of the graphs' nodes; labels; starts, nodes and weights of the edges that leave each node.
    spectra : tuple of arrays
        Eigenvalues of the adjacency matrices, and squared sums of the eigenvectors, of undirected graphs.
    radius : float64 array
        The largest absolute eigenvalue of each graph.
    directed : bool
        Whether any graph is.
    """

    def __init__(self, items: list[Any], like: Numbering | None = None) -> None:
        self.items, self.which = items, np.arange(len(items), dtype=np.int64)
        self.labels = Numbering(like)
        self.directed = any(graph["directed"] for graph in items)
        node_starts = np.concatenate([[0], np.cumsum([g["nodes"] for g in items])]).astype(np.int64)
        codes = [
            self.labels.number(label)
            for graph in items
            for label in (graph["labels"] if graph["labels"] is not None else [None] * graph["nodes"])
        ]
        starts: list[Index] = [np.zeros(1, dtype=np.int64)]
        nodes: list[Index] = []
        weights: list[Float64] = []
        values: list[Float64] = []
        sums: list[Float64] = []
        radius = np.zeros(len(items))
        before = 0
        for g, graph in enumerate(items):
            dense = adjacency(graph)
            rows, columns = np.nonzero(dense)
            starts.append(np.cumsum(np.bincount(rows, minlength=graph["nodes"])) + before)
            nodes.append(columns)
            weights.append(dense[rows, columns])
            before += rows.size
            if not graph["nodes"]:
                continue
            if graph["directed"]:
                radius[g] = np.abs(np.linalg.eigvals(dense)).max()
            else:
                own, vectors = np.linalg.eigh(dense)
                values.append(own)
                sums.append(vectors.sum(axis=0) ** 2)
                radius[g] = np.abs(own).max()
        empty = np.zeros(0)
        self.arrays = (
            node_starts, np.array(codes, dtype=np.int64), np.concatenate(starts),
            np.concatenate([np.zeros(0, dtype=np.int64), *nodes]), np.concatenate([empty, *weights]),
        )  # fmt: skip
        self.spectra = np.concatenate([empty, *values]), np.concatenate([empty, *sums])
        self.radius = radius

    def taken(self, idx: Any) -> WalkGraphs:
        """Return some of the graphs; the arrays are shared."""
        idx = np.asarray(idx)
        part = WalkGraphs.__new__(WalkGraphs)
        part.__dict__.update(self.__dict__)
        part.items = [self.items[i] for i in idx.tolist()]
        part.which, part.radius = self.which[idx], self.radius[idx]
        return part


class RandomWalk(GraphKernel):
    r""":math:`k(x, z) = \sum_{n=0}^\infty \lambda^n \, 1^\top W^n \, 1`, W the adjacency of a product graph.

    The nodes of the product are pairs of nodes with one label, and two pairs are linked if both their nodes
    are, so that the kernel counts the walks that both graphs have, each of n steps with weight
    :math:`\lambda^n`. Products are never formed: without labels the eigenvalues of the two graphs give the
    sum, with labels conjugate gradients, and for directed graphs the series itself.

    Parameters
    ----------
    decay : float, default=0.01
        :math:`\lambda > 0`, below one over the product of the largest absolute eigenvalues of the two graphs.
    labels : bool, default=True
        Whether the labels of the nodes on a walk count.
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold labels and weights; None if there are none. A walk
        is worth the product of the weights of its edges.

    References
    ----------
    .. [1] T. Gartner, P. Flach and S. Wrobel, "On graph kernels: hardness results and efficient
       alternatives", Conference on Learning Theory, 2003.
    .. [2] S. V. N. Vishwanathan, N. N. Schraudolph, R. Kondor and K. M. Borgwardt, "Graph kernels", Journal
       of Machine Learning Research 11, 2010.

    Examples
    --------
    >>> from mercer.kernels import RandomWalk
    >>> RandomWalk(0.1)([[(0, 1)], [(0, 1), (1, 2)]]).round(4).tolist()
    [[4.4444, 6.9388], [6.9388, 11.0417]]
    """

    def __init__(
        self,
        decay: float = 0.01,
        labels: bool = True,
        node_label: str | None = "label",
        edge_label: str | None = "label",
        weight: str | None = None,
    ) -> None:
        self.decay = decay
        self.labels = labels
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight

    @property
    def by_pairs(self) -> bool:
        return True

    def validate(self) -> None:
        check_number(self, "decay", above=0)

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        labels = like.labels if isinstance(like, WalkGraphs) else None
        if isinstance(X, WalkGraphs) and (
            labels is None or X.labels.begins(labels) or labels.begins(X.labels)
        ):
            return X
        return WalkGraphs(raw(X), labels)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        if Z is None:
            X = self.prepare(X)
            return self._filled(X, X, True)
        if isinstance(Z, WalkGraphs):
            return self._filled(self.prepare(X, Z), Z, False)
        X = self.prepare(X)
        return self._filled(X, self.prepare(Z, X), False)

    def evaluate_diag(self, X: Data) -> Array:
        X = self.prepare(X)
        return np.array([self._filled(one, one, True)[0, 0] for one in (X.taken([i]) for i in range(len(X)))])

    def _filled(self, X: WalkGraphs, Z: WalkGraphs, symmetric: bool) -> Float64:
        decay = float(self.decay)
        largest = float(X.radius.max() * Z.radius.max())
        if decay * largest >= 1.0:
            raise ValueError(
                f"RandomWalk: decay={self.decay!r} is too large for two of the graphs, whose common walks "
                f"grow by up to {largest:g} a step: the sum is infinite. It must be below {1.0 / largest:g}."
            )
        out = np.empty((size(X), size(Z)))
        labels, others = self._codes(X, Z)
        directed = X.directed or Z.directed
        if not directed and labels.size + others.size and max(labels.max(), others.max()) == 0:
            _jit.graph_walks.spectral_walks(
                *X.spectra, X.arrays[0], X.which, *Z.spectra, Z.arrays[0], Z.which, decay, symmetric, out
            )
        else:
            _jit.graph_walks.labelled_walks(
                X.arrays[0], labels, *X.arrays[2:], X.which, Z.arrays[0], others, *Z.arrays[2:], Z.which,
                decay, not directed, symmetric, out,
            )  # fmt: skip
        return out

    def _codes(self, X: WalkGraphs, Z: WalkGraphs) -> tuple[Index, Index]:
        if self.labels:
            return X.arrays[1], Z.arrays[1]
        return np.zeros_like(X.arrays[1]), np.zeros_like(Z.arrays[1])
