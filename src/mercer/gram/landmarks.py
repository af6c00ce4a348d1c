"""Which rows stand for all of them in Nyström's approximation of a kernel matrix."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from scipy.linalg import eigh, eigvalsh

from mercer.arrays import Float64, Index
from mercer.gram.base import Gram
from mercer.gram.incomplete_cholesky import pivoted_cholesky
from mercer.threads import Workers

PILOT = 2  # rows of a first look, in units of the landmarks asked for
TILE = 4096
SMALL = 300  # size of a matrix that one thread decomposes as fast


def uniform(gram: Gram, m: int, rng: np.random.RandomState) -> Index:
    """Return m different rows, all equally likely."""
    return np.asarray(rng.permutation(gram.n)[:m], dtype=np.intp)


def spread_out(gram: Gram, m: int, rng: np.random.RandomState) -> Index:
    """Return up to m rows, each drawn by its squared distance in feature space from those before (k-means++).

    References
    ----------
    .. [1] D. Oglic and T. Gärtner (2017). Nyström method with kernel k-means++ samples as landmarks. *ICML*,
       2652-2660.
    """
    diag, everything = gram.diag(), np.arange(gram.n)
    chosen = [int(rng.randint(gram.n))]
    left = np.full(gram.n, np.inf)
    while True:
        p = chosen[-1]
        row = np.asarray(gram.block(np.array([p]), everything)[0], dtype=np.float64)
        left = np.minimum(left, np.maximum(diag - 2.0 * row + diag[p], 0.0))
        left[p] = 0.0
        total = float(left.sum())
        if len(chosen) == m or total <= 1e-14 * float(np.abs(diag).sum()):
            return np.array(chosen, dtype=np.intp)
        chosen.append(int(rng.choice(gram.n, p=left / total)))


def by_leverage(gram: Gram, m: int, rng: np.random.RandomState) -> Index:
    r"""Return m rows, drawn by their approximate ridge leverage scores.

    The score of row i is :math:`(K (K + \lambda I)^{-1})_{ii}`: how much the others fail to explain it, up to
    the ridge at which the matrix has about m degrees of freedom. A uniform sample S of rows estimates it,

    .. math:: \tfrac{1}{\lambda} \bigl(K_{ii} - K_{iS} (K_{SS} + \tfrac{s}{n} \lambda I)^{-1} K_{Si}\bigr).

    References
    ----------
    .. [1] A. Alaoui and M. W. Mahoney (2015). Fast randomized kernel ridge regression with statistical
       guarantees. *NeurIPS*, 775-783.
    """
    n = gram.n
    s = min(n, PILOT * m)
    pilot = np.sort(uniform(gram, s, rng))
    corner = gram.exact_block(pilot, pilot)
    corner = 0.5 * (corner + corner.T)
    values, vectors = eigh(corner)
    values = np.maximum(values, 0.0)  # below 0 by rounding, or because the kernel is indefinite
    ridge = max(_ridge(values, m), 1e-12 * float(values.sum()), np.finfo(np.float64).tiny)
    root = vectors / np.sqrt(values + ridge)
    scores = np.maximum(gram.diag(), 0.0)
    for start in range(0, n, TILE):
        rows = np.arange(start, min(start + TILE, n))
        block = np.asarray(gram.block(rows, pilot), dtype=np.float64)
        explained = block @ root
        scores[rows] -= np.einsum("ij,ij->i", explained, explained)
    scores = np.maximum(scores, 1e-12 * float(scores.max(initial=0.0)))
    if not scores.sum() > 0:
        return uniform(gram, m, rng)
    # The largest of these keys are a draw without replacement in which the scores are the odds.
    keys = np.log(rng.uniform(size=n)) / np.maximum(scores, np.finfo(np.float64).tiny)
    return np.asarray(np.sort(np.argsort(keys)[-m:]), dtype=np.intp)


def _ridge(values: Float64, m: int) -> float:
    """Return the ridge at which the sum of v / (v + ridge) is half of m, of a pilot sample's eigenvalues."""
    values = values[values > 0]  # a zero adds nothing, whatever the ridge, and 0 / 0 where that is 0
    low, high = 0.0, float(values.sum()) + np.finfo(np.float64).tiny
    for _ in range(100):
        middle = 0.5 * (low + high)
        if float((values / (values + middle)).sum()) > 0.5 * m:
            low = middle
        else:
            high = middle
    return high


def greedy(gram: Gram, m: int, tol: float) -> tuple[Index, float]:
    """Return up to m rows, the worst explained one each time, and the share of the trace that is left."""
    factor = pivoted_cholesky(gram, m, tol)
    return factor.pivots, factor.residual


def inverse_root(K: Float64, least: float = 0.0) -> Float64:
    """Return the symmetric inverse square root of a kernel matrix on its numerical range.

    Parameters
    ----------
    K : (m, m) float64
        The matrix.
    least : float
        Eigenvalues below this share of the largest count as zero, too.
    """
    if not np.isfinite(K).all():
        raise ValueError("the kernel matrix of the landmarks is not finite: scale the features")
    with _blas(K):
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    share = max(least, K.shape[0] * np.finfo(np.float64).eps)
    kept = values > share * float(np.abs(values).max(initial=0.0))
    part = vectors[:, kept]
    return np.asarray((part / np.sqrt(values[kept])) @ part.T)


def spectral_norm(R: Float64) -> float:
    """Return the largest singular value of a square matrix."""
    m = R.shape[0]
    with _blas(R):
        largest = eigvalsh(R.T @ R, subset_by_index=[m - 1, m - 1], check_finite=False)
    return float(np.sqrt(max(float(largest[0]), 0.0)))


def _blas(K: Float64) -> AbstractContextManager[None]:
    """Return a scope in which a small matrix does not wake the threads of BLAS."""
    return Workers(1).one_blas_thread() if K.shape[0] <= SMALL else nullcontext()
