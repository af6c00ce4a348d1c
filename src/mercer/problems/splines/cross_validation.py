"""Generalised cross-validation: the squared error of a fit, divided by what its freedom should cost."""

from __future__ import annotations

import math


def generalised_cross_validation(squared_error: float, n: float, charge: float) -> float:
    r"""Return :math:`\mathrm{RSS} / (n (1 - C / n)^2)`, infinite where the charge C reaches n.

    Parameters
    ----------
    squared_error : float
        RSS.
    n : float
        Number of rows.
    charge : float
        C, the effective number of parameters.

    References
    ----------
    Craven and Wahba (1979), Smoothing noisy data with spline functions, Numerische Mathematik 31.
    """
    left = 1.0 - charge / n
    return squared_error / (n * left * left) if left > 0.0 else math.inf


def hinge_charge(terms: int, penalty: float) -> float:
    """Return the effective parameters of so many terms, the constant included: M + penalty (M - 1) / 2.

    Each pair of hinges has one knot that was searched for, so (M - 1) / 2 knots are charged ``penalty`` each.

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19, section 3.6.
    """
    return terms + 0.5 * penalty * (terms - 1)
