"""What the classifiers with any loss share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.convex._base import LossMachine
from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.splits import AllClasses, Classes, Labels
from mercer.estimators.svm.classifier import BaseSVC
from mercer.gram import Segment
from mercer.problems import Machine
from mercer.problems.signed_margins import signed_margins


class LossClassifier(LossMachine, BaseSVC):
    """Base of the classifiers: one machine per pair or per class, or one for all classes at once."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LossMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @property
    def _joint(self) -> bool:
        """Whether one problem has all classes, a function for each."""
        return bool(self.loss_.targets == "classes")

    @property
    def _functions(self) -> int:
        return int(self.classes_.size) if self._joint else 1

    # -- fit ---------------------------------------------------------------------------------------------

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> Classes:
        loss = self._loss(labels.classes.size)
        split = AllClasses(labels, base) if loss.targets == "classes" else super()._tasks_of(labels, base)
        split.loss = loss
        return split

    def _keep(self, machines: list[Any], split: Any) -> None:
        if self._joint:
            self.__dict__.pop("margin_", None)
        else:
            super()._keep(machines, split)

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> Machine:
        if self._joint:
            return Machine(coef, self.intercept_, products)
        return super()._shipped(number, coef, products)

    # -- use ---------------------------------------------------------------------------------------------

    def _segments(self) -> tuple[list[Segment], int]:
        return FunctionsMixin._segments(self) if self._joint else super()._segments()

    def _choose(self, F: np.ndarray) -> np.ndarray:
        return F.argmax(axis=1) if self._joint else super()._choose(F)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            Two classes: positive means ``classes_[1]``. More: a column for each class, or votes with
            confidences, or the pairs' values.
        """
        check_is_fitted(self)
        if not self._joint:
            return super().decision_function(X)
        F = self._raw_decision(X)
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
        labels: np.ndarray = self.classes_[self._choose(self._raw_decision(X))]
        return labels

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
            As for :class:`mercer.SVC`; with one problem of all classes, the function of the point's class
            minus the best of the others.
        """
        check_is_fitted(self)
        if not self._joint:
            return super().margins(X, y)
        labels, F = self._known_labels(y), self.decision_function(X)
        return signed_margins(F[:, None] if F.ndim == 1 else F, labels, self.classes_.size, False)

    def slacks(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return max(0, 1 - y f(x)) of points, for machines of two classes each.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,) or (n, n_machines)
            As for :class:`mercer.SVC`.
        """
        check_is_fitted(self)
        if self._joint:
            raise ValueError(f"slacks belong to two-class machines; {self.loss_!r} has all classes at once")
        return super().slacks(X, y)
