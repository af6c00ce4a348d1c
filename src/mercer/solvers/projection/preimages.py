"""Pre-images: a fixed-point iteration for the Gaussian kernel, a regression for kernels without a formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist, pdist

from mercer.arrays import Float64
from mercer.problems.preimage import LearnedMap, expansion

TILE = 256  # points that move together


def gaussian_preimages(
    X: Any,
    widths: Any,
    coef: Float64,
    Z: Float64,
    start: Float64,
    *,
    tol: float = 1e-9,
    max_iter: int = 500,
) -> Float64:
    r"""Return approximate pre-images under the Gaussian kernel by a guarded fixed-point iteration.

    The nearest image maximises :math:`f(x) = \sum_i \gamma_i k(x, x_i)`, where a gradient of zero reads

    .. math:: x = \sum_i \gamma_i k(x, x_i) x_i \Big/ \sum_i \gamma_i k(x, x_i).

    Some :math:`\gamma_i` are negative, so a step may lead downhill: it is halved until it does not, and
    points whose sum has no sign to trust stay where they are.

    Parameters
    ----------
    X : (n, d) array or CSR
        Training points.
    widths : float or (d,) array
        The kernel is exp(-sum_j widths_j (x_j - z_j)^2).
    coef, Z : (n, k) and (p, k) arrays
        Of the targets, as in `expansion`.
    start : (p, d) array
        Where to begin.
    tol : float
        Step, relative to the spread of the data, at which a point has arrived.
    max_iter : int
        Most steps.

    Returns
    -------
    (p, d) array

    References
    ----------
    .. [1] S. Mika, B. Scholkopf, A. Smola, K.-R. Muller, M. Scholz and G. Ratsch (1999). Kernel PCA and
       de-noising in feature spaces. *Advances in Neural Information Processing Systems* 11.
    """
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    root = np.sqrt(np.broadcast_to(np.asarray(widths, dtype=np.float64), (dense.shape[1],)))
    scaled = dense * root
    spread = float(np.sqrt(scaled.var(axis=0).sum())) or 1.0
    out = np.array(start, dtype=np.float64)
    for s in range(0, out.shape[0], TILE):
        gamma = expansion(coef, Z[s : s + TILE])
        out[s : s + TILE] = _climb(dense, scaled, root, gamma, out[s : s + TILE], tol * spread, max_iter)
    return out


def _climb(
    X: Float64, scaled: Float64, root: Float64, gamma: Float64, x: Float64, tol: float, max_iter: int
) -> Float64:
    x = x.copy()
    value, target = _step(X, scaled, root, gamma, x)
    moving = np.arange(x.shape[0])
    for _ in range(max_iter):
        step = target[moving] - x[moving]
        far = np.linalg.norm(step * root, axis=1) > tol
        moving, step = moving[far], step[far]
        if moving.size == 0:
            break
        waiting = np.arange(moving.size)
        arrived = np.zeros(moving.size, dtype=bool)
        for _ in range(30):
            i = moving[waiting]
            there, then = _step(X, scaled, root, gamma[i], x[i] + step[waiting])
            up = there >= value[i]
            x[i[up]] += step[waiting[up]]
            value[i[up]], target[i[up]] = there[up], then[up]
            arrived[waiting[up]] = True
            waiting = waiting[~up]
            if waiting.size == 0:
                break
            step[waiting] *= 0.5
        moving = moving[arrived]
    return x


def _step(X: Float64, scaled: Float64, root: Float64, gamma: Float64, x: Float64) -> tuple[Float64, Float64]:
    """Return f at the points and where the fixed-point equation sends them."""
    weight = gamma * np.exp(-cdist(x * root, scaled, "sqeuclidean"))
    total = weight.sum(axis=1)
    safe = total > 1e-12 * np.abs(weight).sum(axis=1)
    target = x.copy()
    target[safe] = (weight[safe] @ X) / total[safe, None]
    return total, target


def learned_map(Z: Float64, X: Float64, alpha: float) -> LearnedMap:
    """Learn the map from coordinates to points by kernel ridge regression.

    Parameters
    ----------
    Z : (m, k) array
        Coordinates.
    X : (m, d) array
        Points.
    alpha : float
        Ridge.

    Returns
    -------
    LearnedMap
    """
    few = Z[:: max(1, len(Z) // 500)]
    typical = float(np.median(pdist(few))) if len(few) > 1 else 0.0
    width = 0.5 / typical**2 if typical > 0.0 else 1.0
    K = np.exp(-width * cdist(Z, Z, "sqeuclidean"))
    K[np.diag_indices_from(K)] += alpha
    mean = X.mean(axis=0)
    return LearnedMap(Z, scipy.linalg.solve(K, X - mean, assume_a="pos"), mean, width)


def ridge_coefficients(K: Float64, X: Float64, alpha: float) -> Float64:
    r"""Return :math:`(K + \alpha I)^{-1} X`.

    Parameters
    ----------
    K : (m, m) array
        Kernel matrix of coordinates; it is overwritten.
    X : (m, d) array
        Points.
    alpha : float
        Ridge.

    Returns
    -------
    (m, d) array
    """
    K[np.diag_indices_from(K)] += alpha
    try:
        factor = scipy.linalg.cho_factor(K, lower=True)
    except np.linalg.LinAlgError:  # an indefinite kernel, or points that coincide and no ridge
        found: Float64 = scipy.linalg.lstsq(K, X)[0]
        return found
    solved: Float64 = scipy.linalg.cho_solve(factor, X)
    return solved
