# ruff: noqa: D102  what overrides a method is documented in the base class
"""What kernels between graphs share: their data, and features that are counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Index
from mercer.kernels.base import Kernel
from mercer.kernels.counted import CountedKernel
from mercer.kernels.data import Data
from mercer.kernels.graphs.arrays import GraphArrays
from mercer.kernels.graphs.reading import Attributes, check_graphs
from mercer.kernels.graphs.rows import Rows, numbered
from mercer.kernels.numbering import Numbering


class GraphKernel(Kernel):
    """Base of kernels between graphs, which all have ``node_label``, ``edge_label`` and ``weight``."""

    node_label: Any
    edge_label: Any
    weight: Any

    @property
    def is_psd(self) -> bool | None:
        return True

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        attributes = Attributes(self.node_label, self.edge_label, self.weight)
        return check_graphs(X, attributes, estimator=estimator, name=input_name)


@dataclass(frozen=True, eq=False)
class GraphFeatures:
    """What the columns of a counting graph kernel mean.

    Attributes
    ----------
    labels, edge_labels : Numbering
        Of the training graphs.
    tables : tuple of Rows
        Different parts of graphs, in the order in which the kernel numbers them.
    counted : tuple of int
        Those tables whose rows are features, one after the other.
    """

    labels: Numbering
    edge_labels: Numbering
    tables: tuple[Rows, ...]
    counted: tuple[int, ...]

    @property
    def widths(self) -> list[int]:
        """Numbers of features of the tables that are counted."""
        return [len(self.tables[k]) for k in self.counted]

    @property
    def width(self) -> int:
        """Number of features."""
        return sum(self.widths)

    @cached_property
    def label_names(self) -> list[str]:
        """Node labels as text."""
        return [named(label) for label in self.labels.things()]

    @cached_property
    def edge_names(self) -> list[str]:
        """Edge labels as text."""
        return [named(label) for label in self.edge_labels.things()]

    def row(self, table: int, number: int) -> list[int]:
        """Return the row of a table that has a number."""
        rows = self.tables[table]
        values: list[int] = rows.flat[rows.starts[number] : rows.starts[number + 1]].tolist()
        return values

    def _content(self) -> tuple[Any, ...]:
        labels = tuple(self.labels.things()), tuple(self.edge_labels.things())
        return *labels, self.counted, *(table.content() for table in self.tables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphFeatures) and (self is other or self._content() == other._content())

    def __hash__(self) -> int:
        return hash(self._content())


@dataclass
class Book:
    """Numbers the parts of graphs, and notes which of them are features.

    Attributes
    ----------
    known : sequence of Rows or None
        Tables of another data set, whose numbers are kept.
    tables : list of Rows
        One for each call of `number`.
    entries : list of tuple
        Of each feature table: its place in ``tables``, the graph and the number of each part.
    """

    known: Sequence[Rows] | None
    tables: list[Rows] = field(default_factory=list)
    entries: list[tuple[int, Index, Index]] = field(default_factory=list)

    def number(self, rows: Rows) -> Index:
        """Return a number for each row; equal rows have equal numbers."""
        numbers, _, table = numbered(rows, self.next_known)
        self.tables.append(table)
        return numbers

    @property
    def next_known(self) -> Rows | None:
        """The rows that have numbers already in the next table."""
        return None if self.known is None else self.known[len(self.tables)]

    def count(self, owner: Index, numbers: Index) -> None:
        """Take the numbers given last as features of the graphs that own the rows."""
        self.entries.append((len(self.tables) - 1, owner, numbers))


class CountedGraphKernel(GraphKernel, CountedKernel):
    """Base of kernels that count parts of graphs: the features are explicit, exact and sparse."""

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    @abstractmethod
    def collect(self, graphs: GraphArrays, book: Book) -> None:
        """Give numbers to parts of graphs, and say which of them are counted."""

    def count_items(self, items: list[Any], known: Any) -> tuple[Any, Index | None, Any]:
        labels = Numbering(None if known is None else known.labels)
        edge_labels = Numbering(None if known is None else known.edge_labels)
        graphs = GraphArrays(items, labels, edge_labels)
        book = Book(None if known is None else known.tables)
        self.collect(graphs, book)
        widths = [len(book.tables[k]) for k, _, _ in book.entries]
        offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        rows = np.concatenate([owner for _, owner, _ in book.entries])
        columns = np.concatenate(
            [numbers + offset for (_, _, numbers), offset in zip(book.entries, offsets[:-1], strict=True)]
        )
        shape = (len(items), int(offsets[-1]))
        starts, counts = np.empty(len(items) + 1, dtype=np.int64), np.empty(rows.size)
        indices = _jit.graph_rows.count_rows(rows, columns, shape[1], starts, counts)
        matrix = sp.csr_matrix((counts[: starts[-1]], indices[: starts[-1]], starts), shape=shape)
        matrix.sort_indices()
        if known is None:
            counted = tuple(k for k, _, _ in book.entries)
            return matrix, None, GraphFeatures(labels, edge_labels, tuple(book.tables), counted)
        theirs = np.concatenate([[0], np.cumsum(known.widths)])
        column = [
            np.where(np.arange(width) < before, np.arange(width) + offset, -1)
            for width, before, offset in zip(widths, known.widths, theirs[:-1], strict=True)
        ]
        return matrix, np.concatenate(column).astype(np.int64), known

    def feature_names(self, counting: Any) -> tuple[str, ...]:
        names: list[str] = []
        for part, k in enumerate(counting.counted):
            numbers = range(len(counting.tables[k]))
            names += [self.row_name(part, number, counting.row(k, number), counting) for number in numbers]
        return tuple(names)

    @abstractmethod
    def row_name(self, part: int, number: int, row: list[int], counting: GraphFeatures) -> str:
        """Return what a feature is called."""


def named(label: Any) -> str:
    """Return a label as text; what has none is a dot."""
    return "." if label is None else str(label)
