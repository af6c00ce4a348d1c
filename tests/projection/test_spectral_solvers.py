"""Eigensolvers and factors on matrices with known answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.gram import MatrixGram, Workers, gram
from mercer.gram.centred import CentredGram
from mercer.gram.incomplete_cholesky import pivoted_cholesky
from mercer.gram.products import symmetric_product
from mercer.kernels import RBF, Laplacian
from mercer.solvers.linear_algebra.spectral import dense_eigenpairs, fixed_signs, leading_eigenpairs

pytestmark = pytest.mark.core


def matrix(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    return (Q * values) @ Q.T, Q


SPECTRA = {
    "decay": 0.8 ** np.arange(200),
    "slow": 1.0 / np.arange(1, 201),
    "negative": np.concatenate([[3.0, 2.0, 1.0], -np.linspace(0.1, 5.0, 197)]),
    "multiple": np.repeat([5.0, 4.0, 1.0, 0.5], 50),
    "low rank": np.concatenate([[3.0, 2.0, 1.0, 0.5, 0.2, 0.1], np.zeros(194)]),
}


# Lanczos on a single vector sees a multiple eigenvalue once, until rounding helps: it is not asked for those.
@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name in SPECTRA
        for method in ("dense", "arpack", "randomized")
        if (name, method) != ("multiple", "arpack")
    ],
)
def test_known_spectra(name, method):
    values = SPECTRA[name]
    A, _ = matrix(values)
    if method == "dense":
        found = dense_eigenpairs(A.copy(), 6)
    else:
        found = leading_eigenpairs(
            lambda V: A @ V, 200, 6, method=method, tol=1e-12, max_iter=None, seed=np.random.default_rng(1)
        )
    assert found.converged
    scale = np.abs(values).max()
    assert_allclose(found.values, np.sort(values)[::-1][:6], atol=1e-9 * scale)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(6), atol=1e-9)
    assert_allclose(
        np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0), found.residuals, atol=1e-12
    )
    assert found.residuals.max() < 1e-9 * scale


def test_signs_do_not_hang_on_rounding():
    v = np.array([[0.5, -0.5 - 1e-12, 0.5, -0.5]]).T
    assert fixed_signs(v) == fixed_signs(v + 1e-11) == 1.0
    assert fixed_signs(-v) == -1.0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Laplacian(gamma=0.3)])
def test_product_of_tiles(threads, kernel):
    X = np.random.default_rng(0).standard_normal((3001, 3))  # no multiple of a tile
    V = np.random.default_rng(1).standard_normal((3001, 4))
    free = gram(kernel, X, precision="double", cache_bytes=0, workers=Workers(1))
    assert_allclose(symmetric_product(free, V, Workers(threads)), kernel(X) @ V, atol=1e-10)
    single = gram(kernel, X, precision="single", cache_bytes=0, workers=Workers(1))
    assert_allclose(symmetric_product(single, V, Workers(threads)), kernel(X) @ V, atol=1e-3)


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
