"""Expectation-maximisation for Gaussian mixtures, one for each class, with one covariance for all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from mercer.estimators.discriminant._base import log_priors, squared_distances
from mercer.estimators.discriminant._checks import Floats, Ints


@dataclass(frozen=True)
class Mixture:
    r"""Means of R subclasses in a subspace of L dimensions, and their common covariance.

    The maximum-likelihood means and covariance, for given memberships and a given L, in the sphered
    coordinates :math:`z` of dimension r: with W the covariance within the subclasses and
    :math:`\lambda_1 \ge \lambda_2 \ge \dots` the between variances of the canonical variates :math:`v`, the
    means keep their first L canonical coordinates, and the covariance is diagonal in these coordinates with
    entries 1 up to L and :math:`1 + \lambda_l` beyond, where the spread of the means is taken for noise.

    Attributes
    ----------
    weights : ndarray of shape (R,)
        The share of each subclass in its class.
    forward, backward : ndarray of shape (r, r)
        From z to v (v = z @ forward) and back.
    centroids : ndarray of shape (R, L)
        The means in canonical coordinates.
    variances : ndarray of shape (r,)
        :math:`\lambda`.
    log_det : float
        Of the covariance, in the coordinates z.
    floored : bool
        Whether the covariance had to be kept from collapsing.
    """

    weights: Floats
    forward: Floats
    backward: Floats
    centroids: Floats
    variances: Floats
    log_det: float
    floored: bool


@dataclass(frozen=True)
class Fit:
    """The outcome of one start; the last log-likelihood of its ``history`` is that of its ``mixture``."""

    mixture: Mixture
    history: list[float]
    converged: bool


@dataclass(frozen=True)
class MixtureProblem:
    r"""Maximise :math:`\sum_i \log \sum_{r \in R(g_i)} \pi_r \, \phi(z_i; \mu_r, \Sigma)` over the mixtures.

    Attributes
    ----------
    Z : ndarray of shape (n, r)
        Data of mean zero whose covariance within the *classes* is the identity.
    codes : ndarray of shape (n,)
        The class of each row.
    owner : ndarray of shape (R,)
        The class of each subclass.
    rank : int
        L, the dimension of the space of means, below R: R means span no more about their own mean.
    floor : float
        The smallest variance allowed, that within the classes being one. With one covariance for all, the
        likelihood is unbounded only when that covariance collapses.
    """

    Z: Floats
    codes: Ints
    owner: Ints
    rank: int
    floor: float

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """Which rows may belong to which subclass, of shape (n, R)."""
        mask: npt.NDArray[np.bool_] = self.codes[:, None] == self.owner
        return mask

    @cached_property
    def moments(self) -> Floats:
        """The second moments of Z, of shape (r, r)."""
        return self.Z.T @ self.Z

    @cached_property
    def class_means(self) -> Floats:
        """The class means, of shape (K, r)."""
        return np.array([self.Z[self.codes == k].mean(axis=0) for k in range(self.codes.max() + 1)])

    def maximise(self, memberships: Floats) -> Mixture:
        """Do the M-step: a weighted discriminant analysis of reduced rank with subclasses for classes."""
        n = len(self.Z)
        sizes = np.bincount(self.codes).astype(np.float64)
        counts = memberships.sum(axis=0)
        # A subclass that has lost all its rows rests at its class's mean, where it changes nothing.
        lost = counts <= 1e-10
        means = (memberships.T @ self.Z) / np.where(lost, 1.0, counts)[:, None]
        means[lost] = self.class_means[self.owner[lost]]
        # The covariance within the classes is the identity, less what the subclass means explain of it.
        offsets = (means - self.class_means[self.owner]) * np.sqrt(counts / n)[:, None]
        values, vectors = np.linalg.eigh(np.eye(self.Z.shape[1]) - offsets.T @ offsets)
        floored = bool(values[0] < self.floor)
        # At full rank, clipping eigenvalues is the exact maximiser subject to the floor.
        deviation = np.sqrt(np.maximum(values, self.floor))
        sphered = means @ (vectors / deviation)
        _, spread, axes = np.linalg.svd(np.sqrt(counts / n)[:, None] * sphered, full_matrices=True)
        variances = np.zeros(len(values))
        variances[: len(spread)] = spread[: len(values)] ** 2
        log_det = 2.0 * float(np.log(deviation).sum()) + float(np.log1p(variances[self.rank :]).sum())
        return Mixture(
            weights=counts / sizes[self.owner],
            forward=(vectors / deviation) @ axes.T,
            backward=(axes * deviation) @ vectors.T,
            centroids=sphered @ axes[: self.rank].T,
            variances=variances,
            log_det=log_det,
            floored=floored,
        )

    def expect(self, mixture: Mixture) -> tuple[Floats, float]:
        """Do the E-step: memberships of the rows in the subclasses of their class, and the log-likelihood."""
        n, r = self.Z.shape
        signal, rest = mixture.forward[:, : self.rank], mixture.forward[:, self.rank :]
        joint = log_priors(mixture.weights) - 0.5 * squared_distances(self.Z @ signal, mixture.centroids)
        joint[~self.own] = -np.inf
        evidence = logsumexp(joint, axis=1)
        # Beyond the rank all subclasses have the same mean: the second moments are all that is needed there.
        squares = np.einsum("ij,ij->j", rest, self.moments @ rest)
        noise = float((squares / (1.0 + mixture.variances[self.rank :])).sum())
        constant = mixture.log_det + r * np.log(2.0 * np.pi)
        likelihood = float(evidence.sum()) - 0.5 * (noise + n * constant)
        return np.exp(joint - evidence[:, None]), likelihood

    def solve(self, memberships: Floats, tol: float, max_iter: int) -> Fit:
        """Alternate both steps until an iteration gains less than ``tol`` per row."""
        mixture = self.maximise(memberships)
        memberships, likelihood = self.expect(mixture)
        history = [likelihood]
        for _ in range(max_iter - 1):
            candidate = self.maximise(memberships)
            memberships, likelihood = self.expect(candidate)
            gain = likelihood - history[-1]
            if gain < 0.0:
                # Rounding at the optimum, or a floor together with a reduced rank: the step is not made.
                return Fit(mixture, history, converged=True)
            mixture = candidate
            history.append(likelihood)
            if gain < tol * len(self.Z):
                return Fit(mixture, history, converged=True)
        return Fit(mixture, history, converged=False)
