# ruff: noqa: D102  what overrides a method is documented in the base class
"""Signatures of paths: the iterated integrals of a time series."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.data import Array, Data, size
from mercer.kernels.feature_map import FeatureMap
from mercer.kernels.prepared import Prepared, raw
from mercer.kernels.series.base import PairedSeriesKernel, check_channels, in_slices
from mercer.kernels.series.flat import FlatSeries
from mercer.kernels.series.reading import check_series
from mercer.kernels.vector import check_number

MOST_FEATURES = 4096  # beyond, "auto" takes the recursion


class Signatures(Prepared):
    """Series and the entries of their signatures.

    Attributes
    ----------
    items : list of (times, channels) arrays
        The series.
    matrix : (n, features) array
        A row for each series.
    """

    def __init__(self, items: list[Float64], matrix: Float64) -> None:
        self.items, self.matrix = items, matrix

    def taken(self, idx: Any) -> Signatures:
        """Return the signatures of some series."""
        idx = np.asarray(idx)
        return Signatures([self.items[i] for i in idx.tolist()], self.matrix[idx])


@dataclass(frozen=True)
class SignatureMap(FeatureMap):
    """The entries of truncated signatures, by the words of their channels."""

    kernel: Signature
    channels: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.kernel.words(self.channels))

    def transform(self, Z: Data) -> Data:
        return self.kernel.entries(self._checked(Z))

    def squared_norms(self, Z: Data) -> Array:
        entries = self.kernel.entries(self._checked(Z))
        return np.asarray(np.einsum("ij,ij->i", entries, entries))

    def _checked(self, Z: Data) -> list[Float64]:
        items = check_series(raw(Z))
        check_channels(items[0].shape[1], self.channels)
        return items


class Signature(PairedSeriesKernel):
    r""":math:`k(x, z) = \sum_{l=0}^{L} \langle S_l(x), S_l(z) \rangle`, with S the signature of a path.

    .. math::
        S_l(x)_{c_1 \dots c_l} = \int_{t_1 < \dots < t_l} dx_{c_1}(t_1) \cdots dx_{c_l}(t_l)

    are the iterated integrals of the path that goes through the points of x on straight lines, for all words
    :math:`c_1 \dots c_l` of channels; :math:`S_0 = 1`. Level 1 holds the increments, the differences at level
    2 the areas that two channels enclose. Signatures do not change if a constant is added to a series, or if
    it is run through at another speed: add the time where that matters. Of one channel without time or
    lead and lag they hold no more than the total increment.

    Parameters
    ----------
    level : int, default=3
        :math:`L \ge 1`. There are :math:`d^l` entries at level l for d channels.
    lead_lag : bool, default=False
        Whether each channel is accompanied by itself, one time step later: level 2 then holds the squared
        increments, and one channel is enough.
    time : bool, default=False
        Whether a channel is added that goes evenly from 0 to 1.
    scale : float, default=1.0
        Factor on the series, without time; level l is multiplied by its l-th power.
    method : {"auto", "features", "recursion"}, default="auto"
        "features" computes all entries, and values are their inner products; "recursion" computes values from
        the inner products of increments, a pair of series at a time, whatever the number of channels. "auto"
        takes features up to 4096 entries.

    References
    ----------
    .. [1] F. J. Kiraly and H. Oberhauser, "Kernels for sequentially ordered data", Journal of Machine
       Learning Research 20, 2019.

    Examples
    --------
    >>> from mercer.kernels import Signature
    >>> corner = [[0, 0], [1, 0], [1, 1]]
    >>> Signature(2).feature_map([corner]).transform([corner]).tolist()
    [[1.0, 1.0, 1.0, 0.5, 1.0, 0.0, 0.5]]
    >>> Signature(2).feature_map([corner]).names
    ('1', 'x0', 'x1', 'x0,x0', 'x0,x1', 'x1,x0', 'x1,x1')
    """

    def __init__(
        self,
        level: int = 3,
        lead_lag: bool = False,
        time: bool = False,
        scale: float = 1.0,
        method: str = "auto",
    ) -> None:
        self.level = level
        self.lead_lag = lead_lag
        self.time = time
        self.scale = scale
        self.method = method

    @property
    def is_psd(self) -> bool | None:
        return True

    def validate(self) -> None:
        check_number(self, "level", least=1, integer=True)
        check_number(self, "scale", above=0)
        for name in ("lead_lag", "time"):
            if getattr(self, name) not in (True, False):
                self._refuse(name, getattr(self, name), "True or False")
        if self.method not in ("auto", "features", "recursion"):
            self._refuse("method", self.method, "'auto', 'features' or 'recursion'")

    # Paths.

    def _channel_names(self, channels: int) -> list[str]:
        kinds = ("lead", "lag") if self.lead_lag else ("x",)
        return [f"{kind}{c}" for kind in kinds for c in range(channels)] + ["time"] * bool(self.time)

    def words(self, channels: int) -> Iterator[str]:
        """Return the names of all entries for series of so many channels."""
        letters = self._channel_names(channels)
        yield "1"
        for length in range(1, int(self.level) + 1):
            yield from (",".join(word) for word in product(letters, repeat=length))

    def _width(self, channels: int) -> int:
        d = len(self._channel_names(channels))
        return sum(d**length for length in range(int(self.level) + 1))

    def _by_features(self, channels: int) -> bool:
        return self.method == "features" or (self.method == "auto" and self._width(channels) <= MOST_FEATURES)

    def _path(self, series: Float64) -> Float64:
        """Return a series as a path: with lead and lag, and with time, where they are wanted."""
        path = series * float(self.scale)
        if self.lead_lag and len(path):
            twice = np.repeat(path, 2, axis=0)
            path = np.hstack([twice[1:], twice[:-1]])
        elif self.lead_lag:
            path = np.empty((0, 2 * path.shape[1]))
        if self.time:
            path = np.hstack([path, np.linspace(0.0, 1.0, len(path))[:, None]])
        return np.ascontiguousarray(path)

    def _paths(self, items: list[Float64]) -> FlatSeries:
        flat = FlatSeries.of([self._path(item) for item in items])
        return FlatSeries(items, *flat.arrays)

    # Values.

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        if isinstance(X, Signatures | FlatSeries):
            return X
        items = check_series(raw(X))
        if self._by_features(items[0].shape[1]):
            return Signatures(items, self.entries(items))
        return self._paths(items)

    def entries(self, items: list[Float64]) -> Float64:
        """Return the entries of the truncated signatures of canonical series, a row for each."""
        paths = self._paths(items)
        out = np.empty((len(items), self._width(items[0].shape[1])))
        _jit.signatures.signatures(*paths.arrays, int(self.level), out)
        return out

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        X = self.prepare(X)
        if not isinstance(X, Signatures):
            return super().evaluate(X, Z)
        if Z is None:
            return np.asarray(X.matrix @ X.matrix.T)
        Z = self.prepare(Z)
        check_channels(X.items[0].shape[1], Z.items[0].shape[1])
        return np.asarray(X.matrix @ Z.matrix.T)

    def evaluate_diag(self, X: Data) -> Array:
        X = self.prepare(X)
        if isinstance(X, Signatures):
            return np.asarray(np.einsum("ij,ij->i", X.matrix, X.matrix))
        return super().evaluate_diag(X)

    def of_pairs(self, X: FlatSeries, Z: FlatSeries, first: Index, second: Index) -> Float64:
        def fill(first: Index, second: Index, out: Float64) -> None:
            _jit.signatures.signature_products(
                *X.arrays, *Z.arrays, first, second, int(self.level), out
            )  # fmt: skip

        return in_slices(X, Z, first, second, fill, int(self.level) ** 3)

    def magnitude(self, X: Data) -> Array:
        # Entries of level l are sums of terms that are together at most (length of the path)^l / l!.
        paths = self._paths(check_series(raw(X)))
        steps = np.linalg.norm(np.diff(paths.points, axis=0), axis=1)
        total = np.concatenate([[0.0], np.cumsum(steps)])
        long = paths.lengths > 0
        lengths = np.zeros(size(X))
        lengths[long] = total[paths.ends[long] - 1] - total[paths.begins[long]]
        powers = np.arange(int(self.level) + 1)
        with np.errstate(over="ignore"):
            terms = lengths[:, None] ** powers / np.array([math.factorial(k) for k in powers], dtype=float)
            return np.asarray(np.sqrt((terms**2).sum(axis=1)))

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        channels = int(check_series(raw(X))[0].shape[1])
        return SignatureMap(self, channels) if self._by_features(channels) else None
