# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels with explicit features: the map behind an inner product, where it is finite and cheap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.kernels.data import Array, Data, columns_of, is_sparse, result_dtype, size
from mercer.kernels.prepared import Prepared
from mercer.kernels.statistics import scaled_rows, squared_norms


class FeatureMap(ABC):
    r"""A map :math:`\phi` to finitely many features with :math:`k(x, z) = \langle \phi(x), \phi(z) \rangle`.

    It was fitted on training data X, holds what it needs of them and never changes. For all Z,
    ``transform(X) @ transform(Z).T`` is k(X, Z).

    Items may have features that no training item has (a word that was never seen). `transform` leaves them
    out: they meet nothing there. They still count in `squared_norms`, so that the diagonal and whatever is
    divided by it are exact.
    """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each feature is called, in the order of the columns of `transform`."""

    @abstractmethod
    def transform(self, Z: Data) -> Data:
        """Return the features of items, a row for each.

        A map from `Kernel.feature_map` takes whatever the kernel takes, others need canonical data (see
        `Kernel.check`).

        Parameters
        ----------
        Z : array, CSR matrix or sequence
            m items.

        Returns
        -------
        ndarray or CSR matrix of shape (m, len(names))
            Sparse where the data are, in their precision. Perhaps Z itself: not to be changed.
        """

    @abstractmethod
    def squared_norms(self, Z: Data) -> Array:
        """Return k(z, z) of each item, features that `transform` leaves out included.

        Parameters
        ----------
        Z : array, CSR matrix or sequence
            m items.

        Returns
        -------
        ndarray of shape (m,)
        """


def column_names(X: Any, names: Sequence[str] | None = None) -> tuple[str, ...] | None:
    """Return what the columns of X are called: as given, as in a data frame, or x0, x1, ...

    Parameters
    ----------
    X : Any
        Data as they came.
    names : sequence of str, optional
        The names, if they are known otherwise.

    Returns
    -------
    tuple of str or None
        None if X has no columns.
    """
    width = X.shape[1] if getattr(X, "ndim", 1) == 2 else None
    if names is not None:
        if width is not None and len(names) != width:
            raise ValueError(f"names has {len(names)} entries, but the data have {width} columns.")
        return tuple(map(str, names))
    if width is None:
        return None
    known = getattr(X, "columns", None)
    if known is not None and all(isinstance(name, str) for name in known):
        return tuple(known)
    return tuple(f"x{j}" for j in range(width))


@dataclass(frozen=True)
class Columns(FeatureMap):
    """The columns of the data as they are: of the linear kernel."""

    names: tuple[str, ...] = ()

    def transform(self, Z: Data) -> Data:
        self._check(Z)
        return Z

    def squared_norms(self, Z: Data) -> Array:
        self._check(Z)
        return squared_norms(Z)

    def _check(self, Z: Data) -> None:
        if Z.shape[1] != len(self.names):
            raise ValueError(f"Z has {Z.shape[1]} features, but the map was fitted on {len(self.names)}.")


@dataclass(frozen=True)
class Intercept(FeatureMap):
    """One feature that is the same for all items: of a constant kernel."""

    value: float

    @property
    def names(self) -> tuple[str, ...]:
        return ("1",)

    def transform(self, Z: Data) -> Data:
        column = np.full((size(Z), 1), np.sqrt(self.value), dtype=result_dtype(Z, None))
        if not is_sparse(Z):
            return column
        return sp.csr_array(column) if isinstance(Z, sp.sparray) else sp.csr_matrix(column)

    def squared_norms(self, Z: Data) -> Array:
        return np.full(size(Z), self.value, dtype=result_dtype(Z, None))


@dataclass(frozen=True)
class Rescaled(FeatureMap):
    """The features of another map times a number: of a multiple of its kernel."""

    inner: FeatureMap
    scale: float  # of the kernel

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def transform(self, Z: Data) -> Data:
        features = self.inner.transform(Z)
        return features * features.dtype.type(np.sqrt(self.scale))

    def squared_norms(self, Z: Data) -> Array:
        norms = self.inner.squared_norms(Z)
        return np.asarray(norms * norms.dtype.type(self.scale))


@dataclass(frozen=True)
class SideBySide(FeatureMap):
    """The features of several maps, each under its own prefix: of a sum of their kernels."""

    inner: tuple[FeatureMap, ...]
    prefixes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        pairs = zip(self.prefixes, self.inner, strict=True)
        return tuple(f"{prefix}.{name}" for prefix, part in pairs for name in part.names)

    def transform(self, Z: Data) -> Data:
        parts = [part.transform(Z) for part in self.inner]
        if any(map(is_sparse, parts)):
            return sp.hstack(parts, format="csr")
        return np.hstack(parts)

    def squared_norms(self, Z: Data) -> Array:
        total = np.array(self.inner[0].squared_norms(Z))
        for part in self.inner[1:]:
            total += part.squared_norms(Z)
        return total


@dataclass(frozen=True)
class OfColumns(FeatureMap):
    """A map of some columns of the data: of a kernel that sees only these."""

    inner: FeatureMap
    columns: tuple[int, ...]
    width: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def transform(self, Z: Data) -> Data:
        return self.inner.transform(self._part(Z))

    def squared_norms(self, Z: Data) -> Array:
        return self.inner.squared_norms(self._part(Z))

    def _part(self, Z: Data) -> Data:
        if Z.shape[1] != self.width:
            raise ValueError(f"Z has {Z.shape[1]} features, but the map was fitted on {self.width}.")
        return columns_of(Z, np.array(self.columns))


@dataclass(frozen=True)
class OfNamedColumns(FeatureMap):
    """A map of what a kernel sees of a table whose columns hold items of several kinds."""

    inner: FeatureMap
    seen: Callable[[Data], Data]

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def transform(self, Z: Data) -> Data:
        return self.inner.transform(self.seen(Z))

    def squared_norms(self, Z: Data) -> Array:
        return self.inner.squared_norms(self.seen(Z))


@dataclass(frozen=True)
class OfAnyForm(FeatureMap):
    """A map that takes items in whatever form its kernel does."""

    inner: FeatureMap
    kernel: Any

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def transform(self, Z: Any) -> Data:
        return self.inner.transform(self._canonical(Z))

    def squared_norms(self, Z: Any) -> Array:
        return self.inner.squared_norms(self._canonical(Z))

    def _canonical(self, Z: Any) -> Data:
        return Z if isinstance(Z, Prepared) else self.kernel.check(Z)


@dataclass(frozen=True)
class UnitLength(FeatureMap):
    """The features of another map at length 1 (or 0): of its kernel, normalised."""

    inner: FeatureMap

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def transform(self, Z: Data) -> Data:
        return scaled_rows(self.inner.transform(Z), inverse_roots(self.inner.squared_norms(Z)))

    def squared_norms(self, Z: Data) -> Array:
        norms = self.inner.squared_norms(Z)
        return np.asarray(norms > 0, dtype=norms.dtype)


def inverse_roots(squares: Array) -> Array:
    """Return 1 / sqrt(s), and 0 for an item without length."""
    inverse = np.zeros_like(squares)
    np.divide(1.0, np.sqrt(squares), out=inverse, where=squares > 0)
    return inverse
