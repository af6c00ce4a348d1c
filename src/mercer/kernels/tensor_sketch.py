r"""Sketches of polynomial kernels: products of count sketches, by the fast Fourier transform.

A count sketch adds each entry of x, with a random sign, to one of m buckets; inner products are kept on
average. That of the tensor product :math:`x \otimes \dots \otimes x`, whose inner products are powers of
:math:`\langle x, z \rangle`, is a circular convolution of independent sketches of x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.kernels.data import Array, Data, is_sparse


def draw_hashes(degree: int, width: int, buckets: int, rng: np.random.RandomState) -> tuple[Any, Any]:
    """Return the bucket and the sign of each feature, in a row for each factor."""
    return rng.randint(0, buckets, size=(degree, width)), rng.choice([-1.0, 1.0], size=(degree, width))


def hashing_matrices(index: Any, sign: Any, buckets: int) -> list[sp.csr_array]:
    """Return the matrices of the count sketches."""
    width = index.shape[1]
    places = np.arange(width)
    return [sp.csr_array((s, (places, i)), shape=(width, buckets)) for i, s in zip(index, sign, strict=True)]


def overflows(X: Data, gamma: float, coef0: float, degree: int) -> bool:
    """Return whether a sketch may exceed float64: each wave is at most the sum of what is counted."""
    sums = np.asarray(abs(X).sum(axis=1, dtype=np.float64)).ravel() if X.shape[0] else np.zeros(1)
    largest = float(np.sqrt(gamma)) * float(sums.max()) + float(np.sqrt(coef0))
    return not degree * np.log(max(largest, 1.0)) < np.log(np.finfo(np.float64).max)


def sketch(X: Data, matrices: list[sp.csr_array], gamma: float, coef0: float) -> Array:
    """Return the sketch of (gamma <x, z> + coef0)^degree; the last row of each matrix is the constant's."""
    product: Any = None
    for S in matrices:
        counts: Any = (X @ S[:-1]) * np.sqrt(gamma)
        counts = np.asarray(counts.toarray() if is_sparse(counts) else counts)
        if coef0:
            counts = counts + np.sqrt(coef0) * S[[-1]].toarray()
        waves = np.fft.rfft(counts, axis=1)
        product = waves if product is None else product * waves
    return np.asarray(np.fft.irfft(product, n=matrices[0].shape[1], axis=1))
