"""What novelty detectors share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin, _fit_context

from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.fitting import Fitted
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.splits import Outputs


class BaseDetector(OutlierMixin, FunctionsMixin, ProblemMachine):
    """Base of the detectors: +1 for points like the training data, -1 for novelties."""

    offset_: Any

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        return Outputs(None, self._check_weight(sample_weight, X, self._length(X)))

    def _keep_history(self, history: list[Any]) -> None:
        super()._keep_history(history[0])

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the detector.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), optional
            Non-negative; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._finish(self._fit(X, None, sample_weight))
        return self

    def _finish(self, fitted: Fitted) -> None:
        """Go on where the fit has ended."""

    def score_samples(self, X: Any) -> np.ndarray:
        """Return how normal points are, up to the constant ``offset_``.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Larger is more normal.
        """
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Return ``score_samples(X) - offset_``: not negative inside.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> np.ndarray:
        """Return +1 for points inside, -1 for novelties.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Of +1 and -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
