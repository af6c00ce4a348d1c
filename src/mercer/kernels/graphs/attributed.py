# ruff: noqa: D102  what overrides a method is documented in the base class
"""Shortest paths between nodes that have vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Index
from mercer.kernels.counted import CountedKernel
from mercer.kernels.data import Data
from mercer.kernels.graphs.arrays import GraphArrays
from mercer.kernels.graphs.base import GraphKernel
from mercer.kernels.graphs.rows import Rows, numbered
from mercer.kernels.numbering import Numbering


@dataclass(frozen=True, eq=False)
class Lengths:
    """What the columns mean: for each length of a path, all products of two coordinates."""

    table: Rows
    dimension: int

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.table) * self.dimension**2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lengths) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[Any, ...]:
        return self.dimension, *self.table.content()


class AttributedShortestPath(GraphKernel, CountedKernel):
    r""":math:`k(x, z) = \sum_{u, v} \sum_{s, t} [d(u, v) = d(s, t)] \, a_u^\top a_s \; a_v^\top a_t`.

    The sums go over ordered pairs of different nodes with a path between them, u and v of x, s and t of z; d
    is the length of the shortest one and a the nodes' vectors. The features, :math:`\sum a_u a_v^\top` for
    each length, are explicit.

    Parameters
    ----------
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold vectors, labels and weights. Weights are lengths of
        edges.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel, "Shortest-path kernels on graphs", IEEE International
       Conference on Data Mining, 2005.

    Examples
    --------
    >>> from mercer.kernels import AttributedShortestPath
    >>> graph = {"edges": [(0, 1)], "vectors": [[1.0, 0.0], [2.0, 1.0]]}
    >>> AttributedShortestPath()([graph]).tolist()
    [[18.0]]
    """

    def __init__(
        self, node_label: str | None = "label", edge_label: str | None = "label", weight: str | None = None
    ) -> None:
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        items = super().check(X, estimator=estimator, input_name=input_name)
        widths = {g["vectors"].shape[1] for g in items if g["nodes"] and g["vectors"] is not None}
        for i, graph in enumerate(items):
            if graph["nodes"] and graph["vectors"] is None:
                raise ValueError(f"{input_name}[{i}] has no vectors on its nodes.")
            if len(widths) > 1:
                raise ValueError(
                    f"{input_name} has vectors of {sorted(widths)} numbers; they must have as many."
                )
        return items

    def count_items(self, items: list[Any], known: Any) -> tuple[Any, Index | None, Any]:
        graphs = GraphArrays(items, Numbering(), Numbering())
        distances = graphs.distances
        bits = distances.view(np.int64)
        numbers, found, table = numbered(Rows.of_table(bits[:, None]), None if known is None else known.table)
        widths = [g["vectors"].shape[1] for g in items if g["nodes"]]
        p = widths[0] if widths else 0 if known is None else known.dimension
        if known is not None and widths and known.dimension not in (0, p):
            raise ValueError(f"the nodes' vectors have {p} numbers, those of the others {known.dimension}.")
        out = np.zeros((len(items), found, p, p))
        for g, graph in enumerate(items):
            n, part = graph["nodes"], slice(graphs.pair_starts[g], graphs.pair_starts[g + 1])
            if not n:
                continue
            kind = numbers[part].reshape(n, n).copy()
            kind[~np.isfinite(distances[part]).reshape(n, n)] = -1
            np.fill_diagonal(kind, -1)
            for d in np.unique(kind[kind >= 0]):
                out[g, d] = graph["vectors"].T @ (kind == d) @ graph["vectors"]
        matrix = sp.csr_matrix(out.reshape(len(items), -1))
        if known is None:
            return matrix, None, Lengths(table, p)
        column = np.arange(matrix.shape[1], dtype=np.int64)
        return matrix, np.where(column < known.width, column, -1), known

    def feature_names(self, counting: Any) -> tuple[str, ...]:
        lengths = counting.table.flat.view(np.float64).tolist()
        axes = range(counting.dimension)
        return tuple(f"{i} {d:g} {j}" for d in lengths for i in axes for j in axes)
