"""Intervals and sets of new rows, with the coverage that is guaranteed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.conformal import CoverageGuarantee


@dataclass(frozen=True)
class PredictionIntervals:
    """Prediction intervals of some rows.

    ``low, high = intervals`` unpacks the ends; as an array there is a row (low, high) for each point, which
    indices refer to.

    Attributes
    ----------
    low, high : ndarray of shape (n,)
        The ends; infinite where the calibration rows are too few for the coverage.
    guarantee : CoverageGuarantee
        What was asked for, and what holds.
    """

    low: Float64
    high: Float64
    guarantee: CoverageGuarantee

    @property
    def guaranteed(self) -> float:
        """The coverage of new rows that is guaranteed."""
        return self.guarantee.guaranteed

    @property
    def width(self) -> Float64:
        """The widths."""
        return self.high - self.low

    def contain(self, y: Any) -> NDArray[np.bool_]:
        """Return whether each interval contains its target.

        Parameters
        ----------
        y : array of shape (n,)
            Targets.
        """
        y = np.asarray(y)
        return np.asarray((self.low <= y) & (y <= self.high))

    def __iter__(self) -> Iterator[Float64]:
        return iter((self.low, self.high))

    def __len__(self) -> int:
        return int(self.low.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.stack([self.low, self.high], axis=1).astype(dtype or np.float64, copy=False)

    def __getitem__(self, rows: Any) -> Any:
        return np.asarray(self)[rows]

    def __str__(self) -> str:
        infinite = int((~np.isfinite(self.width)).sum())
        few = f", {infinite} of them infinite" if infinite else ""
        finite = self.width[np.isfinite(self.width)]
        width = f", median width {np.median(finite):.3g}" if finite.size else ""
        return f"{len(self)} prediction intervals{few}{width}: {self.guarantee}"

    __repr__ = __str__


@dataclass(frozen=True)
class PredictionSets:
    """Prediction sets of some rows: the classes that each may belong to.

    Iteration and indices give the classes of a row; as an array there is a row of booleans for each point.

    Attributes
    ----------
    members : ndarray of bool of shape (n, n_classes)
        Which classes are in each set.
    classes : ndarray of shape (n_classes,)
        The classes.
    guarantee : CoverageGuarantee
        What was asked for, and what holds.
    """

    members: NDArray[np.bool_]
    classes: NDArray[Any]
    guarantee: CoverageGuarantee

    @property
    def guaranteed(self) -> float:
        """The coverage of new rows that is guaranteed."""
        return self.guarantee.guaranteed

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of classes in each set."""
        return np.asarray(np.count_nonzero(self.members, axis=1))

    def contain(self, y: Any) -> NDArray[np.bool_]:
        """Return whether each set contains its class; classes unseen in training are in none.

        Parameters
        ----------
        y : array of shape (n,)
            Classes.
        """
        return np.asarray((self.members & (np.asarray(y)[:, None] == self.classes)).any(axis=1))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self.classes[row] for row in self.members)

    def __len__(self) -> int:
        return int(self.members.shape[0])

    def __getitem__(self, row: int) -> NDArray[Any]:
        return np.asarray(self.classes[self.members[row]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.members.astype(dtype or bool, copy=bool(copy))

    def __str__(self) -> str:
        mean = f", {self.sizes.mean():.3g} classes on average" if len(self) else ""
        return f"{len(self)} prediction sets{mean}: {self.guarantee}"

    __repr__ = __str__
