"""Gaussian classes in sphered coordinates, where every mixture of their covariances has the same axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64, Index

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Sphering:
    r"""A linear map A with :math:`A^T \Sigma A = I_r` for a covariance of rank r.

    Attributes
    ----------
    forward : ndarray of shape (p, r)
        A: a row x becomes x A.
    backward : ndarray of shape (r, p)
        The way back, ``backward @ forward = I``.
    log_det : float
        The logarithm of the determinant of the covariance (of its part of full rank).
    """

    forward: Float64
    backward: Float64
    log_det: float

    @property
    def rank(self) -> int:
        """The number of directions kept."""
        return int(self.forward.shape[1])

    @property
    def n_features(self) -> int:
        """The number of directions there were."""
        return int(self.forward.shape[0])


@dataclass(frozen=True)
class ClassSpectra:
    r"""Eigendecompositions of the class covariances in coordinates that sphere the pooled one.

    With :math:`A^T \Sigma A = I` let :math:`A^T \Sigma_k A = V_k \operatorname{diag}(e_k) V_k^T`. For every
    mixture :math:`\Sigma_k(\alpha) = \alpha \Sigma_k + (1 - \alpha) \Sigma` the same vectors serve, with
    eigenvalues :math:`\alpha e_k + 1 - \alpha`; a whole path over alpha costs one decomposition per class.

    Attributes
    ----------
    sphering : Sphering
        A, of rank r.
    center : ndarray of shape (p,)
        The origin of the sphered coordinates.
    centroids : ndarray of shape (K, r)
        The sphered class means.
    values : ndarray of shape (K, r)
        The eigenvalues.
    vectors : ndarray of shape (K, r, r)
        The eigenvectors of each class, as columns.
    """

    sphering: Sphering
    center: Float64
    centroids: Float64
    values: Float64
    vectors: Float64

    def ranks(self, alpha: float, tol: float) -> Index:
        """Rank of each class's mixture: variances above ``tol`` squared, the pooled variance being one."""
        mixed = alpha * self.values + (1.0 - alpha)
        rounding = 8.0 * _EPS * self.sphering.rank * mixed.max(axis=1, initial=0.0, keepdims=True)
        counts: Index = (mixed > np.maximum(tol**2, rounding)).sum(axis=1)
        return counts

    def covariances(self) -> list[Float64]:
        """Return the class covariances in the features' units, without what the sphering left out."""
        back = self.sphering.backward
        axes = [vectors.T @ back for vectors in self.vectors]
        return [one.T @ (values[:, None] * one) for values, one in zip(self.values, axes, strict=True)]

    def log_densities(self, X: Float64, alphas: Float64) -> Float64:
        r"""Gaussian log-densities up to a constant, for several mixtures at once.

        .. math:: -\tfrac12 \log |\Sigma_k(\alpha)|
                  - \tfrac12 (x - \mu_k)^T \Sigma_k(\alpha)^{-1} (x - \mu_k)

        Parameters
        ----------
        X : ndarray of shape (n, p)
            The rows.
        alphas : ndarray of shape (m,)
            The mixtures; all classes must have full rank at each.

        Returns
        -------
        densities : ndarray of shape (m, n, K)
            The logarithms.
        """
        sphered = (X - self.center) @ self.sphering.forward
        out = np.empty((len(alphas), len(X), len(self.centroids)))
        for k, centroid in enumerate(self.centroids):
            squares = ((sphered - centroid) @ self.vectors[k]) ** 2
            mixed = alphas[:, None] * self.values[k] + (1.0 - alphas[:, None])
            out[:, :, k] = (squares @ (1.0 / mixed).T + np.log(mixed).sum(axis=1)).T
        out += self.sphering.log_det
        out *= -0.5
        return out
