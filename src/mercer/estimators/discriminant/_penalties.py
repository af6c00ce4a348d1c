"""Penalty matrices that make the coefficients of neighbouring features alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.discriminant._checks import check_count
from mercer.problems.discriminant.roughness import differences, roughness
from mercer.solvers.discriminant.factor_rows import factor_rows


def difference_penalty(shape: int | Sequence[int], *, order: int = 2) -> Float64:
    r"""Roughness of a signal, an image or a volume: squared differences along each axis.

    .. math:: \beta^T \Omega \beta = \sum_{\text{axes}} \sum_j (\Delta^d \beta)_j^2

    with :math:`\Delta^d` the differences of order d. For a signal and d = 2 that is
    :math:`\sum_j (\beta_{j+1} - 2 \beta_j + \beta_{j-1})^2`, which is zero for straight lines only. An axis
    of no more than d points has no such differences and is not penalised.

    Parameters
    ----------
    shape : int or sequence of int
        The length of the signal, or the shape of the image whose pixels, in row-major order, are the
        features.
    order : int, default=2
        The order of the differences; 0 gives the identity for each axis.

    Returns
    -------
    penalty : ndarray of shape (n_features, n_features)
        The symmetric positive semi-definite matrix :math:`\Omega`.

    References
    ----------
    .. [1] T. Hastie, A. Buja and R. Tibshirani (1995). Penalized discriminant analysis. *Annals of
       Statistics* 23(1), 73-102.

    Examples
    --------
    >>> from mercer.estimators.discriminant import difference_penalty
    >>> difference_penalty(3).tolist()
    [[1.0, -2.0, 1.0], [-2.0, 4.0, -2.0], [1.0, -2.0, 1.0]]
    >>> difference_penalty((16, 16)).shape
    (256, 256)
    """
    order = check_count("order", order, 0)
    axes: Sequence[Any] = shape if isinstance(shape, Sequence) else [shape]
    if not axes:
        raise ValueError(f"shape={shape!r} must have at least one axis")
    return roughness([check_count("shape", size) for size in axes], order)


def penalty_rows(penalty: Any, n_features: int) -> Float64:
    """Rows whose Gram matrix is ``penalty``, after checking that it is symmetric positive semi-definite."""
    if isinstance(penalty, str):
        if penalty == "ridge":
            return np.eye(n_features)
        if penalty == "smooth":
            return differences(n_features, 2)
        raise ValueError(f"penalty={penalty!r} must be 'ridge', 'smooth' or a matrix")
    matrix = np.asarray(penalty)
    if matrix.dtype.kind not in "fiu" or matrix.shape != (n_features, n_features):
        raise ValueError(
            f"penalty of shape {matrix.shape} must be 'ridge', 'smooth' or a real matrix of shape "
            f"({n_features}, {n_features})"
        )
    matrix = matrix.astype(np.float64)
    size = np.abs(matrix).max()
    if not np.isfinite(size) or np.abs(matrix - matrix.T).max() > 1e-8 * size:
        raise ValueError("penalty must be finite and symmetric")
    rows, values = factor_rows(matrix)
    if values[0] < -1e-8 * max(size, abs(float(values[-1]))):
        raise ValueError(f"penalty must be positive semi-definite; its smallest eigenvalue is {values[0]:g}")
    return rows
