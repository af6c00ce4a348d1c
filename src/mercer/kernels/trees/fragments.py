# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that count the fragments which two trees share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.base import Kernel
from mercer.kernels.counted import CountedKernel
from mercer.kernels.data import Array, Data, size
from mercer.kernels.prepared import raw
from mercer.kernels.trees.forest import Forest, Nodes, Numbers, spell
from mercer.kernels.trees.reading import check_trees
from mercer.kernels.vector import check_number

PAIRS_AT_ONCE = 1 << 16  # between two looks at Ctrl-C


class TreeKernel(Kernel):
    """Base of kernels between trees."""

    @property
    def is_psd(self) -> bool | None:
        return True

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        return check_trees(X, estimator=estimator, name=input_name)

    def _check_decay(self, name: str) -> None:
        check_number(self, name, above=0)
        if getattr(self, name) > 1:
            self._refuse(name, getattr(self, name), "at most 1: larger fragments would count more")


@dataclass(frozen=True, eq=False)
class Subtrees:
    """What the columns of `Subtree` mean: complete subtrees by their numbers."""

    numbers: Numbers

    @property
    def width(self) -> int:
        """Number of subtrees."""
        return len(self.numbers.subtrees)

    def _content(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(self.numbers.labels.things()), tuple(self.numbers.subtrees.things())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subtrees) and (self is other or self._content() == other._content())

    def __hash__(self) -> int:
        return hash(self._content())


class Subtree(TreeKernel, CountedKernel):
    r""":math:`k(x, z) = \sum_{t} \lambda^{|t|} c_t(x) \, c_t(z)`, over complete subtrees t.

    A complete subtree is a node with all that is below it; :math:`c_t(x)` is how often t occurs in x and
    :math:`|t|` the number of its nodes that have children. The subtrees are explicit features, so training
    takes time linear in the sizes of the trees.

    Parameters
    ----------
    decay : float, default=0.4
        :math:`0 < \lambda \le 1`.
    leaves : bool, default=False
        Whether a leaf on its own is a subtree, of weight :math:`\lambda`. By convention words are not.

    References
    ----------
    .. [1] S. V. N. Vishwanathan and A. Smola, "Fast kernels for string and tree matching", Advances in
       Neural Information Processing Systems 15, 2003.
    .. [2] A. Moschitti, "Making tree kernels practical for natural language learning", Conference of the
       European Chapter of the Association for Computational Linguistics, 2006.

    Examples
    --------
    >>> from mercer.kernels import Subtree
    >>> Subtree(1.0)(["(NP (D the) (N cat))", "(NP (D the) (N dog))"]).tolist()
    [[3.0, 1.0], [1.0, 3.0]]
    """

    def __init__(self, decay: float = 0.4, leaves: bool = False) -> None:
        self.decay = decay
        self.leaves = leaves

    def validate(self) -> None:
        self._check_decay("decay")

    def count_items(self, items: list[Any], known: Any) -> tuple[Any, Index | None, Any]:
        forest = Forest.of(items, None if known is None else known.numbers)
        nodes = forest.nodes
        inner = np.zeros(nodes.label.size)  # nodes with children in each subtree
        arity = np.diff(nodes.child_starts)
        _jit.tree_sizes.inner_nodes(nodes.child_starts, nodes.children, inner)
        inner = np.where(arity == 0, 1.0 if self.leaves else np.inf, inner)
        weight = np.power(float(self.decay), 0.5 * inner) if self.decay < 1 else np.isfinite(inner) * 1.0
        width = len(forest.numbers.subtrees)
        matrix = sp.csr_matrix((nodes.count * weight, nodes.subtree, nodes.starts), shape=(len(items), width))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        if known is None:
            return matrix, None, Subtrees(forest.numbers)
        numbers = np.arange(width, dtype=np.int64)
        return matrix, np.where(numbers < known.width, numbers, -1), known

    def feature_names(self, counting: Any) -> tuple[str, ...]:
        subtrees, labels = counting.numbers.subtrees.things(), counting.numbers.labels.things()
        return tuple(spell(subtrees, labels, number) for number in range(len(subtrees)))


class PairedTreeKernel(TreeKernel):
    """Base of kernels that pair the nodes of two trees and value the pairs from the leaves to the roots."""

    @property
    @abstractmethod
    def _settings(self) -> tuple[bool, float, float, float, float]:
        """How pairs are valued: see `mercer._jit.tree_pairs.tree_kernel`."""

    @property
    def by_pairs(self) -> bool:
        return True

    @property
    def _with_leaves(self) -> bool:
        """Whether leaves are paired."""
        return True

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        numbers = like.numbers if isinstance(like, Forest) else None
        if isinstance(X, Forest) and (numbers is None or X.numbers.agree(numbers)):
            return X
        return Forest.of(raw(X), numbers)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        if Z is None:
            X = self.prepare(X)
            out = self._filled(X, X, True)
            for i in range(out.shape[0]):  # the lower half
                out[i + 1 :, i] = out[i, i + 1 :]
            return out
        if isinstance(Z, Forest):
            return self._filled(self.prepare(X, Z), Z, False)
        X = self.prepare(X)
        return self._filled(X, self.prepare(Z, X), False)

    def evaluate_diag(self, X: Data) -> Array:
        X = self.prepare(X)
        out = np.empty((size(X), 1))
        self._run(X, X, False, True, out)
        return self._finite(out, X, X)[:, 0]

    def _filled(self, X: Forest, Z: Forest, symmetric: bool) -> Float64:
        out = np.empty((size(X), size(Z)))
        self._run(X, Z, symmetric, False, out)
        return self._finite(out, X, Z)

    def _run(self, X: Forest, Z: Forest, symmetric: bool, diagonal: bool, out: Float64) -> None:
        first, second = self._arrays(X), self._arrays(Z)
        step = max(1, PAIRS_AT_ONCE // out.shape[1])
        for start in range(0, size(X), step):
            stop = min(size(X), start + step)
            _jit.tree_pairs.tree_kernel(
                first, X.which, second, Z.which, start, stop, *self._settings, symmetric, diagonal, out
            )

    def _finite(self, values: Float64, X: Forest, Z: Forest) -> Float64:
        upper = values if X is not Z or values.shape[1] == 1 else np.triu(values)
        if not np.isfinite(upper).all():
            raise ValueError(
                f"{self!r}: the number of fragments that two of the trees share exceeds "
                f"{np.finfo(float).max:.0e}; lower the decay."
            )
        return values

    def _arrays(self, X: Forest) -> tuple[np.ndarray, ...]:
        key = self._settings[0], self._with_leaves
        if key not in X.paired:
            X.paired[key] = _in_turn(X.nodes, *key)
        return X.paired[key]


def _in_turn(nodes: Nodes, by_label: bool, with_leaves: bool) -> tuple[np.ndarray, ...]:
    """Return a forest as the compiled loops take it: nodes of each tree sorted by what pairs them."""
    kind = nodes.label if by_label else nodes.production
    tree = np.repeat(np.arange(nodes.starts.size - 1), np.diff(nodes.starts))
    part = np.arange(kind.size) if with_leaves else np.flatnonzero(np.diff(nodes.child_starts))
    turn = part[np.lexsort((part, kind[part], tree[part]))]
    turn_starts = np.zeros(nodes.starts.size, dtype=np.int64)
    np.cumsum(np.bincount(tree[turn], minlength=nodes.starts.size - 1), out=turn_starts[1:])
    turn_kind = kind[turn]
    new = np.ones(turn.size, dtype=bool)
    new[1:] = (turn_kind[1:] != turn_kind[:-1]) | (tree[turn][1:] != tree[turn][:-1])
    places = np.arange(turn.size)
    rank = np.zeros(kind.size, dtype=np.int64)
    rank[turn] = places - np.maximum.accumulate(np.where(new, places, 0))
    return (
        nodes.starts, kind, nodes.count, nodes.child_starts, nodes.children,
        turn_starts, turn, turn_kind, rank,
    )  # fmt: skip


class SubsetTree(PairedTreeKernel):
    r""":math:`k(x, z) = \sum_{n \in x} \sum_{m \in z} \Delta(n, m)`, over all pairs of nodes.

    .. math::
        \Delta(n, m) = \lambda \prod_j (1 + \Delta(n_j, m_j))

    over the children of two nodes with the same production (label and labels of the children, in order), and
    0 for other nodes and for leaves. It counts the fragments that two trees share, in which a node has all of
    its children or none, each with :math:`\lambda` to the power of its number of productions.

    Nodes with equal productions are found by merging sorted lists, so that a pair of trees takes time linear
    in their sizes plus the number of such pairs.

    Parameters
    ----------
    decay : float, default=0.4
        :math:`0 < \lambda \le 1`.
    leaves : bool, default=False
        Whether equal leaves count on their own, :math:`\lambda` each, as a bag of words beside the fragments.

    References
    ----------
    .. [1] M. Collins and N. Duffy, "Convolution kernels for natural language", Advances in Neural Information
       Processing Systems 14, 2001.
    .. [2] A. Moschitti, "Making tree kernels practical for natural language learning", Conference of the
       European Chapter of the Association for Computational Linguistics, 2006.

    Examples
    --------
    >>> from mercer.kernels import SubsetTree
    >>> SubsetTree(1.0)(["(NP (D the) (N apple))", "(NP (D the) (N pear))"]).tolist()
    [[6.0, 3.0], [3.0, 6.0]]
    """

    def __init__(self, decay: float = 0.4, leaves: bool = False) -> None:
        self.decay = decay
        self.leaves = leaves

    def validate(self) -> None:
        self._check_decay("decay")

    @property
    def _settings(self) -> tuple[bool, float, float, float, float]:
        return False, float(self.decay), 0.0, 0.0, 0.0

    @property
    def _with_leaves(self) -> bool:
        return bool(self.leaves)


class PartialTree(PairedTreeKernel):
    r""":math:`k(x, z) = \sum_{n \in x} \sum_{m \in z} \Delta(n, m)`, over all pairs of nodes.

    .. math::
        \Delta(n, m) = \mu \Bigl(\lambda^2 + \sum_{I, J} \lambda^{g(I) + g(J)}
        \prod_i \Delta(n_{I_i}, m_{J_i}) \Bigr)

    over all sequences I and J of as many children of two nodes with the same label, in order; 0 for nodes
    with different labels. It counts fragments in which a node may lack some of its children. One pass over
    the children counts sequences of all lengths.

    Parameters
    ----------
    depth_decay : float, default=0.4
        :math:`0 < \mu \le 1`, for each level.
    width_decay : float, default=0.4
        :math:`0 < \lambda \le 1`, for gaps between children.
    terminal_factor : float, default=1.0
        :math:`\Delta = \mu \lambda^2` times this for nodes with the same label of which one is a leaf.
        Above 1 the kernel need not be positive semi-definite.
    gaps : {"skipped", "distance"}, default="skipped"
        What g counts: the children that are skipped between the first and the last one, as the published
        recursion and the usual programs do, or the distance from the first to the last, as the published sum
        does.

    References
    ----------
    .. [1] A. Moschitti, "Efficient convolution kernels for dependency and constituent syntactic trees",
       European Conference on Machine Learning, 2006.

    Examples
    --------
    >>> from mercer.kernels import PartialTree
    >>> PartialTree(1.0, 1.0)(["(NP (D the) (N apple))", "(NP (N apple))"]).tolist()
    [[15.0, 6.0], [6.0, 6.0]]
    """

    def __init__(
        self,
        depth_decay: float = 0.4,
        width_decay: float = 0.4,
        terminal_factor: float = 1.0,
        gaps: str = "skipped",
    ) -> None:
        self.depth_decay = depth_decay
        self.width_decay = width_decay
        self.terminal_factor = terminal_factor
        self.gaps = gaps

    @property
    def is_psd(self) -> bool | None:
        return True if self.terminal_factor <= 1 else None

    def validate(self) -> None:
        self._check_decay("depth_decay")
        self._check_decay("width_decay")
        check_number(self, "terminal_factor", least=0)
        if self.gaps not in ("skipped", "distance"):
            self._refuse("gaps", self.gaps, "'skipped' or 'distance'")

    @property
    def _settings(self) -> tuple[bool, float, float, float, float]:
        width = float(self.width_decay)
        step = 1.0 if self.gaps == "skipped" else width * width
        return True, float(self.depth_decay), width, step, float(self.terminal_factor)
