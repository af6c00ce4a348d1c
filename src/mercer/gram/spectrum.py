"""An estimate of the ends of a kernel matrix's spectrum by Lanczos' method."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh_tridiagonal

from mercer.gram.base import Gram

STEPS = 40
SAMPLE = 2000


def smallest_eigenvalue(gram: Gram, steps: int = STEPS) -> tuple[float, float]:
    """Return estimates of the smallest and the largest eigenvalue of K.

    The Ritz values of ``steps`` Lanczos iterations lie inside the spectrum, so a clearly negative first value
    proves that K is indefinite. Beyond a few thousand points a sample of them is looked at.

    Parameters
    ----------
    gram : Gram
        The matrix.
    steps : int
        Iterations.

    References
    ----------
    Golub and Van Loan (2013), Matrix Computations, chapter 10.
    """
    if gram.n > SAMPLE:
        gram = gram.subset(np.unique(np.linspace(0, gram.n - 1, SAMPLE).astype(np.intp)))
    n = gram.n
    q = np.random.default_rng(0).standard_normal(n)
    q /= np.linalg.norm(q)
    basis = [q]
    alphas: list[float] = []
    betas: list[float] = []
    for _ in range(min(steps, n)):
        w = gram.matvec(basis[-1])
        alphas.append(float(w @ basis[-1]))
        Q = np.array(basis)
        for _ in range(2):  # twice is enough
            w = w - Q.T @ (Q @ w)
        beta = float(np.linalg.norm(w))
        if beta <= 1e-12 * max(1.0, abs(alphas[0])):
            break
        betas.append(beta)
        basis.append(w / beta)
    values = eigh_tridiagonal(np.array(alphas), np.array(betas[: len(alphas) - 1]), eigvals_only=True)
    return float(values[0]), float(values[-1])
