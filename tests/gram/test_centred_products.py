"""Products with centred kernel matrices, tile by tile, and incomplete factors of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.gram import MatrixGram, Workers, gram
from mercer.gram.centred import CentredGram
from mercer.gram.incomplete_cholesky import pivoted_cholesky
from mercer.gram.tiled import TiledProduct
from mercer.kernels import RBF, Laplacian

pytestmark = pytest.mark.core


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Laplacian(gamma=0.3)])
def test_product_of_tiles(threads, kernel):
    X = np.random.default_rng(0).standard_normal((3001, 3))  # no multiple of a tile
    V = np.random.default_rng(1).standard_normal((3001, 4))
    free = gram(kernel, X, precision="double", cache_bytes=0, workers=Workers(1))
    assert_allclose(TiledProduct(free, Workers(threads))(V), kernel(X) @ V, atol=1e-10)
    single = gram(kernel, X, precision="single", cache_bytes=0, workers=Workers(1))
    assert_allclose(TiledProduct(single, Workers(threads))(V), kernel(X) @ V, atol=1e-3)


@pytest.mark.parametrize("kept", [True, False])
def test_centred_products(kept):
    X = np.random.default_rng(0).standard_normal((70, 3)) + 5.0
    k = RBF(gamma=0.3)
    H = np.eye(70) - 1.0 / 70
    expected = H @ k(X) @ H
    centred = CentredGram(gram(k, X, workers=Workers(1)), 10**9 if kept else 0)
    assert centred.kept == kept
    V = np.random.default_rng(1).standard_normal((70, 3))
    assert_allclose(centred.product(V), expected @ V, atol=1e-12)
    assert_allclose(centred.product(V), expected @ V, atol=1e-12)
    assert_allclose(centred.means, k(X).mean(axis=0))
    assert_allclose(centred.diag, np.diagonal(expected), atol=1e-14)
    dense = centred.dense()
    assert_allclose(dense, expected, atol=1e-14)
    assert (dense == dense.T).all()


def test_pivoted_cholesky():
    X = np.random.default_rng(0).standard_normal((80, 2))
    k = RBF(gamma=0.3)
    K = k(X)
    matrix_gram = gram(k, X, workers=Workers(1))
    last = 1.0
    for rank in (1, 5, 20, 40):
        factor = pivoted_cholesky(matrix_gram, rank, 0.0)
        left = K - factor.L @ factor.L.T
        assert np.linalg.eigvalsh(left).min() > -1e-10  # Nyström's approximation is from below
        assert_allclose(left[factor.pivots], 0.0, atol=1e-10)
        assert factor.residual == pytest.approx(np.trace(left) / 80, abs=1e-10)
        assert factor.residual < last
        last = factor.residual
        W = np.linalg.solve(K[np.ix_(factor.pivots, factor.pivots)] + 1e-13 * np.eye(rank), K[factor.pivots])
        assert_allclose(factor.L @ factor.L.T, K[:, factor.pivots] @ W, atol=1e-5)
        B = np.random.default_rng(1).standard_normal((rank, 2))
        assert_allclose(K[:, factor.pivots] @ factor.on_landmarks(B), factor.L @ B, atol=1e-6)
    stopped = pivoted_cholesky(matrix_gram, 80, 1e-3)
    assert stopped.residual <= 1e-3
    assert len(stopped.pivots) < 40


def test_nothing_to_factor():
    with pytest.raises(ValueError, match="kernel is 0 on all training points"):
        pivoted_cholesky(MatrixGram(np.zeros((3, 3))), 2, 0.0)
