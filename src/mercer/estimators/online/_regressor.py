"""What regressors that learn from a stream share."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.online._proof import ProvedMachine
from mercer.estimators.targets import check_targets
from mercer.problems import Certificate

NO_CLASS = np.empty(0, dtype=np.int64)


class OnlineRegressor(RegressorMixin, ProvedMachine):
    """Base of the regressors."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ProvedMachine._parameter_constraints,
        "learning_rate": [Interval(Real, 0.0, 2.0, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def _target(self, X: Any, y: Any) -> np.ndarray:
        target = check_targets(y, type(self).__name__)
        self._check_lengths(X, target)
        return np.ascontiguousarray(target[:, None])

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from all examples again and again, until a pass changes nothing or a limit is met.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Targets.

        Returns
        -------
        self
            ``status_`` says how it ended.
        """
        X = self._checked(X, reset=True)
        self._fit_passes(X, self._target(X, y), NO_CLASS)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from each example once, in their order, on top of what was learned before.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features) or a sequence
            The next examples of the stream.
        y : array of shape (n_samples,)
            Their targets.

        Returns
        -------
        self
        """
        first = not hasattr(self, "t_")
        X = self._checked(X, reset=first)
        target = self._target(X, y)
        if first:
            self._open(X)
        self._stream(X, target, NO_CLASS)
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
        return self._outputs(X)[:, 0]

    def certify(self, X: Any, y: ArrayLike) -> Certificate:
        """Recompute the certificate from nothing but the model and all data that it was given, in float64.

        Parameters
        ----------
        X, y
            The data given to ``fit``, or all batches given to ``partial_fit`` one below the other.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        target = self._target(X, y)
        return self._certify(X, target.shape[0], target)
