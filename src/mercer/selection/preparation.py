"""From a table to numbers that a kernel can compare: scaling, encoding, imputing, dates, each said aloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from mercer.selection.date_features import DateFeatures, absent, are_dates
from mercer.words import counted, did_you_mean, listed

IMPUTE = ("median", "mean", "most_frequent", "zero", "none")
MOST_CATEGORIES = 1000  # of a text column: beyond, it is a name rather than a kind
NUMBERS = "biuf"


@dataclass(frozen=True)
class Prepared:
    """A prepared table and its preprocessing steps.

    Attributes
    ----------
    X : data frame, array or CSR matrix
        The features, as they are given to ``fit`` of a pipeline.
    y : ndarray or None
        The target.
    steps : list of (str, transformer)
        What is done to the features first, not fitted yet: folds fit it on their own rows.
    said : list of str
        What that is, in words.
    target : str or None
        The target's name.
    """

    X: Any
    y: np.ndarray | None
    steps: list[tuple[str, Any]]
    said: list[str]
    target: str | None = None

    def pipeline(self, machine: Any) -> Pipeline:
        """Return the steps with a machine at their end.

        Parameters
        ----------
        machine : estimator
            What learns.

        Returns
        -------
        Pipeline
            Not fitted.
        """
        return Pipeline([*self.steps, ("machine", machine)])


def prepare(
    frame: Any,
    target: Any = None,
    *,
    scale: bool = True,
    impute: str = "median",
    dates: bool = True,
) -> Prepared:
    """Prepare a table for kernel methods, as ``mercer train`` does.

    Numbers are standardised. Texts become columns of 0 and 1, a missing text one of them. Missing numbers are
    filled in, with a column of 0 and 1 that says where. Dates become numbers: how long ago, season, weekday.

    Parameters
    ----------
    frame : data frame, array or CSR matrix of shape (n_samples, n_features)
        The table.
    target : str or array, optional
        The name of the column to predict, which is taken out of the features, or its values.
    scale : bool, default=True
        Whether numbers are standardised (those of a sparse table divided by the largest).
    impute : {"median", "mean", "most_frequent", "zero", "none"}, default="median"
        What missing numbers become; "none" refuses them.
    dates : bool, default=True
        Whether dates become numbers; they are left out else.

    Returns
    -------
    Prepared
        ``X``, ``y``, ``said`` and ``pipeline(machine)``.

    Examples
    --------
    >>> import mercer, pandas
    >>> table = pandas.DataFrame({"age": [31, None, 54, 47], "city": ["Rome", "Oslo", "Rome", None],
    ...                           "buys": ["no", "no", "yes", "yes"]})
    >>> ready = mercer.prepare(table, "buys")
    >>> model = ready.pipeline(mercer.SVC()).fit(ready.X, ready.y)
    >>> ready.said[0]
    "replaced missing values of 'age' by the median, with an indicator column"
    """
    if impute not in IMPUTE:
        raise ValueError(f"impute={impute!r} is invalid; choose one of {', '.join(IMPUTE)}")
    frame, y, name = _target(frame, target)
    if sp.issparse(frame):
        return Prepared(frame, y, *_sparse(frame, scale, impute), target=name)
    columns = columns_of(frame)
    parts, said = [], list[str]()
    groups = _kinds(columns, dates)
    empty = [name for name, values in columns.items() if missing(values).all()]
    if empty:
        raise ValueError(f"column {listed(empty)} has no values: drop it")
    gaps = [name for name in groups["numbers"] if missing(columns[name]).any()]
    if impute == "none" and any(missing(columns[n]).any() for kind in groups for n in groups[kind]):
        first = next(name for name in columns if missing(columns[name]).any())
        raise ValueError(f"column {first!r} has missing values and impute='none' does not replace them")
    if gaps:
        each = "with indicator columns" if len(gaps) > 1 else "with an indicator column"
        said.append(f"replaced missing values of {listed(gaps)} by the {impute.replace('_', ' ')}, {each}")
    if groups["numbers"]:
        parts.append(("numbers", _numbers(scale, impute if gaps else None), groups["numbers"]))
        if scale:
            said.append(f"standardised {counted(len(groups['numbers']), 'numeric column')}")
    if groups["dates"]:
        steps = [("dates", DateFeatures()), *_numbers(scale, "median")]
        parts.append(("dates", steps, groups["dates"]))
        said.append(f"turned the dates in {listed(groups['dates'])} into numbers: age, season, weekday")
    if groups["text"]:
        parts.append(
            (
                "text",
                [("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False))],
                groups["text"],
            )
        )
        said += _told_of_texts(columns, groups["text"])
    if not parts:
        raise ValueError("no columns are left to learn from")
    if groups["left"]:
        said.append(f"dropped the dates in {listed(groups['left'])}")
        frame = frame[[column for column in columns if column not in groups["left"]]]
    return Prepared(frame, y, _joined(parts), said, name)


def needs_preparation(X: Any) -> bool:
    """Return whether a data frame holds what no kernel takes: text, dates, gaps."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return False
    return any(v.dtype.kind not in NUMBERS or missing(v).any() for v in columns_of(X).values())


def columns_of(frame: Any) -> dict[Any, np.ndarray]:
    """Return the columns of a dense table by name, by number if it has no names."""
    if hasattr(frame, "columns"):
        return {name: _plain(frame[name]) for name in frame.columns}
    return dict(enumerate(np.asarray(frame).T))


def _plain(column: Any) -> np.ndarray:
    """Return a column as NumPy has it; numbers with gaps are floats, whatever their frame calls them."""
    values = np.asarray(column.to_numpy())
    kind = getattr(column.dtype, "kind", None)
    numeric = getattr(column.dtype, "is_numeric", None)  # of polars
    if values.dtype.kind == "O" and (
        kind in NUMBERS if isinstance(kind, str) else bool(numeric and numeric())
    ):
        return np.array([np.nan if absent(v) else float(v) for v in values.tolist()])
    return values


def missing(values: np.ndarray) -> np.ndarray:
    """Return which values of a column are missing."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([absent(v) for v in values.tolist()], dtype=bool)


def is_name(kinds: int, rows: int) -> bool:
    """Whether so many different texts are names of the rows rather than kinds of them."""
    return kinds > MOST_CATEGORIES or (kinds > 50 and kinds > 0.5 * rows)


def _kinds(columns: dict[Any, np.ndarray], dates: bool) -> dict[str, list[Any]]:
    """Return the columns by what is done to them."""
    groups: dict[str, list[Any]] = {"numbers": [], "dates": [], "text": [], "left": []}
    for name, values in columns.items():
        if values.dtype.kind in NUMBERS:
            groups["numbers"].append(name)
        elif values.dtype.kind == "M" or are_dates(values):
            groups["dates" if dates else "left"].append(name)
        else:
            groups["text"].append(name)
    return groups


def _told_of_texts(columns: dict[Any, np.ndarray], names: list[Any]) -> list[str]:
    kinds = {}
    for name in names:
        values = columns[name]
        kinds[name] = len({str(v) for v in values[~missing(values)].tolist()})
        if is_name(kinds[name], values.size):
            raise ValueError(
                f"column {name!r} has {kinds[name]} different texts in {values.size} rows: it looks like an "
                "identifier, not a category. Drop it"
            )
    gaps = [name for name in names if missing(columns[name]).any()]
    before, after = counted(len(names), "text column"), counted(sum(kinds.values()) + len(gaps), "column")
    said = [f"one-hot encoded {before} as {after}: {listed(names)}"]
    if gaps:
        said.insert(0, f"missing values of {listed(gaps)} are a category of their own")
    return said


def _numbers(scale: bool, impute: str | None) -> list[tuple[str, Any]]:
    steps: list[tuple[str, Any]] = []
    if impute is not None:
        how = {"strategy": "constant", "fill_value": 0.0} if impute == "zero" else {"strategy": impute}
        steps.append(("impute", SimpleImputer(**how, add_indicator=True)))
    if scale:
        steps.append(("scale", StandardScaler()))
    return steps


def _joined(parts: list[tuple[str, list[tuple[str, Any]], list[Any]]]) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline: those of the only part, or all parts side by side."""
    if len(parts) == 1 and parts[0][0] == "numbers":
        return parts[0][1]
    made: list[tuple[str, Any, Sequence[Any]]] = []
    for name, steps, columns in parts:
        one = "passthrough" if not steps else steps[0][1] if len(steps) == 1 else Pipeline(steps)
        made.append((name, one, columns))
    return [("prepare", ColumnTransformer(made, verbose_feature_names_out=False))]


def _sparse(X: Any, scale: bool, impute: str) -> tuple[list[tuple[str, Any]], list[str]]:
    steps, said = list[tuple[str, Any]](), list[str]()
    if np.isnan(X.data).any():
        if impute == "none":
            raise ValueError("the table has missing values and impute='none' does not replace them")
        how = {"strategy": "constant", "fill_value": 0.0} if impute == "zero" else {"strategy": impute}
        steps.append(("impute", SimpleImputer(**how)))
        said.append(f"replaced missing values by the {impute}")
    if scale:
        steps.append(("scale", MaxAbsScaler()))
        said.append(f"scaled {X.shape[1]} sparse columns to absolute values of at most 1 (zeros stay zero)")
    return steps, said


def _target(frame: Any, target: Any) -> tuple[Any, np.ndarray | None, str | None]:
    """Return the features, the target and its name."""
    if target is None or not isinstance(target, str):
        y = None if target is None else np.asarray(target)
        return frame, y, getattr(target, "name", None)
    if not hasattr(frame, "columns"):
        raise TypeError(f"target={target!r} names a column, but only data frames have column names")
    names = list(frame.columns)
    if target not in names:
        raise ValueError(
            f"target={target!r}: there is no such column among {listed(names)}." + did_you_mean(target, names)
        )
    y = _plain(frame[target])
    gaps = int(missing(y).sum())
    if gaps:
        raise ValueError(f"the target {target!r} is missing in {counted(gaps, 'row')}: remove them first")
    return frame[[name for name in names if name != target]], y, target
