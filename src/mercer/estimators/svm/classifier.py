"""Classifiers made of two-class machines: one per pair of classes, or one per class."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.expansion import ExpansionMixin
from mercer.estimators.labels import check_labels, weighed_labels
from mercer.estimators.machine import KernelMachine
from mercer.estimators.margin_distribution import MarginMixin
from mercer.estimators.probability import ProbabilityMixin
from mercer.estimators.problem_machine import ProblemMachine
from mercer.estimators.row_batches import in_pieces
from mercer.estimators.splits import Classes, Labels, TwoClassTasks
from mercer.gram import Segment, cross_products
from mercer.problems import Certificate
from mercer.problems.decisions import decisions_with_sure_signs
from mercer.problems.multiclass import feature_weights, pair_number, votes, votes_with_ties_broken

DECISIONS = 1 << 22  # of pairs of classes, in memory at a time: 32 MB
FEWEST_ROWS = 64  # looked at together, however many the pairs


class BaseSVC(MarginMixin, ProbabilityMixin, ClassifierMixin, ExpansionMixin, ProblemMachine):
    """What classifiers over pairs of classes share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "random_state": ["random_state"],
    }

    # -- fit ---------------------------------------------------------------------------------------------

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
        self._fit(X, y, sample_weight)
        return self

    def _check_parameters(self) -> None:
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' needs multiclass='ovo': 'ovr' has no pairs")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Classes:
        classes, numbers = check_labels(y, type(self).__name__)
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        return self._tasks_of(weighed_labels(classes, numbers, self.class_weight, base), base)

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> Classes:
        numbers = self._known_labels(y)
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        return self._tasks_of(Labels(self.classes_, numbers, self.class_weight_), base)

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> Classes:
        """Return the problems that labels stand for."""
        return TwoClassTasks(labels, base, self.multiclass == "ovo")

    def _keep(self, machines: list[Any], split: Any) -> None:
        self.margin_ = self._per_machine([m.margin for m in machines])

    def _keep_steps(self, steps: list[int]) -> None:
        self.n_iter_ = np.array(steps, dtype=np.int32)

    @staticmethod
    def _per_machine(values: list[float]) -> Any:
        """Return a number for one machine, an array for several."""
        return float(values[0]) if len(values) == 1 else np.array(values)

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
        self._check_parameters()
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
        return self._certify(X, y, sample_weight)
