"""Class covariances where the pooled one is the identity: one decomposition serves every mixture of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.estimators.discriminant._checks import Floats, Ints
from mercer.estimators.discriminant._sphering import Sphering, right_singular
from mercer.estimators.discriminant._summary import ClassSummary

_EPS = float(np.finfo(np.float64).eps)


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
    center: Floats
    centroids: Floats
    values: Floats
    vectors: Floats

    def ranks(self, alpha: float, tol: float) -> Ints:
        """Rank of each class's mixture: variances above ``tol`` squared, the pooled variance being one."""
        mixed = alpha * self.values + (1.0 - alpha)
        rounding = _EPS * self.sphering.rank * mixed.max(axis=1, initial=0.0, keepdims=True)
        counts: Ints = (mixed > np.maximum(tol**2, rounding)).sum(axis=1)
        return counts

    def log_densities(self, X: Floats, alphas: Floats) -> Floats:
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


@dataclass(frozen=True)
class _Frame:
    """Coordinates x @ basis in which the pooled covariance is diagonal, and the class covariances in them."""

    basis: Floats
    variances: Floats
    class_covariances: Floats


class PooledSpectrum:
    r"""The pooled covariance shrunk toward a multiple of the identity, for every amount of shrinkage.

    .. math::
        \Sigma(\gamma) = \gamma \Sigma + (1 - \gamma) \sigma^2 I,
        \qquad \sigma^2 = \operatorname{tr} \Sigma / p.

    One eigendecomposition of :math:`\Sigma` gives them all, and the class covariances in its eigenvectors
    need only be rescaled from one :math:`\gamma` to the next. With more features than rows it is taken in the
    span of the centred rows: outside it all classes have the same mean and, for :math:`\gamma < 1`, the same
    variance, so nothing there tells them apart.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The data.
    summary : ClassSummary
        Its classes.
    tol : float
        The smallest standard deviation kept where gamma is one.
    """

    def __init__(self, X: Floats, summary: ClassSummary, tol: float) -> None:
        self.rows = summary.residual_rows(X)
        self.sigma2 = float(np.einsum("ij,ij->", self.rows, self.rows)) / X.shape[1]
        self._tol = tol
        self._summary = summary
        self._centred = X - summary.center
        self._frame: _Frame | None = None

    def spectra(self, gamma: float) -> ClassSpectra:
        """Decompose the class covariances where the pooled one at ``gamma`` is the identity."""
        if gamma == 1.0 or self.sigma2 == 0.0:
            sphering = Sphering.of_rows(self.rows, self._tol)
            return self._decompose(sphering, self._class_covariances(sphering.forward))
        if self._frame is None:
            self._frame = self._eigenframe()
        deviation = np.sqrt(gamma * self._frame.variances + (1.0 - gamma) * self.sigma2)
        sphering = Sphering(
            self._frame.basis / deviation,
            (self._frame.basis * deviation).T,
            2.0 * float(np.log(deviation).sum()),
        )
        return self._decompose(sphering, self._frame.class_covariances / np.outer(deviation, deviation))

    def _eigenframe(self) -> _Frame:
        n, p = self.rows.shape
        if p > n:
            span = np.linalg.qr(self._centred.T)[0]
            deviation, axes = right_singular(self.rows @ span, full=True)
            basis = span @ axes.T
        else:
            deviation, axes = right_singular(self.rows, full=True)
            basis = axes.T
        return _Frame(basis, deviation**2, self._class_covariances(basis))

    def _class_covariances(self, basis: Floats) -> Floats:
        projected = self.rows @ basis
        blocks = (self._summary.class_rows(projected, k) for k in range(self._summary.n_classes))
        return np.array([block.T @ block for block in blocks])

    def _decompose(self, sphering: Sphering, class_covariances: Floats) -> ClassSpectra:
        values, vectors = np.linalg.eigh(class_covariances)
        summary = self._summary
        centroids = (summary.means - summary.center) @ sphering.forward
        return ClassSpectra(sphering, summary.center, centroids, np.maximum(values, 0.0), vectors)
