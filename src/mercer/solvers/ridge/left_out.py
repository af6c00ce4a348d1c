"""Ridge regression without some of its rows, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.arrays import Float64


def without_rows(
    K: Float64, y: Float64, alpha: float, fit_intercept: bool, folds: Sequence[NDArray[np.intp]]
) -> tuple[Float64, Float64]:
    r"""Return the coefficients and biases of the fits without each of some sets of rows.

    With :math:`M = K + \alpha I`, bordered by ones if there is a bias, and c its solution for y, the fit
    without the rows S is :math:`c - (M^{-1})_{:S} ((M^{-1})_{SS})^{-1} c_S`: leaving rows out is demanding
    that their coefficients be 0. All fits cost one inverse.

    Parameters
    ----------
    K : (n, n) float64
        The kernel matrix.
    y : (n,) float64
        Targets.
    alpha : float
        Penalty.
    fit_intercept : bool
        Whether there is a bias, which is not penalised.
    folds : sequence of arrays
        The rows to leave out, each time.

    Returns
    -------
    coef : (folds, n) float64
        Zero at the rows left out.
    intercept : (folds,) float64
        Biases.

    References
    ----------
    .. [1] R. D. Cook and S. Weisberg (1982). *Residuals and Influence in Regression*. Chapman and Hall.
    """
    n = y.size
    factor = scipy.linalg.cho_factor(K + alpha * np.eye(n), lower=True, check_finite=False)
    P = scipy.linalg.cho_solve(factor, np.eye(n), check_finite=False)
    a = P @ y
    u, bias = np.zeros(n), 0.0
    if fit_intercept:
        ones = P.sum(axis=1)
        u = ones / ones.sum()
        bias = float(u @ y)
        a -= ones * bias
        P -= np.outer(ones, u)
    coef, intercept = np.empty((len(folds), n)), np.empty(len(folds))
    for k, rows in enumerate(folds):
        removed = np.linalg.solve(P[np.ix_(rows, rows)], a[rows])
        coef[k] = a - P[:, rows] @ removed
        coef[k, rows] = 0.0
        intercept[k] = bias - float(u[rows] @ removed)
    return coef, intercept
