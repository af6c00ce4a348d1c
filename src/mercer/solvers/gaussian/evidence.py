"""Computing the evidence of a Gaussian process: exactly, or for matrices that are never formed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import LinAlgError, eigh_tridiagonal

from mercer.arrays import Float64
from mercer.gram import Workers
from mercer.gram.kernel_family import Member
from mercer.gram.tiled import OutOfTime, TiledProduct
from mercer.problems.evidence import Evidence, log_evidence, pair_weights
from mercer.solvers.base import Limits
from mercer.solvers.linear_algebra.conjugate_gradients import ConjugateGradients, LowRankPreconditioner
from mercer.solvers.linear_algebra.factored import Factored
from mercer.solvers.linear_algebra.packed import PackedFactored
from mercer.solvers.ridge.iterative import FLOOR, nystrom_factor

JITTERS = 8  # times that the diagonal is raised, tenfold each time
FIRST_JITTER = 1e-14  # relative to its mean


class IndefiniteMatrixError(LinAlgError):
    """K + noise is not positive definite, however much is added to its diagonal."""


def factored(
    member: Member, noise: float | Float64, *, packed: bool = False
) -> tuple[Factored | PackedFactored, float]:
    """Return the factor of K + noise and what had to be added to its diagonal to have one, mostly 0.

    Parameters
    ----------
    member : Member
        The covariance function.
    noise : float or (n,) array
        Variances, those of its own white noise included.
    packed : bool
        Whether memory is dearer than a second look at the kernel.

    Returns
    -------
    factor, jitter : Factored or PackedFactored, float
    """
    n, jitter = member.family.n, 0.0
    level = float(np.mean(member.gram().diag() + noise))
    for k in range(JITTERS + 1):
        try:
            if packed:
                one = Workers(1)
                return PackedFactored(
                    member.gram("double", one), noise + jitter, member.family.workers
                ), jitter
            return Factored(member.matrix(), noise + jitter), jitter
        except LinAlgError:
            jitter = FIRST_JITTER * n * level * 10.0**k
    raise IndefiniteMatrixError(
        f"K + noise is not positive definite even with {jitter / 10:.1e} added to its diagonal: "
        f"kernel={member.shown!r} is not positive semi-definite on these data"
    )


def exact_evidence(member: Member, noise: float | Float64, Y: Float64, *, gradient: bool) -> Evidence:
    """Return the evidence by Cholesky's factor.

    Parameters
    ----------
    member : Member
        The covariance function.
    noise : float or (n,) array
        Variance of the noise, or of each point's, beside the white noise of the covariance function.
    Y : (n, t) array
        Outputs.
    gradient : bool
        Whether the gradient is wanted; the last entry is that by log noise (a common factor of all).

    Returns
    -------
    Evidence
    """
    n, t = Y.shape
    whole = noise + member.white
    system, jitter = factored(member, whole)
    assert isinstance(system, Factored)
    A = system.solve(Y, refine=False)
    value = evidence_of(system, A, Y)
    if not gradient:
        return value
    inverse = system.inverse_triangle(overwrite=True)
    by_diagonal = 0.5 * ((A * A).sum(axis=1) - t * np.diagonal(inverse))
    by_noise = float((noise * by_diagonal).sum())
    # The weights' sum with S is known, and S is K plus what the diagonal got.
    total = 0.5 * (value.lower - t * n) - float(((whole + jitter) * by_diagonal).sum())
    if member.theta.size == 0:
        return replace(value, gradient=np.array([by_noise]))
    slopes = member.slopes(pair_weights(A, inverse), total, by_diagonal)
    return replace(value, gradient=np.append(slopes, by_noise))


def evidence_of(system: Factored | PackedFactored, A: Float64, Y: Float64) -> Evidence:
    """Return the evidence, without its gradient, given the factor of S and A = S^-1 Y."""
    quadratic = float(np.vdot(Y, A))
    value = log_evidence(quadratic, system.log_determinant, *Y.shape)
    return Evidence(value, 0.0, quadratic, quadratic, np.zeros(0))


@dataclass
class StochasticEvidence:
    r"""The evidence from products with K only: conjugate gradients and Lanczos' quadrature.

    With a preconditioner P of known determinant and probes :math:`z \sim N(0, P)`, scaled so that
    :math:`\|\xi\|^2 = n`,

    .. math::
        \log\det S = \log\det P + E[\, \xi^T \log(P^{-1/2} S P^{-1/2}) \, \xi \,], \qquad z = P^{1/2} \xi,

    and the steps of conjugate gradients from z contain the tridiagonal matrix whose logarithm gives each
    probe's term. The probes' spread gives the error bar. The quadratic form comes with bounds that hold for
    certain, whatever conjugate gradients did (Skilling's): they are the primal and the dual value of the
    ridge regression whose solution the posterior mean is.

    Parameters
    ----------
    probes : int
        How many.
    tol : float
        Relative distance of the bounds at which to stop.
    memory : int
        Bytes for the preconditioner and kept tiles.
    seed : int
        Of probes and landmarks: the same at every call, so that the estimate is a smooth function of the
        parameters.
    limits : Limits
        Seconds.
    most : int
        Most steps.

    References
    ----------
    .. [1] S. Ubaru, J. Chen and Y. Saad (2017). Fast estimation of tr(f(A)) via stochastic Lanczos
       quadrature. *SIAM Journal on Matrix Analysis and Applications* 38(4), 1075-1099.
    .. [2] J. Gardner, G. Pleiss, K. Q. Weinberger, D. Bindel and A. G. Wilson (2018). GPyTorch: blackbox
       matrix-matrix Gaussian process inference with GPU acceleration. *Neural Information Processing
       Systems*.
    .. [3] M. Gibbs and D. J. C. MacKay (1997). Efficient implementation of Gaussian processes. Technical
       report, Cavendish Laboratory, Cambridge.
    """

    probes: int = 16
    tol: float = 1e-6
    memory: int = 2_000_000_000
    rank: int | None = None
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    most: int = 1000

    def __call__(self, member: Member, noise: float, Y: Float64, *, gradient: bool) -> Evidence:
        """Return the estimate; arguments as of :func:`exact_evidence`."""
        n, t = Y.shape
        workers = member.family.workers
        own, noise = noise, noise + float(member.white)
        K = member.gram("double", Workers(1))
        rng = np.random.default_rng(self.seed)
        stop = None if self.limits.unlimited else self.limits.out_of_time
        L = nystrom_factor(K, workers, noise, self.rank, self.memory // 4, rng, stop)
        shift = max(noise, FLOOR * float(np.einsum("ij,ij->", L, L)) / n)
        P = LowRankPreconditioner(L, shift)
        Z = L @ rng.standard_normal((L.shape[1], self.probes)) + np.sqrt(shift) * rng.standard_normal(
            (n, self.probes)
        )
        product = TiledProduct(K, workers, self.memory // 2, stop)
        steps = ConjugateGradients(lambda V: product(V) + noise * V, np.hstack([Y, Z]), P)
        weights = steps.power[t:].copy()
        reserve, late = 0.0, False
        while steps.n_iter < max(1, self.most):
            if self.limits.seconds_left() <= reserve:
                late = True
                break
            A, R = steps.X[:, :t], steps.R[:, :t]
            lower, width = np.einsum("ij,ij->j", A, Y + R), np.einsum("ij,ij->j", R, R) / noise
            close = (width <= self.tol * (lower + width)).all()
            if steps.n_iter and close and (steps.power[t:] <= self.tol * weights).all():
                break
            begun = time.perf_counter()
            try:
                steps.step()
            except OutOfTime:
                late = True
                break
            reserve = time.perf_counter() - begun
        if steps.n_iter == 0:  # nothing is known but that K is positive semi-definite
            upper = float(np.vdot(Y, Y)) / noise
            return Evidence(-np.inf, np.inf, 0.0, upper, np.zeros(member.theta.size + 1))
        A = steps.X[:, :t]
        R = Y - product.uninterrupted(A) - noise * A  # the bounds must not rest on the recurrence
        lower = float(np.einsum("ij,ij->", A, Y + R))
        upper = lower + float(np.einsum("ij,ij->", R, R)) / noise
        # Probes of equal length vary less, and their mean is right too: directions do not depend on lengths.
        terms = n * log_quadrature(np.array(steps.alphas)[:, t:], np.array(steps.betas)[:, t:])
        determinant = P.log_determinant + float(terms.mean())
        error = 0.5 * t * float(terms.std(ddof=1)) / np.sqrt(self.probes) if self.probes > 1 else np.inf
        value = log_evidence(0.5 * (lower + upper), determinant, n, t)
        if not gradient:
            return Evidence(value, error, lower, upper, np.zeros(0))
        if late:  # the search ends here: nobody will follow the gradient
            return Evidence(value, error, lower, upper, np.zeros(member.theta.size + 1))
        U, V = steps.X[:, t:], P(Z) * (n / weights)  # E[U V'] = S^-1
        left = np.hstack([0.5 * A, (-0.5 * t / self.probes) * U])
        slopes = member.thin_slopes(left, np.hstack([A, V]))
        by_noise = 0.5 * own * (float(np.vdot(A, A)) - t * float(np.vdot(U, V)) / self.probes)
        return Evidence(value, error, lower, upper, np.append(slopes, by_noise))


def log_quadrature(lengths: Float64, ratios: Float64) -> Float64:
    """Return e_1' log(T) e_1 of the tridiagonal matrices in the steps of conjugate gradients.

    Parameters
    ----------
    lengths, ratios : (steps, p) array
        Step lengths and ratios of successive residuals, a column for each right side; a length of 0 ends it.

    Returns
    -------
    (p,) array
    """
    out = np.zeros(lengths.shape[1])
    for j in range(lengths.shape[1]):
        good = lengths[:, j] > 0
        last = int(np.argmin(good)) if not good.all() else good.size
        length, ratio = lengths[:last, j], ratios[:last, j]
        if last == 0:
            continue
        diagonal = 1.0 / length
        diagonal[1:] += ratio[:-1] / length[:-1]
        values, vectors = eigh_tridiagonal(diagonal, np.sqrt(ratio[:-1]) / length[:-1])
        out[j] = float(vectors[0] ** 2 @ np.log(np.maximum(values, np.finfo(np.float64).tiny)))
    return out
