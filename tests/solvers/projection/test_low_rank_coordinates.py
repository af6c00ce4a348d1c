"""Coordinates in the span of landmarks: a thin decomposition in the memory of the factor itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.gram import Workers, gram
from mercer.kernels import RBF
from mercer.solvers.projection.coordinates import exact_coordinates, low_rank_coordinates, thin_svd

pytestmark = pytest.mark.core


@pytest.mark.parametrize("shape", [(5000, 30), (40, 40), (7, 1)])
def test_thin_svd_is_one(shape):
    A = np.random.default_rng(0).normal(size=shape)
    U, s, Vt = thin_svd(A.copy(order="F"))
    assert_allclose((U * s) @ Vt, A, atol=1e-11)
    assert_allclose(U.T @ U, np.eye(shape[1]), atol=1e-12)
    assert_allclose(s, np.linalg.svd(A, compute_uv=False), rtol=1e-10)


def test_thin_svd_works_in_place():
    A = np.asfortranarray(np.random.default_rng(0).normal(size=(500, 20)))
    U, _, _ = thin_svd(A)
    assert np.shares_memory(U, A)


def test_all_landmarks_give_the_exact_coordinates():
    X = np.random.default_rng(0).normal(size=(60, 3))
    matrix = gram(RBF(gamma=0.5), X, workers=Workers(1))
    exact, low = exact_coordinates(matrix), low_rank_coordinates(matrix, 60, 0.0)
    k = 10  # the leading ones are well apart
    assert_allclose(low.d[:k], exact.d[:k], rtol=1e-8)
    directions = np.eye(low.d.size)[:, :k]
    Z = low.projections(directions)
    assert_allclose(np.abs(Z), np.abs(exact.projections(np.eye(exact.d.size)[:, :k])), atol=1e-7)
    coef, shift = low.coefficients(directions)
    K = RBF(gamma=0.5)(X)
    assert_allclose(K[:, low.landmarks] @ coef - shift, Z, atol=1e-7)
