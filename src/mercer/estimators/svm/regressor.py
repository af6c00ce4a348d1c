"""What support vector regressors share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, _fit_context

from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.splits import Outputs
from mercer.estimators.targets import check_outputs, check_targets


class BaseSVR(RegressorMixin, FunctionsMixin, ProblemMachine):
    """Base of the regressors."""

    _several = False  # whether y may have a column for each of several outputs

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        shape = np.asarray(y).shape if self._several else ()
        several = len(shape) == 2 and shape[1] > 1
        if several and getattr(self, "updatable", False):
            raise ValueError(f"updatable=True is for one target, and y has {shape[1]}")
        target = (check_outputs if several else check_targets)(y, type(self).__name__)
        self._check_lengths(X, target)
        columns = target if several else target[:, None]
        return Outputs(columns, self._check_weight(sample_weight, X, target.shape[0]))

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        split = self._split(X, y, sample_weight)
        if len(split.tasks) != self.intercept_.size:
            raise ValueError(f"y has {len(split.tasks)} outputs; this model has {self.intercept_.size}")
        return split

    def _checked_targets(self, X: Any, y: Any) -> np.ndarray:
        target = check_targets(y, type(self).__name__)
        self._check_lengths(X, target)
        return target

    def _keep_history(self, history: list[Any]) -> None:
        super()._keep_history(history[0] if len(history) == 1 else history)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,) or, for :class:`SVR`, (n_samples, n_outputs)
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
        ndarray of shape (n,) or (n, n_outputs)
            Values.
        """
        F = self._values(X)
        return F[:, 0] if F.shape[1] == 1 else F
