"""Dates as numbers that a kernel can compare."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

ISO = re.compile(r"\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
LAST = re.compile(r"\s*(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)")
CLOCK = re.compile(r"[T ]+(\d{1,2}):(\d{2})(?::(\d{2}))?")
YEAR, WEEK = 365.2425, 7.0
EPOCH = date(1970, 1, 1).toordinal()  # a Thursday


class DateFeatures(TransformerMixin, BaseEstimator):
    r"""Turn dates into numbers.

    A date t, in days since 1970, becomes

    .. math::
        t, \quad \sin, \cos\!\left(2 \pi t / 365.2425\right), \quad \sin, \cos\!\left(2 \pi t / 7\right)

    and, where times of the day are given, sine and cosine of those: how long ago, what season, which weekday,
    what hour, each as a place that has no end where it starts again.

    Takes columns of text (year, month, day; or day or month first, as the training rows tell) or of
    timestamps. What is no date becomes nan.

    Attributes
    ----------
    day_first_ : ndarray of shape (n_features,)
        Whether 1/2/2024 is the first of February.
    hours_ : ndarray of shape (n_features,)
        Whether times of the day are told.

    Examples
    --------
    >>> from mercer.selection import DateFeatures
    >>> DateFeatures().fit_transform([["2024-02-29"], ["2024-03-01"]])[:, 0]
    array([19782., 19783.])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out how the dates are written.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Dates.
        y : ignored
            There for pipelines.

        Returns
        -------
        self
        """
        columns, names = _columns(X)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(columns)
        self.day_first_ = np.array([day_first(column) for column in columns], dtype=bool)
        days = [_days(c, first) for c, first in zip(columns, self.day_first_, strict=True)]
        self.hours_ = np.array([bool((np.nan_to_num(d) % 1 != 0).any()) for d in days], dtype=bool)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the numbers.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Dates.

        Returns
        -------
        ndarray of shape (n_samples, n_numbers)
            nan where a date is missing or none.
        """
        check_is_fitted(self)
        columns, _ = _columns(X)
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"X has {len(columns)} features, but DateFeatures is expecting {self.n_features_in_}"
            )
        parts = []
        for column, first, hours in zip(columns, self.day_first_, self.hours_, strict=True):
            t = _days(column, first)
            parts.append(t if hours else np.floor(t))
            for period in (YEAR, WEEK, 1.0)[: 3 if hours else 2]:
                angle = 2 * np.pi * (t if period == 1.0 else np.floor(t)) / period
                parts += [np.sin(angle), np.cos(angle)]
        return np.column_stack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the numbers.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the dates.

        Returns
        -------
        ndarray of str
            Names.
        """
        check_is_fitted(self)
        given = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        names = [f"x{k}" for k in range(self.n_features_in_)] if given is None else list(given)
        out = []
        for name, hours in zip(names, self.hours_, strict=True):
            out.append(f"{name}: days")
            for what in ("year", "week", "day")[: 3 if hours else 2]:
                out += [f"{name}: sine of the {what}", f"{name}: cosine of the {what}"]
        return np.array(out, dtype=object)


def _columns(X: Any) -> tuple[list[np.ndarray], list[str] | None]:
    """Return the columns of a table, and their names if it has any."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        return [X[name].to_numpy() for name in X.columns], names
    values = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    if values.ndim != 2:
        raise ValueError(f"X has shape {values.shape}; it must be a table of dates")
    return list(values.T), None


def day_first(values: Any) -> bool:
    """Return whether days stand before months, in dates that do not begin with the year.

    A number above 12 decides; where there is none, points stand in dates whose days come first.
    """
    found = [m for m in (LAST.match(str(v)) for v in _different(values)) if m is not None]
    if any(int(m[2]) > 12 for m in found):
        return False
    return any(int(m[1]) > 12 or "." in m[0] for m in found)


def are_dates(values: Any) -> bool:
    """Return whether the different texts of a column, some of which may be missing, are dates."""
    texts = _different(values)
    if not texts:
        return False
    first = day_first(texts)
    return all(isinstance(text, str) and np.isfinite(_day(text, first)) for text in texts)


def _different(values: Any) -> list[Any]:
    return [v for v in dict.fromkeys(np.ravel(np.asarray(values, dtype=object)).tolist()) if not absent(v)]


def absent(value: Any) -> bool:
    """Return whether a cell is empty, in any of the ways in which frames write that."""
    if value is None or (isinstance(value, float) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def _days(column: np.ndarray, first: bool) -> np.ndarray:
    """Return days since 1970; nan for what is missing or no date."""
    if column.dtype.kind == "M":
        seconds = column.astype("datetime64[s]")
        return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 86400.0)
    known = {v: _day(str(v), first) for v in _different(column)}
    return np.array([np.nan if absent(v) else known[v] for v in column.tolist()], dtype=np.float64)


def _day(text: str, first: bool) -> float:
    match = ISO.match(text)
    if match is not None:
        year, month, day = (int(part) for part in match.groups())
    else:
        match = LAST.match(text)
        if match is None:
            return np.nan
        one, two, year = (int(part) for part in match.groups())
        month, day = (two, one) if first else (one, two)
        year += (2000 if year < 70 else 1900) if len(match[3]) == 2 else 0
    rest = text[match.end() :].strip()
    clock = CLOCK.match(text[match.end() :])
    if rest and clock is None:
        return np.nan
    try:
        whole = float(date(year, month, day).toordinal() - EPOCH)
    except ValueError:
        return np.nan
    if clock is None:
        return whole
    hours, minutes, seconds = (int(part or 0) for part in clock.groups())
    return whole + (3600 * hours + 60 * minutes + seconds) / 86400.0
