"""Leading eigenpairs of a symmetric matrix that is known by its products only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mercer.arrays import Float64

Product = Callable[[Float64], Float64]

OVERSAMPLING = 10  # guard vectors of a block: they need not converge, and pull the others along
MOST_BLOCKS = 8  # blocks of the basis before it is condensed to its leading part
DEPENDENT = 1e-10  # what is left of a new direction when it adds nothing


@dataclass(frozen=True)
class Eigenpairs:
    r"""The leading eigenpairs of A.

    Attributes
    ----------
    values : (k,) array
        Descending.
    vectors : (n, k) array
        Orthonormal columns; in each the entry of largest absolute value is positive.
    residuals : (k,) array
        :math:`\|A u - \lambda u\|`: an eigenvalue of A lies within that distance of :math:`\lambda`.
    n_products : int
        Products with A, whatever their number of columns.
    converged : bool
        Whether all residuals are small enough.
    """

    values: Float64
    vectors: Float64
    residuals: Float64
    n_products: int
    converged: bool


def fixed_signs(vectors: Float64) -> Float64:
    """Return 1 or -1 for each column, so that its entry of largest absolute value becomes positive.

    Of entries that rounding cannot tell apart the first one counts.

    Parameters
    ----------
    vectors : (n, k) array
        The columns.

    Returns
    -------
    (k,) array
    """
    size = np.abs(vectors)
    first = (size >= (1.0 - 1e-6) * size.max(axis=0, initial=0.0)).argmax(axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


def _norms(R: Float64) -> Float64:
    """Return the lengths of columns, however large: squares of large numbers overflow."""
    unit = float(np.abs(R).max(initial=0.0)) or 1.0
    return np.asarray(unit * np.linalg.norm(R / unit, axis=0))


def _pairs(values: Float64, vectors: Float64, residuals: Float64, count: int, converged: bool) -> Eigenpairs:
    return Eigenpairs(values, vectors * fixed_signs(vectors), residuals, count, converged)


def dense_eigenpairs(A: Float64, k: int) -> Eigenpairs:
    """Return the k leading eigenpairs of a matrix in memory, which is overwritten, by LAPACK.

    Parameters
    ----------
    A : (n, n) array
        Symmetric.
    k : int
        How many.

    Returns
    -------
    Eigenpairs
    """
    n = A.shape[0]
    copy = A.copy()
    if not np.isfinite(copy).all():
        raise ValueError("the kernel matrix is not finite: scale the features, or use precision='double'")
    subset = None if k >= n else (n - k, n - 1)
    values, vectors = scipy.linalg.eigh(copy, overwrite_a=True, subset_by_index=subset)
    values, vectors = values[::-1], np.ascontiguousarray(vectors[:, ::-1])
    residuals = _norms(A @ vectors - vectors * values)
    return _pairs(values, vectors, residuals, 0, True)


def lanczos_eigenpairs(
    product: Product, n: int, k: int, *, tol: float, max_iter: int | None, seed: np.random.Generator
) -> Eigenpairs:
    """Return the k leading eigenpairs by ARPACK's implicitly restarted Lanczos method.

    Parameters
    ----------
    product : callable
        V -> A V.
    n, k : int
        Size of A; how many, below n.
    tol : float
        Relative accuracy of the eigenvalues; 0 for machine precision.
    max_iter : int, optional
        Most restarts.
    seed : Generator
        Draws the start.

    Returns
    -------
    Eigenpairs
    """
    count = 0

    def one(v: Float64) -> Float64:
        nonlocal count
        count += 1
        return product(v.reshape(n, 1))[:, 0]

    operator = LinearOperator((n, n), matvec=one, dtype=np.float64)
    start = seed.uniform(-1.0, 1.0, n)
    if not one(start).any():  # a matrix of zeros, which ARPACK refuses
        return _pairs(np.zeros(k), np.eye(n, k), np.zeros(k), count, True)
    converged = True
    try:
        values, vectors = eigsh(operator, k, which="LA", tol=tol, maxiter=max_iter, v0=start)
    except ArpackNoConvergence as stopped:
        values, vectors = np.real(stopped.eigenvalues), np.real(stopped.eigenvectors)
        converged = False
        if values.size == 0:
            raise ValueError(f"no eigenvalue converged in max_iter={max_iter} restarts: allow more") from None
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    residuals = _norms(product(vectors) - vectors * values)
    return _pairs(values, vectors, residuals, count + 1, converged)


def krylov_eigenpairs(
    product: Product, n: int, k: int, start: Float64, *, tol: float, max_iter: int
) -> Eigenpairs:
    r"""Return the k leading eigenpairs by a block Krylov method with Rayleigh and Ritz's projection.

    The basis grows by the residuals of the leading Ritz vectors, one product with A for a whole block: for a
    matrix whose entries are computed anew for each product that is what counts. It ends when the residuals,
    computed from true products and not from a recurrence, are at most ``tol`` times the leading eigenvalue.

    Parameters
    ----------
    product : callable
        V -> A V.
    n, k : int
        Size of A; how many.
    start : (n, b) array
        First block, b >= k, random or better.
    tol : float
        Residual, relative to the leading eigenvalue.
    max_iter : int
        Most products.

    Returns
    -------
    Eigenpairs

    References
    ----------
    .. [1] C. Musco and C. Musco (2015). Randomized block Krylov methods for stronger and faster approximate
       singular value decomposition. *Advances in Neural Information Processing Systems* 28.
    .. [2] Y. Saad (2011). *Numerical Methods for Large Eigenvalue Problems*, revised edition, chapters 6-8.
       SIAM.
    """
    Q = _orthonormal(start, None)
    AQ = product(Q)
    most = max(MOST_BLOCKS * start.shape[1], 2 * start.shape[1])
    for count in range(1, max_iter + 1):
        T = Q.T @ AQ
        theta, S = scipy.linalg.eigh(0.5 * (T + T.T))
        theta, S = theta[::-1], S[:, ::-1]
        lead = min(start.shape[1], theta.size)
        ritz, image = Q @ S[:, :lead], AQ @ S[:, :lead]
        R = image - ritz * theta[:lead]
        norms = _norms(R)
        bound = tol * max(float(np.abs(theta).max()), np.finfo(np.float64).tiny)
        open_ = norms > bound
        converged = not open_[:k].any()
        fresh = np.empty((n, 0))
        if not converged and count < max_iter and Q.shape[1] < n:
            if Q.shape[1] + lead > most:
                keep = min(Q.shape[1], 2 * lead)
                Q, AQ = Q @ S[:, :keep], AQ @ S[:, :keep]
            fresh = _orthonormal(R[:, open_], Q)
        if fresh.shape[1] == 0:  # done, out of products, or the basis is invariant as far as rounding shows
            break
        Q, AQ = np.column_stack([Q, fresh]), np.column_stack([AQ, product(fresh)])
    return _pairs(theta[:k], ritz[:, :k], norms[:k], count, converged)


def _orthonormal(V: Float64, basis: Float64 | None) -> Float64:
    """Return an orthonormal basis of what the columns add to ``basis``."""
    norms = _norms(V)
    V = V[:, norms > 0.0] / norms[norms > 0.0]
    for _ in range(2):  # twice is enough
        if basis is not None:
            V = V - basis @ (basis.T @ V)
        if V.shape[1] == 0:
            return V
        Q, R, _ = scipy.linalg.qr(V, mode="economic", pivoting=True)
        V = np.ascontiguousarray(Q[:, np.abs(np.diagonal(R)) > DEPENDENT])
    return V


def leading_eigenpairs(
    product: Product,
    n: int,
    k: int,
    *,
    method: Literal["arpack", "randomized"],
    tol: float,
    max_iter: int | None,
    seed: np.random.Generator,
    start: Float64 | None = None,
) -> Eigenpairs:
    """Return the k leading eigenpairs of a matrix known by its products.

    Parameters
    ----------
    product : callable
        V -> A V for V of shape (n, any).
    n, k : int
        Size of A; how many.
    method : {"arpack", "randomized"}
        Lanczos on single vectors, or a block Krylov method.
    tol : float
        See `lanczos_eigenpairs` and `krylov_eigenpairs`.
    max_iter : int, optional
        Most restarts or products.
    seed : Generator
        Draws the start.
    start : (n, b) array, optional
        Directions that the block method is to start from.

    Returns
    -------
    Eigenpairs
    """
    if method == "arpack":
        return lanczos_eigenpairs(product, n, k, tol=tol, max_iter=max_iter, seed=seed)
    block = min(n, k + max(OVERSAMPLING, k // 4))
    if start is None:
        start = seed.standard_normal((n, block))
    elif start.shape[1] < block:
        start = np.column_stack([start, seed.standard_normal((n, block - start.shape[1]))])
    limit = math.ceil(300 + 10 * k) if max_iter is None else max_iter
    return krylov_eigenpairs(product, n, k, start, tol=tol, max_iter=limit)
