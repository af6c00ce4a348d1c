"""The linear system of a Newton step, by Cholesky's factor or by conjugate gradients.

With G G' the curvature of the loss (one column of G for each unknown, see ``Root``), a step solves

    (I + G'K G) u = G'r - T bias,    T'u = s

T = G'1 being the unknowns' effect on the bias, which is the multiplier of the sum. Points without curvature
are not in it; the matrix is at least the identity, whatever K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from mercer.problems.risk import Root
from mercer.solvers.risk.products import Products

Float64 = NDArray[np.float64]

JITTER = 1e-14  # first addition to a matrix that rounding made indefinite, relative to its largest entry
LEAST_RANK, MOST_RANK = 50, 1000  # of the low-rank preconditioner
PREPARATION = 30  # products with K that preparing it for a step may cost
PATIENCE = 400  # iterations of conjugate gradients


@dataclass(frozen=True)
class Step:
    """A solution: the unknowns, the change of the bias, what is known of the condition, whether it is good.

    ``condition`` is nan where nothing is known of it; ``reached`` says whether the tolerance was met.
    """

    u: Float64
    bias: Float64
    condition: float
    reached: bool


def _multiplier(S: Float64, wanted: Float64) -> Float64:
    """Solve S x = wanted for a semi-definite S of a few rows whose null space does not matter."""
    values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ wanted) / values[kept]))


def direct(products: Products, root: Root, right: Float64, sums: Float64 | None) -> Step:
    """Solve by Cholesky's factor of the matrix of all unknowns.

    Parameters
    ----------
    products : Products
        K.
    root : Root
        G.
    right : (N,) float64
        G'r.
    sums : (outputs,) float64 or None
        s; None without a bias.
    """
    B = products.block(root.point, root.point)
    B *= root.T @ root.T.T
    B.flat[:: B.shape[0] + 1] += 1.0
    norm = float(np.abs(B).sum(axis=0).max(initial=1.0))
    factor, trusted = _factor(B, norm)
    rcond, _ = lapack.dpocon(factor[0], norm, uplo="L")
    condition = (1.0 / rcond if rcond > 0 else np.inf) if trusted else np.inf
    if sums is None:
        return Step(np.asarray(cho_solve(factor, right)), np.zeros(root.T.shape[1]), condition, trusted)
    X = np.asarray(cho_solve(factor, np.column_stack([right, root.T])))
    bias = _multiplier(root.T.T @ X[:, 1:], root.T.T @ X[:, 0] - sums)
    return Step(X[:, 0] - X[:, 1:] @ bias, bias, condition, trusted)


def _factor(B: Float64, norm: float) -> tuple[tuple[Float64, bool], bool]:
    """Return Cholesky's factor, of a shifted matrix where rounding made it indefinite."""
    shift = 0.0
    while True:
        A = B if shift == 0.0 else B + shift * np.eye(B.shape[0])
        try:
            return cho_factor(A, lower=True, check_finite=False), shift == 0.0
        except np.linalg.LinAlgError:
            shift = JITTER * norm if shift == 0.0 else 100.0 * shift
            if shift > norm:
                raise


def full_rank(n: int) -> int:
    """Return the rank at which preparing the preconditioner costs as much as some products with K."""
    return int(np.clip(math.sqrt(PREPARATION * n), LEAST_RANK, MOST_RANK))


class Landmarks:
    r"""A factor of :math:`K \approx F F^T` through a few points (Nystrom), the same for all steps of a solve.

    Parameters
    ----------
    products : Products
        K.
    rank : int
        Number of points.
    """

    def __init__(self, products: Products, rank: int) -> None:
        n = products.n
        rank = max(1, min(rank, n))
        chosen = np.sort(np.random.default_rng(0).choice(n, rank, replace=False))
        C = products.block(np.arange(n), chosen)
        A = 0.5 * (C[chosen] + C[chosen].T)
        A.flat[:: rank + 1] += 1e-10 * max(float(np.trace(A)) / rank, 1e-300)
        values, vectors = np.linalg.eigh(A)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        self.F = np.asarray(C @ (vectors[:, kept] / np.sqrt(values[kept])))


def preconditioner(landmarks: Landmarks, root: Root) -> Callable[[Float64], Float64]:
    """Return the inverse of I + G'F F'G, by Woodbury's formula."""
    N, q = root.T.shape
    most = max(1, min(full_rank(landmarks.F.shape[0]) // q, landmarks.F.shape[1]))
    F = landmarks.F[:, -most:]  # the largest eigenvalues stand last
    Z = (root.T[:, :, None] * F[root.point][:, None, :]).reshape(N, q * F.shape[1])
    M = Z.T @ Z
    M.flat[:: M.shape[0] + 1] += 1.0
    L = np.linalg.cholesky(M)

    def apply(v: Float64) -> Float64:
        half = solve_triangular(L, Z.T @ v, lower=True, check_finite=False)
        return np.asarray(v - Z @ solve_triangular(L, half, lower=True, trans="T", check_finite=False))

    return apply


def conjugate_gradients(
    products: Products,
    root: Root,
    right: Float64,
    sums: Float64 | None,
    landmarks: Landmarks,
    tol: float,
    should_stop: Callable[[], bool],
) -> Step:
    """Solve by preconditioned conjugate gradients on the unknowns whose sums are fixed.

    Parameters
    ----------
    products, root, right, sums
        As for :func:`direct`.
    landmarks : Landmarks
        Of the preconditioner.
    tol : float
        Size of the residual, in the preconditioner's norm and relative to the first, at which to stop.
    should_stop : callable
        Asked after each product.

    References
    ----------
    .. [1] N. I. M. Gould, M. E. Hribar and J. Nocedal (2001). On the solution of equality constrained
       quadratic programming problems arising in optimization. *SIAM Journal on Scientific Computing* 23.
    """
    T, n = root.T, products.n
    inverse = preconditioner(landmarks, root)
    MT = np.column_stack([inverse(T[:, m]) for m in range(T.shape[1])]) if sums is not None else None
    S = T.T @ MT if MT is not None else None

    def times(u: Float64) -> Float64:
        return u + root.transposed_times(products.rough(root.times(u, n)))

    def projected(rho: Float64) -> tuple[Float64, Float64]:
        z = inverse(rho)
        if MT is None or S is None:
            return z, np.zeros(T.shape[1])
        multiplier = _multiplier(S, T.T @ z)
        return z - MT @ multiplier, multiplier

    u = np.zeros(T.shape[0])
    if MT is not None and S is not None and sums is not None:
        u = MT @ _multiplier(S, sums)
    rho = right - times(u) if u.any() else right.copy()
    z, bias = projected(rho)
    direction = z
    size = first = float(rho @ z)
    reached = first <= 0.0
    for _ in range(PATIENCE):
        if size <= tol * tol * first:
            reached = True
            break
        if should_stop():
            break
        product = times(direction)
        curvature = float(direction @ product)
        if not curvature > 0.0:
            break
        step = size / curvature
        u = u + step * direction
        rho = rho - step * product
        z, bias = projected(rho)
        new = float(rho @ z)
        direction = z + (new / size) * direction
        size = new
    return Step(u, bias, float("nan"), reached)
