"""Classifiers: the error of new points from how few training points the function is made of."""

from __future__ import annotations

import math

from mercer.bounds.checks import count, not_negative, positive, sure
from mercer.problems.online import novikoff


def perceptron_updates(*, radius: float, margin: float, bias: float | None = None) -> float:
    r"""Bound the number of updates of the perceptron on separable points (Novikoff).

    .. math::
        k \le \frac{R^2}{\gamma^2} \quad \text{without a bias}, \qquad
        k \le \frac{2 (R^2 + b^2)}{\gamma^2} \le \frac{4 R^2}{\gamma^2} \quad \text{with the bias step } R^2
        y.

    This is no statement about chance: R is the radius of the training points around the origin.

    Parameters
    ----------
    radius : float
        R.
    margin : float
        gamma, the geometric margin of some function of norm 1 that separates the points (the largest one
        gives the best bound).
    bias : float, optional
        b, the bias of that function; not given for the perceptron without bias.

    Returns
    -------
    float
        The bound on k.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.53. Cristianini and
    Shawe-Taylor (2000), An Introduction to Support Vector Machines, Theorem 2.3, for the bias.
    """
    return novikoff(radius=not_negative("radius", radius), margin=positive("margin", margin), bias=bias)


def perceptron_error(*, updates: int, n: int, delta: float = 0.05) -> float:
    r"""Bound the error of a perceptron by the number of its updates.

    .. math::
        P(f(x) \ne y) \le \frac{1}{n - k} \left( k \ln n + \ln \frac{n}{2 \delta} \right)

    with probability 1 - delta, if it made 1 <= k <= n/2 updates and classifies all n training points
    correctly: there are n^k sequences of updates, and n - k points that a sequence did not look at.

    Parameters
    ----------
    updates : int
        k, over all passes.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing, and infinite for k > n/2.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.54.
    """
    k, n = count("updates", updates), count("n", n)
    if k > n / 2:
        return math.inf
    return (k * math.log(n) + math.log(n / (2.0 * sure(delta)))) / (n - k)


def perceptron_margin_error(
    *, radius: float, margin: float, n: int, delta: float = 0.05, bias: float | None = None, extra: int = 0
) -> float:
    r"""Bound the error of a perceptron by the margin with which the points can be separated.

    .. math::
        P(f(x) \ne y) \le \frac2n \left( k \ln n + \ln \frac{n}{2\delta} \right), \qquad
        k = \frac{R^2}{\gamma^2} \text{ or, with a bias, } \frac{2 (R^2 + b^2)}{\gamma^2}, \qquad
        k \le \frac n2

    :func:`perceptron_error` with Novikoff's bound on the number of updates. The margin and the radius enter
    only through that number, so both may be those of the training points. It is about the perceptron that was
    run on these points to the end, not about the hard margin machine.

    Parameters
    ----------
    radius : float
        R, of the training points around the origin.
    margin : float
        gamma, the geometric margin of the hard margin machine, or any smaller number.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.
    bias : float, optional
        b, the bias of the function of norm 1 that has this margin; not given for the perceptron without bias.
    extra : int
        Points beside those of the updates that the perceptron was made from: 1 if its bias moves by the R^2
        of the training points, which is that of one of them.

    Returns
    -------
    float
        The bound; 1 or more says nothing, and infinite where k > n/2.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Corollary 7.55.
    """
    k = perceptron_updates(radius=radius, margin=margin, bias=bias) + count("extra", extra, 0)
    n = count("n", n)
    if k > n / 2:
        return math.inf
    return 2.0 / n * (k * math.log(n) + math.log(n / (2.0 * sure(delta))))


def support_vector_error(*, n_support: int, n: int, delta: float = 0.05) -> float:
    r"""Bound the error of a machine by the number of its support vectors.

    .. math::
        P(f(x) \ne y) \le \frac{1}{n - d} \left( d \ln \frac{e n}{d} + \ln \frac n\delta \right)

    with probability 1 - delta. Two things are needed: the support vectors alone would have given the same
    machine, and all other training points are classified correctly. The hard margin machine has both. So does
    a soft margin machine with fixed C whose bias is determined (some support vector strictly between its
    bounds): all points that are no support vectors lie beyond its margin.

    Parameters
    ----------
    n_support : int
        d.
    n : int
        Number of training points.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound; 1 or more says nothing, and infinite for d = n.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Theorem 7.56. Cristianini and
    Shawe-Taylor (2003), Support vector and kernel methods, in: Berthold and Hand (editors), Intelligent Data
    Analysis, Theorem 5.5. Floyd and Warmuth (1995), Sample compression, learnability, and the
    Vapnik-Chervonenkis dimension, Machine Learning 21.
    """
    d, n = count("n_support", n_support), count("n", n)
    if d > n:
        raise ValueError(f"n_support={d} is more than n={n}")
    if d == n:
        return math.inf
    return (d * math.log(math.e * n / d) + math.log(n / sure(delta))) / (n - d)


def expected_error(*, n_support: float, n: int) -> float:
    r"""Estimate the expected error of a machine by its fraction of support vectors.

    .. math::
        \mathbb{E}[P(f_{n-1}(x) \ne y)] \le \mathbb{E}[d] / n

    f_{n-1} is the machine trained on n - 1 points and d the number of support vectors on n: a point that is
    no support vector may be left out, and is then classified correctly. It holds on average over training
    sets and says nothing about one of them.

    Parameters
    ----------
    n_support : float
        d, or its mean over training sets.
    n : int
        Number of training points.

    Returns
    -------
    float
        d / n.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remark 7.57. Vapnik (1998),
    Statistical Learning Theory, Theorem 10.5.
    """
    return not_negative("n_support", n_support) / count("n", n)
