"""Optimal scores by an eigendecomposition of the regression's agreement with the classes."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64, Index
from mercer.problems.discriminant.scoring import OptimalScores


def contrast_scores(proportions: Float64) -> Float64:
    r"""Scores :math:`\Theta_0` (K, K - 1) with :math:`\Theta_0^T D \Theta_0 = I, \Theta_0^T D 1 = 0`.

    D is the diagonal of class proportions: the scores of the rows are uncorrelated, of mean zero and variance
    one.
    """
    root = np.sqrt(proportions)
    basis = np.linalg.qr(np.column_stack([root, np.eye(len(root))[:, 1:]]))[0]
    scores: Float64 = basis[:, 1:] / root[:, None]
    return scores


def optimal_scores(contrasts: Float64, codes: Index, fits: Float64) -> OptimalScores:
    """Rotate ``contrasts`` (K, K - 1) given their regression ``fits`` (n, K - 1)."""
    cross = contrasts[codes].T @ fits / len(codes)
    # A regression that is no symmetric smoother (a tree, say) gives no symmetric product.
    values, vectors = np.linalg.eigh(0.5 * (cross + cross.T))
    values, vectors = np.clip(values[::-1], 0.0, 1.0), vectors[:, ::-1]
    return OptimalScores(vectors, contrasts @ vectors, values)
