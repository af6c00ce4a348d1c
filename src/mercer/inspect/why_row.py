"""Why a row gets its prediction: the support vectors that carry it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.inspect.expansions import Expansion, machine_of


@dataclass(frozen=True)
class Carriers:
    """The training points that make up a prediction, the largest contribution first.

    Attributes
    ----------
    rows : (m,) int
        Their rows in the training data (of a model that does not know these: their places among its points).
    contributions : (m,) float64
        c_i k(x_i, x): what each adds to the function.
    similarities : (m,) float64
        k(x_i, x).
    constant : float
        What is not due to any point: the bias, and parametric columns.
    value : float
        The function at the row: the sum of all contributions and the constant.
    """

    rows: np.ndarray
    contributions: Float64
    similarities: Float64
    constant: float
    value: float

    def __len__(self) -> int:
        return int(self.rows.size)


def why(model: Any, x: Any, *, count: int | None = None, output: int = 0) -> Carriers:
    r"""Return the training points that carry a prediction, :math:`f(x) = b + \sum_i c_i k(x_i, x)`.

    Parameters
    ----------
    model : estimator
        A fitted kernel expansion, alone, in a pipeline or found by a search.
    x : array of shape (d,) or (1, d)
        The row.
    count : int, optional
        Most points to return; all if not given. ``constant`` and ``value`` are those of the whole function.
    output : int, default=0
        Which function, of a model with several.

    Returns
    -------
    Carriers
    """
    if count is not None and count < 1:
        raise ValueError(f"count={count} must be at least 1")
    row = x if hasattr(x, "iloc") else np.atleast_2d(x)
    if row.shape[0] != 1:
        raise ValueError(f"x must be a single row; it has {row.shape[0]}")
    machine, inner = machine_of(model, row)
    expansion = Expansion.of(machine)
    Z = expansion.rows(inner)
    if not 0 <= output < expansion.coef.shape[1]:
        raise ValueError(f"output={output} does not exist: the model has {expansion.coef.shape[1]} functions")
    expansion.check(machine, Z)
    similar = np.asarray(expansion.kernel.evaluate(Z, expansion.points), dtype=np.float64)[0]
    parts = similar * expansion.coef[:, output]
    value = float(np.reshape(expansion.values_of(machine)(inner), (1, -1))[0, output])
    used = np.flatnonzero(expansion.coef[:, output])
    order = used[np.argsort(-np.abs(parts[used]), kind="stable")]
    kept = order if count is None else order[:count]
    numbers = np.arange(parts.size) if expansion.numbers is None else expansion.numbers
    return Carriers(numbers[kept], parts[kept], similar[kept], value - float(parts.sum()), value)
