"""What a search found: the whole table, the choice, and the simplest choice that is as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata

from mercer.arrays import Float64
from mercer.selection.parameter_grids import simplicity

EQUAL = 1e-12  # difference of means that is rounding


@dataclass
class ScoreTable:
    """Scores of all settings (rows) on all folds (columns); nan where nothing was computed.

    Parameters
    ----------
    candidates : list of dict
        The settings.
    n_columns : int
        Number of folds.
    """

    candidates: list[dict[str, Any]]
    n_columns: int
    scores: Float64 = field(init=False)
    fit_seconds: Float64 = field(init=False)
    score_seconds: Float64 = field(init=False)
    errors: Float64 | None = None  # standard errors, where folds do not tell them

    def __post_init__(self) -> None:
        shape = (len(self.candidates), self.n_columns)
        self.scores = np.full(shape, np.nan)
        self.fit_seconds = np.zeros(shape)
        self.score_seconds = np.zeros(shape)

    @property
    def means(self) -> Float64:
        """Mean over folds; nan unless all of them are there."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_errors(self) -> Float64:
        """Standard error of the mean: over folds, or as the method reckons it; 0 where nobody knows it."""
        if self.errors is not None:
            return self.errors
        if self.n_columns < 2:
            return np.zeros(len(self.candidates))
        return np.asarray(_spread(self.scores, ddof=1) / np.sqrt(self.n_columns))

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which settings have all their scores."""
        return np.isfinite(self.means)

    def best(self) -> int:
        """Return the setting with the best mean; of equals the simplest."""
        means, known = self.means, self.complete
        top = float(means[known].max())
        least = top - EQUAL * max(1.0, abs(top))
        return next(k for k in simplicity(self.candidates) if known[k] and means[k] >= least)

    def one_standard_error(self) -> int:
        """Return the simplest setting whose mean is within one standard error of the best."""
        best = self.best()
        least = self.means[best] - np.nan_to_num(self.standard_errors[best])
        known = self.complete
        return next(k for k in simplicity(self.candidates) if known[k] and self.means[k] >= least)

    def as_dict(self) -> dict[str, Any]:
        """Return the table with scikit-learn's column names."""
        out: dict[str, Any] = {
            "mean_fit_time": self.fit_seconds.mean(axis=1),
            "std_fit_time": self.fit_seconds.std(axis=1),
            "mean_score_time": self.score_seconds.mean(axis=1),
            "std_score_time": self.score_seconds.std(axis=1),
        }
        names = list(dict.fromkeys(name for c in self.candidates for name in c))
        out |= {f"param_{name}": _column([c.get(name, _ABSENT) for c in self.candidates]) for name in names}
        out["params"] = self.candidates
        out |= {f"split{j}_test_score": self.scores[:, j].copy() for j in range(self.n_columns)}
        out["mean_test_score"] = self.means
        out["std_test_score"] = _spread(self.scores)
        out["standard_error"] = self.standard_errors
        lowest = np.where(self.complete, -self.means, np.inf)
        out["rank_test_score"] = rankdata(lowest, method="min").astype(np.int32)
        return out


def _spread(scores: Float64, ddof: int = 0) -> Float64:
    """Return the standard deviation of each row, also where squares of its numbers overflow."""
    largest = np.abs(scores).max(axis=1, keepdims=True)
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    return np.asarray((scores / unit).std(axis=1, ddof=ddof) * unit[:, 0])


_ABSENT = object()


def _column(values: Sequence[Any]) -> Any:
    """Return a masked array as scikit-learn's searches have them: of numbers where they are numbers."""
    mask = [v is _ABSENT for v in values]
    given = [None if v is _ABSENT else v for v in values]
    kinds = {type(v) for v in given if v is not None}
    if all(issubclass(kind, int | float | np.number) and not issubclass(kind, bool) for kind in kinds):
        filled = [0 if v is None else v for v in given]
        return MaskedArray(np.array(filled), mask=mask)
    column = np.empty(len(given), dtype=object)
    column[:] = given
    return MaskedArray(column, mask=mask)
