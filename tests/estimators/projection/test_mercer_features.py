"""The features of Mercer's theorem: an integral equation with a known answer, and the kernel matrix."""

import numpy as np
import pytest

from mercer import MercerFeatures
from mercer.estimators.projection import _mercer_features
from mercer.kernels import RBF, Linear

pytestmark = pytest.mark.core


def test_brownian_motion():
    """k(x, z) = min(x, z) on [0, 1]: lambda_j = 1 / ((j - 1/2) pi)^2, phi_j = sqrt(2) sin((j - 1/2) pi x)."""
    n = 800
    x = (np.arange(n) + 0.5) / n
    model = MercerFeatures(kernel="precomputed", n_components=4).fit(np.minimum.outer(x, x))
    rates = (np.arange(1, 5) - 0.5) * np.pi
    np.testing.assert_allclose(model.eigenvalues_, rates**-2.0, rtol=1e-4)
    new = np.linspace(0.05, 0.95, 40)
    phi = model.eigenfunctions(np.minimum.outer(new, x))
    expected = np.sqrt(2.0) * np.sin(np.outer(new, rates))
    np.testing.assert_allclose(phi * np.sign((phi * expected).sum(axis=0)), expected, atol=2e-3)


def test_the_kernel_is_the_sum_of_products_of_features():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(50, 3)), rng.normal(size=(20, 3))
    kernel = RBF(0.3)
    model = MercerFeatures(kernel=kernel).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=1e-7)
    np.testing.assert_allclose(model.transform(new) @ Z.T, kernel(new, X), atol=1e-6)
    phi = model.eigenfunctions(X)[:, :10]
    np.testing.assert_allclose(phi.T @ phi / 50, np.eye(10), atol=1e-6)
    np.testing.assert_allclose(Z[:, :10], phi * np.sqrt(model.eigenvalues_[:10]), atol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_.sum(), np.trace(kernel(X)) / 50, rtol=1e-9)


def test_the_first_features_are_the_best_of_their_rank():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    K = RBF(0.3)(X)
    Z = MercerFeatures(kernel=RBF(0.3), n_components=5).fit_transform(X)
    U, s, V = np.linalg.svd(K)
    np.testing.assert_allclose(Z @ Z.T, (U[:, :5] * s[:5]) @ V[:5], atol=1e-7)
    assert MercerFeatures(kernel=Linear()).fit(X).eigenvalues_.size == 3
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        MercerFeatures(kernel="precomputed").fit(np.zeros((4, 4)))


def test_few_features_of_a_matrix_that_does_not_fit_into_memory(monkeypatch):
    X = np.random.default_rng(3).normal(size=(300, 2))
    whole = MercerFeatures(kernel=RBF(0.5), n_components=5).fit(X)
    monkeypatch.setattr(_mercer_features, "SMALL", 100)
    parts = MercerFeatures(kernel=RBF(0.5), n_components=5, cache_size=0.5).fit(X)
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    Z, wanted = parts.transform(X), whole.transform(X)
    np.testing.assert_allclose(Z * np.sign((Z * wanted).sum(axis=0)), wanted, atol=1e-6)
    with pytest.raises(ValueError, match="too small for 300 eigenfunctions"):
        MercerFeatures(kernel=RBF(0.5), cache_size=0.5).fit(X)
