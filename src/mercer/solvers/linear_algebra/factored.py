"""A symmetric positive definite system in memory: Cholesky's factor, its condition, refined solutions."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg import LinAlgError, blas, lapack

from mercer.arrays import Float64

WORST = 1e14  # condition from which hardly a digit of a solution is certain
NOT_FINITE = "the kernel matrix holds NaN or infinity: scale the features, or fix the kernel"
ROUNDS = 2  # of refinement


class Factored:
    r"""A matrix S = K + shift I and its Cholesky factor, in the memory of one matrix.

    The factor takes one triangle, S keeps the other: residuals, which refine solutions and prove how good
    they are, need no second matrix.

    Parameters
    ----------
    K : (n, n) float64 array
        Symmetric; it is overwritten.
    shift : float or (n,) array
        Added to the diagonal.

    Raises
    ------
    LinAlgError
        If S is not positive definite to working precision.

    References
    ----------
    .. [1] N. J. Higham (2002). *Accuracy and Stability of Numerical Algorithms*, chapters 10, 12 and 15.
       SIAM.
    """

    def __init__(self, K: Float64, shift: float | Float64) -> None:
        S = K.T if K.flags.c_contiguous else K  # LAPACK counts columns first; S is symmetric
        S.ravel(order="K")[:: S.shape[0] + 1] += shift
        self._diag = np.diagonal(S).copy()
        norm = float(scipy.linalg.norm(S, 1, check_finite=False))
        if not np.isfinite(norm):
            raise ValueError(NOT_FINITE)
        self._S, info = lapack.dpotrf(S, lower=1, clean=0, overwrite_a=1)
        if info > 0:
            raise LinAlgError(f"the leading minor of order {info} is not positive definite")
        rcond, _ = lapack.dpocon(self._S, norm, uplo="L")
        self.condition = 1.0 / rcond if rcond > 0 else np.inf

    @property
    def log_determinant(self) -> float:
        """The logarithm of det S."""
        return 2.0 * float(np.log(np.diagonal(self._S)).sum())

    def times(self, V: Float64) -> Float64:
        """Return S V."""
        out = blas.dsymm(1.0, self._S, V, lower=0)
        out += (self._diag - np.diagonal(self._S))[:, None] * V  # this triangle's diagonal is the factor's
        return np.asarray(out)

    def solve(self, B: Float64, *, refine: bool = True) -> Float64:
        """Return S^-1 B, refined until the residual stops falling.

        Parameters
        ----------
        B : (n, p) array
            Right sides.
        refine : bool
            Whether to look at the residual at all.

        Returns
        -------
        (n, p) array
        """
        X = self._solve(B)
        if not refine:
            return X
        residual = B - self.times(X)
        for _ in range(ROUNDS):
            better = X + self._solve(residual)
            left = B - self.times(better)
            if not np.linalg.norm(left) < 0.5 * np.linalg.norm(residual):
                break
            X, residual = better, left
        return X

    def _solve(self, B: Float64) -> Float64:
        X, _ = lapack.dpotrs(self._S, B, lower=1)
        return np.asarray(X)

    def half_solve(self, B: Float64) -> Float64:
        """Return L^-1 B, whose columns' squared lengths are b' S^-1 b."""
        return np.asarray(blas.dtrsm(1.0, self._S, B, lower=1))

    def inverse_triangle(self, *, overwrite: bool = False) -> Float64:
        """Return S^-1 in the lower triangle of an array, whose upper triangle holds nothing; O(n^3).

        Parameters
        ----------
        overwrite : bool
            Whether this object's own memory may be used, and itself never again.

        Returns
        -------
        (n, n) array
            Counting columns first.
        """
        out, _ = lapack.dpotri(self._S, lower=1, overwrite_c=overwrite)
        return np.asarray(out)

    def triangle(self) -> Float64:
        """Return Cholesky's factor, with zeros above its diagonal."""
        return np.tril(self._S)

    def inverse_diagonal(self) -> Float64:
        """Return the diagonal of S^-1."""
        return np.diagonal(self.inverse_triangle()).copy()
