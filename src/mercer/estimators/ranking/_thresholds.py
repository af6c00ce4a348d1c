"""Ordered classes as one problem: how its function and thresholds are kept, and found again."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.splits import Classes, Labels, Part, keep_expansion


class OrderedClasses(Classes):
    """One problem that has a threshold between each class and the next.

    A row of ``dual_coef_`` has the multipliers of one threshold; the function's coefficients are their sums.
    """

    def __init__(self, labels: Labels, base: Float64) -> None:
        super().__init__(labels, base)
        self.tasks = [Part(np.arange(self.n), labels.numbers)]

    def starts(self, model: Any) -> list[Any] | None:
        known = hasattr(model, "dual_coef_") and model.shape_fit_[0] == self.n
        if not known or model._coefficients.shape[0] != self.labels.classes.size - 1:
            return None
        return [self.unpack(model, 0)]

    def pack(self, model: Any, X: Any, machines: list[Any]) -> None:
        (machine,) = machines
        support = np.flatnonzero(np.abs(machine.table).max(axis=0))
        keep_expansion(model, X, support, machine.table)
        counts = np.bincount(self.labels.numbers[support], minlength=self.labels.classes.size)
        model._n_support = counts.astype(np.int32)
        model.intercept_ = np.array(machine.intercept, dtype=np.float64)

    def unpack(self, model: Any, k: int) -> Float64:
        whole = np.zeros((self.n, model.intercept_.size))
        whole[model.support_] = model._coefficients.T
        return whole
