# ruff: noqa: D102  what overrides a method is documented in the base class
"""Dynamic time warping: the best alignment of two time series."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.kernels.data import Data
from mercer.kernels.series.base import PairedSeriesKernel, in_slices
from mercer.kernels.series.flat import FlatSeries
from mercer.kernels.series.medians import of_positive, some_series
from mercer.kernels.series.reading import check_series
from mercer.kernels.vector import check_number

SERIES = 48  # whose distances decide what "median" is


class DTW(PairedSeriesKernel):
    r""":math:`k(x, z) = e^{-\gamma \, d(x, z)}` with d the cost of the best alignment of two series.

    .. math::
        d(x, z) = \min_{\pi} \sum_{(s, t) \in \pi} \|x_s - z_t\|^2,

    over all alignments :math:`\pi` that go from the first points of both series to the last ones, and take a
    step in the one, the other or both at a time (dynamic time warping).

    The kernel is **not positive semi-definite**: d is no squared distance in any space. Fits measure how far
    from definite the matrix is, warn, and end at a stationary point; ``DTW().clipped()`` or ``.shifted()``
    make it definite. `GlobalAlignment` needs none of this.

    Parameters
    ----------
    gamma : float or "median", default="median"
        :math:`\gamma > 0`. "median" is 1 over the median of d between training series.
    window : int or None, default=None
        Largest difference of two times that are paired (the Sakoe-Chiba band), beyond the difference of the
        lengths; None for no limit.
    root : bool, default=False
        Whether d is the square root of the sum.

    References
    ----------
    .. [1] H. Sakoe and S. Chiba, "Dynamic programming algorithm optimization for spoken word recognition",
       IEEE Transactions on Acoustics, Speech, and Signal Processing 26, 1978.
    .. [2] C. Bahlmann, B. Haasdonk and H. Burkhardt, "On-line handwriting recognition with support vector
       machines: a kernel approach", International Workshop on Frontiers in Handwriting Recognition, 2002.

    Examples
    --------
    >>> from mercer.kernels import DTW
    >>> DTW(gamma=0.5)([[1, 2, 3], [1, 2, 2, 3], [1, 2, 4]]).round(4).tolist()
    [[1.0, 1.0, 0.6065], [1.0, 1.0, 0.6065], [0.6065, 0.6065, 1.0]]
    """

    def __init__(self, gamma: Any = "median", window: int | None = None, root: bool = False) -> None:
        self.gamma = gamma
        self.window = window
        self.root = root

    @property
    def is_psd(self) -> bool | None:
        return None

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    @property
    def diagonal_bound(self) -> float | None:
        return 1.0

    @property
    def is_resolved(self) -> bool:
        return not isinstance(self.gamma, str)

    def validate(self) -> None:
        if isinstance(self.gamma, str):
            if self.gamma != "median":
                self._refuse("gamma", self.gamma, "'median' or a finite number > 0")
        else:
            check_number(self, "gamma", above=0)
        if self.window is not None:
            check_number(self, "window", least=0, integer=True)
        if self.root not in (True, False):
            self._refuse("root", self.root, "True or False")

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        if self.is_resolved:
            return self.replaced()
        items = check_series(X)
        chosen, weights = some_series(len(items), sample_weight, SERIES)
        some = FlatSeries.of([items[i] for i in chosen])
        first, second = np.triu_indices(chosen.size, 1)
        middle = of_positive(self.distances(some, some, first, second), weights[first] * weights[second])
        return self.replaced(gamma=1.0 if middle is None else 1.0 / middle)

    def of_pairs(self, X: FlatSeries, Z: FlatSeries, first: Index, second: Index) -> Float64:
        values = self.distances(X, Z, first, second)
        values *= -float(self.gamma)
        return np.asarray(np.exp(values, out=values))

    def distances(self, X: FlatSeries, Z: FlatSeries, first: Index, second: Index) -> Float64:
        """Return d of pairs of series."""
        window = -1 if self.window is None else int(self.window)

        def fill(first: Index, second: Index, out: Float64) -> None:
            _jit.series_warping.warping_costs(*X.arrays, *Z.arrays, first, second, window, out)

        costs = in_slices(X, Z, first, second, fill)
        return np.asarray(np.sqrt(costs, out=costs)) if self.root else costs
