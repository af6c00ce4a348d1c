"""Classifiers made of two-class machines: one per pair of classes, or one per class."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer.estimators.expansion import ExpansionMixin
from mercer.estimators.interrupts import stoppable
from mercer.estimators.machine import KernelMachine
from mercer.estimators.margin_distribution import MarginMixin
from mercer.estimators.monitoring import Watch
from mercer.estimators.probability import ProbabilityMixin
from mercer.estimators.row_batches import in_pieces
from mercer.estimators.svm.tasks import TaskMachine
from mercer.gram import Segment, cross_products, decisions_with_sure_signs
from mercer.problems import Certificate, Dual, Machine, Values, combine
from mercer.problems.multiclass import (
    Task,
    feature_weights,
    one_versus_one,
    one_versus_rest,
    pack_pairs,
    pack_rest,
    pair_number,
    unpack,
    votes,
    votes_with_ties_broken,
)
from mercer.solvers import Progress, Solution

DECISIONS = 1 << 22  # of pairs of classes, in memory at a time: 32 MB
FEWEST_ROWS = 64  # looked at together, however many the pairs


class BaseSVC(MarginMixin, ProbabilityMixin, ClassifierMixin, ExpansionMixin, TaskMachine):
    """What classifiers over pairs of classes share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "random_state": ["random_state"],
    }

    def _check_tasks(
        self, tasks: list[Task], weight: np.ndarray, base: np.ndarray, classes: np.ndarray
    ) -> None:
        """Refuse what no kernel could make feasible; called before any kernel value is computed."""

    def _keep(self, machines: list[Any]) -> None:
        """Store what the machines know beside their coefficients."""
        self.margin_ = self._per_machine([m.margin for m in machines])

    @staticmethod
    def _per_machine(values: list[float]) -> Any:
        """Return a number for one machine, an array for several."""
        return float(values[0]) if len(values) == 1 else np.array(values)

    def _certified(self, dual: Any, coef: np.ndarray, number: int, f: np.ndarray) -> Values:
        """Return the values of the shipped machine ``number``."""
        values: Values = dual.certify(coef, float(self.intercept_[number]), f)
        return values

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        limits, given = self._limits(), X
        self._check_shape()
        workers = self._workers()
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        classes, labels = self._check_y(X, y)
        n = labels.size
        base = self._check_weight(sample_weight, X, n)
        weight, class_weight = self._weigh(classes, labels, base)
        kernel.validate()
        resolved = kernel.resolve_on(X, None if sample_weight is None else base)  # X and weights are checked
        split = one_versus_one if self.multiclass == "ovo" else one_versus_rest
        tasks = split(labels, classes.size, weight > 0)
        self._check_tasks(tasks, weight, base, classes)
        starts = self._starts(tasks, labels)
        calibration = self._calibration(labels, base, len(tasks))
        self.classes_, self.class_weight_, self.kernel_ = classes, class_weight, resolved
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        self._gamma = getattr(resolved, "gamma", 0.0)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            watch = Watch(self, stop, given, y, sample_weight, len(tasks))
            matrix = self._gram(resolved, X, workers, not self._algorithm().single_precision)
            look = self._snapshots(X, labels, tasks) if len(tasks) == 1 else None
            solutions, duals = self._solve_all(
                tasks, weight, matrix, workers, starts, watch, calibration, look
            )
            psd = self._psd(resolved, matrix)
            self._store(X, labels, tasks, solutions, duals, psd)
            self._keep_links(calibration)
            if self.trace:
                self.history_ = watch.history
        self._conclude(self.certificate_, stop.asked_by_callback)
        watch.end()
        return self

    def _check_shape(self) -> None:
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' needs multiclass='ovo': 'ovr' has no pairs")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    def _check_y(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes in order, and the class number of each row."""
        if type(y) is not np.ndarray or y.ndim != 1:
            y = column_or_1d(y, warn=True)
        self._check_lengths(X, y)
        assert_all_finite(y, estimator_name=type(self).__name__, input_name="y")
        sortable = y.dtype.kind in "biufU"
        if not sortable:
            check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        if sortable and not _are_plainly_classes(classes, y.size):
            check_classification_targets(y)
        if classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {classes.size} class in y: "
                f"{classes[:1]}"
            )
        return classes, labels

    def _weigh(
        self, classes: np.ndarray, labels: np.ndarray, base: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of C of the rows, and those of the classes."""
        if self.class_weight is None:
            factors = np.ones(classes.size)
        elif isinstance(self.class_weight, dict):
            factors = compute_class_weight(self.class_weight, classes=classes, y=classes[labels])
        else:  # "balanced" counts a row as often as its weight says
            factors = compute_class_weight(
                self.class_weight, classes=np.arange(classes.size), y=labels, sample_weight=base
            )
        if not (np.isfinite(factors) & (factors >= 0)).all():
            raise ValueError(f"class_weight={self.class_weight!r} must have finite values of at least 0")
        weight = base * factors[labels]
        for c, label in enumerate(classes):
            if not (weight[labels == c] > 0).any():
                name = "class_weight" if factors[c] == 0 else "sample_weight"
                raise ValueError(f"{name} is zero for every row of class {label}: it cannot be learned")
        return weight, factors

    def _starts(self, tasks: list[Task], labels: np.ndarray) -> list[np.ndarray] | None:
        """Return the tasks' coefficients in the previous fit, if it had as many rows and classes."""
        if not self.warm_start or not hasattr(self, "dual_coef_") or self.shape_fit_[0] != labels.size:
            return None
        coef = self._coefficients
        machines = coef.shape[0] * (coef.shape[0] + 1) // 2 if self.multiclass == "ovo" else coef.shape[0]
        if machines != len(tasks):
            return None
        return [
            unpack(task, k, self.support_, coef, labels[self.support_], labels.size, self.multiclass == "ovo")
            for k, task in enumerate(tasks)
        ]

    def _snapshots(self, X: Any, labels: np.ndarray, tasks: list[Task]) -> Any:
        """Return what makes the attributes of a fit out of a round of the solver."""

        def snapshot(p: Progress, dual: Dual) -> dict[str, Any]:
            twin = copy.copy(self)
            reached = Solution(p.b.copy(), p.f.copy(), dual.evaluate(p.b, p.f), p.n_iter, "iteration_limit")
            twin._store(X, labels, tasks, [reached], [dual], True)
            return dict(vars(twin))

        return snapshot

    def _store(
        self,
        X: Any,
        labels: np.ndarray,
        tasks: list[Task],
        solutions: list[Solution],
        duals: list[Dual],
        psd: bool,
    ) -> None:
        machines: list[Machine] = [d.machine(s.b, s.f) for d, s in zip(duals, solutions, strict=True)]
        self._keep(machines)
        pack = pack_pairs if self.multiclass == "ovo" else pack_rest
        support, dual_coef, n_support = pack(
            [m.coef for m in machines], tasks, labels, self.classes_.size, labels.size
        )
        self.support_ = support.astype(np.int32)
        # As in scikit-learn, sparse data give sparse coefficients.
        kind: Any = np.asarray
        if sp.issparse(X):
            kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
        self.dual_coef_: Any = kind(dual_coef)
        self._n_support = n_support
        self.intercept_ = np.array([m.intercept for m in machines])
        self.support_vectors_ = self._kept(X, support)
        self.certificate_ = combine([s.certificate(self.criterion, psd) for s in solutions])
        self.n_iter_ = np.array([s.n_iter for s in solutions], dtype=np.int32)

    # -- prediction --------------------------------------------------------------------------------------

    @property
    def n_support_(self) -> np.ndarray:
        """Number of support vectors of each class."""
        check_is_fitted(self)
        counts: np.ndarray = self._n_support
        return counts

    def _feature_weights(self) -> Any:
        pairs = self.multiclass == "ovo"
        coef = feature_weights(self.dual_coef_, self.support_vectors_, self._n_support, pairs)
        (coef if isinstance(coef, np.ndarray) else coef.data).flags.writeable = False
        return coef

    def _segments(self) -> tuple[list[Segment], int]:
        k = self.classes_.size
        coef = self._coefficients
        if k == 2 or self.multiclass == "ovr":
            return [Segment(0, coef.shape[1], coef.T, np.arange(coef.shape[0]))], coef.shape[0]
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        segments = []
        for c in range(k):
            others = [o for o in range(k) if o != c]
            outputs_of_c = np.array([pair_number(min(c, o), max(c, o), k) for o in others])
            part = slice(ends[c], ends[c + 1])
            segments.append(Segment(int(ends[c]), int(ends[c + 1]), coef[:, part].T, outputs_of_c))
        return segments, k * (k - 1) // 2

    def _raw_decision(self, X: Any) -> np.ndarray:
        """Return the decisions of all two-class machines, one column each."""
        return self._decided(X, lambda F: F, rows=sys.maxsize)

    def _decided(
        self,
        X: Any,
        finish: Callable[[np.ndarray], np.ndarray],
        *,
        signs: bool = False,
        rows: int | None = None,
    ) -> np.ndarray:
        """Return what ``finish`` makes of the decisions, or (``signs``) of anything with their signs.

        Where the machines are many, their decisions are made for a few rows at a time.
        """
        reference = self._reference()
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        segments, outputs = self._segments()
        rough = signs and self.precision != "double"

        def work(part: Any) -> np.ndarray:
            data = (self.kernel_, part, reference, segments)
            if rough:
                return finish(decisions_with_sure_signs(*data, self.intercept_, self._workers()))
            return finish(cross_products(*data, outputs, self._workers()) + self.intercept_)

        return in_pieces(self.kernel_, X, rows or max(FEWEST_ROWS, DECISIONS // outputs), work)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            Two classes: positive means ``classes_[1]``. More: votes with confidences
            (``decision_function_shape="ovr"``) or the pairs' values (``"ovo"``).
        """
        check_is_fitted(self)
        if self.classes_.size == 2:
            return self._raw_decision(X).ravel()
        if self.multiclass == "ovr" or self.decision_function_shape == "ovo":
            return self._raw_decision(X)
        return self._decided(X, lambda F: votes_with_ties_broken(F, self.classes_.size))

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        self._check_shape()
        signs = self.classes_.size == 2 or (self.multiclass == "ovo" and not self.break_ties)
        labels: np.ndarray = self.classes_[self._decided(X, self._choose, signs=signs)]
        return labels

    def _choose(self, F: np.ndarray) -> np.ndarray:
        """Return the number of the predicted class from the decisions of all two-class machines."""
        k = self.classes_.size
        if k == 2:
            return (F.ravel() >= 0).astype(np.intp)  # LIBSVM gives the boundary itself to the second class
        scores: np.ndarray = F
        if self.multiclass == "ovo":
            scores = votes_with_ties_broken(F, k) if self.break_ties else votes(F, k)
        choice: np.ndarray = scores.argmax(axis=1)
        return choice

    # -- proof -------------------------------------------------------------------------------------------

    def _training_data(self, X: Any, y: ArrayLike, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the data given to ``fit``, checked: points, numbers of their classes, and all weights."""
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        n = self._fitted_length(X)
        labels = self._known_labels(y)
        self._check_lengths(X, labels)
        return X, labels, self._check_weight(sample_weight, X, n) * self.class_weight_[labels]

    def certify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Certificate:
        """Recompute the certificate from nothing but the model and the training data, in float64.

        Parameters
        ----------
        X, y, sample_weight
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        X, labels, weight = self._training_data(X, y, sample_weight)
        n = labels.size
        split = one_versus_one if self.multiclass == "ovo" else one_versus_rest
        segments, outputs = self._segments()
        F = cross_products(self.kernel_, X, self._reference(), segments, outputs, self._workers())
        coefficients = self._coefficients
        parts = []
        matrix = self._gram(self.kernel_, X, self._workers())
        psd = not math.isnan(self.certificate_.gap)
        for k, task in enumerate(split(labels, self.classes_.size, weight > 0)):
            coef = unpack(
                task, k, self.support_, coefficients, labels[self.support_], n, self.multiclass == "ovo"
            )
            part = matrix if task.rows.size == n else matrix.subset(task.rows)
            dual = self._task_problem(task.sign, weight[task.rows], part)
            values = self._certified(dual, coef, k, F[task.rows, k])
            known = self.certificate_.parts[k]
            solution = Solution(coef, F[task.rows, k], values, known.n_iter, known.status)  # type: ignore[arg-type]
            parts.append(solution.certificate(self.criterion, psd))
        return combine(parts)


def _are_plainly_classes(values: np.ndarray, n: int) -> bool:
    """Return whether a thorough look at a target is needless: few different whole numbers or texts."""
    whole = values.dtype.kind != "f" or bool((values % 1 == 0).all())
    return whole and 2 * values.size <= n
