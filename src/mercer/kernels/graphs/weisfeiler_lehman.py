# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that refine the colours of nodes by those of their neighbours."""

from __future__ import annotations

import numpy as np

from mercer import _jit
from mercer.arrays import Index
from mercer.kernels.graphs.arrays import GraphArrays
from mercer.kernels.graphs.base import Book, CountedGraphKernel, GraphFeatures
from mercer.kernels.graphs.paths import count_paths
from mercer.kernels.graphs.rows import Rows
from mercer.kernels.vector import check_number


class WeisfeilerLehman(CountedGraphKernel):
    r""":math:`k(x, z) = \sum_{t=0}^{h} k_0(x_t, z_t)`, with :math:`x_t` the graph x after t refinements.

    Colours are the labels of the nodes at first. A refinement gives two nodes one colour if they had one
    colour and the same colours, as often, around them. After t steps a colour stands for the tree of all
    walks of up to t steps from a node. The base kernel :math:`k_0` counts colours ("subtree"), pairs of
    colours at the ends of edges, with the edge's label ("edge"), or pairs of colours with the length of the
    shortest path between them ("shortest_path").

    The colours are explicit features in one table for all graphs. Cost: h times the number of edges.

    Parameters
    ----------
    h : int, default=5
        Number of refinements.
    base : {"subtree", "edge", "shortest_path"}, default="subtree"
        The base kernel.
    edge_labels : bool, default=False
        Whether refinements look at the labels of edges, too.
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold labels and weights; None if there are none.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt,
       "Weisfeiler-Lehman graph kernels", Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehman
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> WeisfeilerLehman(1)([path, triangle]).tolist()
    [[14.0, 12.0], [12.0, 18.0]]
    """

    def __init__(
        self,
        h: int = 5,
        base: str = "subtree",
        edge_labels: bool = False,
        node_label: str | None = "label",
        edge_label: str | None = "label",
        weight: str | None = None,
    ) -> None:
        self.h = h
        self.base = base
        self.edge_labels = edge_labels
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight

    def validate(self) -> None:
        check_number(self, "h", least=0, integer=True)
        if self.base not in ("subtree", "edge", "shortest_path"):
            self._refuse("base", self.base, "'subtree', 'edge' or 'shortest_path'")

    def collect(self, graphs: GraphArrays, book: Book) -> None:
        self._refine(graphs, book, self.base, bool(self.edge_labels))

    def _refine(self, graphs: GraphArrays, book: Book, base: str, edge_labels: bool) -> None:
        nodes = np.repeat(np.arange(len(graphs.graphs)), graphs.sizes)
        colours = book.number(Rows.of_table(graphs.labels[:, None]))
        neighbours = list(graphs.neighbours)
        if not edge_labels:
            neighbours[2], neighbours[5] = np.zeros_like(neighbours[2]), np.zeros_like(neighbours[5])
        total = 2 * colours.size + neighbours[1].size + neighbours[4].size
        for step in range(int(self.h) + 1):
            if step:
                flat = np.empty(total, dtype=np.int64)
                starts = np.empty(colours.size + 1, dtype=np.int64)
                _jit.graph_rows.neighbourhood_rows(colours, *neighbours, flat, starts)
                colours = book.number(Rows(flat, starts))
            if base == "subtree":
                book.count(nodes, colours)
            elif base == "edge":
                self._count_edges(graphs, colours, book)
            else:
                count_paths(graphs, colours, book)

    @staticmethod
    def _count_edges(graphs: GraphArrays, colours: Index, book: Book) -> None:
        ends = colours[graphs.edges]
        swap = ~graphs.directed & (ends[:, 0] > ends[:, 1])
        ends[swap] = ends[swap][:, ::-1]
        rows = np.column_stack([ends, graphs.edge_labels, graphs.directed.astype(np.int64)])
        numbers = book.number(Rows.of_table(rows))
        book.count(np.repeat(np.arange(len(graphs.graphs)), graphs.edge_counts), numbers)

    def row_name(self, part: int, number: int, row: list[int], counting: GraphFeatures) -> str:
        if self.base == "subtree":
            return self._colour_name(part, number, counting, counting.counted)
        tables = tuple(k for k in range(len(counting.tables)) if k not in counting.counted)
        one, two = (self._colour_name(part, row[k], counting, tables) for k in (0, 1))
        if self.base == "edge":
            return f"{one}{'>' if row[3] else '-'}{two} {counting.edge_names[row[2]]}"
        return f"{one} {float(np.int64(row[2]).view(np.float64)):g} {two}"

    def _colour_name(self, step: int, number: int, counting: GraphFeatures, tables: tuple[int, ...]) -> str:
        """Return a colour as text: a label, a label with its neighbours, later only numbers.

        ``tables`` are those of the colours, a refinement each.
        """
        labels = counting.label_names
        root = number
        for level in range(step, 0, -1):
            root = counting.row(tables[level], root)[0]
        label = labels[counting.row(tables[0], root)[0]]
        if step == 0:
            return label
        if step > 1:
            return f"{label}~{step}.{number}"
        around = []
        _, leaving, *tokens = counting.row(tables[1], number)
        for place, token in enumerate(tokens):
            other = labels[counting.row(tables[0], token >> 20)[0]]
            via = f"{counting.edge_names[token & (2**20 - 1)]}:" if self.edge_labels else ""
            around.append(f"{'<' if place >= leaving else ''}{via}{other}")
        return f"{label}({','.join(around)})"


class WLOptimalAssignment(WeisfeilerLehman):
    r""":math:`k(x, z) = \sum_{t=0}^{h} \sum_c \min(n_{c,t}(x), n_{c,t}(z))`, over colours of t refinements.

    This is the value of the best assignment of the nodes of one graph to those of the other, where two nodes
    are worth the number of refinements that leave them with one colour (and 1 more). :math:`n_{c,t}(x)` is
    the number of nodes of colour c. The features "at least j nodes have colour c" are explicit.

    Parameters
    ----------
    h : int, default=5
        Number of refinements.
    edge_labels : bool, default=False
        Whether refinements look at the labels of edges, too.
    node_label, edge_label, weight : str or None, default="label", "label", None
        Attributes of networkx and igraph graphs that hold labels and weights; None if there are none.

    References
    ----------
    .. [1] N. M. Kriege, P.-L. Giscard and R. C. Wilson, "On valid optimal assignment kernels and applications
       to graph classification", Advances in Neural Information Processing Systems 29, 2016.

    Examples
    --------
    >>> from mercer.kernels import WLOptimalAssignment
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> WLOptimalAssignment(1)([path, triangle]).tolist()
    [[6.0, 4.0], [4.0, 6.0]]
    """

    def __init__(
        self,
        h: int = 5,
        edge_labels: bool = False,
        node_label: str | None = "label",
        edge_label: str | None = "label",
        weight: str | None = None,
    ) -> None:
        self.h = h
        self.edge_labels = edge_labels
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight

    def validate(self) -> None:
        check_number(self, "h", least=0, integer=True)

    def collect(self, graphs: GraphArrays, book: Book) -> None:
        self._refine(graphs, book, "subtree", bool(self.edge_labels))
        owners: list[Index] = []
        rows: list[Index] = []
        for table, owner, numbers in book.entries:
            width = len(book.tables[table])
            keys, counts = np.unique(owner * width + numbers, return_counts=True)
            which = np.repeat(np.arange(keys.size), counts)
            place = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)
            rows.append(np.column_stack([np.full(which.size, table), keys[which] % max(1, width), place + 1]))
            owners.append(keys[which] // max(1, width))
        book.entries.clear()
        numbers = book.number(Rows.of_table(np.concatenate(rows)))
        book.count(np.concatenate(owners), numbers)

    def row_name(self, part: int, number: int, row: list[int], counting: GraphFeatures) -> str:
        tables = tuple(range(len(counting.tables) - 1))
        return f"{row[2]} {self._colour_name(row[0], row[1], counting, tables)}"
