"""Class covariances where the pooled one is the identity: one decomposition serves every mixture of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.problems.discriminant.spectra import ClassSpectra, Sphering
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.sphering import right_singular, sphere, sphere_products


@dataclass(frozen=True)
class _Frame:
    """Coordinates x @ basis in which the pooled covariance is diagonal, and the class covariances in them."""

    basis: Float64
    variances: Float64
    class_covariances: Float64


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

    def __init__(self, X: Float64, summary: ClassSummary, tol: float) -> None:
        self.rows = summary.residual_rows(X)
        self.sigma2 = float(np.einsum("ij,ij->", self.rows, self.rows)) / X.shape[1]
        self._tol = tol
        self._summary = summary
        self._data = X
        self._frame: _Frame | None = None

    def spectra(self, gamma: float) -> ClassSpectra:
        """Decompose the class covariances where the pooled one at ``gamma`` is the identity."""
        if gamma == 1.0 or self.sigma2 == 0.0:
            products = self._class_products()
            quick = sphere_products(products.sum(axis=0), len(self.rows), self._tol)
            if quick is not None:
                shares = self._summary.proportions[:, None, None]
                return self._decompose(quick, quick.forward.T @ (products / shares) @ quick.forward)
            sphering = sphere(self.rows, self._tol)
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
            span = np.linalg.qr((self._data - self._summary.center).T)[0]
            deviation, axes = right_singular(self.rows @ span, full=True)
            basis = span @ axes.T
        else:
            deviation, axes = right_singular(self.rows, full=True)
            basis = axes.T
        return _Frame(basis, deviation**2, self._class_covariances(basis))

    def _class_products(self) -> Float64:
        """Return each class's share of the pooled covariance."""
        blocks = (self.rows[self._summary.codes == k] for k in range(self._summary.n_classes))
        return np.array([block.T @ block for block in blocks])

    def _class_covariances(self, basis: Float64) -> Float64:
        projected, summary = self.rows @ basis, self._summary
        blocks = (projected[summary.codes == k] for k in range(summary.n_classes))
        shares = summary.proportions
        return np.array([block.T @ block / share for block, share in zip(blocks, shares, strict=True)])

    def _decompose(self, sphering: Sphering, class_covariances: Float64) -> ClassSpectra:
        values, vectors = np.linalg.eigh(class_covariances)
        summary = self._summary
        centroids = (summary.means - summary.center) @ sphering.forward
        return ClassSpectra(sphering, summary.center, centroids, np.maximum(values, 0.0), vectors)

    def covariances(self, alpha: float, gamma: float) -> list[Float64]:
        r"""Return all :math:`\alpha \Sigma_k + (1 - \alpha) \Sigma(\gamma)`, in the features' units."""
        common = gamma * (self.rows.T @ self.rows)
        common[np.diag_indices_from(common)] += (1.0 - gamma) * self.sigma2
        blocks = (self._summary.class_rows(self.rows, k) for k in range(self._summary.n_classes))
        return [alpha * (block.T @ block) + (1.0 - alpha) * common for block in blocks]


def principal_axes(covariance: Float64, k: int) -> tuple[Float64, Float64]:
    """Variances along the k leading principal axes, in descending order, and the axes as columns."""
    variances, vectors = np.linalg.eigh(covariance)
    largest_first = slice(None, -k - 1, -1)
    return variances[largest_first], vectors[:, largest_first]
