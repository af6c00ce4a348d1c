"""Partial dependence: a model's function of one column, averaged over the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.arrays import Float64
from mercer.inspect.tables import Table, function_of


@dataclass(frozen=True)
class PartialDependence:
    """A model's function of one column.

    Attributes
    ----------
    name : str
        The column.
    values : (g,) array
        Values of the column.
    mean : (g, k) float64
        The k functions of the model there, averaged over the rows.
    single : (n, g, k) float64
        The functions of each row.
    """

    name: str
    values: np.ndarray
    mean: Float64
    single: Float64


def partial_dependence(
    model: Any, X: Any, column: Any, *, values: ArrayLike | None = None, points: int = 50
) -> PartialDependence:
    r"""Return a model's function of one column, averaged over the rows of the others.

    .. math:: \bar f_j(t) = \frac1n \sum_i f(x_{i1}, \ldots, t, \ldots, x_{id})

    f are decision values of classifiers and detectors, predictions of regressors. Where columns depend on
    each other, some of these points are unlike any row: look at ``single``, too.

    Parameters
    ----------
    model : estimator
        Fitted; also a pipeline.
    X : array of shape (n, d) or data frame
        Rows to average over.
    column : int or str
        Number or name of the column.
    values : array, optional
        Values of the column. By default ``points`` quantiles of a column of numbers, or all values that
        occur if those are fewer or not numbers.
    points : int, default=50
        How many.

    Returns
    -------
    PartialDependence

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of Statistics 29.
    Goldstein, Kapelner, Bleich and Pitkin (2015), Peeking inside the black box.
    """
    table, f = Table(X), function_of(model)
    j = table.number(column)
    if values is not None:
        grid = np.asarray(values)
        if grid.ndim != 1 or grid.size == 0:
            raise ValueError(f"values must be a list of at least one value; its shape is {grid.shape}")
    else:
        if points < 2:
            raise ValueError(f"points={points} must be at least 2")
        grid = np.unique(np.asarray(table.column(j)))
        if grid.size > points and grid.dtype.kind in "biuf":
            grid = np.unique(np.quantile(grid.astype(np.float64), np.linspace(0.0, 1.0, points)))
    single = []
    for value in grid:
        if table.frame:
            changed = table.X.copy()
            changed.isetitem(j, np.full(table.n, value))
        else:
            changed = table.X.astype(np.result_type(table.X, grid))
            changed[:, j] = value
        single.append(f(changed))
    every = np.stack(single, axis=1)
    return PartialDependence(table.names[j], grid, every.mean(axis=0), every)
