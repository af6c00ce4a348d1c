"""The margin distribution of a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer.problems import signed_margins as margins


class MarginMixin:
    """Margins and slacks of labelled points, for classifiers made of two-class machines."""

    classes_: np.ndarray
    multiclass: str

    def _raw_decision(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _known_labels(self, y: ArrayLike) -> np.ndarray:
        """Return the class numbers of labels, or say which one the model has not seen."""
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which the model has not seen")
        return np.searchsorted(self.classes_, y)

    def margins(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return the margin distribution: how far each point lies on the right side.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,)
            Two classes: y f(x) with y = +1 for ``classes_[1]``; divided by ||w|| it is the distance from the
            boundary in feature space. More classes, one machine per pair: the least signed decision over the
            pairs of the point's class, how it fares against its strongest rival. One machine per class: the
            decision of its class minus the best of the others. Positive means classified correctly.
        """
        check_is_fitted(self)
        labels = self._known_labels(y)
        return margins.signed_margins(
            self._raw_decision(X), labels, self.classes_.size, self.multiclass == "ovo"
        )

    def slacks(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return the slack variables max(0, 1 - y f(x)) of points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,) or (n, n_machines)
            One column per two-class machine when there are more than two classes, in the order of
            ``intercept_``; 0 where a point takes no part in a pair.
        """
        check_is_fitted(self)
        labels = self._known_labels(y)
        k = self.classes_.size
        table = margins.slacks(self._raw_decision(X), labels, k, self.multiclass == "ovo")
        return table[:, 0] if k == 2 else table
