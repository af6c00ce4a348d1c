"""Classifiers in a stream: classes known from the first call on, one output for two, else one for each."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer.estimators.margin_distribution import MarginMixin
from mercer.estimators.online._base import OnlineMachine, StreamLearner
from mercer.estimators.splits import one_versus_rest


class StreamClassifier(MarginMixin, StreamLearner):
    """What classifiers that learn from a stream share, in primal or dual form."""

    classes_: np.ndarray
    multiclass = "ovr"

    def _check_labels(self, n: int, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        if len(y) != n:
            raise ValueError(
                f"X and y have inconsistent numbers of samples: X has {n} rows, y has {len(y)} entries"
            )
        assert_all_finite(y, estimator_name=type(self).__name__, input_name="y")
        check_classification_targets(y)
        return np.asarray(y)

    @staticmethod
    def _enough(classes: np.ndarray, where: str) -> np.ndarray:
        if classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {classes.size} class in {where}: "
                f"{classes[:1]}"
            )
        return classes

    def _announce(self, classes: ArrayLike | None) -> None:
        """Fix the classes on the first call of partial_fit, and hold later calls to them."""
        first = not hasattr(self, "t_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is None:
            return
        given = self._enough(np.unique(column_or_1d(np.asarray(classes))), "classes")
        if not first and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        self.classes_ = given

    def _signs(self, labels: np.ndarray) -> np.ndarray:
        """Return the signs that each machine should give, one column each."""
        tasks = one_versus_rest(labels, self.classes_.size, np.ones(labels.size, dtype=bool))
        return np.ascontiguousarray(np.column_stack([task.sign for task in tasks]))

    # -- learning ----------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from all examples again and again, until a pass changes nothing or a limit is met.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            ``status_`` says how it ended.
        """
        X = self._checked(X, reset=True)
        y = self._check_labels(X.shape[0] if hasattr(X, "shape") else len(X), y)
        classes, labels = np.unique(y, return_inverse=True)
        self.classes_ = self._enough(classes, "y")
        self._fit_passes(X, self._signs(labels), labels)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from each example once, in their order, on top of what was learned before.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features) or a sequence
            The next examples of the stream.
        y : array of shape (n_samples,)
            Their class labels.
        classes : array, optional
            All classes that can occur; needed on the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "t_")
        X = self._checked(X, reset=first)
        y = self._check_labels(X.shape[0] if hasattr(X, "shape") else len(X), y)
        self._announce(classes)
        labels = self._known_labels(y)
        if first:
            self._open(X)
        self._stream(X, self._signs(labels), labels)
        return self

    # -- use ---------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Two classes: positive means ``classes_[1]``. More: one value per class, the largest wins.
        """
        F = self._raw_decision(X)
        return F.ravel() if self.classes_.size == 2 else F

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
        F = self._raw_decision(X)
        choice = (F.ravel() >= 0).astype(np.intp) if self.classes_.size == 2 else F.argmax(axis=1)
        labels: np.ndarray = self.classes_[choice]
        return labels


class OnlineClassifier(StreamClassifier, ClassifierMixin, OnlineMachine):
    """Base of the classifiers with a kernel."""

    def _raw_decision(self, X: Any) -> np.ndarray:
        return self._outputs(X)
