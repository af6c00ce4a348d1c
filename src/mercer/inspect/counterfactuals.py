"""A close counterfactual: what would have to be different for another prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_random_state

from mercer.arrays import Float64
from mercer.inspect.changed_rows import ChangedRows
from mercer.inspect.counterfactual_search import Search
from mercer.inspect.gradients import gradient
from mercer.inspect.tables import Table, function_of
from mercer.words import listed

MOST_ROWS = 2000  # of the data that are looked at
STEP = 1e-5  # of differences, in units of a column


class NoStartError(ValueError):
    """No row has the wanted prediction, so there is nothing to start a search from."""


@dataclass(frozen=True)
class Counterfactual:
    """A row close to another one, with another prediction.

    Attributes
    ----------
    row : array of shape (1, d) or data frame
        The counterfactual.
    changes : list of (str, value, value)
        The columns that differ, with the values before and after, the largest change first.
    distance : float
        The sum of the changes, each in standard deviations of its column; a changed text counts 1.
    before, after
        The predictions.
    """

    row: Any
    changes: list[tuple[str, Any, Any]]
    distance: float
    before: Any
    after: Any

    def __str__(self) -> str:
        words = [f"{name}: {_short(old)} → {_short(new)}" for name, old, new in self.changes]
        return "; ".join(words) + f" (prediction {_short(self.before)} → {_short(self.after)})"


def counterfactual(
    model: Any,
    x: Any,
    data: Any,
    *,
    to: Any = None,
    columns: Sequence[Any] | None = None,
    starts: int = 10,
    random_state: Any = 0,
) -> Counterfactual:
    r"""Return a row close to x whose prediction is another one.

    .. math::
        \min_z \sum_j \frac{|z_j - x_j|}{s_j}
        \quad \text{subject to } \operatorname{predict}(z) = \text{to}, \; l_j \le z_j \le u_j

    s are the standard deviations of the data, l and u their smallest and largest values. The search is
    local, from several rows of the data that have the wanted prediction: columns are set back, then linear
    programs on the gradient follow the boundary (exact gradients of smooth kernel expansions, differences of
    other models). The result is close, but another row may be closer. Text columns take values of the
    starting row; columns of whole numbers stay whole. A counterfactual describes the model, not causes.

    Parameters
    ----------
    model : estimator
        A fitted classifier, regressor or detector, also a pipeline.
    x : array of shape (d,) or (1, d), or data frame of one row
        The row.
    data : array of shape (n, d) or data frame
        Training rows: they give ranges and units of the columns, and the starts.
    to : class, number or pair of numbers, optional
        The prediction wanted: a class, by default any other; for a regressor, a number that the prediction
        should reach, or a range.
    columns : list of int or str, optional
        The columns that may change; all if not given.
    starts : int, default=10
        How many rows to start from: half of them the closest, half of them drawn.
    random_state : int or RandomState, default=0
        Of the starts.

    Returns
    -------
    Counterfactual

    Raises
    ------
    ValueError
        If the prediction is the wanted one already, or no row of the data has it once the columns that may
        not change are those of x.

    References
    ----------
    Wachter, Mittelstadt and Russell (2018), Counterfactual explanations without opening the black box.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.inspect import counterfactual
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 1.0], [5.0, 0.0]])
    >>> model = SVC(kernel="linear").fit(X, ["low", "low", "high", "high"])
    >>> print(counterfactual(model, X[0], X))
    x0: 0 → 3 (prediction low → high)
    """
    if not (isinstance(starts, int | np.integer) and starts >= 1):
        raise ValueError(f"starts={starts!r} must be an integer of at least 1")
    row = Table(x if hasattr(x, "iloc") and hasattr(x, "columns") else np.atleast_2d(x), "x")
    table = Table(data, "data")
    if row.n != 1:
        raise ValueError(f"x must be a single row; it has {row.n}")
    if row.d != table.d:
        raise ValueError(f"x has {row.d} columns, data has {table.d}")
    rng = check_random_state(random_state)
    if table.n > MOST_ROWS:
        table = Table(table.rows(np.sort(rng.choice(table.n, MOST_ROWS, replace=False))), "data")
    free = list(range(row.d)) if columns is None else [row.number(c) for c in columns]
    if not free:
        raise ValueError("columns is empty: at least one column must be free to change")
    space = ChangedRows(row, table, free)
    wish = _Wish(model, space, to)
    good = space.rows[wish.holds(space.rows)] if len(space.rows) else space.rows
    if not len(good):
        fixed = "" if columns is None else " once the fixed columns are those of x: let more columns change"
        raise NoStartError(
            f"no counterfactual found: no row of data has the prediction {wish.words}, from which a search "
            f"could start{fixed}"
        )
    order = np.argsort(space.costs(good).sum(axis=1), kind="stable")
    near, rest = order[: (starts + 1) // 2], order[(starts + 1) // 2 :]
    chosen = [*near, *rng.permutation(rest)[: starts // 2]]
    search = Search(space, wish.holds, wish.margin, wish.slope)
    found = min((search.closest(good[i]) for i in chosen), key=space.distance)
    cost = space.costs(found[None])[0]
    changed = [int(j) for j in np.argsort(-cost, kind="stable") if cost[j] > 0]
    built = space.built(found[None])
    return Counterfactual(
        built,
        [(row.names[j], space.value(j, space.x[j]), space.value(j, found[j])) for j in changed],
        float(cost.sum()),
        wish.before,
        np.asarray(model.predict(built))[0],
    )


class _Wish:
    """The prediction that is wanted, and a function that grows towards it."""

    def __init__(self, model: Any, space: ChangedRows, to: Any) -> None:
        self._model, self._space, self._f = model, space, function_of(model)
        first = space.built(space.x[None])
        self.before = np.asarray(model.predict(first))[0]
        self._start = self._f(first)[0]
        self._numbers = is_regressor(model)
        if np.ndim(self.before):
            raise TypeError(f"{type(model).__name__} predicts several outputs: pass a model of one")
        if self._numbers:
            self._low, self._high = self._range(to)
            self.words = f"{self._low:.4g} to {self._high:.4g}"
            if np.isinf(self._high):
                self.words = f"of at least {self._low:.4g}"
            elif np.isinf(self._low):
                self.words = f"of at most {self._high:.4g}"
        else:
            known = np.asarray(model.classes_ if is_classifier(model) else [-1, 1])
            if to is not None and to not in known.tolist():
                raise ValueError(f"to={to!r} is not a class of the model ({listed([str(c) for c in known])})")
            self._classes, self._to = known, to
            self.words = "of another class" if to is None else repr(to)
        self._exact = self._start.size == 1
        if self.holds(space.x[None])[0]:
            raise ValueError(
                f"the prediction of x is {_short(self.before)} already: there is nothing to change"
            )

    def _range(self, to: Any) -> tuple[float, float]:
        if to is None:
            raise ValueError(
                "to is needed for a regressor: a number that the prediction should reach, or a range"
            )
        ends = np.asarray(to, dtype=np.float64).ravel()
        if ends.size == 1 and np.isfinite(ends[0]):
            return (float(ends[0]), np.inf) if self._start[0] < ends[0] else (-np.inf, float(ends[0]))
        if ends.size == 2 and ends[0] < ends[1]:
            return float(ends[0]), float(ends[1])
        raise ValueError(f"to={to!r} must be a number or a pair (low, high) with low < high")

    def holds(self, Z: Float64) -> np.ndarray:
        """Return which rows have the wanted prediction."""
        found = np.asarray(self._model.predict(self._space.built(Z)))
        if self._numbers:
            return np.asarray((found >= self._low) & (found <= self._high))
        return np.asarray(found != self.before if self._to is None else found == self._to)

    def margin(self, Z: Float64) -> Float64:
        """Return a function that is larger where the prediction is wanted."""
        F = self._f(self._space.built(Z))
        if F.shape[1] == 1:
            return np.asarray(F[:, 0] * self._direction())
        k = int(np.flatnonzero(self._classes == (self.before if self._to is None else self._to))[0])
        ahead = F[:, k] - np.delete(F, k, axis=1).max(axis=1)
        return np.asarray(-ahead if self._to is None else ahead)

    def _direction(self) -> float:
        if self._numbers:
            return 1.0 if self._start[0] < self._low else -1.0
        wanted = self._classes[self._classes != self.before][0]
        return 1.0 if wanted == self._classes[-1] else -1.0

    def slope(self, z: Float64) -> Float64:
        """Return the derivatives of the margin by the columns of numbers: exact, or differences."""
        if self._exact:
            try:
                return gradient(self._model, self._space.built(z[None])).reshape(-1) * self._direction()
            except (TypeError, ValueError):  # no smooth expansion, or steps that are not scalings
                self._exact = False
        use = np.flatnonzero(self._space.free & ~self._space.text)
        steps = np.zeros((use.size, z.size))
        steps[np.arange(use.size), use] = STEP * self._space.unit[use]
        out = np.zeros(z.size)
        if use.size:
            both = self.margin(np.vstack([z + steps, z - steps])).reshape(2, -1)
            out[use] = (both[0] - both[1]) / (2.0 * STEP * self._space.unit[use])
        return out


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
