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


def test_columns_that_never_vary_get_no_weight_whatever_the_units():
    rows = np.random.default_rng(0).normal(size=(30, 4))
    rows[:, 1] = 0.0
    plain = sphere(rows, 1e-4)
    assert plain.rank == 3
    for units in (1e-100, 1e100):
        scaled = sphere(rows * units, 1e-4)
        assert (scaled.forward[1] == 0.0).all()
        assert (scaled.backward[:, 1] == 0.0).all()
        assert_allclose(np.abs(scaled.forward * units), np.abs(plain.forward), rtol=1e-9)


def test_nothing_varies():
    sphering = sphere(np.zeros((5, 2)), 1e-4)
    assert sphering.rank == 0
    assert sphering.log_det == 0.0
