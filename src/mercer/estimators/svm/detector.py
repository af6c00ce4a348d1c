"""What novelty detectors share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin, _fit_context

from mercer.estimators.svm.single import SingleMachine
from mercer.gram import Gram
from mercer.problems import Certificate


class BaseDetector(OutlierMixin, SingleMachine):
    """Base of the detectors: +1 for points like the training data, -1 for novelties."""

    offset_: Any

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
        self._fit_all(X, sample_weight)
        return self

    def _fit_all(self, X: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Gram]:
        return self._fit_machine(X, None, sample_weight)

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

    def certify(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Certificate:
        """Recompute the certificate from nothing but the model and the training data, in float64.

        Parameters
        ----------
        X, y, sample_weight
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        return self._certify(X, None, sample_weight)
