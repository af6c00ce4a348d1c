"""A symmetric matrix in tridiagonal form, from which the systems of all shifts are solved at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal, lapack, solveh_banded

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram import Workers

BLOCK = 64  # columns that LAPACK works on together


def unit_of(entries: Float64) -> float:
    """Return a power of two as large as the entries: LAPACK squares them, and stops at absolute errors."""
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
    return float(np.ldexp(1.0, int(np.clip(np.frexp(largest)[1], -1000, 1000)))) if largest > 0 else 0.0


@dataclass(frozen=True)
class Tridiagonal:
    r"""A matrix :math:`M = Q T Q^T`, T tridiagonal and Q orthogonal.

    What eigenvectors are good for here, shifts of the diagonal, T is good for too, and it costs half as much.

    Attributes
    ----------
    diagonal, off : (n,), (n - 1,) array
        Of T.
    Q : (n, n) array
        Counting columns first.

    References
    ----------
    .. [1] L. Elden (1984). A note on the computation of the generalized cross-validation function for
       ill-conditioned least squares problems. *BIT* 24, 467-472.
    """

    diagonal: Float64
    off: Float64
    Q: Float64

    @classmethod
    def of(cls, M: Float64) -> Tridiagonal:
        """Return the form of a symmetric matrix, which is overwritten.

        Parameters
        ----------
        M : (n, n) array
            Symmetric.

        Returns
        -------
        Tridiagonal
        """
        n = M.shape[0]
        work = max(1, BLOCK * n)
        # The transpose of a symmetric matrix is itself, and counts columns first.
        unit = unit_of(M) or 1.0
        M /= unit
        c, diagonal, off, tau, _ = lapack.dsytrd(M.T, lower=1, lwork=work, overwrite_a=1)
        diagonal, off = unit * diagonal, unit * off
        if n == 1:
            return cls(diagonal, off, np.ones((1, 1), order="F"))
        Q, _ = lapack.dorghr(c, tau, lwork=work, overwrite_a=1)
        return cls(diagonal, off, Q)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue."""
        last = self.diagonal.size - 1
        unit = max(unit_of(self.diagonal), unit_of(self.off)) or 1.0
        diagonal, off = self.diagonal / unit, self.off / unit
        low, high = (
            float(eigvalsh_tridiagonal(diagonal, off, select="i", select_range=(k, k))[0]) for k in (0, last)
        )
        return unit * low, unit * high

    @property
    def noise(self) -> float:
        """Eigenvalues below this are rounding."""
        return self.diagonal.size * np.finfo(np.float64).eps * max(map(abs, self.ends))

    def solve(self, B: Float64, shifts: Float64) -> Float64:
        """Return (M + shift I)^-1 B for each shift.

        Parameters
        ----------
        B : (n, p) array
            Right sides.
        shifts : (g,) array
            Such that M + shift I is positive definite.

        Returns
        -------
        (n, p, g) array
        """
        parts = self.Q.T @ B
        bands = np.vstack([self.diagonal, np.append(self.off, 0.0)])
        solved = np.empty((*parts.shape, shifts.size))
        for k, shift in enumerate(shifts):
            bands[0] = self.diagonal + shift
            if self.off.size == 0:  # which LAPACK's solver of tridiagonal systems refuses
                solved[:, :, k] = parts / bands[0]
            else:
                solved[:, :, k] = solveh_banded(bands, parts, lower=True, check_finite=False)
        return (self.Q @ solved.reshape(solved.shape[0], -1)).reshape(solved.shape)

    def inverse_diagonals(self, shifts: Float64, workers: Workers | None = None) -> Float64:
        """Return the diagonals of (M + shift I)^-1: O(n^2) a shift.

        Parameters
        ----------
        shifts : (g,) array
            Such that M + shift I is positive definite.
        workers : Workers, optional
            Threads; one when not given.

        Returns
        -------
        (n, g) array
        """
        n = self.diagonal.size
        pivots = self.diagonal[None, :] + shifts[:, None]
        ratios = np.zeros((shifts.size, n))
        for j in range(1, n):
            ratios[:, j] = self.off[j - 1] / pivots[:, j - 1]
            pivots[:, j] -= ratios[:, j] * self.off[j - 1]
        out = np.zeros((shifts.size, n))
        weights = 1.0 / pivots

        def rows(start: int, stop: int) -> None:
            _jit.tridiagonal.add_squares(self.Q.T, ratios, weights, start, stop, out)

        (workers or Workers(1)).ranges(n, rows, align=_jit.tridiagonal.STRIPE)
        return np.ascontiguousarray(out.T)
