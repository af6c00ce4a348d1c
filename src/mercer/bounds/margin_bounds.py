"""Classifiers: the error of new points from margins, slacks and the trace of the kernel matrix.

All statements are about a function g(x) = <w, phi(x)> with ||w|| = 1 and no bias. A bias b is covered by one
more coordinate of a size tau that is fixed beforehand: ||w||^2 becomes ||w||^2 + b^2 / tau^2 and the trace
grows by n tau^2. The margin must be fixed before the data are seen, or paid for
(:func:`mercer.bounds.best_of_grid`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mercer.bounds.checks import count, deviation, numbers, positive, root_of_dual
from mercer.bounds.rademacher import trace_complexity


def margin_slack_error(slacks: ArrayLike, *, margin: float, trace: float, delta: float = 0.05) -> float:
    r"""Bound the error of a linear classifier by how far points fall short of a margin.

    With probability 1 - delta over n independent training points, for all g of norm 1,

    .. math::
        P(y \ne \mathrm{sgn}\, g(x)) \le \frac{1}{n \gamma} \sum_i \xi_i + \frac{4}{n \gamma}
        \sqrt{\mathrm{tr} K} + 3 \sqrt{\frac{\ln(2/\delta)}{2n}}, \qquad \xi_i = \max(0, \gamma - y_i g(x_i)).

    Parameters
    ----------
    slacks : array of shape (n,)
        The slacks of g at this margin.
    margin : float
        gamma, fixed before the data are seen.
    trace : float
        tr K, the sum of k(x_i, x_i).
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 4.17 and (7.8).
    """
    xi = numbers("slacks", slacks, least=0.0)
    gamma = positive("margin", margin)
    capacity = 2.0 * trace_complexity(norm=1.0 / gamma, trace=trace, n=xi.size)
    return float(xi.mean()) / gamma + capacity + deviation(xi.size, delta)


def squared_margin_slack_error(
    slacks: ArrayLike, *, margin: float, trace: float, delta: float = 0.05
) -> float:
    r"""Bound the error of a linear classifier by the squares of the slacks.

    .. math::
        P(y \ne \mathrm{sgn}\, g(x)) \le \frac{1}{n \gamma^2} \sum_i \xi_i^2 + \frac{8}{n \gamma}
        \sqrt{\mathrm{tr} K} + 3 \sqrt{\frac{\ln(2/\delta)}{2n}}

    with probability 1 - delta, for all g of norm 1 and slacks as in :func:`margin_slack_error`.

    Parameters
    ----------
    slacks : array of shape (n,)
        :math:`\max(0, \gamma - y_i g(x_i))`.
    margin : float
        gamma, fixed before the data are seen.
    trace : float
        tr K.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, (7.13).
    """
    xi = numbers("slacks", slacks, least=0.0)
    gamma = positive("margin", margin)
    capacity = 4.0 * trace_complexity(norm=1.0 / gamma, trace=trace, n=xi.size)
    return float(np.square(xi / gamma).mean()) + capacity + deviation(xi.size, delta)


def hard_margin_error(*, margin: float, trace: float, n: int, delta: float = 0.05) -> float:
    r"""Bound the error of a classifier that separates the training points with a margin.

    .. math::
        P(y \ne \mathrm{sgn}\, g(x)) \le \frac{4}{n \gamma} \sqrt{\mathrm{tr} K} + 3
        \sqrt{\frac{\ln(2/\delta)}{2n}}

    with probability 1 - delta, for all g of norm 1 with :math:`y_i g(x_i) \ge \gamma` at every training
    point.

    Parameters
    ----------
    margin : float
        gamma, the geometric margin, fixed before the data are seen.
    trace : float
        tr K.
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
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorems 7.22 and 7.27.
    """
    capacity = 2.0 * trace_complexity(norm=1.0 / positive("margin", margin), trace=trace, n=n)
    return capacity + deviation(n, delta)


def soft_margin_error(
    *, C: float, dual: float, margin: float, trace: float, n: int, delta: float = 0.05
) -> float:
    r"""Bound the error of the 1-norm soft margin machine by its dual value.

    The machine maximises :math:`W(\alpha) = -\sum_{ij} \alpha_i \alpha_j y_i y_j K_{ij}` subject to
    :math:`\sum_i \alpha_i = 1`, :math:`\sum_i y_i \alpha_i = 0` and :math:`0 \le \alpha_i \le C`, which is
    the problem :math:`\min -\gamma + C \sum_i \xi_i` with :math:`\|w\| = 1`. At its optimum
    :math:`\sum_i \xi_i = (\gamma - \sqrt{-W}) / C`, so that :func:`margin_slack_error` reads

    .. math::
        P(y \ne f(x)) \le \frac{1}{Cn} - \frac{\sqrt{-W}}{C n \gamma} + \frac{4}{n \gamma} \sqrt{\mathrm{tr}
        K} + 3 \sqrt{\frac{\ln(2/\delta)}{2n}}.

    In the scale of :class:`mercer.SVC`, with multipliers :math:`a_i` of sum s: :math:`\alpha = a / s`, the C
    above is its parameter ``C`` divided by s, :math:`\sqrt{-W}` is :math:`\|w\| / s` and :math:`\gamma` is
    :math:`1 / \|w\|`; the first two terms are the mean of its slacks.

    Parameters
    ----------
    C : float
        The price in the scale above, at least 1/n.
    dual : float
        W, less than 0.
    margin : float
        gamma at the optimum; the theorem treats it as fixed beforehand.
    trace : float
        tr K.
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
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.30.
    """
    n = count("n", n)
    price, gamma = positive("C", C), positive("margin", margin)
    if price * n < 1.0 - 1e-9:
        raise ValueError(f"C={C} must be at least 1/n = {1 / n:.6g}: multipliers of sum 1 do not fit the box")
    least = root_of_dual(dual)
    slack = (1.0 - least / gamma) / (price * n)
    if slack < -1e-9:
        raise ValueError(f"margin={margin} is less than sqrt(-dual)={least:.6g}: slacks would be negative")
    return max(slack, 0.0) + hard_margin_error(margin=gamma, trace=trace, n=n, delta=delta)


def nu_margin_error(
    *, nu: float, dual: float, margin: float, trace: float, n: int, delta: float = 0.05
) -> float:
    r"""Bound the error of the :math:`\nu` machine by its dual value.

    .. math::
        P(y \ne f(x)) \le \nu - \frac{\nu \sqrt{-W}}{\gamma} + \frac{4}{n \gamma} \sqrt{\mathrm{tr} K}
        + 3 \sqrt{\frac{\ln(2/\delta)}{2n}},

    which is :func:`soft_margin_error` with :math:`C = 1 / (\nu n)`. At most :math:`\nu n` training points
    fall short of the margin, and at least :math:`\nu n` have no more than it.

    Parameters
    ----------
    nu : float
        In (0, 1], feasible for the class sizes.
    dual, margin, trace, n, delta
        As in :func:`soft_margin_error`.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.33.
    """
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu={nu} must lie in (0, 1]")
    return soft_margin_error(
        C=1.0 / (nu * count("n", n)), dual=dual, margin=margin, trace=trace, n=n, delta=delta
    )


def two_norm_margin_error(
    alpha: ArrayLike, *, mu: float, dual: float, trace: float, delta: float = 0.05
) -> float:
    r"""Bound the error of the 2-norm soft margin machine, a hard margin with :math:`K + \mu I`.

    The machine maximises :math:`W(\alpha) = -\sum_{ij} \alpha_i \alpha_j y_i y_j (K_{ij} + \mu \delta_{ij})`
    subject to :math:`\sum_i \alpha_i = 1`, :math:`\sum_i y_i \alpha_i = 0` and :math:`\alpha \ge 0`. With
    :math:`\gamma = \sqrt{-W}`, which is :math:`(\sum_i a_i)^{-1/2}` for multipliers a of functional margin 1
    and *not* :math:`1 / \|w\|`,

    .. math::
        P(y \ne f(x)) \le \min\left( \frac{\mu^2 \|\alpha\|^2}{n \gamma^4} + \frac{8 \sqrt{\mathrm{tr} K}}{n
        \gamma}, \frac{4 \sqrt{\mathrm{tr} K + n \mu}}{n \gamma} \right) + 3 \sqrt{\frac{\ln(4/\delta)}{2n}}.

    The first is :func:`squared_margin_slack_error` (the slacks at margin :math:`\gamma` are
    :math:`\mu \alpha_i / \gamma`, up to a factor; print has mu in place of mu squared), the second
    :func:`hard_margin_error` in the larger feature space, each with delta/2.

    Parameters
    ----------
    alpha : array of shape (n,)
        Multipliers, not negative, of sum 1.
    mu : float
        What is added to the diagonal; 1 / (2 C) for :class:`mercer.SVC` with ``loss="squared_hinge"``.
    dual : float
        W, less than 0.
    trace : float
        tr K, without mu.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.38.
    """
    a = numbers("alpha", alpha, least=0.0)
    if abs(a.sum() - 1.0) > 1e-6:
        raise ValueError(f"alpha must sum to 1, it sums to {a.sum():.6g}")
    ridge, gamma = positive("mu", mu), root_of_dual(dual)
    slacks = ridge * a / gamma
    soft = squared_margin_slack_error(slacks, margin=gamma, trace=trace, delta=delta / 2.0)
    hard = hard_margin_error(margin=gamma, trace=trace + a.size * ridge, n=a.size, delta=delta / 2.0)
    return min(soft, hard)
