"""Decisions of two-class machines, one per pair of classes: their numbers, their votes, their weights."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.arrays import Float64


def pair_number(i: int, j: int, n_classes: int) -> int:
    """Return the position of the pair (i, j), i < j, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    return i * n_classes - i * (i + 1) // 2 + j - i - 1


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
