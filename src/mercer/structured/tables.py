"""Structures whose inputs are the rows of a table."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.arrays import Float64
from mercer.structured.base import Structure, check_count, check_flag


class TableStructure(Structure):
    """Base of the structures whose inputs are the rows of a table."""

    exact: ClassVar[bool] = True
    takes_tables: ClassVar[bool] = True
    n_features: int | None
    bias: bool

    @property
    def n_weights(self) -> int:
        """The length of w, once labels and features are known."""
        raise NotImplementedError

    def validate(self) -> None:
        """Refuse parameters that are not allowed."""
        check_count(self, "n_features", 1)
        check_flag(self, "bias")

    def checked_inputs(self, X: Any) -> Float64:
        """Return the table: the estimator has checked it."""
        self.validate()
        table: Float64 = np.asarray(X, dtype=np.float64)
        if self.n_features is not None and table.shape[1] != self.n_features:
            raise ValueError(f"X has {table.shape[1]} features; {type(self).__name__} has {self.n_features}")
        return table

    def check_weights(self, w: Float64) -> None:
        """Refuse weights of the wrong length."""
        if np.shape(w) != (self.n_weights,):
            raise ValueError(f"{self!r} has {self.n_weights} weights; given are {np.shape(w)}")

    def with_constant(self, X: Float64) -> Float64:
        """Return rows with a constant feature, where there is a bias."""
        return np.column_stack([X, np.ones(len(X))]) if self.bias else X

    def _known(self, name: str) -> Any:
        value = getattr(self, name)
        if value is None:
            raise ValueError(f"{type(self).__name__}: {name} is not known before fit; give it")
        return value

    def sized(self, X: Float64, **known: Any) -> Self:
        """Return this structure with its number of features, and more that is known."""
        return self.replaced(n_features=int(X.shape[1]), **known)
