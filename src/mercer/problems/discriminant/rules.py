"""Discriminant functions: log-posteriors of the classes, up to a term common to all of them."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from mercer.arrays import Float64, Index


def log_priors(priors: Float64) -> Float64:
    """Logarithms of the priors; a class of prior zero gets minus infinity and is never predicted."""
    with np.errstate(divide="ignore"):
        return np.log(priors)


def squared_distances(Z: Float64, centroids: Float64) -> Float64:
    """Squared Euclidean distances of the rows of ``Z`` to ``centroids``, of shape (n, K)."""
    cross = Z @ centroids.T
    squares = np.einsum("ij,ij->i", Z, Z)[:, None] + np.einsum("ij,ij->i", centroids, centroids)
    distances: Float64 = np.maximum(squares - 2.0 * cross, 0.0)
    return distances


def nearest_centroid(Z: Float64, centroids: Float64, priors: Float64) -> Float64:
    r"""Scores :math:`\log \pi_k - \tfrac12 \|z - m_k\|^2`, of shape (n, K).

    They are the log-posteriors of Gaussian classes whose common covariance is the identity in z.
    """
    return log_priors(priors) - 0.5 * squared_distances(Z, centroids)


def mixture_scores(
    Z: Float64, centroids: Float64, weights: Float64, owner: Index, priors: Float64
) -> Float64:
    r"""Scores :math:`\log \pi_k + \log \sum_{r \in R(k)} \pi_r e^{-\|z - m_r\|^2 / 2}`, of shape (n, K).

    Parameters
    ----------
    Z : ndarray of shape (n, L)
        Rows in coordinates where the common covariance is the identity.
    centroids : ndarray of shape (R, L)
        The means of the subclasses.
    weights : ndarray of shape (R,)
        Their shares of their class.
    owner : ndarray of shape (R,)
        Their class.
    priors : ndarray of shape (K,)
        Of the classes.
    """
    joint = nearest_centroid(Z, centroids, weights)
    densities = [logsumexp(joint[:, owner == k], axis=1) for k in range(len(priors))]
    return np.column_stack(densities) + log_priors(priors)


def linear_functions(centroids: Float64, scalings: Float64, priors: Float64) -> tuple[Float64, Float64]:
    r"""Slopes and offsets of the scores as linear functions of x about the center.

    With :math:`z = A^T (x - c)` the term :math:`z^T z` is common to all classes, so that
    :math:`\delta_k(x) = z^T m_k - \tfrac12 m_k^T m_k + \log \pi_k`, which is linear in x. With two classes
    only their difference counts: the log-odds of the second.

    Parameters
    ----------
    centroids : ndarray of shape (K, L)
        :math:`m_k`.
    scalings : ndarray of shape (p, L)
        A.
    priors : ndarray of shape (K,)
        :math:`\pi_k`.

    Returns
    -------
    slopes, offsets : ndarrays of shape (K, p) and (K,), or (1, p) and (1,)
        :math:`\delta(x) = (x - c) \text{slope}^T + \text{offset}`.
    """
    slopes = centroids @ scalings.T
    offsets = log_priors(priors) - 0.5 * np.einsum("ij,ij->i", centroids, centroids)
    if len(priors) == 2:
        return slopes[1:] - slopes[:1], offsets[1:] - offsets[:1]
    return slopes, offsets


def per_class(scores: Float64, n_classes: int) -> Float64:
    """Scores with a column for each class; of two classes the first has zero beside the log-odds."""
    return np.hstack([np.zeros_like(scores), scores]) if n_classes == 2 else scores
