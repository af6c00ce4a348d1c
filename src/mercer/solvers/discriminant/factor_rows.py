"""A positive semi-definite matrix as the Gram matrix of rows."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64


def factor_rows(matrix: Float64) -> tuple[Float64, Float64]:
    """Return rows with ``rows.T @ rows`` the matrix, and its eigenvalues, ascending.

    Negative eigenvalues are taken for zero in the rows; whether they are rounding is for the caller to say.
    """
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    rows: Float64 = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return rows, values
