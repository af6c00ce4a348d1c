"""What support vector regressors share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils.validation import assert_all_finite, column_or_1d

from mercer.estimators.single import SingleMachine
from mercer.problems import Certificate


class BaseSVR(RegressorMixin, SingleMachine):
    """Base of the regressors."""

    def _target(self, X: Any, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        if y.dtype.kind not in "biuf":
            y = _as_numbers(y)
        assert_all_finite(y, input_name="y", estimator_name=type(self).__name__)
        self._check_lengths(X, y)
        return np.asarray(y, dtype=np.float64)

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
        self._fit_machine(X, y, sample_weight)
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
        return self._values(X)

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
        return self._certify(X, y, sample_weight)


def _as_numbers(y: np.ndarray) -> np.ndarray:
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers; its entries are of type {y.dtype}") from error
