"""Targets whose machines are weights of features: how these are kept, and found again."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64
from mercer.estimators.splits import Classes, Labels, Outputs, Part, Split


def multipliers(model: Any, k: int) -> Float64 | None:
    """Return the multipliers that function k keeps; None where its weights determine them."""
    table = getattr(model, "dual_coef_", None)
    if table is None:
        return None
    row = np.asarray(table[[k]].toarray()[0])
    return None if model.loss_.smooth and not row.any() else row


class WeightsSplit(Split):
    """A split whose machines are kept as ``coef_`` and ``intercept_``.

    Every problem has all rows; those of weight zero have the price zero. Multipliers are kept only where the
    weights do not determine them: at the kinks of a loss.
    """

    flat = False  # whether one function's weights are a vector

    def starts(self, model: Any) -> list[Any] | None:
        coef = getattr(model, "coef_", None)
        if coef is None or np.atleast_2d(coef).shape != (len(self.tasks), model.n_features_in_):
            return None
        return [self.unpack(model, k) for k in range(len(self.tasks))]

    def pack(self, model: Any, X: Any, machines: list[Any]) -> None:
        coef = np.stack([m.coef for m in machines])
        model.coef_ = coef[0] if self.flat else coef
        model.intercept_ = np.array([m.intercept for m in machines], dtype=np.float64)
        model._price = float(getattr(model, "C", 1.0))
        model.__dict__.pop("dual_coef_", None)
        if any(m.multipliers is not None for m in machines):
            nothing = np.zeros(self.n)
            rows = [nothing if m.multipliers is None else m.multipliers for m in machines]
            model.dual_coef_ = sp.vstack([sp.csr_array(row[None]) for row in rows], format="csr")

    def unpack(self, model: Any, k: int) -> Float64:
        """Return weights, bias and, where they are known, the multipliers of task k, at today's price."""
        w, bias = np.atleast_2d(model.coef_)[k], np.atleast_1d(model.intercept_)[k : k + 1]
        known = multipliers(model, k)
        if known is None or known.size != self.n:
            return np.concatenate([w, bias])
        today = float(getattr(model, "C", 1.0)) / model._price
        return np.concatenate([w, bias, today * known])


class LinearOutputs(WeightsSplit, Outputs):
    """One function for each output of a regression."""

    def __init__(self, Y: Float64, base: Float64, flat: bool) -> None:
        super().__init__(Y, base)
        self.flat = flat


class LinearClasses(WeightsSplit, Classes):
    """One function for two classes, else one for each class against all others."""

    def __init__(self, labels: Labels, base: Float64) -> None:
        super().__init__(labels, base)
        k, rows = labels.classes.size, np.arange(self.n)
        positive = [1] if k == 2 else range(k)
        self.tasks = [Part(rows, np.where(labels.numbers == c, 1.0, -1.0)) for c in positive]
