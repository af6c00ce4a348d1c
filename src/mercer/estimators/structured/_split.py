"""A target of structures: one problem, kept as weights and the outputs that prove their worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.splits import Part, Split
from mercer.problems.structured import StructuredMachine


class StructuredTarget(Split):
    """Outputs of all rows.

    Parameters
    ----------
    structure : Structure
        What an output is, with what it reads off the data.
    Y : sequence
        Checked outputs.
    base : (n,) float64
        Sample weights.
    """

    def __init__(self, structure: Any, Y: Any, base: Float64) -> None:
        self.structure, self.base, self.weight = structure, base, base
        self.tasks = [Part(np.arange(base.size), Y)]

    def keep(self, model: Any) -> None:
        model.model_ = self.structure

    def starts(self, model: Any) -> list[Any] | None:
        known = hasattr(model, "coef_") and model.shape_fit_[0] == self.n
        if not known or model.model_ != self.structure:
            return None
        machine = self.unpack(model, 0)
        today = float(model.C) / model._price
        return [StructuredMachine(machine.coef, 0.0, machine.products, machine.rows, machine.outputs,
                                  today * machine.multipliers)]  # fmt: skip

    def pack(self, model: Any, X: Any, machines: list[Any]) -> None:
        (machine,) = machines
        model.coef_ = machine.coef
        model.support_ = np.asarray(machine.rows, dtype=np.int32)
        model.support_outputs_ = machine.outputs
        model.dual_coef_ = machine.multipliers
        model._price = float(model.C)

    def unpack(self, model: Any, k: int) -> Any:
        return shipped(model, self.n)


def shipped(model: Any, n: int) -> StructuredMachine:
    """Return the machine of a fitted estimator."""
    rows = model.support_.astype(np.intp)
    return StructuredMachine(model.coef_, 0.0, np.zeros(n), rows, model.support_outputs_, model.dual_coef_)
