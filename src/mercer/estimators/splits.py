# ruff: noqa: D102  what overrides a method is documented in the base class
"""What a target is made of: one problem, several outputs, pairs of classes, classes against the rest.

A split is a reduction with its inverse. It names the rows and the target of each problem, packs the machines
into the estimator's attributes, and unpacks them again. ``one-versus-one`` trains each pair (i, j), i < j, on
the rows of the two classes; +1 is class i, except when there are only two classes, where +1 is the second, so
that a positive decision means ``classes_[1]``. ``one-versus-rest`` trains each class against all rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64, Index
from mercer.problems import Machine


@dataclass(frozen=True)
class Part:
    """One problem: its rows and its target."""

    rows: Index
    target: Any


class Split(ABC):
    """The problems that one target consists of.

    Attributes
    ----------
    tasks : sequence
        Each with ``rows`` and ``target``.
    base, weight : (n,) float64
        Sample weights, without and with the weights of classes.
    """

    tasks: Sequence[Any]
    base: Float64
    weight: Float64
    loss: Any = None  # where the estimator chooses one when it sees the target

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.base.size)

    def keep(self, model: Any) -> None:  # noqa: B027  most splits have nothing of their own
        """Store what is known before anything is solved."""

    @abstractmethod
    def starts(self, model: Any) -> list[Any] | None:
        """Return the tasks' coefficients in the previous fit; None where it does not match."""

    @abstractmethod
    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        """Store the machines: support vectors, coefficients, intercepts."""

    @abstractmethod
    def unpack(self, model: Any, k: int) -> Float64:
        """Return the coefficients of task k's rows."""

    def outputs(self, F: Float64, k: int) -> Float64:
        """Return the products of task k's machine with its rows, given those of all machines and rows."""
        return np.asarray(F[self.tasks[k].rows, k])


class Outputs(Split):
    """One function for each output of a regression, or the one function of a detector.

    Parameters
    ----------
    Y : (n, outputs) float64 or None
        Targets; a detector has none.
    base : (n,) float64
        Sample weights.
    weighted_only : bool
        Whether rows of weight zero take no part.
    """

    def __init__(self, Y: Float64 | None, base: Float64, *, weighted_only: bool = False) -> None:
        self.base = self.weight = base
        rows = np.flatnonzero(base > 0) if weighted_only else np.arange(base.size)
        self.tasks = [Part(rows, None)] if Y is None else [Part(rows, column[rows]) for column in Y.T]

    def starts(self, model: Any) -> list[Any] | None:
        if not hasattr(model, "dual_coef_") or model.shape_fit_[0] != self.n:
            return None
        if model.intercept_.size != len(self.tasks):
            return None
        return [self.unpack(model, k) for k in range(len(self.tasks))]

    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        coef = np.zeros((len(machines), self.n))
        for k, machine in enumerate(machines):
            coef[k, self.tasks[k].rows] = machine.coef
        keep_expansion(model, X, np.flatnonzero(np.abs(coef).max(axis=0)), coef)
        model.intercept_ = np.array([m.intercept for m in machines])

    def unpack(self, model: Any, k: int) -> Float64:
        whole = np.zeros(self.n)
        whole[model.support_] = model._coefficients[k]
        return np.asarray(whole[self.tasks[k].rows])


@dataclass(frozen=True)
class Labels:
    """Checked class labels."""

    classes: np.ndarray  # in order
    numbers: Index  # the number of each row's class
    factors: Float64  # the weight of each class


def check_labels(y: Any, whose: str) -> tuple[np.ndarray, Index]:
    """Return the classes in order, and the class number of each row.

    Parameters
    ----------
    y : array
        Labels.
    whose : str
        Name of the estimator, for messages.
    """
    if type(y) is not np.ndarray or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    assert_all_finite(y, estimator_name=whose, input_name="y")
    sortable = y.dtype.kind in "biufU"
    if not sortable:
        check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    if sortable and not _are_plainly_classes(classes, y.size):
        check_classification_targets(y)
    if classes.size < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {classes.size} class in y: {classes[:1]}"
        )
    return classes, numbers


def _are_plainly_classes(values: np.ndarray, n: int) -> bool:
    """Return whether a thorough look at a target is needless: few different whole numbers or texts."""
    whole = values.dtype.kind != "f" or bool((values % 1 == 0).all())
    return whole and 2 * values.size <= n


def weighed_labels(classes: np.ndarray, numbers: Index, class_weight: Any, base: Float64) -> Labels:
    """Return labels with the weights of their classes.

    Parameters
    ----------
    classes : array
        The classes, in order.
    numbers : (n,) intp
        The number of each row's class.
    class_weight : dict, "balanced" or None
        The parameter. "balanced" counts a row as often as its weight says.
    base : (n,) float64
        Sample weights.
    """
    if class_weight is None:
        factors = np.ones(classes.size)
    elif isinstance(class_weight, dict):
        factors = compute_class_weight(class_weight, classes=classes, y=classes[numbers])
    else:
        factors = compute_class_weight(
            class_weight, classes=np.arange(classes.size), y=numbers, sample_weight=base
        )
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError(f"class_weight={class_weight!r} must have finite values of at least 0")
    present = np.bincount(numbers[base > 0], minlength=classes.size)
    for c, label in enumerate(classes):
        if factors[c] == 0 or present[c] == 0:
            name = "class_weight" if factors[c] == 0 else "sample_weight"
            raise ValueError(f"{name} is zero for every row of class {label}: it cannot be learned")
    return Labels(classes, numbers, factors)


class Classes(Split):
    """What splits of class labels share.

    Parameters
    ----------
    labels : Labels
        The labels.
    base : (n,) float64
        Sample weights.
    """

    def __init__(self, labels: Labels, base: Float64) -> None:
        self.labels, self.base = labels, base
        self.weight = base * labels.factors[labels.numbers]

    def keep(self, model: Any) -> None:
        model.classes_, model.class_weight_ = self.labels.classes, self.labels.factors


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
    plus = [np.ones(m.size) for m in members]  # once for each class, not for each pair
    minus = [-ones for ones in plus]
    return [
        BinaryTask(np.concatenate((members[i], members[j])), np.concatenate((plus[i], minus[j])), i, j)
        for i, j in combinations(range(n_classes), 2)
    ]


def one_versus_rest(y: Index, n_classes: int, present: NDArray[np.bool_]) -> list[BinaryTask]:
    """Return a task for each class against all others."""
    if n_classes == 2:
        return one_versus_one(y, n_classes, present)
    rows = np.flatnonzero(present)
    return [BinaryTask(rows, np.where(y[rows] == c, 1.0, -1.0), c, -1) for c in range(n_classes)]


class TwoClassTasks(Classes):
    """Two-class problems: one per pair of classes, or one per class.

    Parameters
    ----------
    labels : Labels
        The labels.
    base : (n,) float64
        Sample weights.
    pairs : bool
        One problem per pair, or one per class.
    tasks : list of BinaryTask, optional
        The problems, where they are known.
    """

    tasks: list[BinaryTask]

    def __init__(
        self, labels: Labels, base: Float64, pairs: bool, tasks: list[BinaryTask] | None = None
    ) -> None:
        super().__init__(labels, base)
        self.pairs = pairs
        split = one_versus_one if pairs else one_versus_rest
        self.tasks = tasks or split(labels.numbers, labels.classes.size, self.weight > 0)

    def starts(self, model: Any) -> list[Any] | None:
        if not hasattr(model, "dual_coef_") or model.shape_fit_[0] != self.n:
            return None
        rows = model._coefficients.shape[0]
        if (rows * (rows + 1) // 2 if self.pairs else rows) != len(self.tasks):
            return None
        return [self.unpack(model, k) for k in range(len(self.tasks))]

    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        pack = pack_pairs if self.pairs else pack_rest
        numbers, k = self.labels.numbers, self.labels.classes.size
        support, coef, counts = pack([m.coef for m in machines], self.tasks, numbers, k, self.n)
        keep_support(model, X, support, coef)
        model._n_support = counts
        model.intercept_ = np.array([m.intercept for m in machines])

    def unpack(self, model: Any, k: int) -> Float64:
        known = self.labels.numbers[model.support_]
        return unpack(self.tasks[k], k, model.support_, model._coefficients, known, self.n, self.pairs)


class AllClasses(Classes):
    """One problem that has a function for each class."""

    def __init__(self, labels: Labels, base: Float64) -> None:
        super().__init__(labels, base)
        self.tasks = [Part(np.arange(self.n), labels.numbers.astype(np.float64))]

    def starts(self, model: Any) -> list[Any] | None:
        known = hasattr(model, "dual_coef_") and model.shape_fit_[0] == self.n
        if not known or model._coefficients.shape[0] != self.labels.classes.size:
            return None
        return [self.unpack(model, 0)]

    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        (machine,) = machines
        coef = machine.coef.reshape(self.n, -1).T
        support = np.flatnonzero(np.abs(coef).max(axis=0))
        keep_expansion(model, X, support, coef)
        counts = np.bincount(self.labels.numbers[support], minlength=self.labels.classes.size)
        model._n_support = counts.astype(np.int32)
        model.intercept_ = np.atleast_1d(np.array(machine.intercept, dtype=np.float64))

    def unpack(self, model: Any, k: int) -> Float64:
        whole = np.zeros((self.n, model.intercept_.size))
        whole[model.support_] = model._coefficients.T
        return whole

    def outputs(self, F: Float64, k: int) -> Float64:
        return F


def keep_expansion(model: Any, X: Any, support: Index, coef: Float64) -> None:
    """Store functions that share their points: a row of coefficients for each."""
    keep_support(model, X, support, np.ascontiguousarray(coef[:, support]))


def keep_support(model: Any, X: Any, support: Index, packed: Float64) -> None:
    """Store support vectors and packed coefficients; as in scikit-learn, sparse data give sparse ones."""
    model.support_ = support.astype(np.int32)
    model.dual_coef_ = packed
    if sp.issparse(X):
        model.dual_coef_ = sp.csr_array(packed) if isinstance(X, sp.sparray) else sp.csr_matrix(packed)
    model.support_vectors_ = model._kept(X, support)


def pack_pairs(
    coefs: list[Float64], tasks: list[BinaryTask], y: Index, n_classes: int, n: int
) -> tuple[Index, Float64, NDArray[np.int32]]:
    """Return (support, dual_coef, n_support) in LIBSVM's layout.

    Support vectors are sorted by class. A support vector of class c has a coefficient for each of the other
    classes o, in row o if o < c, else row o - 1.
    """
    table = np.zeros((n_classes - 1, n))
    if n_classes == 2:
        for coef, task in zip(coefs, tasks, strict=True):
            table[0, task.rows] = coef
        return _sorted_support(table, y, n_classes)
    sizes = [task.rows.size for task in tasks]
    i = np.repeat([task.positive for task in tasks], sizes)
    j = np.repeat([task.negative for task in tasks], sizes)
    rows = np.concatenate([task.rows for task in tasks])
    table[np.where(y[rows] == i, j - 1, i), rows] = np.concatenate(coefs)
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
