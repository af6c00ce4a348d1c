"""A Newton step: its linear system, by Cholesky's factor or by conjugate gradients, and how far to go.

With G G' the curvature of the loss (one column of G for each unknown, see ``Root``), a step solves

    (I + G'K G) u = G'r - T bias,    T'u = s

T = G'1 being the unknowns' effect on the bias, which is the multiplier of the sum. Points without curvature
are not in it; the matrix is at least the identity, whatever K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import InfeasibleError
from mercer.problems.risk import Root

JITTER = 1e-14  # first addition to a matrix that rounding made indefinite, relative to its largest entry
LEAST_RANK, MOST_RANK = 50, 1000  # of the low-rank preconditioner
PREPARATION = 30  # products with K that preparing it for a step may cost
PATIENCE = 400  # iterations of conjugate gradients
TILE = 2048  # rows worked on together
ENOUGH = 0.5  # share of the slope that may be left by a search along the step
EXPANSIONS, HALVINGS = 40, 60
FAR = 20.0  # ratio of the roots of two curvatures beyond which a factor of one is no help for the other


@dataclass(frozen=True)
class Step:
    """A solution: the unknowns, the change of the bias, what is known of the condition, whether it is good.

    ``condition`` is nan where nothing is known of it; ``reached`` says whether the tolerance was met.
    """

    u: Float64
    bias: Float64
    condition: float
    reached: bool
    factor: OldFactor | None = None


@dataclass(frozen=True)
class OldFactor:
    r"""Cholesky's factor of I + G'K G of one Newton step, as a preconditioner of later ones.

    For one function G is diagonal. With :math:`S = G_{new} / G_{old}`, :math:`S (I + G_{old} K G_{old}) S`
    differs from the new matrix in the identity alone, which is S^2 there: the eigenvalues of the
    preconditioned matrix lie between the least and the largest ratio of the curvatures, old to new, and 1.

    Attributes
    ----------
    factor : tuple
        As SciPy's.
    root : Root
        G.
    """

    factor: tuple[Float64, bool]
    root: Root

    def inverse(self, root: Root) -> Callable[[Float64], Float64] | None:
        """Return the preconditioner of another step; None where it has other unknowns or is far away."""
        if root.T.shape != self.root.T.shape or root.T.shape[1] != 1:
            return None
        if not np.array_equal(root.point, self.root.point):
            return None
        ratio = root.T[:, 0] / self.root.T[:, 0]
        if not (ratio.min() > 1.0 / FAR and ratio.max() < FAR):
            return None
        return lambda v: np.asarray(cho_solve(self.factor, v / ratio, check_finite=False) / ratio)


def _multiplier(S: Float64, wanted: Float64) -> Float64:
    """Solve S x = wanted for a semi-definite S of a few rows whose null space does not matter."""
    values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ wanted) / values[kept]))


def direct(
    matrix: Gram, root: Root, right: Float64, sums: Float64 | None, border: Float64 | None = None
) -> Step:
    """Solve by Cholesky's factor of the matrix of all unknowns.

    Parameters
    ----------
    matrix : Gram
        K.
    root : Root
        G.
    right : (N,) float64
        G'r.
    sums : (q,) float64 or None
        s; None without a bias.
    border : (N, q) float64, optional
        The unknowns' effect on these sums, where it is not T.
    """
    T = root.T if border is None else border
    if not np.isfinite(right).all():
        raise InfeasibleError(
            "the values of the kernel overflow on the way to the optimum: scale the features or the kernel "
            "matrix, or use a smaller C"
        )
    B = np.array(matrix.exact().block(root.point, root.point), dtype=np.float64)
    if root.T.shape[1] == 1:  # in place: an array of this size is dear to make
        B *= root.T
        B *= root.T[:, 0]
    else:
        B *= root.T @ root.T.T
    B.flat[:: B.shape[0] + 1] += 1.0
    norm = max(float(scipy.linalg.norm(B.T, 1, check_finite=False)), 1.0) if B.size else 1.0
    factor, trusted = _factor(B, norm)
    rcond, _ = lapack.dpocon(factor[0], norm, uplo="L")
    condition = (1.0 / rcond if rcond > 0 else np.inf) if trusted else np.inf
    if sums is None:
        u = np.asarray(cho_solve(factor, right))
        return Step(u, np.zeros(T.shape[1]), condition, trusted, OldFactor(factor, root))
    X = np.asarray(cho_solve(factor, np.column_stack([right, T])))
    bias = _multiplier(T.T @ X[:, 1:], T.T @ X[:, 0] - sums)
    return Step(X[:, 0] - X[:, 1:] @ bias, bias, condition, trusted, OldFactor(factor, root))


def _factor(B: Float64, norm: float) -> tuple[tuple[Float64, bool], bool]:
    """Return Cholesky's factor, of a shifted matrix where rounding made it indefinite."""
    shift = 0.0
    while True:
        A = B if shift == 0.0 else B + shift * np.eye(B.shape[0])
        try:
            return cho_factor(A, lower=True, check_finite=False), shift == 0.0
        except np.linalg.LinAlgError:
            shift = JITTER * norm if shift == 0.0 else 100.0 * shift
            if not shift <= 1e3 * norm < np.inf:  # a shift by the norm makes any finite matrix definite
                raise


def full_rank(n: int) -> int:
    """Return the rank at which preparing the preconditioner costs as much as some products with K."""
    return int(np.clip(math.sqrt(PREPARATION * n), LEAST_RANK, MOST_RANK))


class Landmarks:
    r"""A factor of :math:`K \approx F F^T` through a few points (Nystrom), the same for all steps of a solve.

    Parameters
    ----------
    matrix : Gram
        K.
    rank : int
        Number of points.
    """

    def __init__(self, matrix: Gram, rank: int) -> None:
        n = matrix.n
        rank = max(1, min(rank, n))
        chosen = np.sort(np.random.default_rng(0).choice(n, rank, replace=False))
        # Of all points, a matrix in memory hands out itself, which is not for writing.
        block = matrix.exact().block(np.arange(n), chosen)
        C: Float64 = np.array(block, dtype=np.float64, copy=True if rank == n else None)
        A = 0.5 * (C[chosen] + C[chosen].T)
        A.flat[:: rank + 1] += 1e-10 * max(float(np.trace(A)) / rank, 1e-300)
        values, vectors = np.linalg.eigh(A)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        turned = vectors[:, kept] / np.sqrt(values[kept])
        for start in range(0, n, TILE):  # in place: two arrays of this size would be one too many
            C[start : start + TILE, : turned.shape[1]] = C[start : start + TILE] @ turned
        self.F = C[:, : turned.shape[1]]


def preconditioner(landmarks: Landmarks, root: Root) -> Callable[[Float64], Float64]:
    """Return the inverse of I + G'F F'G, by Woodbury's formula; G'F is never formed."""
    q = root.T.shape[1]
    most = max(1, min(full_rank(landmarks.F.shape[0]) // q, landmarks.F.shape[1]))
    F = landmarks.F[:, -most:]  # the largest eigenvalues stand last
    n, m = F.shape
    blocks = np.zeros((q, m, q, m))
    for k in range(q):
        for j in range(k + 1):
            curvature = np.bincount(root.point, root.T[:, k] * root.T[:, j], minlength=n)
            for start in range(0, n, TILE):
                part = F[start : start + TILE]
                blocks[k, :, j] += part.T @ (curvature[start : start + TILE, None] * part)
            blocks[j, :, k] = blocks[k, :, j].T
    M = blocks.reshape(q * m, q * m)
    M.flat[:: M.shape[0] + 1] += 1.0
    L = np.linalg.cholesky(M)

    def apply(v: Float64) -> Float64:
        half = solve_triangular(L, (F.T @ root.times(v, n)).T.ravel(), lower=True, check_finite=False)
        whole = solve_triangular(L, half, lower=True, trans="T", check_finite=False)
        return np.asarray(v - root.transposed_times(F @ whole.reshape(q, m).T))

    return apply


def conjugate_gradients(
    matrix: Gram,
    root: Root,
    right: Float64,
    sums: Float64 | None,
    landmarks: Landmarks | Callable[[Float64], Float64],
    tol: float,
    should_stop: Callable[[], bool],
    border: Float64 | None = None,
    patience: int = PATIENCE,
) -> Step:
    """Solve by preconditioned conjugate gradients on the unknowns whose sums are fixed.

    Parameters
    ----------
    matrix, root, right, sums
        As for :func:`direct`.
    landmarks : Landmarks, or callable
        Of the preconditioner, or the preconditioner itself.
    tol : float
        Size of the residual, in the preconditioner's norm and relative to the first, at which to stop.
    should_stop : callable
        Asked after each product.
    border : (N, q) float64, optional
        As for :func:`direct`.
    patience : int
        Most iterations.

    References
    ----------
    .. [1] N. I. M. Gould, M. E. Hribar and J. Nocedal (2001). On the solution of equality constrained
       quadratic programming problems arising in optimization. *SIAM Journal on Scientific Computing* 23.
    """
    T, n = root.T if border is None else border, matrix.n
    inverse = preconditioner(landmarks, root) if isinstance(landmarks, Landmarks) else landmarks
    MT = np.column_stack([inverse(T[:, m]) for m in range(T.shape[1])]) if sums is not None else None
    S = T.T @ MT if MT is not None else None

    def times(u: Float64) -> Float64:
        return u + root.transposed_times(matrix.products(root.times(u, n)))

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
    for _ in range(patience):
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


# -- how far to go -------------------------------------------------------------------------------------------


class Slope(NamedTuple):
    """Value and slope of a convex function of the step."""

    value: float
    slope: float


def convex_search(function: Callable[[float], Slope], start: Slope) -> float:
    """Return a step at which the slope of a convex function has fallen to at most half its size.

    The full step is tried first: it is Newton's.

    Parameters
    ----------
    function : callable
        Value and slope at a step.
    start : Slope
        At step 0; its slope is negative.
    """
    low, high = 0.0, float("inf")
    step = 1.0
    for _ in range(EXPANSIONS + HALVINGS):
        here = function(step)
        if abs(here.slope) <= ENOUGH * abs(start.slope) and here.value <= start.value:
            return step
        if here.slope > 0 or not here.value < float("inf"):
            high = step
        else:
            low = step
        step = 2.0 * step if high == float("inf") else 0.5 * (low + high)
        if step > 1e12 or high - low <= 1e-14 * high:
            break
    return low if low > 0 else step
