"""An estimate of the ends of a kernel matrix's spectrum by Lanczos' method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal, eigvalsh

from mercer.arrays import Float64
from mercer.gram.base import Gram

STEPS = 60
SAMPLE = 1000  # points looked at: 8 MB of kernel values
SMALL = 300  # points up to which all eigenvalues cost nothing
ROUNDING = 1e-6  # relative difference of K_ij and K_ji that single precision explains


class Spectrum(NamedTuple):
    """What is known of a kernel matrix without computing all of it."""

    smallest: float  # eigenvalue of (K + K') / 2
    largest: float
    asymmetry: float  # largest |K_ij - K_ji|, 0 when rounding explains it


def spectrum(gram: Gram, steps: int = STEPS) -> Spectrum:
    """Return estimates of the ends of K's spectrum.

    Up to a few hundred points the values are exact. Beyond, the Ritz values of ``steps`` Lanczos iterations
    lie inside the spectrum, so a clearly negative first value proves that K is indefinite; so does one of a
    sample of the points, which is all that is looked at when there are thousands (the eigenvalues of a
    principal submatrix interlace).

    Parameters
    ----------
    gram : Gram
        The matrix.
    steps : int
        Iterations.

    References
    ----------
    Golub and Van Loan (2013), Matrix Computations, chapters 8 and 10.
    """
    idx = np.unique(np.linspace(0, gram.n - 1, min(gram.n, SAMPLE)).astype(np.intp))
    K = gram.block(idx, idx).astype(np.float64)
    bad = np.argwhere(~np.isfinite(K))
    if bad.size:
        i, j = idx[bad[0]]
        raise ValueError(f"the kernel of rows {i} and {j} of X is {K[tuple(bad[0])]}: scale the features")
    difference = float(np.abs(K - K.T).max(initial=0.0))
    asymmetry = difference if difference > ROUNDING * float(np.abs(K).max(initial=0.0)) else 0.0
    K = 0.5 * (K + K.T)
    if K.shape[0] <= SMALL:
        values = eigvalsh(K)
        return Spectrum(float(values[0]), float(values[-1]), asymmetry)
    return Spectrum(*_lanczos(K, steps), asymmetry)


def _lanczos(K: Float64, steps: int) -> tuple[float, float]:
    q = np.asarray(np.random.default_rng(0).standard_normal(K.shape[0]))
    q = q / np.linalg.norm(q)
    basis: list[Float64] = [q]
    alphas: list[float] = []
    betas: list[float] = []
    for _ in range(steps):
        w: Float64 = K @ basis[-1]
        alphas.append(float(w @ basis[-1]))
        Q = np.array(basis)
        for _ in range(2):  # twice is enough
            w = w - Q.T @ (Q @ w)
        beta = float(np.linalg.norm(w))
        if beta <= 1e-12 * max(map(abs, alphas)):
            break
        betas.append(beta)
        basis.append(w / beta)
    values = eigh_tridiagonal(np.array(alphas), np.array(betas[: len(alphas) - 1]), eigvals_only=True)
    return float(values[0]), float(values[-1])
