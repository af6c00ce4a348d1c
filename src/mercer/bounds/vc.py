"""Classifiers: the error of new points from the Vapnik-Chervonenkis dimension."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

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


def vc_error(*, h: int, n: int, delta: float = 0.05, training_error: float = 0.0) -> float:
    r"""Bound the error of a classifier from a class of VC dimension h.

    .. math::
        P(y \ne f(x)) \le \epsilon = 4 \, \frac{h (\ln(2n/h) + 1) - \ln(\delta/4)}{n}

    without training errors; with a share e of them

    .. math::
        P(y \ne f(x)) \le e + \frac{\epsilon}{2} \left(1 + \sqrt{1 + 4 e / \epsilon}\right)

    with probability 1 - delta, for a class that is fixed before the data are seen.

    Parameters
    ----------
    h : int
        VC dimension of the class.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.
    training_error : float
        e, the share of training points on the wrong side.

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
    if not 0.0 <= training_error <= 1.0:
        raise ValueError(f"training_error={training_error} must lie between 0 and 1")
    epsilon = 4.0 * (h * (math.log(2.0 * n / h) + 1.0) - math.log(sure(delta) / 4.0)) / n
    return training_error + 0.5 * epsilon * (1.0 + math.sqrt(1.0 + 4.0 * training_error / epsilon))


class PriceByBound(NamedTuple):
    """The C of least bound, the bound there, and the VC dimension and training error that it is made of."""

    C: float
    bound: float
    h: int
    training_error: float


def price_by_vc_bound(path: Any, *, radius: float, delta: float = 0.05, number: int = 0) -> PriceByBound:
    r"""Choose C on an exact path by structural risk minimisation: the least bound of :func:`vc_error`.

    The machine at C has :math:`\|w\| = A(C)`, hence the VC dimension :math:`\lfloor R^2 A^2 \rfloor + 1`,
    which rises with C, and a training error, which tends to fall. For each dimension the largest C that it
    allows is looked up on the path; between these, C runs over the knots and the points half-way.

    As a promise it is void: norm and class are read off the same data. It is a rule for choosing C.

    Parameters
    ----------
    path : SVCPath
        Fitted.
    radius : float
        R, of the distribution's support around the origin of feature space.
    delta : float
        Probability with which the bound may fail.
    number : int
        Which two-class problem, for more than two classes.

    Returns
    -------
    PriceByBound
        C, the bound, h and the training error.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, (12.51) and section 7.9.
    """
    R, n = positive("radius", radius), path.paths_[number].a.shape[1]
    knots = path._knots(number)
    norms = path.curves(knots, number)["norm"]
    between = 0.5 * (knots[1:] + knots[:-1])
    steps = [
        path.C_for(norm=math.sqrt(h) / R * (1.0 - 1e-9), number=number)
        for h in range(math.floor((R * norms[0]) ** 2) + 1, math.floor((R * norms[-1]) ** 2) + 1)
        if norms[0] < math.sqrt(h) / R * (1.0 - 1e-9) < norms[-1]
    ]
    tried = np.unique(np.concatenate([knots, between, steps]))
    errors, sizes = path.training_error(tried, number), path.curves(tried, number)["norm"]
    best: PriceByBound | None = None
    for C, error, norm in zip(tried.tolist(), errors.tolist(), sizes.tolist(), strict=True):
        h = margin_vc_dimension(radius=R, norm=norm)
        bound = vc_error(h=h, n=n, delta=delta, training_error=error)
        if best is None or bound < best.bound:
            best = PriceByBound(C, bound, h, error)
    assert best is not None
    return best
