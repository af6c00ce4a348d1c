# ruff: noqa: D102  what overrides a method is documented in the base class
"""Small subgraphs, counted all or estimated from a sample."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.counted import CountedKernel
from mercer.kernels.graphs.base import GraphKernel
from mercer.kernels.graphs.reading import Graph
from mercer.kernels.vector import check_number

THREE = ("no edge", "one edge", "path", "triangle")
FOUR = {  # by the sum of the cubes of the degrees
    0: "no edge", 2: "one edge", 4: "two edges", 10: "path of three", 24: "triangle and node", 30: "star",
    18: "path", 32: "cycle", 44: "triangle with a tail", 70: "diamond", 108: "complete",
}  # fmt: skip
CONNECTED = {"path", "triangle", "star", "cycle", "triangle with a tail", "diamond", "complete"}


@dataclass(frozen=True)
class Kinds:
    """The kinds of subgraphs of a size: what the columns mean."""

    names: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of kinds."""
        return len(self.names)


class Graphlets(GraphKernel, CountedKernel):
    r""":math:`k(x, z) = \sum_g c_g(x) \, c_g(z)`, over the kinds g of subgraphs of some size.

    :math:`c_g(x)` is how many sets of so many nodes of x have the edges of g between them: 4 kinds of three
    nodes, 11 of four. Directions, weights, labels and loops do not count. All subgraphs of n nodes are
    :math:`O(n^3)` or :math:`O(n^4)`; a sample estimates their number.

    Parameters
    ----------
    size : {3, 4}, default=3
        Number of nodes.
    samples : int or None, default=None
        How many sets of nodes to draw from each graph; None counts all. `estimate` has the standard errors.
    frequencies : bool, default=False
        Whether counts are divided by their sum.
    random_state : int, default=0
        Of the samples. A graph has the same sample in every data set.
    node_label, edge_label, weight : str or None, default="label", "label", None
        As for other graph kernels.
    connected : bool, default=False
        Whether only connected kinds count: 2 of the 4, or 6 of the 11. Frequencies are then those among all
        sets of nodes.

    References
    ----------
    .. [1] N. Shervashidze, S. V. N. Vishwanathan, T. Petri, K. Mehlhorn and K. M. Borgwardt, "Efficient
       graphlet kernels for large graph comparison", International Conference on Artificial Intelligence and
       Statistics, 2009.

    Examples
    --------
    >>> from mercer.kernels import Graphlets
    >>> Graphlets(3).feature_map([[(0, 1), (1, 2), (2, 3)]]).names
    ('no edge', 'one edge', 'path', 'triangle')
    >>> Graphlets(3).estimate([[(0, 1), (1, 2), (2, 3)]])[0].tolist()
    [[0.0, 2.0, 2.0, 0.0]]
    """

    def __init__(
        self,
        size: int = 3,
        samples: int | None = None,
        frequencies: bool = False,
        random_state: int = 0,
        node_label: str | None = "label",
        edge_label: str | None = "label",
        weight: str | None = None,
        connected: bool = False,
    ) -> None:
        self.size = size
        self.samples = samples
        self.frequencies = frequencies
        self.random_state = random_state
        self.node_label = node_label
        self.edge_label = edge_label
        self.weight = weight
        self.connected = connected

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def validate(self) -> None:
        if self.size not in (3, 4):
            self._refuse("size", self.size, "3 or 4")
        if self.samples is not None:
            check_number(self, "samples", least=2, integer=True)
        check_number(self, "random_state", least=0, integer=True)
        if self.connected not in (True, False):
            self._refuse("connected", self.connected, "True or False")

    def _kinds(self) -> tuple[str, ...]:
        """Return the kinds of subgraphs that count."""
        every = THREE if self.size == 3 else tuple(FOUR.values())
        return tuple(name for name in every if name in CONNECTED or not self.connected)

    def count_items(self, items: list[Any], known: Any) -> tuple[Any, Index | None, Any]:
        counts, _ = self._estimated(items)
        kinds = Kinds(self._kinds())
        return sp.csr_matrix(counts), None if known is None else np.arange(kinds.width, dtype=np.int64), kinds

    def feature_names(self, counting: Any) -> tuple[str, ...]:
        return tuple(counting.names)

    def estimate(self, X: Any) -> tuple[Float64, Float64]:
        """Return the counts (or frequencies) of each kind, and their standard errors.

        Parameters
        ----------
        X : sequence
            n graphs.

        Returns
        -------
        counts, errors : ndarrays of shape (n, 4) or (n, 11), (n, 2) or (n, 6) if connected
            The errors are 0 where all subgraphs are counted. In a sample half a subgraph is added to each
            count for them, so that a kind which was never drawn has an error, too.
        """
        self.validate()
        return self._estimated(self.check(X))

    def _estimated(self, items: list[Graph]) -> tuple[Float64, Float64]:
        width = 4 if self.size == 3 else len(FOUR)
        kinds = np.zeros(max(FOUR) + 1, dtype=np.int64)
        kinds[list(FOUR)] = np.arange(len(FOUR))
        counts, errors = np.zeros((len(items), width)), np.zeros((len(items), width))
        for g, graph in enumerate(items):
            n, total = graph["nodes"], float(math.comb(graph["nodes"], int(self.size)))
            if total == 0:
                continue
            near = np.zeros((n, n), dtype=np.int64)
            near[graph["edges"][:, 0], graph["edges"][:, 1]] = 1
            near |= near.T
            np.fill_diagonal(near, 0)
            scale = 1.0 / total if self.frequencies else 1.0
            if self.samples is None:
                if self.size == 3:
                    _jit.graph_walks.triples(near, counts[g])
                else:
                    _jit.graph_walks.quadruples(near, kinds, counts[g])
                counts[g] *= scale
                continue
            _jit.graph_walks.chosen(near, kinds, self._drawn(graph), counts[g])
            share, likely = counts[g] / self.samples, (counts[g] + 0.5) / (self.samples + 1.0)
            counts[g] = share * total * scale
            errors[g] = np.sqrt(likely * (1.0 - likely) / self.samples) * total * scale
        if not self.connected:
            return counts, errors
        every = THREE if self.size == 3 else tuple(FOUR.values())
        chosen = [k for k, name in enumerate(every) if name in CONNECTED]
        return np.ascontiguousarray(counts[:, chosen]), np.ascontiguousarray(errors[:, chosen])

    def _drawn(self, graph: Graph) -> Index:
        """Return random sets of nodes, the same whenever the graph is the same."""
        digest = hashlib.blake2b(graph["edges"].tobytes(), digest_size=8).digest()
        rng = np.random.default_rng(
            [int(self.random_state), graph["nodes"], int.from_bytes(digest, "little")]
        )
        assert self.samples is not None
        keys = rng.random((int(self.samples), graph["nodes"]))
        return np.argpartition(keys, int(self.size) - 1, axis=1)[:, : int(self.size)].astype(np.int64)
