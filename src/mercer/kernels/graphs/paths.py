# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that count shortest paths."""

from __future__ import annotations

import numpy as np

from mercer import _jit
from mercer.arrays import Index
from mercer.kernels.graphs.arrays import GraphArrays
from mercer.kernels.graphs.base import Book, CountedGraphKernel, GraphFeatures
from mercer.kernels.graphs.rows import Rows

CODES_PER_PAIR = 4  # most codes of paths, beside the number of pairs of nodes, that are looked up in a table


def count_paths(graphs: GraphArrays, colours: Index, book: Book) -> None:
    """Count ordered pairs of nodes by their colours and the length of the shortest path between them."""
    distances = graphs.distances
    owner = np.empty(distances.size, dtype=np.int64)
    known, n_colours = book.next_known, int(colours.max(initial=-1)) + 1
    if graphs.has_steps and (known is None or not len(known)):
        # The codes of all paths that there can be are few enough for a table: no row is compared with others.
        longest = int(distances.max(initial=0.0, where=np.isfinite(distances)))
        codes = n_colours * n_colours * (longest + 1)
        if codes <= CODES_PER_PAIR * distances.size:
            numbers, table = np.empty_like(owner), np.empty((codes, 3), dtype=np.int64)
            slots = np.full(codes, -1, dtype=np.int64)
            found, pairs = _jit.graph_rows.number_paths(
                graphs.node_starts, graphs.pair_starts, distances, distances.view(np.int64), colours,
                n_colours, longest, slots, table, numbers, owner,
            )  # fmt: skip
            book.tables.append(Rows.of_table(table[:found]))
            book.count(owner[:pairs], numbers[:pairs])
            return
    rows = np.empty((distances.size, 3), dtype=np.int64)
    found = _jit.graph_rows.path_rows(
        graphs.node_starts, graphs.pair_starts, distances, distances.view(np.int64), colours, rows, owner
    )
    book.count(owner[:found], book.number(Rows.of_table(rows[:found])))


class ShortestPath(CountedGraphKernel):
    r""":math:`k(x, z) = \sum_{l, m, d} c_{l,m,d}(x) \, c_{l,m,d}(z)`.

    :math:`c_{l,m,d}(x)` is the number of ordered pairs of different nodes with labels l and m whose shortest
    path has length d; pairs without a path do not count. The features are explicit. Cost: number of nodes
    times number of edges.

    Parameters
    ----------
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold labels and weights; None if there are none. Weights
        are lengths of edges.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel, "Shortest-path kernels on graphs", IEEE International
       Conference on Data Mining, 2005.

    Examples
    --------
    >>> from mercer.kernels import ShortestPath
    >>> ShortestPath()([[(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]]).tolist()
    [[20.0, 24.0], [24.0, 36.0]]
    """

    def __init__(
        self, node_label: str | None = "label", edge_label: str | None = "label", weight: str | None = None
    ) -> None:
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight

    def collect(self, graphs: GraphArrays, book: Book) -> None:
        count_paths(graphs, graphs.labels, book)

    def row_name(self, part: int, number: int, row: list[int], counting: GraphFeatures) -> str:
        one, two = (counting.label_names[row[k]] for k in (0, 1))
        return f"{one} {float(np.int64(row[2]).view(np.float64)):g} {two}"
