"""Machines as their values at held-out points: all that a scorer asks of them."""

from __future__ import annotations

from copy import copy
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mercer.arrays import Float64
from mercer.estimators.svm.svc import BaseSVC
from mercer.problems.multiclass import votes_with_ties_broken


class HeldOutClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose decisions at some points are known.

    Parameters
    ----------
    machine : BaseSVC
        Whose rule turns the decisions of two-class machines into classes.
    classes : ndarray
        The classes of its training rows.
    F : (m, n_machines) float64
        Decisions at the points.
    """

    def __init__(self, machine: BaseSVC, classes: NDArray[Any], F: Float64) -> None:
        self.machine, self.classes, self.F = machine, classes, F
        self.classes_ = classes
        self._rule = copy(machine)
        self._rule.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classes of the points."""
        _check(X, self.F)
        labels: NDArray[Any] = self.classes[self._rule._choose(self.F)]
        return labels

    def decision_function(self, X: Any) -> Float64:
        """Return the decisions in the shape that the machine's parameters ask for."""
        _check(X, self.F)
        if self.classes.size == 2:
            return self.F[:, 0]
        if self.machine.multiclass == "ovr" or self.machine.decision_function_shape == "ovo":
            return self.F
        return votes_with_ties_broken(self.F, self.classes.size)


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """A regressor whose values at some points are known.

    Parameters
    ----------
    F : (m, 1) float64
        Values at the points.
    """

    def __init__(self, F: Float64) -> None:
        self.F = F
        self.is_fitted_ = True

    def predict(self, X: Any) -> Float64:
        """Return the values at the points."""
        _check(X, self.F)
        return self.F[:, 0]


def _check(X: Any, F: Float64) -> None:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n != F.shape[0]:
        raise ValueError(f"values are known at {F.shape[0]} held-out points; the scorer asks for {n}")
