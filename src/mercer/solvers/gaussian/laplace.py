r"""Laplace's approximation of a Gaussian process with two classes: the mode, the evidence, the posterior.

With signs y of the classes and :math:`f \sim GP(0, k)`, the latent values at the data have the density
:math:`\exp(-\Psi(f))`, up to a factor, with

.. math::
    \Psi(f) = \sum_i \log(1 + e^{-y_i f_i}) + \tfrac12 f^T K^{-1} f,

which is the objective of kernel logistic regression with C = 1 and no bias. It is replaced by the normal
density with the same mode and curvature. With :math:`W = \nabla^2 \sum_i \log(1 + e^{-y_i f_i})` at the mode
and :math:`B = I + W^{1/2} K W^{1/2}`, the evidence is

.. math::
    \log p(y) \approx -\Psi(f) - \tfrac12 \log \det B.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import blas, lapack
from scipy.special import expit

from mercer.arrays import Float64
from mercer.gram.kernel_family import Member
from mercer.problems.evidence import Evidence, pair_weights
from mercer.solvers.base import Limits

CLOSE = 1e-10  # change of the latent values, relative to the largest, at which Newton's method has arrived
NEAR = 1e-6  # change from which on the objective may be too flat to fall
HALVINGS = 30


@dataclass(frozen=True)
class LaplaceMode:
    """The mode of the latent values, and the curvature there.

    Attributes
    ----------
    a : (n,) array
        Coefficients: the mode is K a, and a is 1 - pi or -pi.
    f : (n,) array
        The mode.
    pi : (n,) array
        Probabilities of the second class at the mode.
    root : (n,) array
        The square roots of W.
    L : (n, n) array
        Cholesky's factor of B in its lower triangle; what is above is of no use.
    n_iter : int
        Newton's steps.
    status : str
        "optimal" or the limit that was hit.
    """

    a: Float64
    f: Float64
    pi: Float64
    root: Float64
    L: Float64
    n_iter: int
    status: str

    def explained(self, K: Float64) -> Float64:
        """Return what is known of the prior's variance, for each row of kernel values with the data."""
        V = np.asarray(blas.dtrsm(1.0, self.L, np.asfortranarray((K * self.root).T), lower=1))
        return np.asarray(np.einsum("ij,ij->j", V, V))


@dataclass
class LaplaceApproximation:
    """Finds modes by Newton's method, each from the one before.

    Parameters
    ----------
    signs : (n,) array
        -1 and 1.
    most : int
        Most steps for one mode.
    limits : Limits
        Seconds.
    warm : bool
        Whether to start at the last mode; the answer does not depend on it.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams (2006). *Gaussian Processes for Machine Learning*, algorithms
       3.1, 3.2 and 5.1. MIT Press.
    """

    signs: Float64
    most: int = 100
    limits: Limits = field(default_factory=Limits)
    warm: bool = True
    last: Float64 | None = None

    def matrix(self, member: Member) -> Float64:
        """Return the kernel matrix with the covariance function's own white noise on its diagonal."""
        K = member.matrix()
        K.ravel(order="K")[:: K.shape[0] + 1] += member.white
        return K

    def mode(self, K: Float64) -> LaplaceMode:
        """Return the mode and the curvature there.

        Parameters
        ----------
        K : (n, n) array
            The kernel matrix.
        """
        y, n = self.signs, self.signs.size
        a = np.zeros(n) if self.last is None or not self.warm else self.last
        f = K @ a if a.any() else np.zeros(n)
        value, status, steps = self._objective(a, f), "iteration_limit", 0
        zeros = np.zeros(n)
        if value > self._objective(zeros, zeros):  # the last mode is no good start here
            a, f = zeros, zeros.copy()
            value = self._objective(a, f)
        while True:
            pi = expit(f)
            root = np.sqrt(pi * expit(-f))
            L = self._factor(K, root)
            if status == "optimal" or steps >= self.most:
                break
            if steps and self.limits.out_of_time():
                status = "time_limit"
                break
            b = root * root * f + (0.5 * (y + 1.0) - pi)
            inner, _ = lapack.dpotrs(L, root * (K @ b), lower=1)
            target = b - root * inner
            step = target - a
            move = K @ step
            a, f, new = self._moved(a, f, step, move, value)
            steps += 1
            moved = float(np.abs(move).max(initial=0.0)) / (1.0 + float(np.abs(f).max(initial=0.0)))
            if moved <= CLOSE:
                status, pi = "optimal", expit(f)  # the factor is that of the mode, up to rounding
                break
            if new >= value and moved <= NEAR:  # the objective is flat to rounding; the factor is not
                status = "optimal"
            value = min(new, value)
        self.last = a
        return LaplaceMode(a, f, pi, root, L, steps, status)

    def _objective(self, a: Float64, f: Float64) -> float:
        return 0.5 * float(a @ f) + float(np.logaddexp(0.0, -self.signs * f).sum())

    def _moved(
        self, a: Float64, f: Float64, step: Float64, move: Float64, value: float
    ) -> tuple[Float64, Float64, float]:
        """Return the point after a step, halved until the objective does not rise."""
        size = 1.0
        for _ in range(HALVINGS):
            there, values = a + size * step, f + size * move
            new = self._objective(there, values)
            if new <= value + 1e-12 * abs(value):
                return there, values, new
            size *= 0.5
        return a, f, value

    @staticmethod
    def _factor(K: Float64, root: Float64) -> Float64:
        B = K * root
        B *= root[:, None]
        B.ravel(order="K")[:: B.shape[0] + 1] += 1.0
        L, info = lapack.dpotrf(B.T if B.flags.c_contiguous else B, lower=1, clean=0, overwrite_a=1)
        if info > 0:
            raise ValueError(
                "the kernel matrix is not positive semi-definite on these data, or rounding makes it so: "
                "scale the features of X, choose another kernel, or add WhiteKernel() to this one"
            )
        return np.asarray(L)

    def value(self, mode: LaplaceMode) -> float:
        """Return the logarithm of the evidence at a mode."""
        return -self._objective(mode.a, mode.f) - float(np.log(np.diagonal(mode.L)).sum())

    def evidence(self, member: Member, *, gradient: bool) -> Evidence:
        """Return the evidence of a covariance function, minus infinity where there was no time to find it.

        Parameters
        ----------
        member : Member
            The covariance function.
        gradient : bool
            Whether the gradient is wanted.
        """
        K = self.matrix(member)
        mode = self.mode(K)
        size = float(mode.a @ mode.f)
        value = self.value(mode) if mode.status != "time_limit" else -np.inf
        if not gradient:
            return Evidence(value, 0.0, size, size, np.zeros(0))
        g = 0.5 * (self.signs + 1.0) - mode.pi
        n = g.size
        Ks, root = K, mode.root
        inverse, _ = lapack.dpotri(np.array(mode.L, order="F"), lower=1, overwrite_c=1)
        known = np.diagonal(inverse).copy()
        s = -0.5 * (1.0 - known) * (1.0 - 2.0 * mode.pi)  # how the determinant moves with the mode
        product = Ks @ s
        inner, _ = lapack.dpotrs(mode.L, root * product, lower=1)
        u = s - root * inner
        inverse *= root
        inverse *= root[:, None]
        diagonal = 0.5 * (mode.a * mode.a - root * root * known) + u * g
        total = 0.5 * size - 0.5 * (n - float(known.sum())) + float(u @ (Ks @ g))
        total -= float((member.white * diagonal).sum())
        del K, Ks
        # R = W^1/2 B^-1 W^1/2 is the only weight that is not of low rank.
        G = pair_weights(mode.a[:, None], inverse, left=u, right=g)
        return Evidence(value, 0.0, size, size, member.slopes(G, total, diagonal))
