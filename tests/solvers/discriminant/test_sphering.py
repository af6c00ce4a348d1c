"""Sphering: coordinates in which a covariance is the identity."""

import numpy as np
from numpy.testing import assert_allclose

from gaussian_classes import case
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.sphering import sphere


def test_sphering_makes_the_identity():
    X, y = case("three")
    rows = ClassSummary.of(X, y).residual_rows(X)
    sphering = sphere(rows, 1e-4)
    W = rows.T @ rows
    assert_allclose(sphering.forward.T @ W @ sphering.forward, np.eye(5), atol=1e-12)
    assert_allclose(sphering.backward @ sphering.forward, np.eye(5), atol=1e-12)
    assert_allclose(sphering.log_det, np.linalg.slogdet(W)[1], rtol=1e-10)
