"""Which rows deserve a look: the ranking by multiplier, and by how badly a machine fares on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

Measure = Literal["margin", "error", "decision"]


@dataclass(frozen=True)
class HardestRows:
    """Rows of the training data, hardest first.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers. Of a machine with multipliers, the rows that have one; of others, all.
    multipliers : ndarray or None
        The sum of the row's multipliers over all two-class machines: how hard the machine had to pull. In the
        order of ``rows``; None for machines without multipliers.
    measure : {"margin", "error", "decision"} or None
        What ``values`` are: the margin y f(x) of a classifier, the absolute error of a regressor, the
        decision of a detector, which is negative outside. None where the model has none of these.
    values : ndarray or None
        In the order of ``rows``.
    """

    rows: np.ndarray
    multipliers: np.ndarray | None
    measure: Measure | None
    values: np.ndarray | None

    def __len__(self) -> int:
        return int(self.rows.size)


def hardest(model: Any, X: Any, y: ArrayLike | None = None, count: int | None = None) -> HardestRows:
    """Rank the training rows that are hardest to fit: outliers, rare cases, wrong labels.

    The larger a row's multiplier, the harder the machine had to pull to fit it. Where multipliers tie (many
    are at their bound C), the row on which the machine fares worse comes first.

    Parameters
    ----------
    model : estimator
        A fitted classifier, regressor or detector, also inside of a pipeline or a search.
    X, y : array
        Its training data; y is not needed for detectors.
    count : int, optional
        Most rows to return; all that are ranked if not given.

    Returns
    -------
    HardestRows
        Rows with what ranks them.
    """
    check_is_fitted(model)
    whole = getattr(model, "best_estimator_", model)
    if not (is_classifier(whole) or is_regressor(whole) or is_outlier_detector(whole)):
        raise TypeError(f"{type(model).__name__} makes no predictions to rank rows by")
    if count is not None and count < 1:
        raise ValueError(f"count={count} must be at least 1")
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if y is None and not is_outlier_detector(whole):
        raise ValueError(f"y is needed: {type(model).__name__} needs the true values")
    if y is not None and len(np.asarray(y)) != n:
        raise ValueError(f"X has {n} rows, y has {len(np.asarray(y))} entries")
    _refuse_other_rows(whole[-1] if isinstance(whole, Pipeline) else whole, n)
    steps = isinstance(whole, Pipeline)
    machine = whole[-1] if steps else whole
    inner = whole[:-1].transform(X) if steps and len(whole) > 1 else X
    order, alpha, far = ranked(multipliers(machine, n), badness(whole, machine, X, inner, y))
    order = order if count is None else order[:count]
    measure, worse = (None, None) if far is None else far
    values = None if worse is None else (worse if measure == "error" else -worse)[order]
    return HardestRows(order, None if alpha is None else alpha[order], measure, values)


def trained_on(machine: Any, n: int) -> bool:
    """Return whether n rows can be the training rows of a machine."""
    rows = getattr(machine, "shape_fit_", (n,))[0]
    support = np.asarray(getattr(machine, "support_", ()))
    return bool(rows == n and (not support.size or int(support.max()) < n))


def _refuse_other_rows(machine: Any, n: int) -> None:
    if not trained_on(machine, n):
        raise ValueError(
            f"X has {n} rows, but {type(machine).__name__} was not trained on these: pass its training data"
        )


def multipliers(machine: Any, n: int) -> np.ndarray | None:
    """Return the sum of each row's multipliers over all two-class machines; None where there are none.

    There are none for rows that the machine was not trained on.
    """
    support, coef = getattr(machine, "support_", None), getattr(machine, "dual_coef_", None)
    if support is None or coef is None or not trained_on(machine, n):
        return None
    size = np.abs(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef))
    if size.ndim != 2 or size.shape[1] != len(support):
        return None
    out = np.zeros(n)
    out[np.asarray(support)] = size.sum(axis=0)
    return out


def badness(whole: Any, machine: Any, X: Any, inner: Any, y: Any) -> tuple[Measure, np.ndarray] | None:
    """Return how badly a machine fares on each training row, in its own measure; larger is worse.

    Parameters
    ----------
    whole, machine : estimator
        The pipeline, and the estimator at its end.
    X, inner : array, CSR or sequence
        The data as the one and as the other sees them.
    y : array or None
        Targets.
    """
    if is_classifier(whole):
        return ("margin", -np.asarray(machine.margins(inner, y))) if hasattr(machine, "margins") else None
    if is_regressor(whole):
        off = np.abs(np.asarray(y, dtype=np.float64) - np.asarray(whole.predict(X), dtype=np.float64))
        return "error", off if off.ndim == 1 else np.asarray(off.sum(axis=1))
    return "decision", -np.ravel(machine.decision_function(inner))


def ranked(
    alpha: np.ndarray | None, far: tuple[Measure, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray | None, tuple[Measure, np.ndarray] | None]:
    """Return the rows, hardest first, with what ranks them: multipliers, and distances where those tie."""
    keys = [k for k in (None if far is None else -far[1], None if alpha is None else -alpha) if k is not None]
    if not keys:
        return np.empty(0, dtype=np.intp), alpha, far
    order = np.lexsort([np.round(key, 9) for key in keys])
    if alpha is not None:
        order = order[alpha[order] > 0]
    return order, alpha, far
