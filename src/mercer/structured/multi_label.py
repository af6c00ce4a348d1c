"""Several labels for each row, each on or off."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from mercer import _jit
from mercer.arrays import Float64, Index, Ints
from mercer.structured.base import check_count
from mercer.structured.examples import Examples
from mercer.structured.tables import TableStructure
from mercer.threads import Workers


class MultiLabel(TableStructure):
    r"""Several labels for each row, each on or off, that may depend on each other along a tree.

    .. math::
        \langle w, \psi(x, y) \rangle = \sum_{l : y_l = 1} \langle u_l, x \rangle
        + \sum_{(l, m)} A^{lm}_{y_l y_m}

    The second sum goes over the ``edges``; without any, labels are independent. The loss is the number of
    wrong labels. On a forest the argmax is exact, which is why cycles are refused.

    Parameters
    ----------
    edges : "tree" or sequence of pairs, default=()
        Pairs of labels that depend on each other, without cycles. "tree" takes the spanning tree of largest
        mutual information between the labels of the training data.
    bias : bool, default=True
        Whether each label has a weight of its own, beside those of the features.
    n_labels, n_features : int, optional
        Read off the training data when not given.

    References
    ----------
    C. K. Chow and C. N. Liu (1968), Approximating discrete probability distributions with dependence trees,
    IEEE Transactions on Information Theory 14. T. Finley and T. Joachims (2008), Training structural SVMs
    when exact inference is intractable, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import StructuredSVM
    >>> from mercer.structured import MultiLabel
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> StructuredSVM(MultiLabel(edges=[(0, 1)]), C=10).fit(X, Y).predict([[1.5]])
    array([[1, 0]])
    """

    def __init__(
        self,
        edges: Any = (),
        *,
        bias: bool = True,
        n_labels: int | None = None,
        n_features: int | None = None,
    ) -> None:
        self.edges = edges
        self.bias = bias
        self.n_labels = n_labels
        self.n_features = n_features

    # -- the three methods -----------------------------------------------------------------------------------

    def joint_feature(self, x: Any, y: Any) -> Float64:
        """Return the features of x in the place of each label that is on, then the pairs of states."""
        row, labels = self.with_constant(np.asarray(x, dtype=np.float64)[None])[0], np.asarray(y)
        return np.concatenate([np.outer(labels, row).ravel(), self.pair_states(labels[None])[0]])

    def loss(self, y: Any, other: Any) -> float:
        """Return the number of wrong labels."""
        return float(np.count_nonzero(np.asarray(y) != np.asarray(other)))

    def argmax(self, x: Any, w: Float64, y: Any = None) -> Ints:
        """Return the best labels."""
        row = np.asarray(x, dtype=np.float64)[None]
        truth = self._no_truth if y is None else np.asarray(y, dtype=np.int64)[None]
        labels: Ints = self.best(self.with_constant(row), w, truth, Workers(1))[0][0]
        return labels

    def validate(self) -> None:
        """Refuse parameters that are not allowed: labels that do not exist, cycles."""
        super().validate()
        check_count(self, "n_labels", 1)
        if isinstance(self.edges, str):
            if self.edges != "tree":
                raise ValueError(f'edges={self.edges!r} is invalid: use "tree" or pairs of labels')
        elif self.n_labels is not None:
            _check_forest(self._pairs(), int(self.n_labels))

    # -- what follows ----------------------------------------------------------------------------------------

    def parts(self, y: Any) -> float:
        """Return the number of labels."""
        return float(np.size(y))

    def best(self, X: Float64, w: Float64, truth: Ints, workers: Workers) -> tuple[Ints, Float64]:
        """Return the best labels of rows with their constant, and by how much they beat the true ones."""
        self.check_weights(w)
        k, wide = self._k, X.shape[1]
        scores = X @ w[: k * wide].reshape(k, wide).T
        order, parents, flipped = self._forest()
        tables = np.zeros((k, 2, 2))
        for (child, turned), table in zip(flipped, w[k * wide :].reshape(-1, 2, 2), strict=True):
            tables[child] = table.T if turned else table
        labels, values = np.empty((len(X), k), dtype=np.int64), np.empty(len(X))

        def work(a: int, b: int) -> None:
            _jit.label_trees.decode(scores, order, parents, tables, truth, a, b, labels, values)

        workers.ranges(len(X), work)
        return labels, values

    def pair_states(self, Y: Ints) -> Float64:
        """Return which of the four states each edge has, in rows: a one among zeros."""
        pairs = self._pairs()
        out = np.zeros((len(Y), len(pairs), 4))
        for e, (a, b) in enumerate(pairs):
            out[np.arange(len(Y)), e, 2 * Y[:, a] + Y[:, b]] = 1.0
        return out.reshape(len(Y), -1)

    @property
    def n_weights(self) -> int:
        """The length of w, once labels and features are known."""
        return self._k * (int(self._known("n_features")) + bool(self.bias)) + 4 * len(self._pairs())

    @property
    def _k(self) -> int:
        return int(self._known("n_labels"))

    @property
    def _no_truth(self) -> Ints:
        return np.zeros((0, self._k), dtype=np.int64)

    def _pairs(self) -> list[tuple[int, int]]:
        if isinstance(self.edges, str):
            raise ValueError("MultiLabel: the tree is not known before fit; give edges as pairs of labels")
        return [(int(a), int(b)) for a, b in self.edges]

    def _forest(self) -> tuple[Ints, Ints, list[tuple[int, bool]]]:
        """Return labels after their parents, the parents, and of each edge its child and if that is first."""
        k, pairs = self._k, self._pairs()
        a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        graph = sp.csr_array((np.ones(a.size), (a, b)), shape=(k, k))
        parents, order = np.full(k, -1, dtype=np.int64), []
        count, member = connected_components(graph, directed=False)
        for c in range(count):
            root = int(np.flatnonzero(member == c)[0])
            found, before = breadth_first_order(graph, root, directed=False)
            order.extend(found.tolist())
            parents[found[1:]] = before[found[1:]]
        return (
            np.array(order, dtype=np.int64),
            parents,
            [(v, False) if parents[v] == u else (u, True) for u, v in pairs],
        )

    def checked_outputs(self, X: Any, Y: Any) -> Ints:
        """Return the labels as a table of zeros and ones, or refuse them."""
        Y = np.asarray(Y if isinstance(Y, np.ndarray) else getattr(Y, "toarray", lambda: Y)())
        if Y.ndim != 2 or Y.shape[1] < 1 or not np.isin(Y, (0, 1)).all():
            raise ValueError(
                f"y must be a table of zeros and ones, a column for each label; it has shape {Y.shape}"
            )
        if self.n_labels is not None and Y.shape[1] != self.n_labels:
            raise ValueError(f"y has {Y.shape[1]} columns for {self.n_labels} labels")
        return np.ascontiguousarray(Y, dtype=np.int64)

    def resolve(self, X: Any, Y: Any) -> Self:
        """Return this structure with its tree, its labels and its number of features."""
        pairs = dependence_tree(Y) if isinstance(self.edges, str) else self._pairs()
        found = self.sized(X, n_labels=int(Y.shape[1]), edges=pairs)
        found.validate()
        return found

    def examples(self, X: Any, Y: Any, workers: Workers) -> Examples:
        """Return the training data as solvers see them."""
        return LabelExamples(self, X, Y, workers)

    def predictions(self, X: Any, w: Float64, workers: Workers) -> Ints:
        """Return the best labels."""
        return self.best(self.with_constant(X), w, self._no_truth, workers)[0]

    def collected(self, outputs: Any) -> Ints:
        """Return the labels as a table."""
        return np.asarray(outputs, dtype=np.int64).reshape(len(outputs), -1)


def _check_forest(pairs: list[tuple[int, int]], k: int) -> None:
    """Refuse pairs of labels that do not exist, and those that have a cycle."""
    for a, b in pairs:
        if not (0 <= a < k and 0 <= b < k and a != b):
            raise ValueError(f"edges: the pair {(a, b)} does not name two different labels from 0 to {k - 1}")
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    graph = sp.csr_array((np.ones(len(pairs)), (ends[:, 0], ends[:, 1])), shape=(k, k))
    if len(pairs) != k - connected_components(graph, directed=False)[0]:
        raise ValueError("edges have a cycle, for which the argmax would not be exact: leave an edge out")


def dependence_tree(Y: Ints) -> list[tuple[int, int]]:
    """Return the spanning tree of largest mutual information between columns of zeros and ones."""
    n, k = Y.shape
    on = Y.astype(np.float64)
    both = on.T @ on
    ones = on.sum(axis=0)
    information = np.zeros((k, k))
    for a in (0, 1):
        for b in (0, 1):
            joint = (
                both
                if a and b
                else ones[:, None] - both
                if a
                else ones - both
                if b
                else (n - ones[:, None] - ones + both)
            )
            p, q = ones if a else n - ones, ones if b else n - ones
            with np.errstate(divide="ignore", invalid="ignore"):
                term = joint / n * np.log(joint * n / np.outer(p, q))
            information += np.where(joint > 0, term, 0.0)
    # SciPy takes zeros for missing edges: all of these are negative, and the largest information is least.
    tree = minimum_spanning_tree(np.triu(-1.0 - np.maximum(information, 0.0), 1)).tocoo()
    return sorted((int(a), int(b)) for a, b in zip(tree.row, tree.col, strict=True))


class LabelExamples(Examples):
    """Rows with their labels.

    Parameters
    ----------
    structure : MultiLabel
        With its tree, labels and features.
    X : (n, d) float64
        Inputs.
    Y : (n, k) int64
        Labels.
    workers : Workers
        Threads.
    """

    def __init__(self, structure: MultiLabel, X: Float64, Y: Ints, workers: Workers) -> None:
        self.structure, self.X, self.Y, self.workers = structure, structure.with_constant(X), Y, workers
        self.n, self.width, self.exact = len(X), structure.n_weights, True
        squares = Y.shape[1] * np.einsum("ij,ij->i", self.X, self.X) + len(structure._pairs())
        self.reach = 2.0 * np.sqrt(squares)

    def true_feature(self, i: int) -> Float64:
        """Return psi(x_i, y_i)."""
        on = np.outer(self.Y[i], self.X[i]).ravel()
        return np.concatenate([on, self.structure.pair_states(self.Y[i : i + 1])[0]])

    def worst(self, rows: Index, w: Float64) -> tuple[Any, Float64, Float64]:
        """Return the labels of the largest score with the loss."""
        labels, values = self.structure.best(self.X[rows], w, self.Y[rows], self.workers)
        return labels, values, np.maximum(values, 0.0)

    def differences(self, rows: Index, outputs: Any) -> tuple[sp.csr_array, Float64]:
        """Return the differences of features, and the losses."""
        truth, found = self.Y[rows], self._labels(rows, outputs)
        sign = (truth - found).astype(np.float64)
        row, label = np.nonzero(sign)
        d = self.X.shape[1]
        data = sign[row, label][:, None] * self.X[rows[row]]
        indices = (label[:, None] * d + np.arange(d)).astype(np.int32)
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(sign, axis=1) * d)]).astype(np.int32)
        shape = (rows.size, truth.shape[1] * d)
        unary = sp.csr_array((data.ravel(), indices.ravel(), indptr), shape=shape)
        pairs = self.structure.pair_states(truth) - self.structure.pair_states(found)
        table = sp.csr_array(sp.hstack([unary, sp.csr_array(pairs)], format="csr"))
        return table, np.abs(sign).sum(axis=1)

    def keys(self, rows: Index, outputs: Any) -> list[Hashable]:
        """Return the labels as bytes, None for those that are true."""
        found, truth = self._labels(rows, outputs), self.Y[rows]
        right = (found == truth).all(axis=1)
        return [None if right[k] else found[k].tobytes() for k in range(len(found))]

    def suits(self, rows: Index, outputs: Any) -> bool:
        """Return whether labels of an earlier fit are labels of this one."""
        found = np.asarray(outputs)
        return found.shape == (rows.size, self.Y.shape[1]) and bool(np.isin(found, (0, 1)).all())

    def _labels(self, rows: Index, outputs: Any) -> Ints:
        found = np.asarray(outputs, dtype=np.int64).reshape(rows.size, -1)
        if rows.size and not self.suits(rows, found):
            raise ValueError(f"outputs must be rows of {self.Y.shape[1]} zeros and ones")
        return found.reshape(rows.size, self.Y.shape[1])
