"""Classifiers: the error of random weights around w, and what it says of w itself."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from mercer.arrays import Float64
from mercer.bounds.checks import numbers, sure

SCALES = 24  # lengths of the mean that are tried; all are covered, so more of them cost only time
SHORTEST = 0.1  # the least of them: its error is hardly below one half
NEAR = 7  # lengths around the best of them that are tried on all points
FEW = 128  # about how many points tell which lengths are worth trying
SMALLEST_N = 8  # the constant 2 sqrt(n) is proven from here on


class PacBayes(NamedTuple):
    """Bounds on the errors of sgn f and of random weights around w, and the length of their mean."""

    value: float
    gibbs: float
    scale: float


def pac_bayes_margin_error(margins: ArrayLike, *, delta: float = 0.05) -> PacBayes:
    r"""Bound the error of a linear classifier by that of Gaussian weights around its direction.

    Draw weights from :math:`N(\mu u, I)`, u the direction of w. Their expected error on the training points
    is the mean of :math:`\Phi(-\mu m_i)`,
    :math:`m_i = y_i \langle w, \phi(x_i) \rangle / (\|w\| \|\phi(x_i)\|)`. With probability 1 - delta, for
    all w and all mu at once,

    .. math::
        \mathrm{kl}\left( \tfrac1n \sum_i \Phi(-\mu m_i) \,\Big\|\, e_\mu \right) \le \frac{\mu^2 / 2
        + \ln(2 \sqrt n / \delta)}{n}, \qquad P(y \ne \mathrm{sgn}\, f(x)) \le 2 e_\mu,

    the last because weights drawn around w err at least half of the time where w errs. Nothing is assumed
    about the distribution or its radius, and mu needs no grid. A bias is one more coordinate of a size fixed
    beforehand.

    Parameters
    ----------
    margins : array of shape (n,)
        :math:`m_i`, in [-1, 1]; 0 where :math:`\phi(x_i) = 0`.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    PacBayes
        The bound 2 e_mu at the best mu found, e_mu, and mu.

    References
    ----------
    Langford and Shawe-Taylor (2003), PAC-Bayes and margins, Advances in Neural Information Processing Systems
    15. Maurer (2004), A note on the PAC-Bayesian theorem, arXiv:cs/0411099, for the constant 2 sqrt(n).
    """
    m = numbers("margins", margins)
    if np.abs(m).max() > 1.0 + 1e-9:
        raise ValueError(f"margins reach {np.abs(m).max():.6g}; divided by both norms they lie in [-1, 1]")
    n = m.size
    if n < SMALLEST_N:
        raise ValueError(f"margins has {n} entries; the statement needs at least {SMALLEST_N}")
    price = math.log(2.0 * math.sqrt(n) / sure(delta))

    def gibbs(scales: Float64, some: Float64) -> tuple[float, float]:
        """Return the smallest e_mu of some scales, and its mu."""
        errors = ndtr(np.multiply.outer(-scales, some)).mean(axis=1)
        return min(
            (kl_inverse(float(e), (0.5 * mu * mu + price) / n), float(mu))
            for e, mu in zip(errors, scales, strict=True)
        )

    # The bound holds for all mu at once, so that a good one may be looked for in any way: on a few points, by
    # two formulas that lie above it (Pinsker's, and Bernstein's, which is better for small errors).
    longest = math.sqrt(2.0 * n)
    scales = np.geomspace(SHORTEST, longest, SCALES)
    errors = ndtr(np.multiply.outer(-scales, m[:: max(1, n // FEW)])).mean(axis=1)
    budgets = (0.5 * scales**2 + price) / n
    above = errors + np.minimum(np.sqrt(0.5 * budgets), np.sqrt(2.0 * errors * budgets) + 2.0 * budgets)
    best = float(scales[np.argmin(above)])
    step = (longest / SHORTEST) ** (1.0 / (SCALES - 1))
    e, scale = gibbs(np.geomspace(best / step, best * step, NEAR), m)
    return PacBayes(2.0 * e, e, scale)


def kl_inverse(q: float, budget: float) -> float:
    r"""Return the largest p with :math:`q \ln\frac qp + (1-q) \ln\frac{1-q}{1-p} \le` ``budget``.

    Parameters
    ----------
    q : float
        In [0, 1].
    budget : float
        Not negative.

    Returns
    -------
    float
        p, at least q.
    """
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"q={q} must lie in [0, 1]")
    if budget <= 0.0:
        return q
    if q == 1.0:
        return 1.0
    # Newton's steps from the right of the root of a convex function stay to the right of it. Two starts that
    # lie there: Pinsker's inequality, and the part of kl that grows without bound.
    entropy = -(q * math.log(q) if q > 0.0 else 0.0) - (1.0 - q) * math.log1p(-q)
    p = min(q + math.sqrt(0.5 * budget), -math.expm1(-(budget + entropy) / (1.0 - q)))
    for _ in range(60):
        if p >= 1.0 or p <= q:  # to rounding
            return min(p, 1.0)
        kl = (q * math.log(q / p) if q > 0.0 else 0.0) + (1.0 - q) * math.log((1.0 - q) / (1.0 - p))
        step = (kl - budget) * p * (1.0 - p) / (p - q)
        p -= step
        if step <= 1e-13 * p:
            break
    return p
