"""Any classifier: the error of new points from points that had no part in the fit."""

from __future__ import annotations

from scipy.stats import beta

from mercer.bounds.checks import count, sure

BEYOND = 1e-100  # a probability below which no quantile is computed: the bound is 1


def held_out_error(*, errors: int, n: int, delta: float = 0.05) -> float:
    r"""Bound the error of a function by its errors on n points it was not chosen with.

    .. math::
        \max \{ p : P(\mathrm{Bin}(n, p) \le k) \ge \delta \}

    The largest error rate under which so few errors are not yet surprising (Clopper and Pearson); it holds
    with probability 1 - delta over the draw of the held-out points and cannot be improved.

    Parameters
    ----------
    errors : int
        k.
    n : int
        Number of held-out points.
    delta : float
        Probability with which the promise may fail.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits, Biometrika 26. Langford (2005),
    Tutorial on practical prediction theory for classification, Journal of Machine Learning Research 6.
    """
    k, n = count("errors", errors, 0), count("n", n)
    if k > n:
        raise ValueError(f"errors={k} is more than n={n}")
    return 1.0 if k == n or sure(delta) < BEYOND else float(beta.isf(sure(delta), k + 1, n - k))
