"""The kernel Fisher discriminant against linear discriminants, its definition and kernel ridge scoring."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_circles
from sklearn.metrics import accuracy_score

import mercer
from clouds import blobs
from mercer import FlexibleDiscriminantAnalysis, KernelFisherDiscriminant, LinearDiscriminantAnalysis
from mercer.kernels import RBF

pytestmark = pytest.mark.core


@pytest.fixture(params=[2, 4])
def clouds(request):
    return blobs(120, 4, request.param, seed=1)


def test_linear_with_a_tiny_ridge_is_linear_discriminant_analysis(clouds):
    X, y = clouds
    ours = KernelFisherDiscriminant(kernel="linear", ridge=1e-11).fit(X, y)
    other = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(ours.transform(X), other.transform(X), atol=1e-5)
    assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-5)
    assert_array_equal(ours.predict(X), other.predict(X))
    assert_allclose(ours.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-5)


def test_definition(clouds):
    """The directions solve B w = lambda (W + kappa I) w, written in dual coefficients."""
    X, y = clouds
    n, classes = len(y), np.unique(y)
    model = KernelFisherDiscriminant(kernel=RBF(gamma=0.1), ridge=0.01).fit(X, y)
    H = np.eye(n) - 1.0 / n
    K = H @ RBF(gamma=0.1)(X) @ H
    P = sum(np.outer(y == c, y == c) / (y == c).sum() for c in classes)
    between = K @ P @ K / n
    within = K @ (np.eye(n) - P) @ K / n + model.ridge_ * K
    A = model.dual_coef_
    assert_allclose(A.T @ within @ A, np.eye(A.shape[1]), atol=1e-8)
    ratios = model.squared_correlations_ / (1.0 - model.squared_correlations_)
    assert_allclose(between @ A, within @ A * ratios, atol=1e-8)
    top = scipy.linalg.eigh(between, within + 1e-12 * np.eye(n), eigvals_only=True)[::-1]
    assert_allclose(ratios, top[: classes.size - 1], rtol=1e-4)


def test_is_optimal_scoring_by_kernel_ridge_regression(clouds):
    """With a centred kernel the ridge regression has its intercept in the mean of the scores, which is 0."""
    from sklearn.kernel_ridge import KernelRidge

    X, y = clouds
    ours = KernelFisherDiscriminant(kernel=RBF(gamma=0.1), ridge=0.01).fit(X, y)
    K = RBF(gamma=0.1).centered()(X)
    ridge = KernelRidge(kernel="precomputed", alpha=len(y) * ours.ridge_)
    other = FlexibleDiscriminantAnalysis(regressor=ridge).fit(K, y)
    assert_allclose(ours.transform(X), other.transform(K), atol=1e-7)
    assert_allclose(ours.predict_proba(X), other.predict_proba(K), atol=1e-7)


def test_circles_and_rings():
    X, y = make_circles(300, factor=0.4, noise=0.08, random_state=0)
    X, y = np.vstack([X, 2.0 * X[y == 0]]), np.concatenate([y, np.full((y == 0).sum(), 2)])
    new = X * 1.01
    model = KernelFisherDiscriminant().fit(X[::2], y[::2])
    assert accuracy_score(y[1::2], model.predict(new[1::2])) > 0.98
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) < 0.7
    assert model.transform(X).shape == (len(X), 2)


def test_cholesky_tends_to_the_exact_solution(clouds):
    X, y = clouds
    exact = KernelFisherDiscriminant(ridge=0.01).fit(X, y)
    errors = []
    for rank in (5, 30, 120):
        model = KernelFisherDiscriminant(ridge=0.01, method="cholesky", max_rank=rank, rank_tol=0.0).fit(X, y)
        errors.append(np.abs(model.predict_proba(X) - exact.predict_proba(X)).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-5


def test_reduced_rank_and_priors():
    X, y = blobs(120, 4, 4, seed=1)
    full = KernelFisherDiscriminant().fit(X, y)
    reduced = KernelFisherDiscriminant(n_components=2).fit(X, y)
    assert_allclose(reduced.transform(X), full.transform(X)[:, :2], atol=1e-9)
    assert reduced.centroids_.shape == (4, 2)
    certain = KernelFisherDiscriminant(priors=[1.0, 0.0, 0.0, 0.0]).fit(X, y)
    assert set(certain.predict(X)) == {full.classes_[0]}
    with pytest.raises(ValueError, match="must be 4 numbers, one for each class"):
        KernelFisherDiscriminant(priors=[0.5, 0.5]).fit(X, y)


def test_names_of_classes_do_not_matter(clouds):
    X, y = clouds
    names = np.array(["zebra", "ant", "cow", "bee"])
    before, after = KernelFisherDiscriminant().fit(X, y), KernelFisherDiscriminant().fit(X, names[y])
    assert_array_equal(after.predict(X), names[before.predict(X)])
    order = np.argsort(names[: len(before.classes_)])
    assert_allclose(after.predict_proba(X), before.predict_proba(X)[:, order], atol=1e-9)


def test_a_class_with_one_row_and_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 40))
    y = np.array([0] * 6 + [1] * 5 + [2])
    model = KernelFisherDiscriminant(kernel="linear").fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.predict_log_proba(1e3 * X)).all()


@mercer.kernel
def letters(a, b):
    return float(sum(a.count(c) * b.count(c) for c in set(a)))


def test_any_data(clouds):
    X, y = clouds
    k = RBF(gamma=0.1)
    direct = KernelFisherDiscriminant(kernel=k).fit(X, y)
    given = KernelFisherDiscriminant(kernel="precomputed").fit(k(X), y)
    assert_allclose(given.predict_proba(k(X[:9], X)), direct.predict_proba(X[:9]), atol=1e-9)
    sparse = KernelFisherDiscriminant(kernel=k).fit(sp.csr_matrix(X), y)
    assert_allclose(sparse.predict_proba(sp.csr_matrix(X)), direct.predict_proba(X), atol=1e-8)
    words, labels = ["aab", "abb", "aaab", "xyy", "xxy", "xxxy"], ["ab", "ab", "ab", "xy", "xy", "xy"]
    model = KernelFisherDiscriminant(kernel=letters).fit(words, labels)
    assert_array_equal(model.predict(["aaabb", "yyx"]), ["ab", "xy"])


def test_bad_data_are_refused(clouds):
    X, y = clouds
    with pytest.raises(ValueError, match="y has one class, 0"):
        KernelFisherDiscriminant().fit(X, np.zeros_like(y))
    with pytest.raises(ValueError, match="all rows of X are the same"):
        KernelFisherDiscriminant().fit(np.ones_like(X), y)
    with pytest.raises(ValueError, match="Unknown label type"):
        KernelFisherDiscriminant().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KernelFisherDiscriminant().fit(X, y[:-1])
