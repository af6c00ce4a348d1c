# ruff: noqa: D102  what overrides a method is documented in the base class
"""Global alignments of time series, all of them at once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.data import Array, Data, size
from mercer.kernels.series.base import PairedSeriesKernel, in_slices
from mercer.kernels.series.flat import FlatSeries
from mercer.kernels.series.medians import median_width
from mercer.kernels.series.reading import check_series
from mercer.kernels.vector import check_number


class GlobalAlignment(PairedSeriesKernel):
    r""":math:`k(x, z) = a(x, z) / \sqrt{a(x, x) \, a(z, z)}` with a the sum over all alignments.

    .. math::
        a(x, z) = \sum_{\pi} \prod_{(s, t) \in \pi} \frac{g_{st}}{2 - g_{st}}, \qquad
        g_{st} = w_{st} \, e^{-\|x_s - z_t\|^2 / (2 \sigma^2)}.

    An alignment :math:`\pi` goes from the first points of both series to the last ones, and takes a step in
    the one, the other or both at a time. Dynamic time warping looks for the best alignment, and does not give
    a positive semi-definite kernel; the sum does. Values are normalised, as the sums grow exponentially with
    the lengths; no series is too long for them.

    The weights :math:`w_{st}` are 1, or with ``triangular`` T they are :math:`\max(0, 1 - |s - t| / T)`.
    Then only points whose times differ by less than T are paired, which is quicker, and series whose lengths
    differ by T or more have the value 0.

    A pair of series costs as many operations as the product of their lengths, or (2 T - 1) times the length.

    Parameters
    ----------
    sigma : float or "median", default="median"
        Width :math:`\sigma > 0` of the Gaussian. "median" is the median distance of two points of the
        training series times the square root of the median length. Try multiples of it: a tenth to ten.
    triangular : int, default=0
        :math:`T`; 0 for no limit.

    References
    ----------
    .. [1] M. Cuturi, J.-P. Vert, O. Birkenes and T. Matsui, "A kernel for time series based on global
       alignments", IEEE International Conference on Acoustics, Speech and Signal Processing, 2007.
    .. [2] M. Cuturi, "Fast global alignment kernels", International Conference on Machine Learning, 2011.

    Examples
    --------
    >>> from mercer.kernels import GlobalAlignment
    >>> GlobalAlignment(sigma=2.0)([[1, 2, 2, 3], [1, 2, 3, 4]]).round(4).tolist()
    [[1.0, 0.6563], [0.6563, 1.0]]
    >>> GlobalAlignment(sigma=2.0, triangular=2)([[1, 2, 2, 3]], [[1, 2], [1, 2, 3]]).round(4).tolist()
    [[0.0, 0.261]]
    """

    def __init__(self, sigma: Any = "median", triangular: int = 0) -> None:
        self.sigma = sigma
        self.triangular = triangular

    @property
    def is_psd(self) -> bool | None:
        return True

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    @property
    def diagonal_bound(self) -> float | None:
        return 1.0

    @property
    def is_resolved(self) -> bool:
        return not isinstance(self.sigma, str)

    def validate(self) -> None:
        if isinstance(self.sigma, str):
            if self.sigma != "median":
                self._refuse("sigma", self.sigma, "'median' or a finite number > 0")
        else:
            check_number(self, "sigma", above=0)
        check_number(self, "triangular", least=0, integer=True)

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        if self.is_resolved:
            return self.replaced()
        return self.replaced(sigma=median_width(check_series(X), sample_weight))

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        X = super().prepare(X, like)
        key = float(self.sigma), int(self.triangular)
        if X.own is None or X.own[0] != key:
            every = np.arange(size(X))
            own = key, self._logarithms(X, X, every, every)
            X = FlatSeries(X.items, X.points, X.begins, X.ends, own)
        return X

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = super().evaluate(X, Z)
        if Z is None:
            np.fill_diagonal(K, 1.0)
        return K

    def evaluate_diag(self, X: Data) -> Array:
        return np.ones(size(X))

    def magnitude(self, X: Data) -> Array:
        # A value is a product of so many factors.
        return np.asarray(np.sqrt(np.maximum(self.prepare(X).lengths, 1.0)))

    def of_pairs(self, X: FlatSeries, Z: FlatSeries, first: Index, second: Index) -> Float64:
        assert X.own is not None, "prepare comes first"
        assert Z.own is not None, "prepare comes first"
        values = self._logarithms(X, Z, first, second)
        values -= 0.5 * X.own[1][first]
        values -= 0.5 * Z.own[1][second]
        return np.asarray(np.exp(values, out=values))

    def _logarithms(self, X: FlatSeries, Z: FlatSeries, first: Index, second: Index) -> Float64:
        """Return the logarithms of a(x, z), each less what depends on the lengths and cancels."""
        rate, band = 0.5 / float(self.sigma) ** 2, int(self.triangular)

        def fill(first: Index, second: Index, out: Float64) -> None:
            _jit.series_pairs.global_alignments(*X.arrays, *Z.arrays, first, second, rate, band, out)

        return in_slices(X, Z, first, second, fill)
