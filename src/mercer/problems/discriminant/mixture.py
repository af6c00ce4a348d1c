"""The likelihood of Gaussian mixtures, one for each class, with one covariance for all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from mercer.arrays import Float64, Index
from mercer.problems.discriminant.rules import nearest_centroid
from mercer.problems.discriminant.spectra import Sphering
from mercer.problems.discriminant.summary import class_means


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

    weights: Float64
    forward: Float64
    backward: Float64
    centroids: Float64
    variances: Float64
    log_det: float
    floored: bool

    @property
    def rank(self) -> int:
        """L, the dimension of the space of means."""
        return int(self.centroids.shape[1])

    def means(self, sphering: Sphering, center: Float64) -> Float64:
        """Return the means of the subclasses in the features' units, of shape (R, p)."""
        return center + self.centroids @ self.backward[: self.rank] @ sphering.backward

    def covariance(self, sphering: Sphering) -> Float64:
        """Return the common covariance in the features' units, of shape (p, p)."""
        back = self.backward @ sphering.backward
        variances = np.concatenate([np.ones(self.rank), 1.0 + self.variances[self.rank :]])
        return back.T @ (variances[:, None] * back)


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

    Z: Float64
    codes: Index
    owner: Index
    rank: int
    floor: float

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """Which rows may belong to which subclass, of shape (n, R)."""
        mask: npt.NDArray[np.bool_] = self.codes[:, None] == self.owner
        return mask

    @cached_property
    def moments(self) -> Float64:
        """The second moments of Z, of shape (r, r)."""
        return self.Z.T @ self.Z

    @cached_property
    def class_means(self) -> Float64:
        """The class means, of shape (K, r)."""
        return class_means(self.Z, self.codes)

    def expect(self, mixture: Mixture) -> tuple[Float64, float]:
        """Return the memberships of the rows in the subclasses of their class, and the log-likelihood."""
        n, r = self.Z.shape
        signal, rest = mixture.forward[:, : self.rank], mixture.forward[:, self.rank :]
        joint = nearest_centroid(self.Z @ signal, mixture.centroids, mixture.weights)
        joint[~self.own] = -np.inf
        evidence = logsumexp(joint, axis=1)
        # Beyond the rank all subclasses have the same mean: the second moments are all that is needed there.
        squares = np.einsum("ij,ij->j", rest, self.moments @ rest)
        noise = float((squares / (1.0 + mixture.variances[self.rank :])).sum())
        constant = mixture.log_det + r * np.log(2.0 * np.pi)
        likelihood = float(evidence.sum()) - 0.5 * (noise + n * constant)
        return np.exp(joint - evidence[:, None]), likelihood
