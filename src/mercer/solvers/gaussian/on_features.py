r"""A Gaussian process on explicit features Z of its kernel: evidence, bounds, posterior.

With landmarks, :math:`Q = Z Z^T` is a projection of K, so that :math:`K - Q` is positive semi-definite, and
the evidence of the exact process lies between two numbers that cost no more than O(n m^2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from mercer.arrays import Float64
from mercer.gram.kernel_family import TunedMember
from mercer.gram.mapped import MappedFeatures
from mercer.problems.evidence import Evidence, log_evidence


@dataclass(frozen=True)
class FeatureSums:
    r"""What the evidence of a process on features is made of.

    Attributes
    ----------
    H : (m, m) array
        :math:`Z^T Z`.
    V : (m, t) array
        :math:`Z^T Y`.
    squares : float
        The sum of all :math:`Y_{ij}^2`.
    n : int
        Number of rows.
    left : float
        The trace of :math:`K - Z Z^T` for features that are projections, 0 for others.
    """

    H: Float64
    V: Float64
    squares: float
    n: int
    left: float = 0.0

    @classmethod
    def of(cls, features: MappedFeatures, Y: Float64, diagonal: Float64 | None = None) -> FeatureSums:
        """Return the sums of features and outputs; ``diagonal`` is that of K, for projections."""
        H, V = features.explicit_sums(Y)
        left = 0.0 if diagonal is None else max(float(diagonal.sum()) - float(np.trace(H)), 0.0)
        return cls(H, V, float(np.vdot(Y, Y)), Y.shape[0], left)

    def shrunk(self, noise: float) -> Float64:
        r"""Return :math:`I + Z^T Z / \sigma^2`."""
        B = self.H / noise
        B.ravel()[:: B.shape[0] + 1] += 1.0
        return B

    def evidence(self, noise: float) -> tuple[Evidence, tuple[float, float]]:
        r"""Return the evidence, without gradient, and bounds on that of the exact process.

        The lower bound, which is the value, is Titsias' of 2009; the upper one his of 2014:

        .. math::
            \log N(y; 0, Q + \sigma^2 I) - \tfrac{1}{2 \sigma^2} \operatorname{tr}(K - Q)
            \le \log N(y; 0, K + \sigma^2 I) \le
            -\tfrac12 y^T (Q + (\sigma^2 + \operatorname{tr}(K - Q)) I)^{-1} y
            - \tfrac12 \log\det(Q + \sigma^2 I) - \tfrac n2 \log 2\pi.
        """
        t = self.V.shape[1]
        determinant = self.log_determinant(noise)
        upper, lower = self.quadratic(noise), self.quadratic(noise + self.left)
        value = log_evidence(upper, determinant, self.n, t) - 0.5 * t * self.left / noise
        most = log_evidence(lower, determinant, self.n, t)
        return Evidence(value, 0.0, lower, upper, np.zeros(0)), (value, most)

    def log_determinant(self, noise: float) -> float:
        r"""Return :math:`\log\det(Q + \sigma^2 I)`."""
        factor, _ = cho_factor(self.shrunk(noise), lower=True, check_finite=False)
        return 2.0 * float(np.log(np.diagonal(factor)).sum()) + self.n * math.log(noise)

    def quadratic(self, noise: float) -> float:
        r"""Return the trace of :math:`Y^T (Q + \sigma^2 I)^{-1} Y`."""
        factor = cho_factor(self.shrunk(noise), lower=True, check_finite=False)
        explained = float(np.vdot(self.V, cho_solve(factor, self.V, check_finite=False))) / noise
        return max(self.squares - explained, 0.0) / noise


def landmark_evidence(
    member: TunedMember,
    features: MappedFeatures,
    landmarks: Any,
    noise: float,
    Y: Float64,
) -> Evidence:
    r"""Return Titsias' lower bound on the evidence and its gradient.

    With :math:`Q = K_{nm} K_{mm}^{-1} K_{mn}`, :math:`S = Q + \sigma^2 I` and :math:`A = S^{-1} Y` the bound
    moves with the entries of Q by

    .. math:: M = \tfrac12 A A^T + \tfrac{t}{2 \sigma^4} Z (I + Z^T Z / \sigma^2)^{-1} Z^T,

    hence with those of :math:`K_{nm}` by :math:`2 M K_{nm} K_{mm}^{-1}`, with those of :math:`K_{mm}` by
    :math:`-K_{mm}^{-1} K_{mn} M K_{nm} K_{mm}^{-1}`.

    Parameters
    ----------
    member : TunedMember
        The covariance function.
    features : MappedFeatures
        Of its landmarks: kernel values times a symmetric root of the inverse of the landmarks' matrix.
    landmarks : array, CSR or sequence
        The landmarks.
    noise : float
        Variance, beside the white noise of the covariance function.
    Y : (n, t) array
        Outputs.

    References
    ----------
    .. [1] M. K. Titsias (2009). Variational learning of inducing variables in sparse Gaussian processes.
       *AISTATS*, 567-574.
    .. [2] M. K. Titsias (2014). Variational inference for Gaussian and determinantal point processes.
       *NIPS workshop on advances in variational inference*.
    """
    n, t = Y.shape
    whole = noise + float(member.white)
    X, root = features.X, features.map.root
    assert root is not None
    sums = FeatureSums.of(features, Y, np.asarray(member.kernel.diag(X), dtype=np.float64))
    value, _ = sums.evidence(whole)
    inverse = cho_solve(cho_factor(sums.shrunk(whole), lower=True, check_finite=False), np.eye(root.shape[0]))
    shrunk = inverse @ sums.V / whole  # A = (Y - Z shrunk) / noise
    projected = shrunk  # Z'A = V / noise - H shrunk / noise, and B shrunk = V / noise
    left = projected.T @ root
    right = (t / whole) * (root - inverse @ root)
    slopes = member.own_zeros()

    def rows(a: int, b: int, Z: Float64) -> tuple[Float64, float]:
        A = (Y[a:b] - Z @ shrunk) / whole
        G = A @ left + Z @ right
        return member.own_slopes(features.items(a, b), landmarks, G), float(np.vdot(A, A))

    moved, length = features.explicit_each(rows)
    slopes += moved
    inner = 0.5 * projected @ projected.T + (0.5 * t / whole**2) * (sums.H @ inverse @ sums.H)
    slopes += member.own_slopes(landmarks, landmarks, -(root @ inner @ root))
    slopes += member.own_slopes_diag(X, np.full(n, -0.5 * t / whole))
    trace = (n - root.shape[0] + float(np.trace(inverse))) / whole  # of S^-1
    by_variance = 0.5 * (length - t * trace) + 0.5 * t * sums.left / whole**2
    gradient = np.append(member.as_given(slopes, by_variance), noise * by_variance)
    return Evidence(value.value, 0.0, value.lower, value.upper, gradient)


@dataclass(frozen=True)
class FeaturePosterior:
    r"""What is left of the prior's variance: :math:`k(x, x) - z^T z + z^T (I + Z^T Z / \sigma^2)^{-1} z`.

    For features that are not projections of the kernel's own, the prior is that of the features, and the
    first two terms cancel.

    Attributes
    ----------
    triangle : (m, m) array
        Cholesky's factor of :math:`I + Z^T Z / \sigma^2`.
    projected : bool
        Whether the features are projections.
    """

    triangle: Float64
    projected: bool

    @classmethod
    def of(cls, sums: FeatureSums, noise: float, projected: bool) -> FeaturePosterior:
        """Return the posterior of training data."""
        return cls(np.tril(cho_factor(sums.shrunk(noise), lower=True, check_finite=False)[0]), projected)

    def variances(self, prior: Float64, Z: Float64) -> Float64:
        """Return variances at points with these features and prior variances."""
        V = self._half(Z)
        known = np.einsum("ij,ij->j", V, V)
        if not self.projected:
            return np.asarray(known)
        return np.asarray(np.maximum(prior - np.einsum("ij,ij->i", Z, Z), 0.0) + known)

    def covariance(self, prior: Float64, Z: Float64) -> Float64:
        """Return the joint covariance of points."""
        V = self._half(Z)
        known = V.T @ V
        return np.asarray(known + (prior - Z @ Z.T) if self.projected else known)

    def _half(self, Z: Float64) -> Float64:
        return np.asarray(solve_triangular(self.triangle, Z.T, lower=True, check_finite=False))
