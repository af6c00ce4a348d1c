"""Classifiers: the error of new points from the margin and the radius, by the fat-shattering dimension."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mercer.bounds.checks import count, numbers, positive, sure


def fat_shattering_error(
    *, margin: float, radius: float, n: int, delta: float = 0.05, output_range: float | None = None
) -> float:
    r"""Bound the error of a classifier with a hard margin by the fat-shattering dimension.

    Whatever the dimension, with probability 1 - delta, for all g of norm 1 with
    :math:`y_i g(x_i) \ge \gamma`,

    .. math::
        P(y \ne \mathrm{sgn}\, g(x)) \le \frac2n \left( d \log_2 \frac{8 e n s}{d \gamma} \log_2 \frac{32 n
        s^2}{\gamma^2} + \log_2 \frac4\delta \right), \qquad d = \frac{64 R^2}{\gamma^2} < n,

    where s is the length of an interval that holds the values of g on the support of the distribution: 2R.
    Print has s = 1, which makes the statement depend on the unit of length; ``output_range=1`` gives that
    form. It also has "log" without a base: the logarithms are to base 2, as in the source of the theorem.
    With natural ones the bound would be less than half as large, and is not proved.

    Parameters
    ----------
    margin : float
        gamma, fixed before the data are seen.
    radius : float
        R: the support of the distribution, not only the sample, lies in a ball of this radius around the
        origin.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.
    output_range : float, optional
        s; 2R if not given.

    Returns
    -------
    float
        The bound; 1 or more says nothing, and infinite where d < n fails.

    References
    ----------
    Cristianini and Shawe-Taylor (2003), Support vector and kernel methods, in: Berthold and Hand (editors),
    Intelligent Data Analysis, Theorem 5.2. Shawe-Taylor, Bartlett, Williamson and Anthony (1998), Structural
    risk minimization over data-dependent hierarchies, IEEE Transactions on Information Theory 44.
    """
    gamma, R, n = positive("margin", margin), positive("radius", radius), count("n", n)
    s = 2.0 * R if output_range is None else positive("output_range", output_range)
    d = 64.0 * (R / gamma) ** 2
    if d >= n:
        return math.inf
    cover = d * math.log2(8.0 * math.e * n * s / (d * gamma)) * math.log2(32.0 * n * (s / gamma) ** 2)
    return 2.0 / n * (cover + math.log2(4.0 / sure(delta)))


def squared_slack_rate(
    slacks: ArrayLike, *, margin: float, radius: float, delta: float = 0.05
) -> Callable[[float], float]:
    r"""Return the error bound by squared slacks as a function of its unspecified constant.

    .. math::
        P(y \ne \mathrm{sgn}\, g(x)) \le \frac{c}{n} \left( \frac{R^2 + \|\xi\|_2^2}{\gamma^2} \log^2 n + \log
        \frac1\delta \right)

    for some constant c that the source does not give: this tells how the error scales, not how large it is.

    Parameters
    ----------
    slacks : array of shape (n,)
        max(0, gamma - y_i g(x_i)) for g of norm 1.
    margin : float
        gamma, fixed before the data are seen.
    radius : float
        R, of the distribution's support.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    callable
        c -> the bound.

    References
    ----------
    Cristianini and Shawe-Taylor (2003), Support vector and kernel methods, in: Berthold and Hand (editors),
    Intelligent Data Analysis, Theorem 5.3.
    """
    xi = numbers("slacks", slacks, least=0.0)
    gamma, R = positive("margin", margin), positive("radius", radius)
    size = (R**2 + float(np.square(xi).sum())) / gamma**2
    rate = (size * math.log(xi.size) ** 2 + math.log(1.0 / sure(delta))) / xi.size
    return lambda c: positive("c", c) * rate


def slack_rate(
    slacks: ArrayLike, *, margin: float, radius: float, delta: float = 0.05
) -> Callable[[float], float]:
    r"""Return the error bound by slacks as a function of its unspecified constant.

    .. math::
        P(y \ne \mathrm{sgn}\, g(x)) \le \frac{c}{n} \left( \frac{R^2}{\gamma^2} \log^2 n +
        \frac{\|\xi\|_1}{\gamma} \log n + \log \frac1\delta \right)

    for some constant c that the source does not give: this tells how the error scales, not how large it is.

    Parameters
    ----------
    slacks, margin, radius, delta
        As in :func:`squared_slack_rate`.

    Returns
    -------
    callable
        c -> the bound.

    References
    ----------
    Cristianini and Shawe-Taylor (2003), Support vector and kernel methods, in: Berthold and Hand (editors),
    Intelligent Data Analysis, Theorem 5.4.
    """
    xi = numbers("slacks", slacks, least=0.0)
    gamma, R = positive("margin", margin), positive("radius", radius)
    log = math.log(xi.size)
    rate = (R / gamma) ** 2 * log**2 + float(xi.sum()) / gamma * log + math.log(1.0 / sure(delta))
    return lambda c: positive("c", c) * rate / xi.size
