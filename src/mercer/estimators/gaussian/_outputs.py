"""The outputs of a regression, as a Gaussian process sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.splits import Outputs
from mercer.problems import Machine


class ProcessOutputs(Outputs):
    """Outputs of a process, as it sees them: every row keeps its coefficient, and all data are kept."""

    def __init__(self, Y: Float64, flat: bool, normalize: bool) -> None:
        self.mean, self.spread = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        if normalize:
            spread = Y.std(axis=0)
            self.mean = Y.mean(axis=0)
            # What rounding leaves of a constant is no spread.
            self.spread = np.where(spread > 10 * np.finfo(np.float64).eps * np.abs(self.mean), spread, 1.0)
        self.Y, self.flat = (Y - self.mean) / self.spread, flat
        super().__init__(self.Y, np.ones(Y.shape[0]))

    def keep(self, model: Any) -> None:
        """Store what predictions are made of beside the function."""
        model._flat, model._Y = self.flat, self.Y
        model._y_mean, model._y_std = self.mean, self.spread

    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        """Store data and coefficients."""
        copied = model.copy_X_train and hasattr(X, "copy")
        model.X_fit_ = X.copy() if copied else X
        coef = np.stack([m.coef for m in machines], axis=1)
        model.dual_coef_ = coef[:, 0] if self.flat else coef


def squeezed(values: Float64) -> Float64:
    """Return values without the axis of outputs where there is one output only."""
    return values[..., 0] if values.shape[-1] == 1 else values
