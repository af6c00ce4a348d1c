"""Shapley values: the share of each column in a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer.arrays import Float64
from mercer.inspect.expansions import Expansion
from mercer.inspect.tables import Table, function_of
from mercer.kernels import ANOVA, Constant, HistogramIntersection, Linear, OnColumns, Scaled, Spline, Sum


@dataclass(frozen=True)
class Shapley:
    """The shares of the columns in predictions.

    Attributes
    ----------
    names : list of str
        The columns.
    values : (n, k, d) float64
        The share of each column in each of the k functions at each row. They sum to the function there less
        ``mean``.
    error : (n, k, d) float64
        Standard errors of the shares; zero where they are exact.
    mean : (k,) float64
        The functions' means over the background.
    exact : bool
        Whether the shares are exact: the kernel is additive in the columns, or all orders were tried.
    """

    names: list[str]
    values: Float64
    error: Float64
    mean: Float64
    exact: bool


def shapley(model: Any, X: Any, background: Any, *, orders: int = 50, random_state: Any = 0) -> Shapley:
    r"""Return the share of each column in a model's predictions, by Shapley's rule.

    .. math::
        \varphi_j(x) = \frac{1}{d!} \sum_{\pi} \bigl[ v(S_{\pi j} \cup \{j\}) - v(S_{\pi j}) \bigr], \qquad
        v(S) = \frac1m \sum_b f(x_S, z_{b, \bar S})

    S are the columns that come before j in an order :math:`\pi`, z_b the background rows. The shares sum to
    f(x) less the mean of f over the background, whatever the number of orders. Where the kernel is additive
    in the columns every order gives the same shares, and one is enough; with few columns all orders are
    tried; otherwise pairs of an order and its reverse are sampled, and ``error`` is the standard error.

    Parameters
    ----------
    model : estimator
        A fitted classifier (decision values), regressor or detector, also a pipeline.
    X : array of shape (n, d) or data frame
        Rows to explain.
    background : array of shape (m, d) or data frame
        Rows that stand for "not knowing" a column, such as 100 training rows.
    orders : int, default=50
        Orders to sample; all are tried where there are no more than so many.
    random_state : int or RandomState, default=0
        Of the orders.

    Returns
    -------
    Shapley

    References
    ----------
    Shapley (1953), A value for n-person games. Strumbelj and Kononenko (2014), Explaining prediction models
    and individual predictions with feature contributions. Mitchell, Cooper, Frank and Holmes (2022), Sampling
    permutations for Shapley value estimation, JMLR 23.
    """
    table, other, f = Table(X), Table(background, "background"), function_of(model)
    if table.d != other.d:
        raise ValueError(f"X has {table.d} columns, background has {other.d}")
    if not (isinstance(orders, int | np.integer) and orders >= 2):
        raise ValueError(f"orders={orders!r} must be an integer of at least 2")
    additive = is_additive(model)
    rng = check_random_state(random_state)
    if additive:
        tried = [np.arange(table.d)]
    elif table.d <= 8 and factorial(table.d) <= orders:
        tried = [np.array(order) for order in permutations(range(table.d))]
    else:
        forward = [rng.permutation(table.d) for _ in range((int(orders) + 1) // 2)]
        tried = [order for one in forward for order in (one, one[::-1])]
    exact = additive or len(tried) == factorial(table.d)
    mean = f(other.X).mean(axis=0)
    shares = np.stack([_shares(f, table, other, order, mean) for order in tried])
    error = np.zeros(shares.shape[1:])
    if not exact:  # an order and its reverse are one draw
        pairs = shares.reshape(-1, 2, *shares.shape[1:]).mean(axis=1)
        count = pairs.shape[0]
        error = pairs.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.full(error.shape, np.inf)
    return Shapley(table.names, shares.mean(axis=0), error, mean, exact)


def _shares(f: Any, table: Table, other: Table, order: np.ndarray, mean: Float64) -> Float64:
    """Return what each column adds when the columns become known in an order, (n, k, d)."""
    out = np.empty((table.n, mean.size, table.d))
    everybody = np.arange(other.n)
    for i in range(table.n):
        before = mean
        for t, j in enumerate(order):
            rows = other.with_columns(everybody, order[: t + 1], table, np.full(other.n, i))
            now = f(rows).mean(axis=0)
            out[i, :, j] = now - before
            before = now
    return out


def is_additive(model: Any) -> bool:
    """Return whether a model's function is known to be a sum of functions of single columns."""
    whole = getattr(model, "best_estimator_", model)
    try:
        expansion = Expansion.of(whole)
    except TypeError:  # a pipeline, whose steps may mix columns, or no expansion at all
        return False
    if expansion.trend is not None and getattr(expansion.trend, "degree", 2) > 1:
        return False
    return _additive_kernel(expansion.kernel) and expansion.agrees(function_of(model), expansion.points)


def _additive_kernel(kernel: Any) -> bool:
    if isinstance(kernel, Sum):
        return _additive_kernel(kernel.k1) and _additive_kernel(kernel.k2)
    if isinstance(kernel, Scaled):
        return _additive_kernel(kernel.kernel)
    if isinstance(kernel, OnColumns):
        single = isinstance(kernel.columns, str | int | list | tuple) and np.size(kernel.columns) == 1
        return single or _additive_kernel(kernel.kernel)
    return isinstance(kernel, Linear | Constant | Spline | HistogramIntersection) or (
        isinstance(kernel, ANOVA) and kernel.degree == 1
    )
