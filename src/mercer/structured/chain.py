"""Sequences of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.arrays import Float64, Ints
from mercer.structured.base import Structure, check_count, check_flag, listed
from mercer.structured.chain_examples import ChainExamples, best_labels
from mercer.structured.costs import checked_costs
from mercer.structured.ragged import Ragged, offsets_of
from mercer.threads import Workers


class Chains(NamedTuple):
    """Inputs of many sequences, one after the other."""

    nodes: Float64  # (total, d)
    edges: Float64  # (total, e): of the edge from each node to the next; the last of a sequence is zero
    offsets: Ints  # where each sequence begins

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Sequences, and features of a node."""
        return len(self), int(self.nodes.shape[1])


class Chain(Structure):
    r"""Sequences of labels, a label for each node, of any length.

    .. math::
        \langle w, \psi(x, y) \rangle = \sum_t \langle u_{y_t}, x_t \rangle
        + \sum_t \Bigl( A_{y_t y_{t+1}} + \sum_j e_{tj} B^j_{y_t y_{t+1}} \Bigr)

    An input is an array with a row of features for each node; with ``edge_features`` a pair of that and an
    array with a row for each edge, one fewer. An output is an array of labels 0, ..., k-1. The best labels
    come from Viterbi's algorithm, which is exact.

    Parameters
    ----------
    n_labels : int, optional
        k; one more than the largest label of the training data when not given.
    n_features : int, optional
        Features of a node; read off the training data when not given.
    edge_features : bool or int, default=False
        Whether inputs are pairs of node and edge features; their number, once it is known.
    bias : bool, default=True
        Whether each label has a weight of its own, beside those of the features.
    costs : array of shape (k, k), optional
        What it costs to predict a label (column) where another (row) is true; 1 for every wrong label by
        default, so that the loss is the number of wrong labels.

    References
    ----------
    B. Taskar, C. Guestrin and D. Koller (2003), Max-margin Markov networks, NIPS 16.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.structured import Chain
    >>> chain = Chain(n_labels=2, n_features=1, bias=False)
    >>> chain.joint_feature(np.array([[3.0], [5.0]]), np.array([0, 1]))
    array([3., 5., 0., 1., 0., 0.])
    """

    exact: ClassVar[bool] = True

    def __init__(
        self,
        n_labels: int | None = None,
        n_features: int | None = None,
        *,
        edge_features: bool | int = False,
        bias: bool = True,
        costs: Any = None,
    ) -> None:
        self.n_labels = n_labels
        self.n_features = n_features
        self.edge_features = edge_features
        self.bias = bias
        self.costs = costs

    # -- the three methods -----------------------------------------------------------------------------------

    def joint_feature(self, x: Any, y: Any) -> Float64:
        """Return sums of the nodes' features for each label, then of the edges' for each pair of labels."""
        nodes, edges = self._split(x)
        k, labels = self._k, np.asarray(y)
        if self.bias:
            nodes = np.column_stack([nodes, np.ones(len(nodes))])
        edges = np.column_stack([np.ones(len(edges)), edges])
        unary, pairs = np.zeros((k, nodes.shape[1])), np.zeros((edges.shape[1], k, k))
        np.add.at(unary, labels, nodes)
        for t in range(len(edges)):
            pairs[:, labels[t], labels[t + 1]] += edges[t]
        return np.concatenate([unary.ravel(), pairs.ravel()])

    def loss(self, y: Any, other: Any) -> float:
        """Return the sum of the costs of the labels."""
        return float(self._costs()[np.asarray(y), np.asarray(other)].sum())

    def argmax(self, x: Any, w: Float64, y: Any = None) -> Ints:
        """Return the best labels."""
        chains = self.checked_inputs([x])
        truth = np.zeros(0, dtype=np.int64) if y is None else np.asarray(y, dtype=np.int64)
        labels, _ = best_labels(self, chains, w, truth, Workers(1))
        return labels

    # -- what follows ----------------------------------------------------------------------------------------

    def parts(self, y: Any) -> float:
        """Return the number of labels."""
        return float(len(y))

    @property
    def n_weights(self) -> int:
        """The length of w, once labels and features are known."""
        assert self.n_features is not None
        k = self._k
        return k * (int(self.n_features) + bool(self.bias)) + k * k * (1 + int(self.edge_features))

    @property
    def _k(self) -> int:
        if self.n_labels is None:
            raise ValueError("Chain: n_labels is not known before fit; give it")
        return int(self.n_labels)

    def _costs(self) -> Float64:
        return 1.0 - np.eye(self._k) if self.costs is None else np.asarray(self.costs, dtype=np.float64)

    def weights(self, w: Float64) -> tuple[Float64, Float64]:
        """Return the weights of the nodes' features, a row for each label, and those of pairs of labels.

        Parameters
        ----------
        w : (n_weights,) float64
            Weights.

        Returns
        -------
        unary : (k, n_features + bias) ndarray
            With ``bias``, the last column is that of the constant.
        pairs : (1 + edge features, k, k) ndarray
            From a label (row) to the next (column): constant, then for each feature of an edge.
        """
        self.check_weights(w)
        k = self._k
        unary = k * (int(self.n_features or 0) + bool(self.bias))
        return w[:unary].reshape(k, -1), w[unary:].reshape(-1, k, k)

    def check_weights(self, w: Float64) -> None:
        """Refuse weights of the wrong length."""
        if np.shape(w) != (self.n_weights,):
            raise ValueError(f"{self!r} has {self.n_weights} weights; given are {np.shape(w)}")

    def validate(self) -> None:
        """Refuse parameters that are not allowed."""
        check_count(self, "n_labels", 2)
        check_count(self, "n_features", 1)
        check_flag(self, "bias")
        if not isinstance(self.edge_features, bool):
            check_count(self, "edge_features", 0)
        if self.costs is not None and self.n_labels is not None:
            checked_costs(self.costs, int(self.n_labels))

    def checked_inputs(self, X: Any) -> Chains:
        """Return the inputs one after the other, or refuse them."""
        if isinstance(X, Chains):
            return X
        self.validate()
        pairs = [self._split(x, f"X[{i}]") for i, x in enumerate(listed(X, "X"))]
        width, wide = pairs[0][0].shape[1], pairs[0][1].shape[1]
        known = self.n_features or width
        for i, (nodes, edges) in enumerate(pairs):
            if nodes.shape[1] != known or edges.shape[1] != wide:
                raise ValueError(
                    f"X[{i}] has {nodes.shape[1]} features of nodes and {edges.shape[1]} of edges; all "
                    f"sequences must have {known} and {wide}"
                )
        if type(self.edge_features) is not bool and wide != self.edge_features:
            raise ValueError(f"X has {wide} features of edges; the model was fitted on {self.edge_features}")
        offsets = offsets_of(np.array([len(nodes) for nodes, _ in pairs], dtype=np.int64))
        filled = [np.concatenate([edges, np.zeros((1, wide))]) for _, edges in pairs]
        nodes = np.ascontiguousarray(np.concatenate([nodes for nodes, _ in pairs]))
        return Chains(nodes, np.ascontiguousarray(np.concatenate(filled)), offsets)

    def checked_outputs(self, X: Any, Y: Any) -> Ragged:
        """Return the labels one after the other, or refuse them."""
        lengths = np.diff(X.offsets)
        for i, labels in enumerate(listed(Y, "y")):
            row = np.asarray(labels)
            if row.ndim != 1 or row.dtype.kind not in "biu":
                raise ValueError(
                    f"y[{i}] must be a sequence of whole numbers; it has type {row.dtype} and shape "
                    f"{row.shape}"
                )
            if i < lengths.size and row.size != lengths[i]:
                raise ValueError(f"y[{i}] has {row.size} labels; X[{i}] has {lengths[i]} nodes")
        found = Ragged.of(Y)
        low, high = int(found.values.min()), int(found.values.max())
        if low < 0 or (self.n_labels is not None and high >= self.n_labels):
            most = "" if self.n_labels is None else f" to {self.n_labels - 1}"
            raise ValueError(f"y holds labels from {low} to {high}; they must be whole numbers from 0{most}")
        return found

    def resolve(self, X: Any, Y: Any) -> Self:
        """Return this structure with the numbers of labels and features."""
        k = int(Y.values.max()) + 1 if self.n_labels is None else int(self.n_labels)
        if k < 2:
            raise ValueError(
                f"Chain needs at least 2 labels; y holds {k}. Give n_labels where one never occurs"
            )
        edges = False if self.edge_features is False else int(X.edges.shape[1])
        costs = None if self.costs is None else checked_costs(self.costs, k)
        return self.replaced(n_labels=k, n_features=X.nodes.shape[1], edge_features=edges, costs=costs)

    def examples(self, X: Any, Y: Any, workers: Workers) -> ChainExamples:
        """Return the training data as solvers see them."""
        return ChainExamples(self, X, Y, workers)

    def predictions(self, X: Any, w: Float64, workers: Workers) -> list[Ints]:
        """Return the labels of many sequences."""
        self.check_weights(w)
        labels, _ = best_labels(self, X, w, np.zeros(0, dtype=np.int64), workers)
        return list(Ragged(labels, X.offsets))

    def collected(self, outputs: Sequence[ArrayLike]) -> Ragged:
        """Return the labels one after the other."""
        return Ragged.of(outputs)

    def _split(self, x: Any, name: str = "x") -> tuple[Float64, Float64]:
        """Return the features of nodes and of edges."""
        pair = self.edge_features is not False
        if pair and not (isinstance(x, tuple | list) and len(x) == 2):
            raise ValueError(f"{name} must be a pair of node and edge features: edge_features is set")
        nodes = _table(x[0] if pair else x, f"{name}[0]" if pair else name)
        if len(nodes) == 0:
            raise ValueError(f"{name} has no nodes: a sequence has at least one")
        edges = _table(x[1], f"{name}[1]") if pair else np.zeros((len(nodes) - 1, 0))
        if len(edges) != len(nodes) - 1:
            raise ValueError(f"{name} has {len(nodes)} nodes and {len(edges)} edges; there is one fewer edge")
        return nodes, edges


def _table(x: Any, name: str) -> Float64:
    """Return a table of finite numbers."""
    try:
        table = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of numbers, a row for each node or edge: {error}"
        ) from error
    if table.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, a row for each node or edge; it has {table.ndim}")
    if not np.isfinite(table).all():
        raise ValueError(f"{name} holds nan or infinity")
    return table
