# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that compare how often labels occur."""

from __future__ import annotations

import numpy as np

from mercer.kernels.graphs.arrays import GraphArrays
from mercer.kernels.graphs.base import Book, CountedGraphKernel, GraphFeatures
from mercer.kernels.graphs.rows import Rows


class VertexHistogram(CountedGraphKernel):
    r""":math:`k(x, z) = \sum_l c_l(x) \, c_l(z)`, with :math:`c_l(x)` the number of nodes with label l.

    Parameters
    ----------
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold labels and weights; None if there are none.

    References
    ----------
    .. [1] M. Sugiyama and K. M. Borgwardt, "Halting in random walk kernels", Advances in Neural Information
       Processing Systems 28, 2015.

    Examples
    --------
    >>> from mercer.kernels import VertexHistogram
    >>> VertexHistogram()([([(0, 1)], ["C", "C"]), ([(0, 1)], ["C", "O"])]).tolist()
    [[4.0, 2.0], [2.0, 2.0]]
    """

    def __init__(
        self, node_label: str | None = "label", edge_label: str | None = "label", weight: str | None = None
    ) -> None:
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight

    def collect(self, graphs: GraphArrays, book: Book) -> None:
        numbers = book.number(Rows.of_table(graphs.labels[:, None]))
        book.count(np.repeat(np.arange(len(graphs.graphs)), graphs.sizes), numbers)

    def row_name(self, part: int, number: int, row: list[int], counting: GraphFeatures) -> str:
        return counting.label_names[row[0]]


class EdgeHistogram(VertexHistogram):
    r""":math:`k(x, z) = \sum_l c_l(x) \, c_l(z)`, with :math:`c_l(x)` the number of edges with label l.

    Graphs without edge labels have one kind of edge.

    Parameters
    ----------
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold labels and weights; None if there are none.

    References
    ----------
    .. [1] M. Sugiyama and K. M. Borgwardt, "Halting in random walk kernels", Advances in Neural Information
       Processing Systems 28, 2015.

    Examples
    --------
    >>> from mercer.kernels import EdgeHistogram
    >>> EdgeHistogram()([[(0, 1), (1, 2)], [(0, 1)]]).tolist()
    [[4.0, 2.0], [2.0, 1.0]]
    """

    def collect(self, graphs: GraphArrays, book: Book) -> None:
        numbers = book.number(Rows.of_table(graphs.edge_labels[:, None]))
        book.count(np.repeat(np.arange(len(graphs.graphs)), graphs.edge_counts), numbers)

    def row_name(self, part: int, number: int, row: list[int], counting: GraphFeatures) -> str:
        return counting.edge_names[row[0]]
