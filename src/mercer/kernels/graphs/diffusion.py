# ruff: noqa: D102  what overrides a method is documented in the base class
"""Heat on the nodes of one graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.kernels.base import Kernel
from mercer.kernels.containers import listed, shown
from mercer.kernels.data import Array, Data
from mercer.kernels.prepared import Prepared, raw
from mercer.kernels.vector import check_number


class PlacedNodes(Prepared):
    """Nodes of a graph, with the values of all pairs of its nodes."""

    def __init__(self, items: list[int], values: Float64) -> None:
        self.items, self.values = items, values

    def taken(self, idx: Any) -> PlacedNodes:
        """Return some of the nodes."""
        return PlacedNodes([self.items[int(i)] for i in np.asarray(idx)], self.values)


class Diffusion(Kernel):
    r""":math:`k(i, j) = (e^{-\beta L})_{ij}`, between the nodes of one undirected graph.

    L is the graph's Laplacian, degrees minus weights: the value is the heat at j, a time :math:`\beta` after
    one unit of it was put to i. The items are numbers of nodes.

    Parameters
    ----------
    adjacency : array of shape (n, n)
        Symmetric; weights of the edges, not negative.
    beta : float, default=1.0
        :math:`\beta > 0`.

    References
    ----------
    .. [1] R. I. Kondor and J. Lafferty, "Diffusion kernels on graphs and other discrete input spaces",
       International Conference on Machine Learning, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Diffusion
    >>> Diffusion(np.array([[0, 1], [1, 0]]), beta=0.5)([0, 1]).round(4).tolist()
    [[0.6839, 0.3161], [0.3161, 0.6839]]
    """

    def __init__(self, adjacency: Any, beta: float = 1.0) -> None:
        self.adjacency = adjacency
        self.beta = beta

    @property
    def is_psd(self) -> bool | None:
        return True

    @property
    def is_nonnegative(self) -> bool | None:
        return None  # it is, but for rounding

    @property
    def diagonal_bound(self) -> float | None:
        return 1.0

    def validate(self) -> None:
        check_number(self, "beta", above=0)
        A = np.asarray(self.adjacency)
        if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size or A.dtype.kind not in "biuf":
            self._refuse("adjacency", self.adjacency, "a square matrix of numbers")
        if not np.isfinite(A).all() or (A < 0).any() or (A != A.T).any():
            self._refuse("adjacency", self.adjacency, "symmetric, finite and not negative")

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        items = listed(X, of="node numbers", estimator=estimator, name=input_name)
        n = np.asarray(self.adjacency).shape[0]
        for i, item in enumerate(items):
            if not isinstance(item, int | np.integer) or isinstance(item, bool):
                raise TypeError(f"{input_name}[{i}] is {shown(item)}; the items are numbers of nodes.")
            if not 0 <= item < n:
                raise ValueError(f"{input_name}[{i}] is {item}; the graph has the nodes 0 to {n - 1}.")
        return [int(item) for item in items]

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        if isinstance(X, PlacedNodes):
            return X
        return PlacedNodes(raw(X), like.values if isinstance(like, PlacedNodes) else self._values())

    def _values(self) -> Float64:
        A = np.asarray(self.adjacency, dtype=np.float64)
        A = A - np.diag(np.diagonal(A))  # a loop leads nowhere
        values, vectors = np.linalg.eigh(np.diag(A.sum(axis=1)) - A)
        half = vectors * np.exp(-0.5 * float(self.beta) * np.maximum(values, 0.0))
        return np.asarray(half @ half.T)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        X = self.prepare(X, Z)
        return np.array(X.values[np.ix_(X.items, X.items if Z is None else raw(Z))])

    def evaluate_diag(self, X: Data) -> Array:
        X = self.prepare(X)
        return np.array(X.values[X.items, X.items])
