"""Optimal scoring: discriminants from a regression of the class labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.estimators.discriminant._checks import Floats, Ints


def contrast_scores(proportions: Floats) -> Floats:
    r"""Scores :math:`\Theta_0` (K, K - 1) with :math:`\Theta_0^T D \Theta_0 = I, \Theta_0^T D 1 = 0`.

    D is the diagonal of class proportions: the scores of the rows are uncorrelated, of mean zero and variance
    one.
    """
    root = np.sqrt(proportions)
    basis = np.linalg.qr(np.column_stack([root, np.eye(len(root))[:, 1:]]))[0]
    scores: Floats = basis[:, 1:] / root[:, None]
    return scores


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

    rotation: Floats
    scores: Floats
    correlations: Floats

    @classmethod
    def of(cls, contrasts: Floats, codes: Ints, fits: Floats) -> OptimalScores:
        """Rotate ``contrasts`` (K, K - 1) given their regression ``fits`` (n, K - 1)."""
        cross = contrasts[codes].T @ fits / len(codes)
        # A regression that is no symmetric smoother (a tree, say) gives no symmetric product.
        values, vectors = np.linalg.eigh(0.5 * (cross + cross.T))
        values, vectors = np.clip(values[::-1], 0.0, 1.0), vectors[:, ::-1]
        return cls(vectors, contrasts @ vectors, values)

    def scale(self) -> Floats:
        r"""Factors :math:`1 / \sqrt{r_l^2 (1 - r_l^2)}` from fits to canonical variates.

        Of the variance :math:`r^2` of a fit, :math:`r^4` lies between the classes (the class means of
        :math:`\eta_l` are :math:`r_l^2 \theta_l`); the rest is within, and is made one. A penalised
        regression measures both with its penalty included, so the metric is the penalised within-class
        covariance.
        """
        factors: Floats = 1.0 / np.sqrt(self.correlations * (1.0 - self.correlations))
        return factors
