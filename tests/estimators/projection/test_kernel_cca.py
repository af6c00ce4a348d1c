"""Kernel CCA against ridge CCA, against its eigenproblem, and on pairs it has not seen."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from mercer import KernelCCA
from mercer.kernels import RBF, Linear

pytestmark = pytest.mark.core


def paired(n, seed, noise=0.3):
    """Return two views of three hidden numbers, with noise features of their own."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((n, 3))
    A = np.random.default_rng(100).standard_normal((3, 6))
    B = np.random.default_rng(101).standard_normal((3, 4))
    return T @ A + noise * rng.standard_normal((n, 6)), T @ B + noise * rng.standard_normal((n, 4))


def nonlinear(n, seed):
    """Return views that a linear correlation sees nothing of."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1.0, 1.0, n)
    X = np.column_stack([t, rng.standard_normal(n)])
    Y = np.column_stack([np.cos(3.0 * t) + 0.05 * rng.standard_normal(n), rng.standard_normal(n)])
    return X, Y


def ridge_cca(X, Y, kappa, k):
    """Canonical correlations of (C + kappa I), from the singular value decompositions of the two views."""
    n = len(X)
    (Ux, sx, Vx), (Uy, sy, Vy) = (np.linalg.svd(V - V.mean(axis=0), full_matrices=False) for V in (X, Y))
    M = (sx / np.sqrt(sx**2 + n * kappa[0]))[:, None] * (Ux.T @ Uy) * (sy / np.sqrt(sy**2 + n * kappa[1]))
    a, values, b = np.linalg.svd(M)
    wx = Vx.T @ (a[:, :k] / np.sqrt(sx**2 / n + kappa[0])[:, None])
    wy = Vy.T @ (b[:k].T / np.sqrt(sy**2 / n + kappa[1])[:, None])
    return values[:k], wx, wy


@pytest.mark.parametrize("method", ["exact", "cholesky"])
def test_linear_is_ridge_cca(method):
    X, Y = paired(150, 0)
    model = KernelCCA(n_components=3, kernel="linear", ridge=(0.05, 0.2), method=method, rank_tol=0.0)
    model.fit(X, Y)
    assert_allclose(model.ridge_, (0.05 * X.var(axis=0).sum(), 0.2 * Y.var(axis=0).sum()))
    values, wx, wy = ridge_cca(X, Y, model.ridge_, 3)
    assert_allclose(model.regularized_correlations_, values, rtol=1e-9)
    new_x, new_y = paired(20, 1)
    first, second = model.transform(new_x, new_y)
    expected = (new_x - X.mean(axis=0)) @ wx
    signs = np.sign((first * expected).sum(axis=0))
    assert_allclose(first * signs, expected, atol=1e-8)
    assert_allclose(second * signs, (new_y - Y.mean(axis=0)) @ wy, atol=1e-8)


def test_tiny_ridge_is_classical_cca():
    from sklearn.cross_decomposition import CCA

    X, Y = paired(150, 0)
    ours = KernelCCA(n_components=1, kernel="linear", ridge=1e-12).fit(X, Y)
    a, b = CCA(n_components=1, max_iter=5000, tol=1e-12).fit(X, Y).transform(X, Y)
    assert ours.correlations_[0] == pytest.approx(np.corrcoef(a[:, 0], b[:, 0])[0, 1], rel=1e-6)


def test_generalised_eigenproblem():
    X, Y = nonlinear(120, 0)
    model = KernelCCA(n_components=4, kernel=RBF(gamma=0.5), kernel_y=RBF(gamma=0.7), ridge=0.02).fit(X, Y)
    H = np.eye(120) - 1.0 / 120
    Kx, Ky = H @ RBF(gamma=0.5)(X) @ H, H @ RBF(gamma=0.7)(Y) @ H
    zero = np.zeros_like(Kx)
    left = np.block([[zero, Kx @ Ky], [Ky @ Kx, zero]])
    nx, ny = (120 * ridge for ridge in model.ridge_)
    right = scipy.linalg.block_diag(Kx @ (Kx + nx * np.eye(120)), Ky @ (Ky + ny * np.eye(120)))
    pair = np.vstack([model.dual_coef_x_, model.dual_coef_y_])
    residual = left @ pair - right @ pair * model.regularized_correlations_
    assert np.abs(residual).max() < 1e-8
    # normalised, and conjugate to each other
    assert_allclose(pair.T @ right @ pair / 120, 2.0 * np.eye(4), atol=1e-8)
    # the largest: no vector of the pencil does better
    jitter = 1e-10 * np.trace(right) * np.eye(240)
    top = scipy.linalg.eigh(left, right + jitter, eigvals_only=True)[-4:][::-1]
    assert_allclose(model.regularized_correlations_, top, rtol=1e-3)


def test_permuted_pairs_have_no_held_out_correlation():
    """What code without a ridge fails: it finds a correlation of 1 in pairs that have nothing in common."""
    X, Y = nonlinear(600, 0)
    shuffled = Y[np.random.default_rng(1).permutation(600)]
    for ridge in (0.01, 0.1, "cv"):
        model = KernelCCA(kernel="rbf", ridge=ridge, random_state=0).fit(X[:300], shuffled[:300])
        assert abs(model.correlations(X[300:], shuffled[300:])[0]) < 4.0 / np.sqrt(300)
        assert abs(model.score(X[300:], shuffled[300:])) < 4.0 / np.sqrt(300)
        true = KernelCCA(kernel="rbf", ridge=ridge, random_state=0).fit(X[:300], Y[:300])
        assert true.correlations(X[300:], Y[300:])[0] > 0.8
    # and with next to no ridge the training correlation is 1 although there is none: why ridge=0 is refused
    degenerate = KernelCCA(kernel=RBF(gamma=5.0), ridge=1e-12).fit(X[:300], shuffled[:300])
    assert degenerate.correlations_[0] > 0.999
    assert abs(degenerate.correlations(X[300:], shuffled[300:])[0]) < 0.3


def test_a_linear_correlation_sees_nothing_where_a_kernel_does():
    X, Y = nonlinear(600, 0)
    linear = KernelCCA(kernel="linear").fit(X[:300], Y[:300])
    gaussian = KernelCCA(kernel="rbf", ridge=0.05).fit(X[:300], Y[:300])
    assert abs(linear.correlations(X[300:], Y[300:])[0]) < 0.3
    assert gaussian.correlations(X[300:], Y[300:])[0] > 0.9


def test_cholesky_tends_to_the_exact_solution():
    X, Y = nonlinear(400, 0)
    exact = KernelCCA(n_components=2, ridge=0.05, method="exact").fit(X, Y)
    errors = []
    for rank in (5, 20, 200):
        model = KernelCCA(n_components=2, ridge=0.05, method="cholesky", max_rank=rank, rank_tol=0.0).fit(
            X, Y
        )
        assert model.dual_coef_x_.shape[0] == len(model.landmarks_x_) <= rank
        errors.append(np.abs(model.transform(X) - exact.transform(X)).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4


def test_thousands_of_pairs_take_landmarks_by_themselves():
    X, Y = nonlinear(4000, 0)
    model = KernelCCA(ridge=0.05, max_rank=60).fit(X[:3000], Y[:3000])
    assert len(model.landmarks_x_) <= 60
    assert model.correlations(X[3000:], Y[3000:])[0] > 0.9


def test_ridge_by_cross_validation():
    X, Y = nonlinear(150, 0)
    grid = [1e-8, 1e-4, 1.0]
    model = KernelCCA(kernel=RBF(gamma=2.0), ridge="cv", ridges=grid, cv=4, random_state=0).fit(X, Y)
    results = model.ridge_results_
    assert results["split_correlations"].shape == (4, 3, 1)
    assert results["mean_test_score"].argmax() == 1
    assert model.ridge_[0] == pytest.approx(1e-4 * (1.0 - RBF(gamma=2.0)(X).mean()))
    # each entry is what a fit to the rest gives
    from sklearn.model_selection import KFold

    train, test = next(iter(KFold(4).split(X)))
    fold = KernelCCA(kernel=RBF(gamma=2.0), ridge=1e-4).fit(X[train], Y[train])
    assert results["split_correlations"][0, 1, 0] == pytest.approx(fold.score(X[test], Y[test]), abs=1e-8)


def test_ridge_by_permutation():
    X, Y = nonlinear(200, 0)
    grid = [1e-8, 1e-2, 1.0]
    model = KernelCCA(kernel=RBF(gamma=2.0), ridge="permutation", ridges=grid, random_state=0).fit(X, Y)
    results = model.ridge_results_
    assert results["permuted_sums"].shape == (20, 3)
    assert results["z"].argmax() > 0  # a ridge too small cannot tell true pairs from shuffled ones
    assert results["p_value"][results["z"].argmax()] == pytest.approx(1 / 21)
    assert model.ridge_[0] == pytest.approx(grid[results["z"].argmax()] * (1.0 - RBF(gamma=2.0)(X).mean()))


def test_retrieval():
    X, Y = paired(300, 0, noise=0.1)
    model = KernelCCA(n_components=3, kernel="linear").fit(X[:200], Y[:200])
    best = model.retrieve(X[200:], Y[200:], n_best=5)
    assert best.shape == (100, 5)
    assert (best[:, 0] == np.arange(100)).mean() > 0.6  # one in a hundred by chance
    backward = model.retrieve(X[200:], Y[200:], n_best=1, queries="y")
    assert (backward[:, 0] == np.arange(100)).mean() > 0.6
    assert_array_equal(np.sort(model.retrieve(X[:3], Y[:7]), axis=1), np.tile(np.arange(7), (3, 1)))
    with pytest.raises(ValueError, match="n_best=8 must be an integer from 1 to 7"):
        model.retrieve(X[:3], Y[:7], n_best=8)
    with pytest.raises(ValueError, match="queries='Z' must be 'X' or 'y'"):
        model.retrieve(X[:3], Y[:7], queries="Z")


def test_views_are_interchangeable():
    X, Y = nonlinear(100, 0)
    a = KernelCCA(n_components=2, kernel=RBF(gamma=0.5), kernel_y=RBF(gamma=2.0), ridge=(0.01, 0.1)).fit(X, Y)
    b = KernelCCA(n_components=2, kernel=RBF(gamma=2.0), kernel_y=RBF(gamma=0.5), ridge=(0.1, 0.01)).fit(Y, X)
    assert_allclose(a.regularized_correlations_, b.regularized_correlations_, rtol=1e-8)
    assert_allclose(np.abs(a.transform(X)), np.abs(b.transform_y(X)), atol=1e-7)


def test_sign_convention():
    X, Y = nonlinear(100, 0)
    for method in ("exact", "cholesky"):
        scores = KernelCCA(n_components=3, method=method).fit(X, Y).transform(X)
        assert (scores[np.abs(scores).argmax(axis=0), np.arange(3)] > 0).all()


def test_precomputed_and_mixed_kernels():
    X, Y = nonlinear(100, 0)
    k, new = RBF(gamma=0.5), nonlinear(10, 1)
    direct = KernelCCA(kernel=k, kernel_y=Linear()).fit(X, Y)
    given = KernelCCA(kernel="precomputed", kernel_y="linear").fit(k(X), Y)
    assert_allclose(given.transform(k(new[0], X)), direct.transform(new[0]), atol=1e-10)
    both = KernelCCA(kernel="precomputed").fit(k(X), Linear()(Y))
    assert_allclose(both.transform_y(Linear()(new[1], Y)), direct.transform_y(new[1]), atol=1e-10)
    for method in ("cv", "permutation"):
        chosen = KernelCCA(kernel="precomputed", ridge=method, random_state=0).fit(k(X), k(Y))
        same = KernelCCA(kernel=k, ridge=method, random_state=0).fit(X, Y)
        assert chosen.ridge_ == pytest.approx(same.ridge_)


@mercer.kernel
def letters(a, b):
    return float(sum(a.count(c) * b.count(c) for c in set(a)))


def test_words_and_numbers():
    words = ["a" * i + "b" * j for i in range(1, 6) for j in range(1, 6)]
    numbers = np.array([w.count("a") - w.count("b") for w in words], dtype=float)
    model = KernelCCA(kernel=letters, kernel_y="linear").fit(words, numbers)
    assert not hasattr(model, "n_features_in_")
    assert model.correlations_[0] > 0.95
    assert model.transform(["aab"]).shape == (1, 1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ridge": 0.0}, "ridge"),
        ({"ridge": (0.1, -1.0)}, r"ridge=\(0.1, -1.0\) must be a positive number"),
        ({"ridge": (0.1, 0.1, 0.1)}, "one for each of the two views"),
        ({"ridge": "best"}, "ridge"),
        ({"ridge": "cv", "ridges": [0.0, 1.0]}, "ridges=.* must be positive and finite"),
        ({"ridge": "cv", "ridges": []}, "ridges=.* must be a non-empty sequence"),
        ({"gamma": 2.0, "kernel": RBF()}, "gamma=2.0 does not apply to kernel"),
        ({"n_components": 50}, "n_components=50 must be an integer from 1 to"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        KernelCCA(**params).fit(*nonlinear(20, 0))


def test_bad_data_are_refused():
    X, Y = nonlinear(20, 0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: 20 and 19 rows"):
        KernelCCA().fit(X, Y[:19])
    with pytest.raises(ValueError, match="requires y to be passed"):
        KernelCCA().fit(X, None)
    with pytest.raises(ValueError, match="all rows of y are identical to its kernel"):
        KernelCCA().fit(X, np.ones((20, 2)))
    model = KernelCCA().fit(X, Y)
    with pytest.raises(ValueError, match="y has 1 columns, but KernelCCA was fitted on 2"):
        model.transform_y(Y[:, :1])
    with pytest.raises(
        ValueError, match="X has 20 rows and y has 19: both views need the same number of rows"
    ):
        model.correlations(X, Y[:19])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        KernelCCA().fit(X, np.where(Y > 0, np.nan, Y))
