"""Gaussian processes around a trend whose coefficients nothing is assumed of: universal kriging."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.arrays import Float64
from mercer.gram.kernel_family import Member
from mercer.problems.design import Design
from mercer.problems.evidence import Evidence, log_evidence, pair_weights
from mercer.solvers.gaussian.evidence import FIRST_JITTER, JITTERS, IndefiniteMatrixError
from mercer.solvers.linear_algebra.factored import Factored


@dataclass(frozen=True)
class Kriged:
    r"""The best linear unbiased predictor of :math:`y = P d + f + \varepsilon`, f a process with kernel k.

    With :math:`S = \tilde K + \Sigma`, :math:`\tilde K` the kernel matrix projected along the columns (which
    no contrast can tell from K, and which is positive semi-definite wherever K need be),
    :math:`U = S^{-1} B` and :math:`M = B^T U`,

    .. math:: \hat\delta = M^{-1} U^T y, \qquad a = S^{-1} (y - B \hat\delta), \qquad B^T a = 0.

    Attributes
    ----------
    system : Factored
        S.
    jitter : float
        What had to be added to its diagonal, mostly 0.
    design : Design
        The columns, P = B R.
    H : (n, m) array
        K - K~ = B H' + H B'.
    U, M : (n, m), (m, m) array
        As above.
    A : (n, t) array
        The coefficients a of each output.
    delta : (m, t) array
        Those of the basis.

    References
    ----------
    .. [1] G. Matheron (1973). The intrinsic random functions and their applications. *Advances in Applied
       Probability* 5, 439-468.
    .. [2] N. Cressie (1993). *Statistics for Spatial Data*, section 3.4. Wiley.
    """

    system: Factored
    jitter: float
    design: Design
    H: Float64
    U: Float64
    M: Float64
    A: Float64
    delta: Float64

    def products(self, noise: float | Float64) -> Float64:
        """Return K A, given the noise that S was made with."""
        own = self.system.times(self.A) - np.reshape(noise + self.jitter, (-1, 1)) * self.A
        return np.asarray(own + self.design.B @ (self.H.T @ self.A))

    def coefficients(self) -> Float64:
        """Return the coefficients of the columns beside K A, (m, t)."""
        return self.design.coefficients(self.delta - self.H.T @ self.A)


def kriged(member: Member, noise: float | Float64, Y: Float64, design: Design) -> Kriged:
    """Return the predictor.

    Parameters
    ----------
    member : Member
        The covariance function.
    noise : float or (n,) array
        Variances, those of its own white noise included.
    Y : (n, t) array
        Outputs.
    design : Design
        The columns of the trend.
    """
    B, V = design.B, design.dual_basis
    jitter = 0.0
    for k in range(JITTERS + 1):
        K = member.matrix()
        KV = K @ V
        H = KV - 0.5 * B @ (V.T @ KV)
        K -= B @ H.T
        K -= H @ B.T
        K += K.T
        K *= 0.5
        level = float(np.mean(np.abs(np.diagonal(K)) + noise))
        try:
            system = Factored(K, noise + jitter)
            break
        except LinAlgError:
            jitter = FIRST_JITTER * K.shape[0] * level * 10.0**k
    else:
        raise IndefiniteMatrixError(
            f"K + noise is not positive definite beside the trend even with {jitter / 10:.1e} added to its "
            f"diagonal: kernel={member.shown!r} is not positive semi-definite there on these data"
        )
    U = system.solve(B)
    M = B.T @ U
    M = 0.5 * (M + M.T)
    delta = np.asarray(cho_solve(cho_factor(M), U.T @ Y))
    A = system.solve(Y - B @ delta)
    A = A - V @ (B.T @ A)  # what rounding left
    return Kriged(system, jitter, design, H, U, M, A, delta)


def restricted_evidence(
    member: Member, noise: float | Float64, Y: Float64, design: Design, *, gradient: bool
) -> Evidence:
    r"""Return the evidence of the contrasts of the outputs: what is left of them when the trend is taken out.

    .. math::
        \log p = -\tfrac12 a^T y - \tfrac12 \log\det S - \tfrac12 \log\det P^T S^{-1} P
        + \tfrac12 \log\det P^T P - \tfrac{n - m}2 \log 2\pi

    Parameters
    ----------
    member, noise, Y, gradient
        As of :func:`mercer.solvers.gaussian.evidence.exact_evidence`.
    design : Design
        The columns of the trend.

    References
    ----------
    .. [1] H. D. Patterson and R. Thompson (1971). Recovery of inter-block information when block sizes are
       unequal. *Biometrika* 58, 545-554.
    """
    t, m = Y.shape[1], design.size
    whole = noise + member.white
    found = kriged(member, whole, Y, design)
    value = restricted_value(found, Y)
    if not gradient:
        return value
    inverse = found.system.inverse_triangle(overwrite=True)
    inverse -= found.U @ np.asarray(cho_solve(cho_factor(found.M), found.U.T))
    by_diagonal = 0.5 * ((found.A**2).sum(axis=1) - t * np.diagonal(inverse))
    by_noise = float((noise * by_diagonal).sum())
    total = 0.5 * (value.lower - t * (Y.shape[0] - m)) - float(((whole + found.jitter) * by_diagonal).sum())
    if member.theta.size == 0:
        return replace(value, gradient=np.array([by_noise]))
    slopes = member.slopes(pair_weights(found.A, inverse), total, by_diagonal)
    return replace(value, gradient=np.append(slopes, by_noise))


def restricted_value(found: Kriged, Y: Float64) -> Evidence:
    """Return the restricted evidence, without its gradient, of a predictor."""
    n, m = found.design.B.shape
    quadratic = float(np.vdot(Y, found.A))
    _, log_m = np.linalg.slogdet(found.M)
    _, log_b = np.linalg.slogdet(found.design.B.T @ found.design.B)
    determinant = found.system.log_determinant + float(log_m) - float(log_b)
    value = log_evidence(quadratic, determinant, n, Y.shape[1])
    value += 0.5 * Y.shape[1] * m * math.log(2.0 * math.pi)
    return Evidence(value, 0.0, quadratic, quadratic, np.zeros(0))


@dataclass(frozen=True)
class KrigingPosterior:
    """What is left of the variance once the training points are known, the trend's uncertainty included.

    Attributes
    ----------
    system : Factored
        S.
    B, V, H, U : (n, m) array
        Basis of the columns, its dual basis, and as of :class:`Kriged`.
    M, R, middle : (m, m) array
        U'B, the basis in units of the columns, and V'KV.
    """

    system: Factored
    B: Float64
    V: Float64
    H: Float64
    U: Float64
    M: Float64
    R: Float64
    middle: Float64

    @classmethod
    def of(cls, found: Kriged) -> KrigingPosterior:
        """Return the posterior of a predictor."""
        V = found.design.dual_basis
        # H = K V - B (V'KV) / 2  and  V'B = I
        middle = 2.0 * V.T @ found.H
        return cls(found.system, found.design.B, V, found.H, found.U, found.M, found.design.R, middle)

    def _seen(self, K: Float64, P: Float64) -> tuple[Float64, Float64, Float64]:
        """Return b, h and K~ of new points, given their kernel values and columns."""
        b: Float64 = np.asarray(np.linalg.solve(self.R.T, P.T).T, dtype=np.float64)
        h = K @ self.V - 0.5 * b @ self.middle
        return b, h, K - b @ self.H.T - h @ self.B.T

    def explained(self, K: Float64, P: Float64) -> Float64:
        """Return k(x, x) minus the variance at each new point, given kernel values and columns."""
        b, h, seen = self._seen(K, P)
        half = self.system.half_solve(seen.T)
        rest = b - seen @ self.U
        trend = np.einsum("ij,ij->i", rest, np.linalg.solve(self.M, rest.T).T)
        return np.asarray(2.0 * np.einsum("ij,ij->i", b, h) + np.einsum("ij,ij->j", half, half) - trend)

    def explained_jointly(self, K: Float64, P: Float64) -> Float64:
        """Return k(x, z) minus the covariance of all pairs of new points."""
        b, h, seen = self._seen(K, P)
        half = self.system.half_solve(seen.T)
        rest = b - seen @ self.U
        trend = rest @ np.linalg.solve(self.M, rest.T)
        return np.asarray(b @ h.T + h @ b.T + half.T @ half - trend)
