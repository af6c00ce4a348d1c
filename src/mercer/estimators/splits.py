# ruff: noqa: D102  what overrides a method is documented in the base class
"""What a target is made of: one problem, several outputs, pairs of classes, classes against the rest.

A split is a reduction with its inverse. It names the rows and the target of each problem, packs the machines
into the estimator's attributes, and unpacks them again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Index
from mercer.problems import Machine
from mercer.problems.multiclass import (
    BinaryTask,
    one_versus_one,
    one_versus_rest,
    pack_pairs,
    pack_rest,
    unpack,
)


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
