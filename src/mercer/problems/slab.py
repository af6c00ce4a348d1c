"""The thin slab around the first principal axes of points in feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from mercer.gram import Gram

Float64 = NDArray[np.float64]

DENSE = 1500  # points up to which the whole matrix is decomposed
RANK = 1e-12  # variance of an axis, relative to the first, below which there is no axis
ROUNDING = 1e-11  # by which two ways of computing a residual may differ, relative to the variance


@dataclass(frozen=True)
class Slab:
    r"""The x whose squared distance from the plane mu + span(v_1, ..., v_k) is at most ``squared_width``.

    mu = sum_i p_i phi(x_i) is the mean and v_j = sum_i a_ij phi(x_i) are the first k principal axes. With
    F = K(x, X) [a, p] the squared distance of x is

        k(x, x) - 2 F_mu + mu'mu - sum_j (F_j - <v_j, mu>)^2

    Attributes
    ----------
    coef : (n, k + 1) float64
        [a, p].
    offsets : (k,) float64
        <v_j, mu>.
    mean_norm : float
        mu'mu.
    variances : (k,) float64
        Variance of the points along each axis.
    squared_width : float
        The threshold.

    References
    ----------
    Schoelkopf, Smola and Mueller (1998), Nonlinear component analysis as a kernel eigenvalue problem, Neural
    Computation 10. Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remark 7.15.
    """

    coef: Float64
    offsets: Float64
    mean_norm: float
    variances: Float64
    squared_width: float


def residuals(F: Float64, diag: Float64, offsets: Float64, mean_norm: float) -> Float64:
    """Return squared distances from a slab's plane, given F = K(x, X) coef and diag = k(x, x)."""
    along = F[:, :-1] - offsets
    rest = diag - 2.0 * F[:, -1] + mean_norm - np.einsum("ij,ij->i", along, along)
    return np.asarray(np.maximum(rest, 0.0))


def fit_slab(gram: Gram, weight: Float64, k: int, share: float) -> Slab:
    """Return the thinnest slab around the first k principal axes that leaves out a share of the weight.

    Parameters
    ----------
    gram : Gram
        The kernel matrix.
    weight : (n,) float64
        Sample weights; the mean, the axes and the share are those of the weighted points.
    k : int
        Number of axes; fewer where the points span fewer.
    share : float
        Share of the weight that may lie outside.
    """
    gram = gram.exact()
    there = np.flatnonzero(weight > 0)
    if there.size < gram.n:
        gram = gram.subset(there)
    p = weight[there] / float(weight.sum())
    row_means = gram.matvec(p)
    mean_norm = float(p @ row_means)
    variances, axes = _axes(gram, p, row_means, mean_norm, min(k, there.size - 1))
    products = [gram.matvec(np.ascontiguousarray(a)) for a in axes.T]
    offsets = np.array([float(p @ product) for product in products])
    F = np.stack([*products, row_means], axis=1)
    width = _upper_quantile(residuals(F, gram.diag(), offsets, mean_norm), p, share)
    spread = float(p @ gram.diag()) - mean_norm
    coef = np.zeros((weight.size, axes.shape[1] + 1))
    coef[there, :-1] = axes
    coef[there, -1] = p
    return Slab(coef, offsets, mean_norm, variances, width + ROUNDING * max(spread, 0.0))


def _axes(gram: Gram, p: Float64, row_means: Float64, mean_norm: float, k: int) -> tuple[Float64, Float64]:
    """Return variances (k,) and coefficients (n, k) of the principal axes, largest variance first."""
    root = np.sqrt(p)
    n = gram.n

    def centred(u: Float64) -> Float64:
        v = root * u.ravel()
        total = float(v.sum())
        return np.asarray(
            root * (gram.matvec(v) - row_means * total - float(row_means @ v) + mean_norm * total)
        )

    if k < 1:
        return np.zeros(0), np.zeros((n, 0))
    if n <= DENSE:
        everything = np.arange(n)
        K = np.asarray(gram.block(everything, everything), dtype=np.float64)
        K = K - row_means[:, None] - row_means[None, :] + mean_norm
        values, vectors = eigh(root[:, None] * K * root[None, :], subset_by_index=(n - k, n - 1))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        operator = LinearOperator((n, n), matvec=centred, dtype=np.float64)
        values, vectors = eigsh(operator, k=k, which="LA", v0=start)
    values, vectors = values[::-1], vectors[:, ::-1]
    noise = 1e-14 * float(p @ np.abs(gram.diag()))
    kept = values > max(RANK * float(values[0]), noise)
    values, vectors = values[kept], vectors[:, kept]
    axes = root[:, None] * vectors / np.sqrt(values)
    # The axes are orthogonal to the weights of the mean; what rounding leaves of that is taken out.
    axes -= p[:, None] * axes.sum(axis=0)
    return np.asarray(values), np.asarray(axes)


def _upper_quantile(values: Float64, p: Float64, share: float) -> float:
    """Return the least of the values that at most ``share`` of the weight exceeds."""
    order = np.argsort(values)[::-1]
    above = np.concatenate([[0.0], np.cumsum(p[order])[:-1]])
    # Ties count together: the weight above a value is that of strictly larger ones.
    distinct = values[order]
    good = above <= share * (1 + 1e-12)
    return float(distinct[good][-1])
