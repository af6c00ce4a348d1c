# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels on histograms: non-negative features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer import _jit
from mercer.kernels.additive import ExponentialKernel, PairwiseKernel
from mercer.kernels.data import Array, Data, estimator_name, is_sparse


class _HistogramKernel(PairwiseKernel):
    """A kernel on non-negative data."""

    @property
    def requires_positive(self) -> bool:
        return True

    def check_domain(self, X: Data, estimator: Any = None) -> None:
        values = X.data if is_sparse(X) else X
        lowest = values.min() if values.size else 0.0
        if lowest < 0:
            own = type(self).__name__
            whom = own if estimator is None else f"{estimator_name(estimator)} ({own} kernel)"
            raise ValueError(
                f"Negative values in data passed to {whom}: the smallest is {float(lowest):g}, but all "
                "values must be >= 0."
            )


class Chi2(_HistogramKernel, ExponentialKernel):
    r""":math:`k(x, z) = \exp\left(-\gamma \sum_j \frac{(x_j - z_j)^2}{x_j + z_j}\right)`, with 0/0 = 0.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        The inverse width. "scale" is 1 / (n_features * standard deviation of all entries of X), because the
        statistic grows linearly with the data.

    References
    ----------
    .. [1] J. Zhang, M. Marszalek, S. Lazebnik and C. Schmid, "Local features and kernels for classification
       of texture and object categories", International Journal of Computer Vision 73, 2007.
    """

    name = "chi2"
    homogeneity = 1

    def __init__(self, gamma: Any = 1.0) -> None:
        self.gamma = gamma

    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        _jit.pairwise.chi2(X, Zt, np.finfo(X.dtype).tiny, out)


class AdditiveChi2(_HistogramKernel):
    r""":math:`k(x, z) = -\sum_j \frac{(x_j - z_j)^2}{x_j + z_j}`, with 0/0 = 0.

    Conditionally positive definite: :math:`\sum_{ij} c_i c_j k(x_i, x_j) \ge 0` only for coefficients that
    sum to 0. Machines with an intercept ask for no more than that, and the centred form
    ``AdditiveChi2().centered()`` is positive semi-definite; this kernel itself is not.

    References
    ----------
    .. [1] J. Zhang, M. Marszalek, S. Lazebnik and C. Schmid, "Local features and kernels for classification
       of texture and object categories", International Journal of Computer Vision 73, 2007.
    """

    name = "additive_chi2"
    is_distance: ClassVar[bool] = True

    def __init__(self) -> None:
        pass

    @property
    def is_psd(self) -> bool | None:
        return False

    @property
    def is_nonnegative(self) -> bool | None:
        return False

    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        _jit.pairwise.chi2(X, Zt, np.finfo(X.dtype).tiny, out)

    def elementwise(self, S: Array) -> Array:
        return np.subtract(0.0, S, out=S)  # not -0.0


class HistogramIntersection(_HistogramKernel):
    r""":math:`k(x, z) = \sum_j \min(x_j, z_j)`.

    Positive semi-definite on non-negative data: :math:`\min(s, t) = \int_0^\infty [u < s][u < t] du`.

    References
    ----------
    .. [1] A. Barla, F. Odone and A. Verri, "Histogram intersection kernel for image classification",
       International Conference on Image Processing, 2003.
    """

    name = "histogram_intersection"

    def __init__(self) -> None:
        pass

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        _jit.pairwise.minimum(X, Zt, out)

    def evaluate_diag(self, X: Data) -> Array:
        return np.asarray(X.sum(axis=1)).ravel()
