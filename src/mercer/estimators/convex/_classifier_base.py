"""What the classifiers with any loss share."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.convex._base import ConvexMachine
from mercer.estimators.interrupts import Stop, stoppable
from mercer.estimators.monitoring import Watch
from mercer.estimators.svm.classifier import BaseSVC
from mercer.gram import Gram, Segment, Workers, cross_products
from mercer.problems import Certificate
from mercer.problems.losses import Loss
from mercer.problems.multiclass import Task, one_versus_one, one_versus_rest
from mercer.problems.penalised import penalised
from mercer.problems.risk import Risk
from mercer.problems.signed_margins import signed_margins
from mercer.solvers import Solution


class ConvexClassifier(ConvexMachine, BaseSVC):
    """Base of the classifiers: one machine per pair or per class, or one for all classes at once."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    # -- what a subclass says ----------------------------------------------------------------------------

    def _loss(self, n_classes: int) -> Loss:
        raise NotImplementedError

    @property
    def _joint(self) -> bool:
        """Whether one problem has all classes, a function for each."""
        return bool(self.loss_.targets == "classes")

    # -- fit ---------------------------------------------------------------------------------------------

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Any:
        return penalised(self.loss_, sign, self.C * weight, fit_intercept=self.fit_intercept)

    def _stated(self, problem: Any, matrix: Gram) -> Any:
        return problem  # the loss has already chosen its form

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
        self._check_shape()
        given = X
        X, limits, workers = self._begin(X)
        classes, labels = self._check_y(X, y)
        base = self._check_weight(sample_weight, X, labels.size)
        weight, class_weight = self._weigh(classes, labels, base)
        loss = self._loss(classes.size)
        if loss.targets == "classes":
            tasks = [Task(np.arange(labels.size), np.ones(labels.size), 0, 0)]
        else:
            split = one_versus_one if self.multiclass == "ovo" else one_versus_rest
            tasks = split(labels, classes.size, weight > 0)
        starts = None
        if self.warm_start and getattr(self, "loss_", None) == loss:
            starts = self._joint_start(labels, classes.size) if self._joint else self._starts(tasks, labels)
        self._resolve(X, None if sample_weight is None else base)
        self.classes_, self.class_weight_, self.loss_ = classes, class_weight, loss
        with stoppable(limits, self.on_interrupt == "keep") as stop, self._blas_threads(workers):
            matrix = self._gram(self.kernel_, X, workers)
            if self._fit_sparsely(X, labels, weight, matrix, stop):
                return self
            watch = Watch(self, stop, given, y, sample_weight, len(tasks))
            psd = self._psd(self.kernel_, matrix)
            solutions: list[Any] = [None] * len(tasks)
            problems: list[Any] = [None] * len(tasks)

            def work(k: int, part_workers: Workers | None, share: int) -> None:
                rows = tasks[k].rows
                part = matrix if rows.size == matrix.n else matrix.subset(rows, part_workers)
                problems[k] = (
                    self._all_classes(labels, weight)
                    if self._joint
                    else self._problem(tasks[k].sign, weight[rows], part)
                )
                start = None if starts is None else problems[k].recover(starts[k])
                listener = watch.listener(k)
                solutions[k] = self._minimise(part, problems[k], stop, listener, psd, start, share)

            together = matrix.independent_subsets and not watch.one_at_a_time
            self._each(workers, together, [task.rows.size for task in tasks], work)
            store = (
                partial(self._store_joint, X, labels)
                if self._joint
                else partial(self._store, X, labels, tasks)
            )
            store(solutions, problems, psd)
            if self.trace:
                self.history_ = watch.history
        self._conclude(self.certificate_, stop.asked_by_callback)
        watch.end()
        return self

    def _fit_sparsely(self, X: Any, labels: np.ndarray, weight: np.ndarray, matrix: Gram, stop: Stop) -> bool:
        """Fit by another way than all points, if that is asked for; return whether it was."""
        return False

    def _joint_start(self, labels: np.ndarray, k: int) -> list[np.ndarray] | None:
        """Return the coefficients of the previous fit, if it had as many rows and classes."""
        known = hasattr(self, "dual_coef_") and self.shape_fit_[0] == labels.size
        if not known or self._coefficients.shape[0] != k:
            return None
        whole = np.zeros((labels.size, k))
        whole[self.support_] = self._coefficients.T
        return [whole]

    def _all_classes(self, labels: np.ndarray, weight: np.ndarray) -> Risk:
        return Risk(
            self.loss_,
            labels.astype(np.float64),
            self.C * weight,
            fit_intercept=self.fit_intercept,
            outputs=self.classes_.size,
        )

    def _store_joint(
        self, X: Any, labels: np.ndarray, solutions: list[Solution], problems: list[Risk], psd: bool
    ) -> None:
        (solution,) = solutions
        self._keep_expansion(X, labels, solution.b, solution.values.multipliers)
        self.certificate_ = solution.certificate(self.criterion, psd)
        self.n_iter_ = np.array([solution.n_iter], dtype=np.int32)

    def _keep_expansion(self, X: Any, labels: np.ndarray, coef: np.ndarray, bias: np.ndarray) -> None:
        """Store functions that share their points: a row of coefficients for each."""
        support = np.flatnonzero(np.abs(coef).max(axis=1))
        self.support_ = support.astype(np.int32)
        kind: Any = np.ascontiguousarray
        if sp.issparse(X):
            kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
        self.dual_coef_ = kind(coef[support].T)
        self._n_support = np.bincount(labels[support], minlength=self.classes_.size).astype(np.int32)
        self.intercept_ = np.array(bias)
        self.support_vectors_ = self._kept(X, support)
        self.__dict__.pop("margin_", None)

    # -- use ---------------------------------------------------------------------------------------------

    def _segments(self) -> tuple[list[Segment], int]:
        if not self._joint:
            return super()._segments()
        coef = self._coefficients
        return [Segment(0, coef.shape[1], coef.T, np.arange(coef.shape[0]))], coef.shape[0]

    def _choose(self, F: np.ndarray) -> np.ndarray:
        return F.argmax(axis=1) if self._joint else super()._choose(F)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            Two classes: positive means ``classes_[1]``. More: a column for each class, or votes with
            confidences, or the pairs' values.
        """
        check_is_fitted(self)
        if not self._joint:
            return super().decision_function(X)
        F = self._raw_decision(X)
        return F[:, 1] - F[:, 0] if self.classes_.size == 2 else F

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
        labels: np.ndarray = self.classes_[self._choose(self._raw_decision(X))]
        return labels

    def margins(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return how far each point lies on the right side of its nearest boundary.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,)
            As for :class:`mercer.SVC`; with one problem of all classes, the function of the point's class
            minus the best of the others.
        """
        check_is_fitted(self)
        if not self._joint:
            return super().margins(X, y)
        labels, F = self._known_labels(y), self.decision_function(X)
        return signed_margins(F[:, None] if F.ndim == 1 else F, labels, self.classes_.size, False)

    def slacks(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return max(0, 1 - y f(x)) of points, for machines of two classes each.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,) or (n, n_machines)
            As for :class:`mercer.SVC`.
        """
        check_is_fitted(self)
        if self._joint:
            raise ValueError(f"slacks belong to two-class machines; {self.loss_!r} has all classes at once")
        return super().slacks(X, y)

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
        if not self._joint:
            return super().certify(X, y, sample_weight)
        X, labels, weight = self._training_data(X, y, sample_weight)
        segments, outputs = self._segments()
        g = cross_products(self.kernel_, X, self._reference(), segments, outputs, self._workers())
        beta = np.zeros((labels.size, outputs))
        beta[self.support_] = self._coefficients.T
        values = self._all_classes(labels, weight).evaluate(beta, g, self.intercept_)
        known = self.certificate_
        solution = Solution(beta, g, values, known.n_iter, known.status)  # type: ignore[arg-type]
        return solution.certificate(self.criterion, not math.isnan(known.gap))
