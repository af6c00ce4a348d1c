"""How large a ball must be to hold new points of the same distribution with a wished probability."""

from __future__ import annotations

import math


def sampling_share(n: int, delta: float) -> float:
    """Return 3 sqrt(ln(2 / delta) / (2 n)), the price of having seen only n points."""
    return 3.0 * math.sqrt(math.log(2.0 / delta) / (2.0 * n))


def gaps_worth_trying(n: int, support: float) -> tuple[float, ...]:
    r"""Return gaps gamma, in falling order, that depend on n and R^2 only.

    No two points are farther apart than 2R, and below :math:`6R^2 / \sqrt n` the middle term of the bound is
    1 by itself: the grid steps by sqrt(2) between 4R^2 and that.

    Parameters
    ----------
    n : int
        Number of training points.
    support : float
        R^2, the largest squared norm in feature space that the distribution can produce.
    """
    steps = max(0, math.ceil(2.0 * math.log2(max(1.0, 4.0 * math.sqrt(n) / 6.0))))
    return tuple(4.0 * support * 2.0 ** (-j / 2.0) for j in range(steps + 1))


def gap_for_rate(mean_slack: float, n: int, support: float, q: float, delta: float) -> float:
    r"""Return the gap gamma at which the theorem bounds false alarms by q.

    .. math::
        \gamma = \frac1p \left( \frac{\|\xi\|_1}{n} + \frac{6R^2}{\sqrt n} \right), \qquad
        p = q - 3 \sqrt{\frac{\ln(2/\delta)}{2n}}

    Parameters
    ----------
    mean_slack : float
        Mean of max(0, ||phi(x_i) - a||^2 - r^2) over the training points.
    n : int
        Number of training points.
    support : float
        R^2, the largest squared norm in feature space that the distribution (not the sample) can produce.
    q, delta : float
        Wished false positive rate; probability with which the promise may fail.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Corollary 7.14.
    """
    p = q - sampling_share(n, delta)
    if p <= 0:
        raise ValueError(_too_few(q, n, delta, union=False))
    return (mean_slack + 6.0 * support / math.sqrt(n)) / p


def promised_gap(mean_slack: float, n: int, support: float, q: float, delta: float) -> float:
    """Return a gap such that new points lie beyond r^2 + gap with probability at most q.

    The theorem is about a gap fixed beforehand. Where all training points lie inside, the slacks are 0 and
    :func:`gap_for_rate` is such a gap. Elsewhere that is read off the data, so the smallest of k gaps fixed
    beforehand that suffices at delta / k is taken.

    Parameters
    ----------
    mean_slack, n, support, q, delta
        As for :func:`gap_for_rate`.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Corollary 7.14 and Remark 7.13.
    """
    if mean_slack == 0.0:
        return gap_for_rate(0.0, n, support, q, delta)
    gaps = gaps_worth_trying(n, support)
    share = delta / len(gaps)
    if sampling_share(n, share) >= q:
        raise ValueError(_too_few(q, n, delta, union=True))
    needed = gap_for_rate(mean_slack, n, support, q, share)
    enough = [gap for gap in gaps if gap >= needed]
    if not enough:
        raise ValueError(
            f"a false positive rate of q={q:g} cannot be guaranteed from n={n} points at delta={delta:g}: it "
            f"would take a gap of {needed:.3g} between squared distances, and no two points are farther "
            f"apart than {gaps[0]:.3g}"
        )
    return min(enough)


def farthest_square(support: float, centre_norm: float, *, nonnegative: bool) -> float:
    """Return a bound on the squared distance of any item from a centre, a convex combination of items.

    Parameters
    ----------
    support : float
        R^2.
    centre_norm : float
        ||a||^2.
    nonnegative : bool
        Whether no value of the kernel is negative: then no item points away from the centre.
    """
    return support + centre_norm + (0.0 if nonnegative else 2.0 * math.sqrt(support * centre_norm))


def _too_few(q: float, n: int, delta: float, *, union: bool) -> str:
    """Return in words that sampling alone takes more than q, and how many points would do."""

    def tried(m: int) -> int:
        return len(gaps_worth_trying(m, 1.0)) if union else 1

    def share(m: int) -> float:
        return sampling_share(m, delta / tried(m))

    low, high = n, n
    while share(high) >= q:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if share(middle) >= q else (low, middle)
    paid = f" (delta / {tried(n)} for each of {tried(n)} gaps)" if union else ""
    return (
        f"a false positive rate of q={q:g} cannot be guaranteed from n={n} points at delta={delta:g}: "
        f"sampling alone accounts for 3 sqrt(ln(2/delta)/(2n)) = {share(n):.3g}{paid}, so q must be larger "
        f"than that, or n at least {high + 1}"  # one more than the least, which rounding decides
    )
