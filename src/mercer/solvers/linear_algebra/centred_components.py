"""Choosing an eigensolver for the centred kernel matrix, and where it starts."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.linalg

from mercer.arrays import Float64
from mercer.gram import Gram, Workers
from mercer.gram.centred import CentredGram
from mercer.solvers.linear_algebra.spectral import (
    OVERSAMPLING,
    Eigenpairs,
    dense_eigenpairs,
    leading_eigenpairs,
)

STRIPE = 512  # rows of the matrix that a thread computes at a time
DENSE_N = 200  # points up to which all eigenpairs cost nothing
LANCZOS_N = 4000  # points up to which single products with a matrix in memory are faster than blocks of them
LANCZOS_K = 20  # for so many components
DENSE_SHARE = 0.1  # share of all components from which a basis of blocks is no smaller than the matrix
LANDMARKS = 1000  # points whose own components, extended to all, are the first guess


def reachable(dtype: np.dtype[np.floating]) -> float:
    """Return the relative residual that kernel values of this precision allow.

    Parameters
    ----------
    dtype : dtype
        Of the kernel values.

    Returns
    -------
    float
    """
    return 1e-6 if dtype == np.float32 else 1e-12


def chosen_solver(asked: str, n: int, k: int, kept: bool = False) -> Literal["dense", "arpack", "randomized"]:
    """Return the eigensolver that "auto" stands for, or the one that was asked for.

    Parameters
    ----------
    asked : {"auto", "dense", "arpack", "randomized"}
        The parameter.
    n, k : int
        Points and components.
    kept : bool
        Whether the matrix is in memory.

    Returns
    -------
    str
    """
    if asked == "auto":
        if n <= DENSE_N or k > DENSE_SHARE * n:
            return "dense"
        return "arpack" if kept and n <= LANCZOS_N and k <= LANCZOS_K else "randomized"
    if asked == "arpack" and k < n:  # Lanczos' basis must be larger than what is asked of it
        return "arpack"
    return "randomized" if asked == "randomized" else "dense"


def leading_components(
    matrix: CentredGram,
    k: int,
    *,
    solver: str,
    tol: float,
    max_iter: int | None,
    seed: np.random.Generator,
) -> Eigenpairs:
    """Return the k leading eigenpairs of a centred kernel matrix.

    Parameters
    ----------
    matrix : CentredGram
        The matrix.
    k : int
        How many, at most n.
    solver : {"auto", "dense", "arpack", "randomized"}
        "dense" forms the matrix, the others need its products only.
    tol : float
        Residual relative to the leading eigenvalue; 0 for what the precision of the kernel values allows.
    max_iter : int, optional
        Most restarts ("arpack") or products ("randomized").
    seed : Generator
        Draws starts and landmarks.

    Returns
    -------
    Eigenpairs
    """
    method = chosen_solver(solver, matrix.n, k, matrix.kept)
    if method == "dense":
        return dense_eigenpairs(matrix.dense(), k)
    fine = reachable(np.dtype(np.float64) if matrix.kept else matrix.gram.dtype)
    tol = max(tol, fine)
    start = None
    if method == "randomized" and not matrix.kept:  # a pass over the matrix is dear: save some
        start = nystrom_start(matrix.gram, k + max(OVERSAMPLING, k // 4), seed, matrix.workers)
    return leading_eigenpairs(
        matrix.product, matrix.n, k, method=method, tol=tol, max_iter=max_iter, seed=seed, start=start
    )


def nystrom_start(gram: Gram, block: int, seed: np.random.Generator, workers: Workers) -> Float64:
    """Return the components of some points, extended to all: a guess that is right in its leading directions.

    Parameters
    ----------
    gram : Gram
        The matrix, not centred.
    block : int
        How many directions.
    seed : Generator
        Draws the points.
    workers : Workers
        Threads, not used by ``gram``.

    Returns
    -------
    (n, at most block) array
    """
    few = np.sort(seed.choice(gram.n, size=min(gram.n, max(LANDMARKS, 4 * block)), replace=False))
    K = gram.block(few, few).astype(np.float64)
    K = 0.5 * (K + K.T)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    m = few.size
    _, vectors = scipy.linalg.eigh(0.5 * (K + K.T), subset_by_index=(max(0, m - block), m - 1))
    vectors = np.ascontiguousarray(vectors - vectors.mean(axis=0), dtype=gram.dtype)
    out = np.empty((gram.n, vectors.shape[1]))

    def stripe(number: int) -> None:
        rows = np.arange(number * STRIPE, min((number + 1) * STRIPE, gram.n))
        out[rows] = gram.block(rows, few) @ vectors

    with workers.one_blas_thread():
        workers.each(-(-gram.n // STRIPE), stripe)
    return np.asarray(out - out.mean(axis=0))
