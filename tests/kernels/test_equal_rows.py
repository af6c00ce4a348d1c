"""A row and its copy are at distance 0, however large their numbers and whatever holds them."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import _jit
from mercer.gram import gram
from mercer.gram.cross_products import Segment, cross_products
from mercer.kernels import RBF, Matern
from mercer.threads import Workers

HOLDERS = {"dense": np.asarray, "csr": sp.csr_array, "csr_matrix": sp.csr_matrix}


@pytest.mark.core
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [3, 40])
@pytest.mark.parametrize("exponent", [0, 8, 19, 35])
@pytest.mark.parametrize("holder", sorted(HOLDERS))
@pytest.mark.parametrize("kernel", [RBF(1.0), Matern(nu=2.5)], ids=["rbf", "matern"])
def test_kernels_of_copies_are_one(kernel, holder, exponent, columns, dtype):
    rows = np.random.default_rng(0).normal(size=(7, columns)) * 10.0**exponent
    rows[rows < -(10.0**exponent)] = 0.0
    rows[3] = rows[5]
    X = HOLDERS[holder](rows.astype(dtype))
    expected = np.eye(7)
    expected[3, 5] = expected[5, 3] = 1.0
    if exponent == 0:
        differences = rows.astype(dtype).astype(float)[:, None] - rows.astype(dtype).astype(float)[None]
        expected = kernel.elementwise((differences**2).sum(axis=2))
    near = {"rtol": 1e-3, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-8, "atol": 1e-12}
    np.testing.assert_allclose(kernel(X), expected, **near)
    np.testing.assert_allclose(kernel(X, X.copy()), expected, **near)
    every = np.arange(7)
    block = gram(kernel, X, precision="double").block(every, every)
    np.testing.assert_allclose(block, expected, **near)
    single = gram(kernel, X, precision="single").block(every, every)
    np.testing.assert_allclose(single, expected, rtol=1e-3, atol=1e-5)
    whole = Segment(0, 7, np.eye(7), every)
    np.testing.assert_allclose(cross_products(kernel, X, X, [whole], 7, Workers(1)), expected, **near)


@pytest.mark.core
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_compute_again_what_cancels(dtype):
    X = np.random.default_rng(0).normal(size=(5, 30)).astype(dtype) + dtype(1e6)
    norms = np.einsum("ij,ij->i", X, X)
    tile = X @ X.T
    _jit.panels.finish_tile(tile, X, norms, X, norms, (dtype(0.1),))
    differences = X.astype(float)[:, None] - X.astype(float)[None]
    np.testing.assert_allclose(tile, np.exp(-0.1 * (differences**2).sum(axis=2)), rtol=1e-3, atol=1e-7)


@pytest.mark.core
def test_no_kept_points_give_zero():
    X = np.random.default_rng(0).normal(size=(4, 3))
    nothing = Segment(0, 0, np.zeros((0, 1)), np.arange(1))
    assert not cross_products(RBF(1.0), X, X[:0], [nothing], 1, Workers(1)).any()
    assert RBF(1.0).evaluate(X, X[:0]).shape == (4, 0)
