"""Tables of columns, and what a model says of their rows, for explanations that change columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.ranking import RankSVM
from mercer.words import did_you_mean


class Table:
    """Rows and columns, a NumPy array or a pandas data frame, whose columns can be exchanged.

    Parameters
    ----------
    X : array of shape (n, d) or data frame
        The table.
    name : str
        What the table is called in messages.
    """

    def __init__(self, X: Any, name: str = "X") -> None:
        self.frame = hasattr(X, "iloc") and hasattr(X, "columns")
        if issparse(X):
            raise TypeError(f"{name} is sparse: pass {name}.toarray(), because single columns are changed")
        self.X: Any = X
        if not self.frame:
            self.X = np.asarray(X)
        if self.X.ndim != 2:
            raise TypeError(f"{name} must be a table of rows and columns; it has {self.X.ndim} dimensions")
        if self.X.shape[0] == 0:
            raise ValueError(f"{name} has no rows")
        self.n, self.d = int(self.X.shape[0]), int(self.X.shape[1])
        self.names = [str(c) for c in X.columns] if self.frame else [f"x{j}" for j in range(self.d)]

    def number(self, column: Any) -> int:
        """Return the number of a column, given its number or its name."""
        if isinstance(column, str):
            if column not in self.names:
                raise ValueError(f"column {column!r} does not exist.{did_you_mean(column, self.names)}")
            return self.names.index(column)
        if not -self.d <= int(column) < self.d:
            raise ValueError(f"column={column} does not exist: there are {self.d} columns")
        return int(column) % self.d

    def column(self, j: int) -> Any:
        """Return the values of a column."""
        return self.X.iloc[:, j] if self.frame else self.X[:, j]

    def rows(self, index: Any) -> Any:
        """Return some rows, as a table of the same kind."""
        return self.X.iloc[index] if self.frame else self.X[index]

    def with_columns(self, rows: Any, columns: Any, other: Table, from_rows: Any) -> Any:
        """Return rows of this table in which some columns come from rows of another."""
        if not self.frame:
            out = self.X[rows].astype(np.result_type(self.X, other.X))
            out[:, columns] = other.X[np.ix_(from_rows, columns)]
            return out
        out = self.X.iloc[rows].reset_index(drop=True)
        replaced = other.X.iloc[from_rows].reset_index(drop=True)
        for j in columns:
            out.isetitem(j, replaced.iloc[:, j])
        return out


def function_of(model: Any) -> Callable[[Any], Float64]:
    """Return the function that a model computes: (n, k) values, decision values or predictions.

    Parameters
    ----------
    model : estimator
        A fitted classifier with ``decision_function`` (or ``predict_proba``), regressor, ranker or detector.
    """
    check_is_fitted(model)
    if is_regressor(model) or isinstance(model, RankSVM):
        chosen: Any = model.predict
    elif is_outlier_detector(model) or (is_classifier(model) and hasattr(model, "decision_function")):
        chosen = model.decision_function
    elif is_classifier(model) and hasattr(model, "predict_proba"):
        chosen = model.predict_proba
    else:
        raise TypeError(
            f"{type(model).__name__} is not a classifier, regressor or detector: it has no function or "
            "expansion to explain"
        )

    def values(X: Any) -> Float64:
        found = np.asarray(chosen(X), dtype=np.float64)
        return found[:, None] if found.ndim == 1 else found

    return values
