"""What a data file holds once it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import eq
from typing import Any, overload

import numpy as np
import scipy.sparse as sp

from mercer.io.errors import DataFileError
from mercer.io.extras import require
from mercer.words import listed


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of features that have only numbers: sparse files may have millions of them.

    Parameters
    ----------
    count : int
        How many.
    """

    def __init__(self, count: int) -> None:
        self._numbers = range(count)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, k: int) -> str: ...

    @overload
    def __getitem__(self, k: slice) -> list[str]: ...

    def __getitem__(self, k: int | slice) -> str | list[str]:
        if isinstance(k, slice):
            return [f"x{number}" for number in self._numbers[k]]
        return f"x{self._numbers[k]}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return len(self) == len(other)
        return isinstance(other, tuple | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of features, with the target where there is one.

    Attributes
    ----------
    X : ndarray, CSR matrix or pandas DataFrame
        float64 of shape (n, d) when every feature is a number (missing ones are nan), CSR for sparse formats,
        a data frame when some features are text.
    y : ndarray of shape (n,) or None
        The target: int64 when all values are whole numbers, float64 for other numbers, strings else.
    feature_names : sequence of str
        Names of the columns of X.
    target_name : str or None
        Name of the target.
    categories : dict of str to tuple of str
        The different values of each text feature, sorted.
    query : ndarray of shape (n,) or None
        The ``qid`` of each row, for ranking files.
    sample_weight : ndarray of shape (n,) or None
        Weights, where the file has them.
    format : str
        "csv", "parquet", "feather", "svmlight", "arff", "npz", "fasta", "lines" or "sklearn".
    source : str
        Where the rows came from, for messages.
    first_row : int
        Number of rows before the first of these: not 0 in batches after the first.
    named : bool
        Whether the names are the file's own; False where they were made up from numbers.
    decimal : str
        The decimal point of the file: "." or ",".
    encoding : str
        How the letters of a CSV file are written.
    """

    X: Any
    y: np.ndarray | None
    feature_names: Sequence[str]
    target_name: str | None = None
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    query: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    format: str = ""
    source: str = ""
    first_row: int = 0
    named: bool = True
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the text features, in the order of the columns."""
        return tuple(name for name in self.feature_names if name in self.categories)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Names of the features that are numbers, in the order of the columns."""
        return tuple(name for name in self.feature_names if name not in self.categories)

    @property
    def is_sparse(self) -> bool:
        """Whether X is a CSR matrix."""
        return bool(sp.issparse(self.X))

    def n_missing(self) -> dict[str, int]:
        """Return the number of missing values of each feature that has any."""
        if self.is_sparse:
            counts = np.bincount(self.X.indices[np.isnan(self.X.data)], minlength=self.n_features)
        elif isinstance(self.X, np.ndarray):
            counts = np.isnan(self.X).sum(axis=0)
        else:
            counts = self.X.isna().to_numpy().sum(axis=0)
        return {name: int(c) for name, c in zip(self.feature_names, counts, strict=True) if c}

    def frame(self) -> Any:
        """Return X as a pandas DataFrame with the features' names."""
        pandas = require("pandas", "files", "a data frame")
        if isinstance(self.X, pandas.DataFrame):
            return self.X
        if self.is_sparse:
            return pandas.DataFrame.sparse.from_spmatrix(self.X, columns=list(self.feature_names))
        return pandas.DataFrame(self.X, columns=list(self.feature_names))

    def select(self, names: Sequence[str]) -> Table:
        """Return the same rows with these features in this order.

        Parameters
        ----------
        names : sequence of str
            Names of features.

        Returns
        -------
        Table
        """
        names = tuple(names)
        if len(names) == len(self.feature_names) and all(map(eq, names, self.feature_names)):
            return self
        position = {name: k for k, name in enumerate(self.feature_names)}
        missing = [name for name in names if name not in position]
        if missing:
            raise DataFileError(
                f"{self.source} has no column {listed(missing)}; its columns are {listed(self.feature_names)}"
            )
        if isinstance(self.X, np.ndarray) or self.is_sparse:
            X = self.X[:, [position[name] for name in names]]
        else:
            X = self.X[list(names)]
        categories = {name: self.categories[name] for name in names if name in self.categories}
        return replace(self, X=X, feature_names=names, categories=categories)


def whole(y: np.ndarray) -> np.ndarray:
    """Return whole numbers as int64, other numbers as they are."""
    if y.dtype.kind != "f" or not y.size or not np.isfinite(y).all():
        return y
    small = bool(np.abs(y).max() < 2.0**53)
    return y.astype(np.int64) if small and (y == np.rint(y)).all() else y
