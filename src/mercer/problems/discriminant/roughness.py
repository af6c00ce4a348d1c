"""Penalty matrices that make the coefficients of neighbouring features alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Float64


def differences(size: int, order: int) -> Float64:
    """Rows that take the differences of this order of a signal; none where it is no longer than that."""
    return np.diff(np.eye(size), n=order, axis=0) if size > order else np.zeros((0, size))


def roughness(shape: Sequence[int], order: int) -> Float64:
    r"""Return the matrix of :math:`\sum_{\text{axes}} \sum_j (\Delta^d \beta)_j^2` of such arrays."""
    penalty = np.zeros((1, 1))
    for size in shape:
        along = differences(size, order)
        penalty = np.kron(penalty, np.eye(size)) + np.kron(np.eye(len(penalty)), along.T @ along)
    return penalty
