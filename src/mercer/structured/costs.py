"""What it costs to take one label for another."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64


def checked_costs(costs: Any, k: int) -> Float64:
    """Return costs as a table, row by true label, or refuse them."""
    table = np.asarray(costs, dtype=np.float64)
    sound = table.shape == (k, k) and np.isfinite(table).all() and (table >= 0).all()
    if not sound or np.diagonal(table).any():
        raise ValueError(
            f"costs must be {k} rows of {k} finite numbers of at least 0, zero on the diagonal; it has shape "
            f"{table.shape}"
        )
    return table
