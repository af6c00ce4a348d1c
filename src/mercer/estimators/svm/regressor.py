"""What support vector regressors share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, _fit_context

from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.splits import Outputs
from mercer.estimators.targets import check_targets


class BaseSVR(RegressorMixin, FunctionsMixin, ProblemMachine):
    """Base of the regressors."""

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        target = check_targets(y, type(self).__name__)
        self._check_lengths(X, target)
        return Outputs(target[:, None], self._check_weight(sample_weight, X, target.size))

    def _keep_history(self, history: list[Any]) -> None:
        super()._keep_history(history[0])

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return f at new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return self._values(X)[:, 0]
