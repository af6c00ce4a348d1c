r"""The thin slab around some axes through the mean of points in feature space.

With F = K(x, X) [a, p], the inner products of x with the axes v_j = sum_i a_ij phi(x_i) and with the mean
mu = sum_i p_i phi(x_i), the squared distance of x from the plane mu + span(v_1, ..., v_k) is

    k(x, x) - 2 F_mu + mu'mu - sum_j (F_j - <v_j, mu>)^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64

AXES_ROUNDING = 1e-11  # by which two ways of computing a residual may differ, relative to the variance
ROUNDING = 64 * float(np.finfo(np.float64).eps)  # and relative to the terms that it is a difference of


@dataclass(frozen=True)
class Slab:
    """The x whose squared distance from a plane is at most ``squared_width``.

    Attributes
    ----------
    offsets : (k,) float64
        <v_j, mu>.
    mean_norm : float
        mu'mu.
    squared_width : float
        The threshold.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remark 7.15.
    """

    offsets: Float64
    mean_norm: float
    squared_width: float


def residuals(F: Float64, diag: Float64, offsets: Float64, mean_norm: float) -> Float64:
    """Return squared distances from the plane, given F = K(x, X) [a, p] and diag = k(x, x)."""
    along = F[:, :-1] - offsets
    rest = diag - 2.0 * F[:, -1] + mean_norm - np.einsum("ij,ij->i", along, along)
    return np.asarray(np.maximum(rest, 0.0))


def thinnest_slab(products: Float64, diag: Float64, p: Float64, share: float) -> Slab:
    """Return the thinnest slab that leaves out at most a share of the weight.

    Parameters
    ----------
    products : (n, k + 1) float64
        F of the training points.
    diag : (n,) float64
        k(x_i, x_i).
    p : (n,) float64
        Weights that sum to 1.
    share : float
        Share of the weight that may lie outside.
    """
    moments = p @ products
    offsets, mean_norm = moments[:-1], float(moments[-1])
    width = _upper_quantile(residuals(products, diag, offsets, mean_norm), p, share)
    spread = max(float(p @ diag) - mean_norm, 0.0)
    # A residual is a difference of terms of this size: without any spread, only their rounding is left.
    size = float((np.abs(diag) + abs(mean_norm)).max())
    return Slab(offsets, mean_norm, width + AXES_ROUNDING * spread + ROUNDING * size)


def _upper_quantile(values: Float64, p: Float64, share: float) -> float:
    """Return the least of the values that at most ``share`` of the weight exceeds."""
    order = np.argsort(values)[::-1]
    above = np.concatenate([[0.0], np.cumsum(p[order])[:-1]])
    return float(values[order][above <= share * (1 + 1e-12)][-1])
