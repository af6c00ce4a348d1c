"""Optimal scoring: discriminants from a regression of the class labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.problems.discriminant.variates import orientation

# A regression that explains more of the scores than this leaves nothing within the classes to measure by.
PERFECT = 1.0 - 1e-10


@dataclass(frozen=True)
class OptimalScores:
    r"""Scores of the classes that a regression predicts best.

    Minimise the average squared residual :math:`\frac1N \sum_{l,i} (\theta_l(g_i) - \eta_l(x_i))^2` over
    scores :math:`\theta_l` (mean zero, variance one, uncorrelated) and regression functions :math:`\eta_l`.
    For a linear smoother S, with indicator matrix Y, the scores diagonalise :math:`Y^T S Y / N`.

    Attributes
    ----------
    rotation : ndarray of shape (K - 1, K - 1)
        From fits of the contrast scores to fits of the optimal ones.
    scores : ndarray of shape (K, K - 1)
        :math:`\theta_l`.
    correlations : ndarray of shape (K - 1,)
        :math:`r_l^2`, the squared multiple correlations, in descending order; clipped to [0, 1].
    """

    rotation: Float64
    scores: Float64
    correlations: Float64

    @property
    def variances(self) -> Float64:
        r"""The between-class variances :math:`r_l^2 / (1 - r_l^2)`, that within the classes being one."""
        ratios: Float64 = self.correlations / (1.0 - self.correlations)
        return ratios

    def leading(self, k: int) -> OptimalScores:
        """Return the first k scores."""
        return OptimalScores(self.rotation[:, :k], self.scores[:, :k], self.correlations[:k])

    def short_of_perfect(self) -> OptimalScores:
        """Return the same with correlations of at most ``PERFECT``: variances and scales stay finite."""
        return OptimalScores(self.rotation, self.scores, np.minimum(self.correlations, PERFECT))

    def scale(self) -> Float64:
        r"""Factors :math:`1 / \sqrt{r_l^2 (1 - r_l^2)}` from fits to canonical variates.

        Of the variance :math:`r^2` of a fit, :math:`r^4` lies between the classes (the class means of
        :math:`\eta_l` are :math:`r_l^2 \theta_l`); the rest is within, and is made one. A penalised
        regression measures both with its penalty included, so the metric is the penalised within-class
        covariance.
        """
        factors: Float64 = 1.0 / np.sqrt(self.correlations * (1.0 - self.correlations))
        return factors


@dataclass(frozen=True)
class ScoreVariates:
    """Canonical variates as linear functions of a regression's fits: (fits - center) @ from_fits.

    Attributes
    ----------
    center : ndarray of shape (K - 1,)
        The fits that are mapped to the origin.
    from_fits : ndarray of shape (K - 1, L)
        The map.
    centroids : ndarray of shape (K, L)
        The class means in canonical coordinates.
    scores : ndarray of shape (K, L)
        The optimal scores, with the signs of the coordinates.
    """

    center: Float64
    from_fits: Float64
    centroids: Float64
    scores: Float64


def score_variates(optimal: OptimalScores, means: Float64, center: Float64) -> ScoreVariates:
    """Return the canonical variates of ``optimal``, given the class means (K, K - 1) of the fits."""
    from_fits = optimal.rotation * optimal.scale()
    centroids = (means - center) @ from_fits
    signs = orientation(centroids)
    return ScoreVariates(center, from_fits * signs, centroids * signs, optimal.scores * signs)
