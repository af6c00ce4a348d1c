# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that see some columns of a table."""

from __future__ import annotations

from typing import Any, NoReturn, Self, cast

import numpy as np

from mercer.arrays import Index
from mercer.kernels.base import Kernel
from mercer.kernels.composite import ATOM, Composite, operand
from mercer.kernels.data import Array, Data, columns_of
from mercer.kernels.feature_map import FeatureMap, OfColumns, OfNamedColumns
from mercer.kernels.mixed_columns import MixedColumns
from mercer.kernels.prepared import PreparedParts
from mercer.kernels.trends import Trend
from mercer.values import source
from mercer.words import did_you_mean, listed

ALLOWED = "a column's name or number, a sequence of them, a slice or a boolean mask"


class OnColumns(Composite):
    r""":math:`k(x, z) = k_1(x_S, z_S)`: a kernel that sees the columns S only.

    The data are a table of numbers, or a data frame whose columns hold items of any kind. So one machine can
    learn from all of them: ``Spectrum(3).on("sequence") + RBF().on(["age", "dose"])``.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`; ``gamma="scale"`` and the like are taken from the chosen columns. A kernel on
        items (strings, trees, graphs) sees one column.
    columns : str, int, sequence of either, slice or boolean mask
        The columns S. Names need a data frame, of pandas or polars.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear, Spectrum
    >>> table = np.array([["abab", 1.0], ["ab", 2.0]], dtype=object)
    >>> (Spectrum(2).on(0) + Linear().on([1])).feature_map(table).names
    ('k1.ab', 'k1.ba', 'k2.x1')
    """

    def __init__(self, kernel: Kernel, columns: Any) -> None:
        self.kernel = kernel
        self.columns = columns

    @property
    def is_psd(self) -> bool | None:
        return self.kernel.is_psd

    @property
    def is_psd_beside_trend(self) -> bool | None:
        return self.kernel.is_psd_beside_trend

    def trend_on(self, n_features: int) -> Trend | None:
        if self.kernel.trend_on(1) is None:
            return None
        if self._by_name:
            self._refuse("columns", self.columns, "numbers, for a kernel with a polynomial beside it")
        index = self._chosen(n_features)
        inner: Any = self.kernel.trend_on(index.size)
        return cast(Trend, inner.moved(index.tolist()))

    @property
    def diagonal_bound(self) -> float | None:
        return self.kernel.diagonal_bound

    @property
    def is_nonnegative(self) -> bool | None:
        return self.kernel.is_nonnegative

    @property
    def is_vector(self) -> bool:
        return self.kernel.is_vector and not self._by_name

    @property
    def reads_columns(self) -> bool:
        return True

    @property
    def _by_name(self) -> bool:
        index = self._index()
        return not isinstance(index, slice) and index.dtype.kind == "O"

    def validate(self) -> None:
        super().validate()
        self._index()

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        self._check_parts()
        self._index()
        return super().check(X, estimator=estimator, input_name=input_name)

    def columns_read(self, table: MixedColumns) -> set[int]:
        return set(self._chosen(table.shape[1], table.names).tolist())

    def check_items_of(self, table: MixedColumns, *, estimator: Any, input_name: str) -> None:
        self.seen(table, estimator=estimator, input_name=input_name)

    def check_domain(self, X: Data, estimator: Any = None) -> None:
        if self._by_name and not isinstance(X, MixedColumns):
            self._refuse_names(type(X).__name__)
        if getattr(X, "ndim", 1) != 2:
            raise TypeError(f"X must be a table, because {self.expression()} chooses columns of it.")
        self.kernel.check_domain(self.seen(X), estimator)

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        return self.replaced(kernel=self.kernel.resolve_on(self.seen(X), sample_weight))

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        if isinstance(X, PreparedParts):
            X = X.items
        if not isinstance(X, MixedColumns):
            return X  # some columns of numbers are quickly taken
        other = like.parts[0] if isinstance(like, PreparedParts) else None
        return PreparedParts(X, (self.kernel.prepare(self.seen(X), other),))

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        return self.kernel.evaluate(self._inner(X), None if Z is None else self._inner(Z))

    def evaluate_diag(self, X: Data) -> Array:
        return self.kernel.evaluate_diag(self._inner(X))

    def magnitude(self, X: Data) -> Array:
        return self.kernel.magnitude(self._inner(X))

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        index = self._chosen(X.shape[1], getattr(X, "names", None))
        part = None if names is None else tuple(names[j] for j in index)
        inner = self.kernel.feature_map_on(self.seen(X), part)
        if inner is None:
            return None
        if isinstance(X, MixedColumns):
            return OfNamedColumns(inner, self.seen)
        return OfColumns(inner, tuple(index.tolist()), X.shape[1])

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        part = None if Z is None else self._inner(Z)
        return self.prefixed({"kernel": self.kernel.slopes(self._inner(X), part, G)})

    def fresh(self, X: Data, Z: Data | None = None) -> Array:
        return self.kernel.fresh(self._inner(X), None if Z is None else self._inner(Z))

    def _inner(self, X: Data) -> Data:
        """Return what the kernel inside sees of data, prepared if they are."""
        return self.part_of(X) if isinstance(X, PreparedParts) else self.seen(X)

    def seen(self, X: Data, *, estimator: Any = None, input_name: str = "X") -> Data:
        """Return the columns of the data that the kernel sees, as it wants them."""
        if not isinstance(X, MixedColumns):
            return columns_of(X, self._chosen(X.shape[1]))
        chosen = self._chosen(X.shape[1], X.names)
        called = f"{input_name}[{', '.join(X.label(j) for j in chosen)}]"
        texts = [j for j in chosen.tolist() if not X.is_number(j)]
        if not texts:
            return self.kernel.check(X.numbers(chosen), estimator=estimator, input_name=called)
        if self.kernel.is_vector:
            items, label = X.columns[texts[0]], X.label(texts[0])
            row = next(i for i, item in enumerate(items) if not isinstance(item, int | float | np.number))
            raise TypeError(
                f"{input_name}[{label}][{row}] is a {type(items[row]).__name__}, and {self.kernel!r} "
                "compares numbers."
            )
        if chosen.size > 1:
            self._refuse("columns", self.columns, f"one column: {self.kernel!r} compares single items")
        return self.kernel.check(X.columns[texts[0]], estimator=estimator, input_name=called)

    def _index(self) -> Any:
        """Return a slice, or an array of numbers, truth values or names."""
        if isinstance(self.columns, slice):
            return self.columns
        index = np.atleast_1d(np.asarray(self.columns, dtype=object))
        if index.ndim == 1 and index.size and all(isinstance(name, str) for name in index):
            return index
        index = np.atleast_1d(np.asarray(self.columns))
        if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "biu":
            self._refuse("columns", self.columns, ALLOWED)
        return index

    def _chosen(self, d: int, names: tuple[str, ...] | None = None) -> Index:
        """Return the numbers of the columns among d."""
        index = self._index()
        if isinstance(index, slice):
            index = np.arange(d)[index]
        elif index.dtype.kind == "O":
            index = self._found(index.tolist(), names)
        elif index.dtype.kind == "b":
            if index.size != d:
                self._refuse("columns", self.columns, f"a mask of length {d}, the number of features")
            index = np.flatnonzero(index)
        elif index.min() < -d or index.max() >= d:
            self._refuse(
                "columns",
                self.columns,
                f"made of numbers from {-d} to {d - 1}, as the data have {d} feature(s)",
            )
        if index.size == 0:
            self._refuse("columns", self.columns, f"a choice of at least one of the {d} features")
        return np.asarray(np.where(index < 0, index + d, index), dtype=np.int64)

    def _found(self, wanted: list[str], names: tuple[str, ...] | None) -> Index:
        """Return the numbers of columns by their names."""
        if names is None:
            self._refuse_names("table")
        for name in wanted:
            if names.count(name) != 1:
                there = "there is none" if name not in names else f"there are {names.count(name)}"
                self._refuse(
                    "columns",
                    self.columns,
                    f"among the columns of X, {listed(names)}; of the name {name!r} {there}"
                    f".{did_you_mean(name, names)}",
                )
        return np.array([names.index(name) for name in wanted], dtype=np.int64)

    def _refuse_names(self, kind: str) -> NoReturn:
        self._refuse("columns", self.columns, f"numbers, as X is a {kind} without names for its columns")

    def expression(self) -> str:
        return f"{operand(self.kernel, ATOM)}.on({source(self.columns)})"
