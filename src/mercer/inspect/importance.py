"""Permutation importance: how much worse a model predicts when a column is shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.inspect.tables import Table


@dataclass(frozen=True)
class Importance:
    """The growth of a model's loss when a column is shuffled.

    Attributes
    ----------
    names : list of str
        The columns.
    mean : (d,) float64
        The growth of the mean loss (the fraction of errors of a classifier, the mean squared error of a
        regressor), averaged over the shuffles.
    low, high : (d,) float64
        Confidence interval of each: rows and shuffles are both random.
    loss : float
        The mean loss without a shuffle.
    coverage : float
        Of the intervals.
    """

    names: list[str]
    mean: Float64
    low: Float64
    high: Float64
    loss: float
    coverage: float

    def order(self) -> np.ndarray:
        """Return the numbers of the columns, the most important first."""
        return np.argsort(-self.mean, kind="stable")

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"{self.names[j]:{width}s}  {self.mean[j]:.3g}  ({self.low[j]:.3g} to {self.high[j]:.3g})"
            for j in self.order()
        ]
        return "\n".join(lines)


def permutation_importance(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    repeats: int = 20,
    coverage: float = 0.95,
    random_state: Any = 0,
) -> Importance:
    r"""Return how much the loss of a model grows when the values of one column are shuffled.

    .. math::
        I_j = \frac1n \sum_i \bigl[ L(y_i, f(x_i^{\pi(j)})) - L(y_i, f(x_i)) \bigr]

    with L the 0/1 loss of a classifier or the squared error of a regressor. The interval is that of the mean
    of the n differences, each averaged over the shuffles: it accounts for the rows, which are a sample, and
    for the shuffles. Use rows that the model was not trained on. Columns that carry the same information
    share their importance: shuffling one of them costs little.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, also a pipeline.
    X, y : array of shape (n, d) or data frame, array
        Held-out rows.
    repeats : int, default=20
        Shuffles of each column.
    coverage : float, default=0.95
        Of the intervals.
    random_state : int or RandomState, default=0
        Of the shuffles.

    Returns
    -------
    Importance

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45. Fisher, Rudin and Dominici (2019), All models are
    wrong, but many are useful, JMLR 20.
    """
    check_is_fitted(model)
    table, target = Table(X), np.asarray(y)
    if not (is_classifier(model) or is_regressor(model)):
        raise TypeError(f"{type(model).__name__} is not a classifier or regressor: it has no loss to compare")
    if target.shape[0] != table.n:
        raise ValueError(f"X has {table.n} rows, y has {target.shape[0]} entries")
    if table.n < 2:
        raise ValueError("an interval needs at least 2 rows")
    if not (isinstance(repeats, int | np.integer) and repeats >= 1):
        raise ValueError(f"repeats={repeats!r} must be an integer of at least 1")
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage={coverage!r} must be between 0 and 1")
    rng = check_random_state(random_state)
    every = np.arange(table.n)

    def losses(rows: Any) -> Float64:
        found = np.asarray(model.predict(rows))
        if is_classifier(model):
            wrong = np.asarray(found != target, dtype=np.float64).reshape(table.n, -1)
            return np.asarray(wrong.max(axis=1))
        off = (found.astype(np.float64) - target) ** 2
        return np.asarray(off.reshape(table.n, -1).sum(axis=1))

    plain = losses(table.X)
    mean, error = np.empty(table.d), np.empty(table.d)
    for j in range(table.d):
        growth = np.zeros(table.n)
        for _ in range(repeats):
            growth += losses(table.with_columns(every, [j], table, rng.permutation(table.n))) - plain
        growth /= repeats
        mean[j], error[j] = growth.mean(), growth.std(ddof=1) / np.sqrt(table.n)
    z = float(norm.ppf(0.5 + 0.5 * coverage))
    return Importance(table.names, mean, mean - z * error, mean + z * error, float(plain.mean()), coverage)
