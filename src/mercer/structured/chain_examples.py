# ruff: noqa: D102  what overrides a method is documented in the base class
"""Sequences of labels as solvers see them, compiled."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Float64, Index, Ints
from mercer.structured.examples import Examples
from mercer.structured.ragged import Ragged, offsets_of, positions
from mercer.threads import Workers

NODES = 1 << 14  # nodes at a time: their scores stay in the cache


def best_labels(
    chain: Any, X: Any, w: Float64, truth: Ints, workers: Workers, rows: Index | None = None
) -> tuple[Ints, Float64]:
    """Return the best labels of sequences, one after the other, and by how much they beat the true ones.

    Parameters
    ----------
    chain : Chain
        With its numbers of labels and features.
    X : Chains
        The sequences.
    w : (n_weights,) float64
        Weights.
    truth : (total,) int64
        True labels of the sequences in question, one after the other; empty where there is no loss.
    workers : Workers
        Threads.
    rows : (m,) intp, optional
        Which sequences; all by default.
    """
    unary, tables = chain.weights(w)
    d, costs = X.nodes.shape[1], chain._costs()
    lengths = np.diff(X.offsets) if rows is None else X.offsets[rows + 1] - X.offsets[rows]
    offsets = offsets_of(lengths)
    labels, values = np.empty(int(offsets[-1]), dtype=np.int64), np.empty(lengths.size)
    tables, weights = np.ascontiguousarray(tables), np.ascontiguousarray(unary[:, :d].T)
    first = 0
    while first < lengths.size:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + NODES, side="right")) - 1)
        here = slice(int(offsets[first]), int(offsets[last]))
        where = here if rows is None else positions(X.offsets, rows[first:last])
        scores = X.nodes[where] @ weights
        if chain.bias:
            scores += unary[:, d]
        part = (scores, offsets[first : last + 1] - offsets[first], tables, X.edges[where])
        known = truth[here] if truth.size else truth
        found, beaten = labels[here], values[first:last]

        def work(
            a: int, b: int, part: Any = part, rest: Any = (known, costs), out: Any = (found, beaten)
        ) -> None:
            _jit.viterbi.decode(*part, *rest, a, b, *out)

        workers.ranges(last - first, work)
        first = last
    return labels, values


class ChainExamples(Examples):
    """Sequences with their true labels.

    Parameters
    ----------
    structure : Chain
        With its numbers of labels and features.
    X : Chains
        Inputs.
    Y : Ragged
        True labels.
    workers : Workers
        Threads.
    """

    Y: Ragged

    def __init__(self, structure: Any, X: Any, Y: Ragged, workers: Workers) -> None:
        self.structure, self.X, self.Y, self.workers = structure, X, Y, workers
        self.n, self.width, self.exact = len(X), structure.n_weights, True
        nodes = np.sqrt(np.einsum("ij,ij->i", X.nodes, X.nodes) + bool(structure.bias))
        edges = np.sqrt(np.einsum("ij,ij->i", X.edges, X.edges) + 1.0)
        self.reach = 2.0 * np.add.reduceat(nodes + edges, X.offsets[:-1])

    def true_feature(self, i: int) -> Float64:
        a, b = int(self.X.offsets[i]), int(self.X.offsets[i + 1])
        nodes = self.X.nodes[a:b]
        x = nodes if self.structure.edge_features is False else (nodes, self.X.edges[a : b - 1])
        return np.asarray(self.structure.joint_feature(x, self.Y[i]))

    def worst(self, rows: Index, w: Float64) -> tuple[Any, Float64, Float64]:
        whole = rows.size == self.n and bool((rows == np.arange(self.n)).all())
        truth = self.Y if whole else self.Y.take(rows)
        which = None if whole else rows
        labels, values = best_labels(self.structure, self.X, w, truth.values, self.workers, which)
        return Ragged(labels, truth.offsets), values, np.maximum(values, 0.0)

    def differences(self, rows: Index, outputs: Any) -> tuple[sp.csr_array, Float64]:
        truth, found = self.Y.take(rows), outputs if isinstance(outputs, Ragged) else Ragged.of(outputs)
        self._check(truth, found)
        costs = self.structure._costs()[truth.values, found.values]
        losses = np.add.reduceat(costs, truth.offsets[:-1]) if rows.size else np.zeros(0)
        where = positions(self.X.offsets, rows)
        nodes, edges = self.X.nodes[where], self.X.edges[where]
        wrong = np.concatenate([[0], np.cumsum(truth.values != found.values)])[truth.offsets]
        constant = bool(self.structure.bias)
        # Each wrong label touches two rows of weights, and the pairs on both of its sides.
        room = 2 * np.diff(wrong) * (nodes.shape[1] + constant + 2 * (1 + edges.shape[1]))
        begins = offsets_of(room)
        indices, data = np.empty(int(begins[-1]), dtype=np.int32), np.empty(int(begins[-1]))
        counts = np.zeros(rows.size, dtype=np.int64)
        _jit.viterbi.differences(
            nodes, edges, truth.offsets, truth.values, found.values, int(self.structure.n_labels), constant,
            begins[:-1], indices, data, counts,
        )  # fmt: skip
        indptr = offsets_of(counts)
        used = np.arange(data.size) - np.repeat(begins[:-1], room) < np.repeat(counts, room)
        shape = (rows.size, self.width)
        return sp.csr_array((data[used], indices[used], indptr.astype(np.int32)), shape=shape), losses

    def keys(self, rows: Index, outputs: Any) -> list[Hashable]:
        truth, found = self.Y.take(rows), outputs if isinstance(outputs, Ragged) else Ragged.of(outputs)
        self._check(truth, found)
        right = np.logical_and.reduceat(truth.values == found.values, truth.offsets[:-1])
        return [None if right[k] else labels.tobytes() for k, labels in enumerate(found)]

    def suits(self, rows: Index, outputs: Any) -> bool:
        found = outputs if isinstance(outputs, Ragged) else Ragged.of(outputs)
        k = int(self.structure.n_labels)
        fits = bool(np.array_equal(self.Y.lengths[rows], found.lengths))
        return fits and bool(((found.values >= 0) & (found.values < k)).all())

    def _check(self, truth: Ragged, found: Ragged) -> None:
        k = int(self.structure.n_labels)
        if not np.array_equal(truth.offsets, found.offsets) or found.values.size != truth.values.size:
            raise ValueError("outputs must have as many labels as their sequences have nodes")
        if found.values.size and not (found.values.min() >= 0 and found.values.max() < k):
            raise ValueError(f"outputs must have labels from 0 to {k - 1}")
