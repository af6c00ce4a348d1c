"""What regressions by splines share as scikit-learn estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.validation import validated

LARGEST = 1e100  # of values: their squares must not overflow


class SplineRegressor(RegressorMixin, BaseEstimator):
    """Base of the regressions that are sums of splines, for one target or several."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def _checked(self, X: Any, y: Any) -> tuple[Float64, Float64]:
        """Return variables and targets, the latter with a column for each output."""
        X, y = validated(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        for name, values in (("X", X), ("y", y)):
            if float(np.abs(values).max(initial=0.0)) > LARGEST:
                table = np.abs(values.reshape(len(values), -1))
                row, column = np.unravel_index(int(table.argmax()), table.shape)
                raise ValueError(
                    f"{name} reaches {float(table[row, column]):.3g} (row {row}, column {column}), beyond "
                    f"{LARGEST:g}, and its squares overflow: scale it, or check its units"
                )
        Y = np.asarray(y, dtype=np.float64)
        self._one_target = Y.ndim == 1
        return np.ascontiguousarray(X), np.ascontiguousarray(Y.reshape(len(Y), -1))

    def _functions(self, X: Float64) -> Float64:
        """Return the values of all outputs at checked rows."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Predict the targets of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        check_is_fitted(self)
        X = validated(self, X, dtype=np.float64, reset=False)
        F = self._functions(X)
        return F[:, 0] if self._one_target else F
