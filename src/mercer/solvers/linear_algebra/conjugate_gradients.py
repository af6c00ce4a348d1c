"""Conjugate gradients for (K + shift I) X = B on a matrix that is never formed, with a preconditioner."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer.arrays import Float64

Map = Callable[[Float64], Float64]


class ConjugateGradients:
    r"""Conjugate gradients on several right sides at once, each with steps of its own.

    The right sides share each product with the matrix, which is what costs. After every step :math:`X` and
    the residuals :math:`R = B - S X` are there to be looked at.

    Parameters
    ----------
    product : callable
        V -> S V, for a symmetric positive definite S.
    B : (n, p) array
        Right sides.
    precondition : callable
        V -> P^-1 V, with P near S and easy to invert.

    References
    ----------
    .. [1] M. R. Hestenes and E. Stiefel (1952). Methods of conjugate gradients for solving linear systems.
       *Journal of Research of the National Bureau of Standards* 49(6), 409-436.
    """

    def __init__(self, product: Map, B: Float64, precondition: Map) -> None:
        self.product, self.precondition = product, precondition
        self.X = np.zeros(B.shape)
        self.R = np.array(B, dtype=np.float64)
        self.Z = precondition(self.R)
        self.H = self.Z.copy()
        self.power = np.einsum("ij,ij->j", self.R, self.Z)
        self.n_iter = 0
        self.alphas: list[Float64] = []  # what Lanczos' tridiagonal matrix is made of
        self.betas: list[Float64] = []

    def step(self) -> None:
        """Take one step in every column that is not solved exactly yet."""
        SH = self.product(self.H)
        curvature = np.einsum("ij,ij->j", self.H, SH)
        moving = (curvature > 0) & (self.power > 0)
        length = np.where(moving, self.power / np.where(moving, curvature, 1.0), 0.0)
        self.X += self.H * length
        self.R -= SH * length
        self.Z = self.precondition(self.R)
        power = np.einsum("ij,ij->j", self.R, self.Z)
        ratio = np.where(moving, power / np.where(moving, self.power, 1.0), 0.0)
        self.H *= ratio
        self.H += self.Z
        self.power = power
        self.alphas.append(length)
        self.betas.append(ratio)
        self.n_iter += 1


class LowRankPreconditioner:
    r"""The inverse of :math:`L L^T + \alpha I` by Woodbury's formula.

    Parameters
    ----------
    L : (n, m) array
        A factor of an approximation to K.
    alpha : float
        The shift.

    References
    ----------
    .. [1] K. Cutajar, M. A. Osborne, J. P. Cunningham and M. Filippone (2016). Preconditioning kernel
       matrices. *International Conference on Machine Learning*, 2529-2538.
    """

    def __init__(self, L: Float64, alpha: float) -> None:
        self.L, self.alpha = L, alpha
        inner = L.T @ L
        inner[np.diag_indices_from(inner)] += alpha
        self._inner = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, V: Float64) -> Float64:
        """Return P^-1 V."""
        if self.L.shape[1] == 0:
            return V / self.alpha
        inner = self.L.T @ V
        if not np.isfinite(inner).all():
            raise ValueError("the values of the kernel overflow in products: scale the features")
        return np.asarray((V - self.L @ cho_solve(self._inner, inner, check_finite=False)) / self.alpha)

    @property
    def log_determinant(self) -> float:
        """The logarithm of det P."""
        n, m = self.L.shape
        inner = float(np.log(np.diagonal(self._inner[0])).sum())
        return float((n - m) * math.log(self.alpha) + 2.0 * inner)
