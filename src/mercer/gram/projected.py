# ruff: noqa: D102  what overrides a method is documented in the base class
"""A kernel matrix as it acts on the coefficients that are orthogonal to some columns."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import UNIT, Gram
from mercer.gram.tiled import TiledProduct
from mercer.threads import Workers


class ProjectedGram(Gram):
    r"""The matrix :math:`\tilde K = \Pi^T K \Pi` with :math:`\Pi = I - V B^T` and :math:`B^T V = I`.

    :math:`\Pi` leaves a vector with :math:`B^T \beta = 0` as it is and maps every other to such a one. So
    :math:`\beta^T \tilde K \beta = \beta^T K \beta` where :math:`B^T \beta = 0`, and :math:`\tilde K` is
    positive semi-definite everywhere if K is so there. It differs from K by a matrix of rank 2 m,

    .. math:: \tilde K = K - B H^T - H B^T, \qquad H = K V - \tfrac12 B (V^T K V),

    and :math:`K \beta = \tilde K \beta + B H^T \beta` where :math:`B^T \beta = 0`.

    Parameters
    ----------
    gram : Gram
        K, symmetric.
    B, V : (n, m) float64
        The columns, and a dual basis of theirs.
    """

    def __init__(self, gram: Gram, B: Float64, V: Float64) -> None:
        KV = TiledProduct(gram.exact(), Workers(1))(V)
        self._take(gram, B, KV - 0.5 * B @ (V.T @ KV))

    def _take(self, gram: Gram, B: Float64, H: Float64) -> None:
        self.gram, self.B, self.H = gram, B, H
        self.n = gram.n
        self.dtype = gram.dtype
        self.is_psd = gram.is_psd
        self.independent_subsets = gram.independent_subsets

    @classmethod
    def _made(cls, gram: Gram, B: Float64, H: Float64) -> ProjectedGram:
        made = object.__new__(cls)
        made._take(gram, B, H)
        return made

    @property
    def evaluations(self) -> int:  # type: ignore[override]
        """Kernel values computed so far."""
        return self.gram.evaluations

    def diag(self) -> Float64:
        return np.asarray(self.gram.diag() - 2.0 * np.einsum("im,im->i", self.B, self.H))

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        # In float64: in single precision the columns' part, which may be large, would drown the rest.
        part = np.asarray(self.gram.block(idx, jdx), dtype=np.float64)
        part = part - self.B[idx] @ self.H[jdx].T
        part -= self.H[idx] @ self.B[jdx].T
        if out is None:
            return part.astype(self.dtype, copy=False)
        out[...] = part
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        self.gram.add_product(idx, coef, out)
        out -= self.B @ (self.H[idx].T @ coef) + self.H @ (self.B[idx].T @ coef)

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else ProjectedGram._made(exact, self.B, self.H)

    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        return ProjectedGram._made(self.gram.subset(idx, workers), self.B[idx], self.H[idx])

    def noise(self, coef: Float64) -> Float64:
        """Return a bound on the rounding error of products, that of the columns' part included."""
        size = np.abs(coef) if coef.ndim == 1 else np.add.reduce(np.abs(coef), axis=1)
        B, H = np.abs(self.B), np.abs(self.H)
        diagonal = np.abs(self.diag())
        root = np.sqrt(diagonal)
        noise = (UNIT * float(size @ root)) * root
        return np.asarray(noise + UNIT * (B @ (size @ H) + H @ (size @ B)))

    def astray(self, coef: Float64) -> Float64:
        r"""Return :math:`H B^T \beta`, which K beta has besides where the equalities hold only nearly."""
        return np.asarray(self.H @ (self.B.T @ coef))

    def left_out(self, coef: Float64) -> Float64:
        r"""Return :math:`H^T \beta`: K beta is what this matrix gives plus B times these."""
        return np.asarray(self.H.T @ coef)
