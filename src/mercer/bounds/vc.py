"""Classifiers: the error of new points from the Vapnik-Chervonenkis dimension."""

from __future__ import annotations

import math

from mercer.bounds.checks import count, not_negative, positive, sure


def margin_vc_dimension(*, radius: float, norm: float, dimension: float = math.inf) -> int:
    r"""Bound the VC dimension of planes with a margin 1/A in a ball of radius R.

    .. math::
        h \le \min(\lfloor R^2 A^2 \rfloor, D) + 1

    D is the dimension of the space. Print has :math:`R^2 A^2` without the 1, which the corners of a regular
    simplex contradict: h of them, on a sphere of radius R, are shattered with :math:`R^2 A^2 = h - 1` when h
    is even.

    Parameters
    ----------
    radius : float
        R. The class is meant to be fixed beforehand, so this is the radius of the distribution's support.
    norm : float
        A, a bound on :math:`\|w\|` at functional margin 1, fixed before the data are seen.
    dimension : float
        D, infinite for most kernels.

    Returns
    -------
    int
        The bound on h.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, (12.50). Vapnik (1998),
    Statistical Learning Theory, Theorem 10.3.
    """
    square = (positive("radius", radius) * not_negative("norm", norm)) ** 2
    return math.floor(min(square * (1.0 + 1e-12), dimension)) + 1


def vc_error(*, h: int, n: int, delta: float = 0.05) -> float:
    r"""Bound the error of a classifier without training errors, from a class of VC dimension h.

    .. math::
        P(y \ne f(x)) \le 4 \, \frac{h (\ln(2n/h) + 1) - \ln(\delta/4)}{n}

    with probability 1 - delta, for a class that is fixed before the data are seen.

    Parameters
    ----------
    h : int
        VC dimension of the class.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing, and infinite for h > 2n.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, (12.51) and section 7.9.
    """
    h, n = count("h", h), count("n", n)
    if h > 2 * n:
        return math.inf
    return 4.0 * (h * (math.log(2.0 * n / h) + 1.0) - math.log(sure(delta) / 4.0)) / n
