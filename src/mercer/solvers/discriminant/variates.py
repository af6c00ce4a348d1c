"""Canonical variates by a singular value decomposition of the sphered class means."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.problems.discriminant.spectra import Sphering
from mercer.problems.discriminant.variates import CanonicalVariates, orientation


def canonical_variates(sphering: Sphering, means: Float64, weights: Float64) -> CanonicalVariates:
    """Principal components of the sphered ``means``, weighted by ``weights`` that sum to one.

    All min(K, r) of them; how many are more than noise is for the caller to say.
    """
    center = weights @ means
    sphered = (means - center) @ sphering.forward
    _, spread, axes = np.linalg.svd(np.sqrt(weights)[:, None] * sphered, full_matrices=False)
    centroids = sphered @ axes.T
    signs = orientation(centroids)
    return CanonicalVariates(center, sphering.forward @ (axes.T * signs), centroids * signs, spread**2)
