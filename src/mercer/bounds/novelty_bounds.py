"""Novelty detectors: how often a new point that is not novel is called so.

The balls are those that the machines find: the centre is a convex combination of training points, so that r^2
+ ||c||^2 <= R^2. The constant 6 is 4 for the centre, which is in the class of linear functions of norm R, and
2 for ||c||^2 - r^2, which lies in [-R^2, R^2]; ||phi(x)||^2 is one fixed function and costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mercer.bounds.checks import count, deviation, not_negative, numbers, positive, share, sure
from mercer.bounds.grids import powers_of_two
from mercer.bounds.rademacher import trace_complexity
from mercer.problems.novelty_promises import gap_for_rate, gaps_worth_trying


def outside_loss(
    squared_distances: ArrayLike, *, squared_radius: float, gap: float, radius: float, delta: float = 0.05
) -> float:
    r"""Bound the expected amount by which new points lie outside a ball.

    With g(x) = 0 inside the ball, 1 beyond a squared distance of :math:`r^2 + \gamma` from its centre c, and
    :math:`(\|c - \phi(x)\|^2 - r^2) / \gamma` between,

    .. math::
        \mathbb{E}[g(x)] \le \frac1n \sum_i g(x_i) + \frac{6 R^2}{\gamma \sqrt n} + 3
        \sqrt{\frac{\ln(2/\delta)}{2n}}

    with probability 1 - delta, for all balls with :math:`r^2 + \|c\|^2 \le R^2`.

    Parameters
    ----------
    squared_distances : array of shape (n,)
        :math:`\|c - \phi(x_i)\|^2` of the training points.
    squared_radius : float
        r^2.
    gap : float
        gamma, fixed before the data are seen.
    radius : float
        R, of the distribution's support around the origin of feature space.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.5.
    """
    d, gamma, R = (
        numbers("squared_distances", squared_distances),
        positive("gap", gap),
        positive("radius", radius),
    )
    loss = np.clip((d - not_negative("squared_radius", squared_radius)) / gamma, 0.0, 1.0)
    return float(loss.mean()) + 6.0 * R**2 / (gamma * math.sqrt(d.size)) + deviation(d.size, delta)


def false_positive_rate(*, slack_sum: float, gap: float, radius: float, n: int, delta: float = 0.05) -> float:
    r"""Bound the chance that a new point of the same distribution lies outside a slightly larger ball.

    .. math::
        P(\|\phi(x) - c\|^2 > r^2 + \gamma) \le \frac{\|\xi\|_1}{\gamma n} + \frac{6 R^2}{\gamma \sqrt n}
        + 3 \sqrt{\frac{\ln(2/\delta)}{2n}}, \qquad \xi_i = \max(0, \|\phi(x_i) - c\|^2 - r^2)

    with probability 1 - delta; for the ball that holds all training points the first term is 0. With C = 1 /
    (nu n) at most nu n training points lie outside the ball and at least nu n not in its interior.

    Parameters
    ----------
    slack_sum : float
        The sum of the slacks.
    gap : float
        gamma, fixed before the data are seen.
    radius : float
        R, of the distribution's support around the origin of feature space.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorems 7.9 and 7.12.
    """
    gamma, R, n = positive("gap", gap), positive("radius", radius), count("n", n)
    slack = not_negative("slack_sum", slack_sum) / (gamma * n)
    return slack + 6.0 * R**2 / (gamma * math.sqrt(n)) + deviation(n, delta)


def radius_for_rate(
    rate: float,
    *,
    squared_radius: float,
    slack_sum: float,
    radius: float,
    n: int,
    delta: float = 0.05,
    gaps: Sequence[float] | None = None,
) -> float:
    r"""Return the radius that new points of the same distribution exceed with at most a given probability.

    .. math::
        \sqrt{r^2 + \gamma}, \qquad \gamma = \frac1p \left( \frac{\|\xi\|_1}{n} + \frac{6R^2}{\sqrt n}
        \right), \qquad p = q - 3 \sqrt{\frac{\ln(2/\delta)}{2n}}

    It is smallest for the ball with nu = p. This gamma depends on the data through the slacks, so the promise
    is exact for the ball that holds all training points; else give ``gaps``, of which the smallest one that
    suffices at delta/k is taken.

    Parameters
    ----------
    rate : float
        q.
    squared_radius : float
        r^2 of the fitted ball.
    slack_sum : float
        The sum of its slacks.
    radius : float
        R, of the distribution's support around the origin of feature space.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.
    gaps : sequence of float, optional
        Values of gamma fixed before the data are seen.

    Returns
    -------
    float
        The radius.

    Raises
    ------
    ValueError
        When no radius can be promised from so few points.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Corollary 7.14 and Remark 7.13.
    """
    share("rate", rate)
    r2, slack, R, n = (
        not_negative("squared_radius", squared_radius),
        not_negative("slack_sum", slack_sum),
        positive("radius", radius),
        count("n", n),
    )
    if gaps is None:
        return math.sqrt(r2 + gap_for_rate(slack / n, n, R**2, rate, sure(delta)))
    part = delta / len(gaps)
    for gap in sorted(gaps):
        if false_positive_rate(slack_sum=slack, gap=gap, radius=R, n=n, delta=part) <= rate:
            return math.sqrt(r2 + gap)
    raise ValueError(
        f"a rate of {rate:g} cannot be guaranteed from n={n} points at delta={delta:g}: sampling alone "
        f"accounts for {deviation(n, part):.3g}, and no gap up to {max(gaps):.3g} suffices for the rest"
    )


def plane_false_positive_rate(
    shortfalls: ArrayLike, *, gap: float, norm_bound: float, trace: float, delta: float = 0.05
) -> float:
    r"""Bound the chance that a new point of the same distribution lies far below the one-class plane.

    .. math::
        P(\langle w, \phi(x) \rangle < \rho - \gamma) \le \frac{1}{n \gamma} \sum_i \max(0, \rho - \langle w,
        \phi(x_i) \rangle) + \frac{4 B}{n \gamma} \sqrt{\mathrm{tr} K + n \tau^2} + 3
        \sqrt{\frac{\ln(2/\delta)}{2n}}

    with probability 1 - delta, for all planes with :math:`\|w\|^2 + \rho^2 / \tau^2 \le B^2`: the margin
    bound (:func:`mercer.bounds.margin_slack_error`) for points that all have one label. For k(x, x) = 1 the
    plane is a ball and :func:`false_positive_rate` holds as well.

    Parameters
    ----------
    shortfalls : array of shape (n,)
        :math:`\max(0, \rho - \langle w, \phi(x_i) \rangle)`.
    gap : float
        gamma, fixed before the data are seen.
    norm_bound : float
        B, fixed before the data are seen.
    trace : float
        :math:`\mathrm{tr} K + n \tau^2`.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, (7.8) and Remark 7.16.
    """
    short, gamma = numbers("shortfalls", shortfalls, least=0.0), positive("gap", gap)
    capacity = 2.0 * trace_complexity(norm=positive("norm_bound", norm_bound), trace=trace, n=short.size)
    return (float(short.mean()) + capacity) / gamma + deviation(short.size, delta)


def slab_false_positive_rate(
    *,
    slack_sum: float,
    gap: float,
    axes: int,
    radius: float,
    squared_trace: float,
    n: int,
    delta: float = 0.05,
) -> float:
    r"""Bound the chance that a new point of the same distribution lies outside a slightly wider slab.

    A slab is the set of points near the plane :math:`\mu + U`, U of k dimensions, with projection P:

    .. math::
        P\bigl(\|(I - P)(\phi(x) - \mu)\|^2 > s^2 + \gamma\bigr) \le \frac{1}{\gamma} \Bigl(
        \frac{\|\xi\|_1}{n} + \frac{2 \sqrt k}{n} \sqrt{\sum_i k(x_i, x_i)^2} + \frac{6 R^2}{\sqrt n}
        \Bigr) + 3 \sqrt{\frac{\ln(2/\delta)}{2n}}, \qquad
        \xi_i = \max\bigl(0, \|(I - P)(\phi(x_i) - \mu)\|^2 - s^2\bigr)

    with probability 1 - delta, for all slabs with :math:`\|\mu\| \le R` and
    :math:`|\,\|(I - P)\mu\|^2 - s^2| \le R^2`. The squared distance is :math:`k(x, x)`, which is fixed, minus
    :math:`\langle P, \phi(x) \phi(x)' \rangle`, a linear function of norm :math:`\sqrt k` of the kernel's
    square, minus :math:`2 \langle (I - P)\mu, \phi(x) \rangle`, of norm 2R, plus a constant.

    Parameters
    ----------
    slack_sum : float
        The sum of the slacks.
    gap : float
        gamma, fixed before the data are seen.
    axes : int
        k, the dimension of the plane, fixed before the data are seen.
    radius : float
        R, of the distribution's support around the origin of feature space.
    squared_trace : float
        :math:`\sum_i k(x_i, x_i)^2`.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.5 and Remark 7.15.
    Shawe-Taylor, Williams, Cristianini and Kandola (2005), On the eigenspectrum of the Gram matrix and the
    generalization error of kernel-PCA, IEEE Transactions on Information Theory 51: the square of the kernel.
    """
    gamma, R, n = positive("gap", gap), positive("radius", radius), count("n", n)
    k, squares = count("axes", axes), not_negative("squared_trace", squared_trace)
    capacity = 2.0 * math.sqrt(k * squares) / n + 6.0 * R**2 / math.sqrt(n)
    return (not_negative("slack_sum", slack_sum) / n + capacity) / gamma + deviation(n, delta)


def gap_grid(*, n: int, radius: float | None = None) -> tuple[float, ...]:
    r"""Return gaps at which a bound is worth trying; they depend on n and the radius only.

    No two points are farther apart than 2R, and below :math:`6R^2 / \sqrt n` the middle term of the bound is
    1 by itself: the grid steps by sqrt(2) between 4R^2 and that.

    Parameters
    ----------
    n : int
        Number of training points.
    radius : float, optional
        R, of the distribution's support; all powers of 2 from 2^-20 to 2^20 without it.

    Returns
    -------
    tuple of float
        In falling order.
    """
    if radius is None:
        return powers_of_two()
    return gaps_worth_trying(count("n", n), positive("radius", radius) ** 2)
