"""The linear kernel's matrix is never formed for a product: Z (Z' v), against the dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mercer.gram import Segment, cross_products, gram
from mercer.gram.features import Features
from mercer.gram.tiled import TiledProduct
from mercer.kernels import Linear
from mercer.threads import Workers

FORMS = {
    "dense": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
    "single_sparse": lambda X: sp.csr_matrix(X.astype(np.float32)),
}


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 7)).astype(np.float32).astype(np.float64)
    return X * (rng.random(X.shape) < 0.4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_products_are_those_of_the_matrix(points, form, precision):
    K, matrix = points @ points.T, gram(Linear(), FORMS[form](points), precision=precision)
    rng = np.random.default_rng(1)
    v = rng.normal(size=300) * (rng.random(300) < 0.5)
    bound = matrix.noise(v) + 1e-300
    assert (np.abs(matrix.matvec(v) - K @ v) <= bound).all()
    assert (np.abs(matrix.exact().matvec(v) - K @ v) <= bound).all()
    for few in (np.array([4]), rng.permutation(300)[:200], np.array([7, 7, 9])):
        out = np.ones(300)
        matrix.add_product(few, v[few], out)
        assert_allclose(out, 1.0 + K[:, few] @ v[few], atol=1e-11)
    V = rng.normal(size=(300, 3))
    assert_allclose(matrix.products(V), K @ V, atol=1e-10)
    assert_allclose(TiledProduct(matrix, Workers(2))(V), K @ V, atol=1e-10)
    rows = rng.permutation(300)[:40]
    part = matrix.subset(rows)
    assert_allclose(part.matvec(v[rows]), K[np.ix_(rows, rows)] @ v[rows], atol=1e-11)
    assert matrix.evaluations == 0  # no kernel value was computed


@pytest.mark.parametrize("form", FORMS)
def test_the_factor_is_a_gram_like_any_other(points, form):
    K, factor = points @ points.T, Features(FORMS[form](points), Workers(2))
    rows, columns = np.array([3, 1, 8]), np.arange(50, 60)
    assert_allclose(factor.block(rows, columns), K[np.ix_(rows, columns)], atol=1e-12)
    assert_allclose(factor.diag(), np.diagonal(K), atol=1e-12)
    v = np.random.default_rng(2).normal(size=300)
    assert_allclose(factor.matvec(v), K @ v, atol=1e-11)
    assert_allclose(factor.combined(np.arange(290), v[:290]), points[:290].T @ v[:290], atol=1e-11)
    assert_allclose(factor.combined(rows, v[rows]), points[rows].T @ v[rows], atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", FORMS)
def test_new_points_meet_the_weights_not_the_kept_points(points, form, kept):
    new = np.random.default_rng(3).normal(size=(50, 7)).astype(np.float32).astype(np.float64)
    coef = np.random.default_rng(4).normal(size=(300, 2))
    segments = [
        Segment(0, 100, coef[:100], np.array([0, 2])),
        Segment(100, 300, coef[100:], np.array([1, 2])),
    ]
    expected = np.zeros((50, 3))
    for s in segments:
        expected[:, s.outputs] += new @ points[s.start : s.stop].T @ s.coef
    found = cross_products(Linear(), FORMS[form](new), FORMS[kept](points), segments, 3, Workers(2))
    assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_the_error_of_a_product_is_bounded(points, form):
    """In units of all terms, not of what is left of them: those of the coefficients cancel here."""
    factor = Features(FORMS[form](points))
    v = np.where(np.arange(300) % 2, 1e8, -1e8)
    exact = (
        points.astype(np.longdouble) @ (points.astype(np.longdouble).T @ v.astype(np.longdouble))
    ).astype(float)
    assert (np.abs(factor.matvec(v) - exact) <= factor.noise(v) + 1e-300).all()
