"""Classifiers that have one problem for all classes, and a function for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.expansion import FunctionsMixin
from mercer.gram import Segment
from mercer.problems import Machine
from mercer.problems.signed_margins import signed_margins


class JointClassesMixin:
    """What differs from machines of two classes each, where ``_joint`` says that there is one for all."""

    classes_: np.ndarray
    intercept_: np.ndarray

    if TYPE_CHECKING:  # the classes that it is mixed into know

        @property
        def _joint(self) -> bool: ...

    # -- fit ---------------------------------------------------------------------------------------------

    def _shipped(self, number: int, coef: Any, products: Any) -> Machine:
        if self._joint:
            return Machine(coef, self.intercept_, products)
        shipped: Machine = super()._shipped(number, coef, products)  # type: ignore[misc]
        return shipped

    # -- use ---------------------------------------------------------------------------------------------

    def _segments(self) -> tuple[list[Segment], int]:
        this: Any = self
        return FunctionsMixin._segments(this) if self._joint else super()._segments()  # type: ignore[misc]

    def _feature_weights(self) -> Any:
        this: Any = self
        if self._joint:
            return this.dual_coef_ @ this.support_vectors_
        return super()._feature_weights()  # type: ignore[misc]

    def _choose(self, F: np.ndarray) -> np.ndarray:
        choice: np.ndarray = F.argmax(axis=1) if self._joint else super()._choose(F)  # type: ignore[misc]
        return choice

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            Two classes: positive means ``classes_[1]``. More: a column for each class where one problem has
            them all, or there is a machine for each; else votes with confidences, or the pairs' values.
        """
        check_is_fitted(self)
        this: Any = self
        if not self._joint:
            values: np.ndarray = super().decision_function(X)  # type: ignore[misc]
            return values
        F: np.ndarray = this._raw_decision(X)
        return F[:, 1] - F[:, 0] if self.classes_.size == 2 else F

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
        this: Any = self
        if not self._joint or getattr(self, "threshold", None):
            labels: np.ndarray = super().predict(X)  # type: ignore[misc]
            return labels
        this._check_parameters()
        return np.asarray(self.classes_[self._choose(this._raw_decision(X))])

    def margins(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return how far each point lies on the right side of its nearest boundary.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,)
            Two classes: y f(x) with y = +1 for ``classes_[1]``. One problem of all classes, or one machine
            per class: the function of the point's class minus the best of the others. One machine per pair:
            the least signed decision over the pairs of the point's class. Positive means classified
            correctly.
        """
        check_is_fitted(self)
        this: Any = self
        if not self._joint:
            margins: np.ndarray = super().margins(X, y)  # type: ignore[misc]
            return margins
        labels, F = this._known_labels(y), self.decision_function(X)
        return signed_margins(F[:, None] if F.ndim == 1 else F, labels, self.classes_.size, False)

    def slacks(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return the slack variables of points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,) or (n, n_machines)
            max(0, 1 - y f(x)), one column per two-class machine when there are more than two classes, 0 where
            a point takes no part in a pair; one value per point where one problem has all classes.
        """
        check_is_fitted(self)
        this: Any = self
        if not self._joint:
            table: np.ndarray = super().slacks(X, y)  # type: ignore[misc]
            return table
        return self._joint_slacks(this._raw_decision(X), this._known_labels(y))

    def _joint_slacks(self, F: np.ndarray, labels: np.ndarray) -> np.ndarray:
        raise ValueError(
            f"slacks belong to margins, and loss={getattr(self, 'loss_', None)!r} of all classes has none"
        )
