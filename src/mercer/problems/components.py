"""Principal components in feature space: what an eigendecomposition of the centred kernel matrix says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64


@dataclass(frozen=True)
class Components:
    r"""Orthonormal directions :math:`v_j = \sum_i A_{ij} \phi(x_i)` in feature space.

    With :math:`\tilde K u_j = \lambda_j u_j` and :math:`\|u_j\| = 1`, :math:`A_{ij} = u_{ij} /
    \sqrt{\lambda_j}`: then :math:`\|v_j\|^2 = u_j^T \tilde K u_j / \lambda_j = 1`. The columns of A sum to
    zero, so the mean drops out of :math:`v_j`, and

    .. math:: \langle \phi(x) - \mu, v_j \rangle = \sum_i A_{ij} k(x_i, x) - \sum_i A_{ij} m_i,
        \qquad m_i = \langle \phi(x_i), \mu \rangle.

    Attributes
    ----------
    values : (k,) array
        :math:`\lambda_j`, descending; what is rounding or negative is 0.
    vectors : (n, k) array
        :math:`u_j`.
    means : (n,) array
        m.
    mean : float
        :math:`\|\mu\|^2`.
    trace : float
        :math:`\sum_i \|\phi(x_i) - \mu\|^2`.
    """

    values: Float64
    vectors: Float64
    means: Float64
    mean: float
    trace: float

    @classmethod
    def of(
        cls, values: Float64, vectors: Float64, means: Float64, squares: Float64, *, rounding: float
    ) -> Components:
        r"""Clean eigenpairs of a centred kernel matrix.

        Parameters
        ----------
        values, vectors : (k,) and (n, k) arrays
            As an eigensolver returns them.
        means : (n,) array
            Row means of the kernel matrix before centring.
        squares : (n,) array
            Diagonal after centring.
        rounding : float
            Share of the largest eigenvalue that is rounding.

        Returns
        -------
        Components
        """
        floor = rounding * max(float(values.max(initial=0.0)), 0.0)
        clean = np.where(values > floor, values, 0.0)
        return cls(clean, vectors - vectors.mean(axis=0), means, float(means.mean()), float(squares.sum()))

    def leading(self, k: int) -> Components:
        """Return the first k of them."""
        return Components(self.values[:k], self.vectors[:, :k], self.means, self.mean, self.trace)

    @property
    def rank(self) -> int:
        """Number of components that are not zero."""
        return int((self.values > 0.0).sum())

    @property
    def coef(self) -> Float64:
        """A; zero where there is no component."""
        scale = np.zeros_like(self.values)
        np.divide(1.0, np.sqrt(self.values), out=scale, where=self.values > 0.0)
        return self.vectors * scale

    @property
    def projections(self) -> Float64:
        """Coordinates of the training points, (n, k)."""
        return np.asarray(self.vectors * np.sqrt(self.values))

    @property
    def ratio(self) -> Float64:
        """The share of the variance that each component carries."""
        return self.values / self.trace if self.trace > 0.0 else np.zeros_like(self.values)

    @property
    def unexplained(self) -> float:
        r"""The mean of :math:`\|\phi(x_i) - P \phi(x_i)\|^2` over the training points."""
        return max(0.0, self.trace - float(self.values.sum())) / self.means.size


def residual_squares(diag: Float64, row_means: Float64, mean: float, projections: Float64) -> Float64:
    r"""Return :math:`\|\phi(x) - P \phi(x)\|^2 = k(x, x) - 2 m(x) + \|\mu\|^2 - \|z\|^2` for each row.

    Parameters
    ----------
    diag : (p,) array
        k(x, x).
    row_means : (p,) array
        m(x), the mean of k(x, x_i).
    mean : float
        :math:`\|\mu\|^2`.
    projections : (p, k) array
        z.

    Returns
    -------
    (p,) array
        Not negative.
    """
    squares: Float64 = diag - 2.0 * row_means + mean - np.einsum("ij,ij->i", projections, projections)
    return np.maximum(squares, 0.0)
