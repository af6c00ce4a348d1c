"""Trees as flat arrays: the distinct complete subtrees of each, and how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.kernels.numbering import Numbering
from mercer.kernels.prepared import Prepared
from mercer.kernels.trees.reading import escaped, parse


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the numbers in the arrays of a forest mean.

    Attributes
    ----------
    labels, productions, subtrees : Numbering
        Of strings; of (label, labels of the children ...); of (label, subtrees of the children ...).
    """

    labels: Numbering
    productions: Numbering
    subtrees: Numbering

    @classmethod
    def after(cls, before: Numbers | None) -> Numbers:
        """Return numbers that go on from others."""
        if before is None:
            return cls(Numbering(), Numbering(), Numbering())
        return cls(Numbering(before.labels), Numbering(before.productions), Numbering(before.subtrees))

    def agree(self, other: Numbers) -> bool:
        """Return whether equal things have equal numbers here and there."""
        return self.labels.begins(other.labels) or other.labels.begins(self.labels)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The distinct complete subtrees of each tree, children before their parents.

    Attributes
    ----------
    starts : int64 array of shape (n + 1,)
        Where the nodes of each tree begin.
    label, production, subtree : int64 arrays
        Numbers of what each node is.
    count : float64 array
        How often it occurs in its tree.
    child_starts, children : int64 arrays
        The children of each node, as places in these arrays.
    """

    starts: Index
    label: Index
    production: Index
    subtree: Index
    count: Float64
    child_starts: Index
    children: Index


class Forest(Prepared):
    """Trees, prepared.

    Attributes
    ----------
    items : list of str
        The trees as text.
    nodes : Nodes
        Of all trees that were prepared together.
    which : int64 array
        The trees among them that these items are.
    numbers : Numbers
        What the numbers mean.
    """

    def __init__(self, items: list[str], nodes: Nodes, which: Index, numbers: Numbers) -> None:
        self.items, self.nodes, self.which, self.numbers = items, nodes, which, numbers
        self.paired: dict[
            tuple[bool, bool], tuple[np.ndarray, ...]
        ] = {}  # the nodes in the order in which they are paired, made once

    @classmethod
    def of(cls, items: list[str], like: Numbers | None = None) -> Forest:
        """Return canonical trees as arrays, with the numbers of another data set where it has them."""
        numbers = Numbers.after(like)
        label_of, production_of = numbers.labels.number, numbers.productions.number
        subtree_of = numbers.subtrees.number
        starts: list[int] = [0]
        label: list[int] = []
        production: list[int] = []
        subtree: list[int] = []
        count: list[float] = []
        child_starts: list[int] = [0]
        children: list[int] = []
        for text in items:
            place: dict[int, int] = {}  # of each subtree among the nodes of this tree
            waiting: list[tuple[int, int, int]] = []  # label, subtree and place of nodes without a parent yet
            for name, arity in zip(*parse(text), strict=True):
                mine = waiting[len(waiting) - arity :]
                del waiting[len(waiting) - arity :]
                code = label_of(name)
                whole = subtree_of((code, *[child[1] for child in mine]))
                at = place.get(whole)
                if at is None:
                    at = place[whole] = len(label)
                    label.append(code)
                    production.append(production_of((code, *[child[0] for child in mine])))
                    subtree.append(whole)
                    count.append(0.0)
                    children += [child[2] for child in mine]
                    child_starts.append(len(children))
                count[at] += 1.0
                waiting.append((code, whole, at))
            starts.append(len(label))
        nodes = Nodes(
            starts=np.array(starts, dtype=np.int64),
            label=np.array(label, dtype=np.int64),
            production=np.array(production, dtype=np.int64),
            subtree=np.array(subtree, dtype=np.int64),
            count=np.array(count, dtype=np.float64),
            child_starts=np.array(child_starts, dtype=np.int64),
            children=np.array(children, dtype=np.int64),
        )
        return cls(items, nodes, np.arange(len(items), dtype=np.int64), numbers)

    def taken(self, idx: Any) -> Forest:
        """Return some of the trees; the arrays are shared."""
        idx = np.asarray(idx)
        part = Forest([self.items[i] for i in idx.tolist()], self.nodes, self.which[idx], self.numbers)
        part.paired = self.paired
        return part


def spell(subtrees: list[Any], labels: list[str], subtree: int) -> str:
    """Return a complete subtree as text, given what the numbers mean."""
    parts: list[str] = []
    open_: list[int | None] = [subtree]
    while open_:
        node = open_.pop()
        if node is None:
            parts.append(")")
            continue
        label, *children = subtrees[node]
        parts.append((" " if parts else "") + ("(" if children else "") + escaped(labels[label]))
        if children:
            open_.append(None)
            open_ += reversed(children)
    return "".join(parts)
