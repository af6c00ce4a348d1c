"""Scores of the classes, of mean zero, variance one and uncorrelated."""

import numpy as np
from numpy.testing import assert_allclose

from mercer.solvers.discriminant.scoring import contrast_scores


def test_contrasts_are_orthonormal_in_the_proportions():
    proportions = np.array([0.1, 0.2, 0.3, 0.4])
    contrasts = contrast_scores(proportions)
    assert_allclose(contrasts.T @ np.diag(proportions) @ contrasts, np.eye(3), atol=1e-12)
    assert_allclose(proportions @ contrasts, 0.0, atol=1e-12)
