"""Several classes as two-class problems: a reduction with its inverse.

``one-versus-one`` trains each pair (i, j), i < j, on the rows of the two classes; +1 is class i, except when
there are only two classes, where +1 is the second, so that a positive decision means ``classes_[1]``.
``one-versus-rest`` trains each class against all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.arrays import Float64, Index


@dataclass(frozen=True)
class BinaryTask:
    """One two-class problem: which rows, with which signs."""

    rows: Index
    sign: Float64
    positive: int
    negative: int  # -1: all other classes

    @property
    def target(self) -> Float64:
        """The signs: what a two-class problem is about."""
        return self.sign


def one_versus_one(y: Index, n_classes: int, present: NDArray[np.bool_]) -> list[BinaryTask]:
    """Return a task for each pair of classes, over the rows that are ``present`` (have a weight)."""
    members = [np.flatnonzero((y == c) & present) for c in range(n_classes)]
    if n_classes == 2:
        rows = np.flatnonzero(present)
        return [BinaryTask(rows, np.where(y[rows] == 1, 1.0, -1.0), 1, 0)]
    tasks = []
    for i, j in combinations(range(n_classes), 2):
        rows = np.concatenate([members[i], members[j]])
        sign = np.concatenate([np.ones(members[i].size), -np.ones(members[j].size)])
        tasks.append(BinaryTask(rows, sign, i, j))
    return tasks


def one_versus_rest(y: Index, n_classes: int, present: NDArray[np.bool_]) -> list[BinaryTask]:
    """Return a task for each class against all others."""
    if n_classes == 2:
        return one_versus_one(y, n_classes, present)
    rows = np.flatnonzero(present)
    return [BinaryTask(rows, np.where(y[rows] == c, 1.0, -1.0), c, -1) for c in range(n_classes)]


def pair_number(i: int, j: int, n_classes: int) -> int:
    """Return the position of the pair (i, j), i < j, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    return i * n_classes - i * (i + 1) // 2 + j - i - 1


def pack_pairs(
    coefs: list[Float64], tasks: list[BinaryTask], y: Index, n_classes: int, n: int
) -> tuple[Index, Float64, NDArray[np.int32]]:
    """Return (support, dual_coef, n_support) in LIBSVM's layout.

    Support vectors are sorted by class. A support vector of class c has a coefficient for each of the other
    classes o, in row o if o < c, else row o - 1.
    """
    table = np.zeros((n_classes - 1, n))
    for coef, task in zip(coefs, tasks, strict=True):
        classes = y[task.rows]
        if n_classes == 2:
            table[0, task.rows] = coef
            continue
        i, j = task.positive, task.negative
        first = classes == i
        table[j - 1, task.rows[first]] = coef[first]
        table[i, task.rows[~first]] = coef[~first]
    return _sorted_support(table, y, n_classes)


def pack_rest(
    coefs: list[Float64], tasks: list[BinaryTask], y: Index, n_classes: int, n: int
) -> tuple[Index, Float64, NDArray[np.int32]]:
    """Return (support, dual_coef, n_support); row c holds the coefficients of class c's machine."""
    table = np.zeros((len(tasks), n))
    for row, (coef, task) in enumerate(zip(coefs, tasks, strict=True)):
        table[row, task.rows] = coef
    return _sorted_support(table, y, n_classes)


def _sorted_support(table: Float64, y: Index, n_classes: int) -> tuple[Index, Float64, NDArray[np.int32]]:
    used = np.flatnonzero(table.any(axis=0))
    support = used[np.argsort(y[used], kind="stable")]
    n_support = np.bincount(y[support], minlength=n_classes).astype(np.int32)
    return support, np.ascontiguousarray(table[:, support]), n_support


def unpack(
    task: BinaryTask,
    number: int,
    support: NDArray[np.integer[Any]],
    dual_coef: Float64,
    y_support: Index,
    n: int,
    pairs: bool,
) -> Float64:
    """Return the coefficients of a task's rows from the packed ones."""
    whole = np.zeros(n)
    if not pairs or dual_coef.shape[0] == 1:
        whole[support] = dual_coef[number if not pairs else 0]
    else:
        i, j = task.positive, task.negative
        first, second = y_support == i, y_support == j
        whole[support[first]] = dual_coef[j - 1, first]
        whole[support[second]] = dual_coef[i, second]
    return whole[task.rows]


def feature_weights(dual_coef: Any, V: Any, n_support: NDArray[np.int32], pairs: bool) -> Any:
    """Return w = sum_i coef_i v_i of every machine, one row each, for the linear kernel; sparse if V is.

    Parameters
    ----------
    dual_coef : (rows, m) array or CSR
        Packed coefficients.
    V : (m, d) array or CSR
        Support vectors, sorted by class.
    n_support : (classes,) int
        How many of them belong to each class.
    pairs : bool
        One machine per pair of classes (LIBSVM's layout), or one per row.
    """
    if not pairs or dual_coef.shape[0] == 1:
        return dual_coef @ V
    ends = np.concatenate([[0], np.cumsum(n_support)])
    rows = []
    for i, j in combinations(range(n_support.size), 2):
        one, two = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        rows.append(dual_coef[[j - 1], one] @ V[one] + dual_coef[[i], two] @ V[two])
    return sp.vstack(rows, format="csr") if sp.issparse(V) else np.vstack(rows)


def votes(pairwise: Float64, n_classes: int) -> NDArray[np.int64]:
    """Return LIBSVM's votes of each class: the first of a pair needs a decision above zero."""
    count = np.zeros((pairwise.shape[0], n_classes), dtype=np.int64)
    for i, against_others in enumerate(_against_later(pairwise, n_classes)):
        first = against_others > 0
        count[:, i] += np.count_nonzero(first, axis=1)
        count[:, i + 1 :] += ~first
    return count


def votes_with_ties_broken(pairwise: Float64, n_classes: int) -> Float64:
    """Return votes plus a monotone image of the summed confidences in (-1/3, 1/3): it breaks ties, no more.

    A decision of exactly zero counts for the first of the pair, as in scikit-learn (its ``predict`` and
    ``decision_function`` differ there, and so do ours).
    """
    count = np.zeros((pairwise.shape[0], n_classes))
    confidence = np.zeros((pairwise.shape[0], n_classes))
    for i, against_others in enumerate(_against_later(pairwise, n_classes)):
        first = against_others >= 0
        count[:, i] += np.count_nonzero(first, axis=1)
        count[:, i + 1 :] += ~first
        confidence[:, i] += against_others.sum(axis=1)
        confidence[:, i + 1 :] -= against_others
    return count + confidence / (3.0 * (np.abs(confidence) + 1.0))


def _against_later(pairwise: Float64, n_classes: int) -> Iterator[Float64]:
    """Yield the decisions of each class against those that come after it: neighbours among the pairs."""
    for i in range(n_classes - 1):
        first = pair_number(i, i + 1, n_classes)
        yield pairwise[:, first : first + n_classes - 1 - i]
