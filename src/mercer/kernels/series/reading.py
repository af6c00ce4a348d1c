"""Time series of any make as a list of float64 arrays of shape (times, channels)."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.kernels.containers import listed, shown
from mercer.kernels.data import is_sparse
from mercer.kernels.mixed_columns import is_frame, mixed_columns

KINDS = "an array or list of numbers, of shape (times,) or (times, channels)"


def check_series(X: Any, *, estimator: Any = None, name: str = "X") -> list[Float64]:
    """Return a list of arrays of shape (times, channels), or say which item is no time series.

    Parameters
    ----------
    X : array, sequence or data frame
        A 2-D array (series, times), a 3-D array (series, times, channels), in which NaN at the end of a
        series is padding; a sequence of series of any lengths; a data frame with a series in each cell, one
        column for each channel, or with a number in each cell, a row for each series.
    estimator : object or str, optional
        Whose data they are, for messages.
    name : str
        What the data are called in messages.
    """
    if is_sparse(X):
        raise TypeError(
            f"{name} is a sparse matrix; a kernel of time series needs a dense one: {name}.toarray()."
        )
    if is_frame(X) and getattr(X, "ndim", 2) == 2:
        X = _of_frame(X, name)
    if isinstance(X, np.ndarray) and X.ndim in (2, 3) and X.dtype.kind in "biuf":
        if not len(X):
            raise ValueError(f"Found array with 0 sample(s) in {name} while a minimum of 1 is required.")
        return _of_array(X, name)
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
        X = X.tolist()  # refused below, as numbers
    items = listed(X, of="time series", estimator=estimator, name=name)
    series = []
    for i, item in enumerate(items):
        try:
            series.append(_series(item))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}[{i}] {error}") from None
    return _of_one_width(series, name)


def _series(item: Any) -> Float64:
    """Return one series, or raise the end of a message."""
    try:
        table = np.asarray(item)
    except ValueError:
        raise ValueError("has points of different numbers of channels.") from None
    if item is None or isinstance(item, str | bytes | Mapping | set | frozenset) or table.ndim == 0:
        hint = " Put a single series into a list." if isinstance(item, Real) and item == item else ""
        raise TypeError(f"is {shown(item)}; a kernel of time series compares series: {KINDS}.{hint}")
    if table.dtype.kind == "O":
        odd = next((value for value in table.flat if not (value is None or isinstance(value, Real))), None)
        if odd is not None:
            raise TypeError(f"holds {shown(odd)}; a time series is {KINDS}.")
    elif table.dtype.kind not in "biuf":
        raise TypeError(f"is an array of {table.dtype}; a time series is {KINDS}.")
    values = np.ascontiguousarray(table, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise ValueError(f"has {values.ndim} dimensions; a time series is {KINDS}.")
    return _finite(values)


def _finite(values: Float64) -> Float64:
    good = np.isfinite(values)
    if not good.all():
        t, c = (int(k) for k in np.argwhere(~good)[0])
        where = f" in channel {c}" if values.shape[1] > 1 else ""
        raise ValueError(f"holds {values[t, c]} at time {t}{where}; impute it, or leave the time out.")
    return values


def _of_one_width(series: list[Float64], name: str) -> list[Float64]:
    """Return series that have as many channels; an empty one has those of the others."""
    known = [i for i, one in enumerate(series) if one.shape[0]]
    channels = series[known[0]].shape[1] if known else 1
    for i in known:
        if series[i].shape[1] != channels:
            raise ValueError(
                f"{name}[{i}] has {series[i].shape[1]} channel(s), but {name}[{known[0]}] has {channels}; "
                "all series must have as many."
            )
    return [one if one.shape[1] == channels else np.empty((0, channels)) for one in series]


def _of_array(X: np.ndarray, name: str) -> list[Float64]:
    """Return the series of a 2-D or 3-D array, without the padding at their ends."""
    table = np.ascontiguousarray(X if X.ndim == 3 else X[:, :, None], dtype=np.float64)
    if np.isfinite(table).all():
        return list(table)
    series = []
    for i, values in enumerate(table):
        there = np.flatnonzero(~np.isnan(values).all(axis=1))
        if not there.size and values.shape[0]:
            raise ValueError(f"{name}[{i}] is missing: all of its values are NaN.")
        try:
            series.append(_finite(values[: there[-1] + 1] if there.size else values))
        except ValueError as error:
            raise ValueError(f"{name}[{i}] {error}") from None
    return series


def _of_frame(X: Any, name: str) -> Any:
    """Return what a data frame holds: a table of numbers, or the series in its cells."""
    table = mixed_columns(X)
    width = table.shape[1]
    numbers = [j for j in range(width) if table.is_number(j)]
    if len(numbers) == width:
        return table.numbers(range(width)) if width else np.empty((table.rows, 0))
    if numbers:
        raise ValueError(
            f"{name}[{table.label(numbers[0])}] holds a number in each row, and other columns do not: say "
            "which column holds the series, as in kernel.on('name of a column')."
        )
    if width == 1:
        return table.columns[0]
    rows = []
    for i in range(table.rows):
        channels = []
        for j in range(width):
            try:
                channels.append(_series(table.columns[j][i]))
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}[{table.label(j)}][{i}] {error}") from None
        lengths = [len(channel) for channel in channels]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"{name}[{i}] has channels of {sorted(set(lengths))} times; they must have as many."
            )
        rows.append(np.hstack(channels))
    return rows
