"""What classifiers that keep examples share: labels in, signs to the learner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context

from mercer.estimators.online._base import OnlineMachine
from mercer.estimators.online._labels import StreamLabels


class OnlineClassifier(StreamLabels, ClassifierMixin, OnlineMachine):
    """Base of the classifiers with a kernel."""

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
        X = self._check_X(X, kernel=self._kernel(), reset=True)
        y = self._check_labels(self._length(X), y)
        classes, labels = np.unique(y, return_inverse=True)
        self._enough(classes, "y")
        self._open(X)
        self.classes_ = classes
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
        X = self._check_X(X, kernel=self._kernel() if first else self.kernel_, reset=first)
        y = self._check_labels(self._length(X), y)
        self._announce(classes)
        labels = self._known_labels(y)
        if first:
            self._open(X)
        self._stream(X, self._signs(labels), labels)
        return self

    def _raw_decision(self, X: Any) -> np.ndarray:
        return self._outputs(X)
