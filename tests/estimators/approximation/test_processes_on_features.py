"""Gaussian processes on features: against the exact process, dense algebra, numerical derivatives."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs

import mercer
from mercer import GaussianProcessRegressor, KernelRidge, Nystroem, RandomFeatures
from mercer.estimators.gaussian import _regression_on_features
from mercer.kernels import RBF, Constant, Matern
from mercer.threads import Workers

rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, size=(150, 2))
y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.2 * rng.normal(size=150)
T = rng.uniform(-4.0, 4.0, size=(40, 2))
FIXED = {"kernel": 1.5 * RBF(gamma=0.4), "noise": 0.05, "optimizer": None}


def process(**given):
    return GaussianProcessRegressor(**{**FIXED, "approximation": "nystroem", "n_components": 40, **given})


def log_normal(y, S):
    return -0.5 * (y @ np.linalg.solve(S, y) + np.linalg.slogdet(S)[1] + y.size * np.log(2 * np.pi))


def test_with_all_landmarks_it_is_the_exact_process():
    exact = GaussianProcessRegressor(**FIXED).fit(X, y)
    model = process(n_components=150).fit(X, y)
    for of_exact, of_model in zip(
        exact.predict(T, return_std=True), model.predict(T, return_std=True), strict=True
    ):
        np.testing.assert_allclose(of_model, of_exact, atol=2e-3)
    cov = model.predict(T, return_cov=True)[1]
    np.testing.assert_allclose(cov, exact.predict(T, return_cov=True)[1], atol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov)), model.predict(T, return_std=True)[1], atol=1e-6)
    low, high = model.log_marginal_likelihood_bounds_
    assert low <= high
    np.testing.assert_allclose([low, high], exact.log_marginal_likelihood_value_, rtol=1e-5)
    np.testing.assert_allclose(model.certificate_.primal, exact.certificate_.primal, rtol=1e-5)
    assert model.certificate_.status == "optimal"
    assert model.distance_from_exact_.kind == "bound"
    assert model.distance_from_exact_.relative_gap < 1e-5


def test_evidence_bounds_and_posterior_are_what_dense_algebra_says():
    k, noise = 1.5 * RBF(gamma=2.0), FIXED["noise"]  # narrow: landmarks that hardly explain each other
    model = process(kernel=k).fit(X, y)
    L = model.feature_map_.components_
    inverse = np.linalg.inv(k(L))
    Q, K, cross = k(X, L) @ inverse @ k(L, X), k(X), k(T, L)
    trace = np.trace(K - Q)
    one, more = Q + noise * np.eye(150), Q + (noise + trace) * np.eye(150)
    low, high = model.log_marginal_likelihood_bounds_
    np.testing.assert_allclose(low, log_normal(y, one) - 0.5 * trace / noise, rtol=1e-5)
    upper = log_normal(y, one) + 0.5 * y @ (np.linalg.solve(one, y) - np.linalg.solve(more, y))
    np.testing.assert_allclose(high, upper, rtol=1e-5)
    exact = GaussianProcessRegressor(k, noise=noise, optimizer=None).fit(X, y)
    assert low < exact.log_marginal_likelihood_value_ < high
    lower, upper = model.quadratic_bounds_
    assert lower < y @ np.linalg.solve(K + noise * np.eye(150), y) < upper
    gain = cross @ inverse @ k(L, X)
    mean, std = model.predict(T, return_std=True)
    np.testing.assert_allclose(mean, gain @ np.linalg.solve(one, y), atol=1e-3)
    variance = 1.5 - np.einsum("ij,ij->i", gain @ np.linalg.inv(one), gain)
    np.testing.assert_allclose(std**2, variance, atol=1e-5)
    far = np.full((1, 2), 50.0)
    np.testing.assert_allclose(model.predict(far, return_std=True)[1], np.sqrt(1.5), rtol=1e-9)


def test_the_mean_is_kernel_ridge_on_the_same_features():
    Y = np.stack([y, 2.0 * y + 1.0], axis=1)
    model = process(random_state=0).fit(X, Y)
    ridge = KernelRidge(
        alpha=0.05, kernel=FIXED["kernel"], approximation="nystroem", n_components=40, random_state=0
    ).fit(X, Y)
    np.testing.assert_allclose(model.predict(T), ridge.predict(T), atol=1e-2)
    np.testing.assert_allclose(model.certificate_.primal, ridge.certificate_.primal, rtol=1e-5)
    again = model.certify(X, Y)
    np.testing.assert_allclose(
        [again.primal, again.gap], [model.certificate_.primal, model.certificate_.gap], atol=1e-9
    )


@pytest.mark.parametrize(
    ("kernel", "noise"),
    [
        (1.5 * RBF(gamma=[0.3, 0.7]) + Matern(length_scale=2.0), 0.3),
        (theirs.ConstantKernel(2.0) * theirs.RBF([0.8, 1.5]) + theirs.WhiteKernel(0.1), 0.2),
    ],
)
def test_the_gradient_of_the_bound_is_the_numerical_one(kernel, noise):
    model = process(kernel=kernel, noise=noise).fit(X, y)
    twin = GaussianProcessRegressor(kernel=kernel, noise=noise)
    twin.kernel_ = twin._kernel().resolve_on(X, None)
    family, theta, _ = twin._opened(X, model._Y, noise, Workers(1))
    at = lambda t: twin._bound(family, model.feature_map_, t, model._Y, Workers(2))  # noqa: E731
    steps = 1e-5 * np.eye(theta.size)
    numerical = [(at(theta + h).value - at(theta - h).value) / 2e-5 for h in steps]
    np.testing.assert_allclose(at(theta).gradient, numerical, rtol=1e-4, atol=1e-4)


def test_the_search_raises_the_bound_and_comes_near_to_the_exact_parameters():
    exact = GaussianProcessRegressor(1.0 * RBF(gamma=0.5), noise=0.1).fit(X, y)
    model = process(kernel=1.0 * RBF(gamma=0.5), noise=0.1, optimizer="lbfgs", n_components=100).fit(X, y)
    start = process(kernel=1.0 * RBF(gamma=0.5), noise=0.1, n_components=100).fit(X, y)
    assert model.log_marginal_likelihood_value_ > start.log_marginal_likelihood_value_
    assert model.log_marginal_likelihood_value_ <= exact.log_marginal_likelihood_value_ + 1e-3
    np.testing.assert_allclose(model.noise_, exact.noise_, rtol=0.05)
    np.testing.assert_allclose(model.theta_, exact.theta_, atol=0.3)
    assert model.hyperparameters_ == exact.hyperparameters_
    np.testing.assert_allclose(
        model.log_marginal_likelihood(), model.log_marginal_likelihood_bounds_[0], rtol=1e-12
    )


def test_random_features_are_a_process_of_their_own():
    kernel = 1.5 * RBF(gamma=0.4) + Constant(0.5)
    model = process(kernel=kernel, approximation="features", n_components=601, random_state=0).fit(X, y)
    exact = GaussianProcessRegressor(**{**FIXED, "kernel": kernel}).fit(X, y)
    assert model.log_marginal_likelihood_bounds_ is None
    assert model.distance_from_exact_.kind == "estimate"
    inside = X[:20]
    assert np.abs(model.predict(inside) - exact.predict(inside)).mean() < 0.1
    Z, z = model.feature_map_.transform(X), model.feature_map_.transform(inside)
    weights = np.linalg.solve(Z.T @ Z + 0.05 * np.eye(601), Z.T @ y)
    np.testing.assert_allclose(model.predict(inside), z @ weights, atol=2e-3)
    std = np.sqrt(0.05 * np.einsum("ij,ij->i", z @ np.linalg.inv(Z.T @ Z + 0.05 * np.eye(601)), z))
    np.testing.assert_allclose(model.predict(inside, return_std=True)[1], std, atol=1e-5)
    np.testing.assert_allclose(
        model.log_marginal_likelihood_value_, log_normal(y, Z @ Z.T + 0.05 * np.eye(150)), rtol=1e-6
    )


def test_multiples_and_constants_have_random_features():
    kernel = 2.0 * (1.5 * Matern(length_scale=[1.0, 3.0]) + Constant(0.5))
    features = RandomFeatures(kernel, n_components=4001, random_state=0).fit(X)
    Z = features.transform(X)
    assert Z.shape == (150, 4001)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=0.35)
    np.testing.assert_allclose(np.einsum("ij,ij->i", Z, Z), 4.0, atol=0.1)
    with pytest.raises(ValueError, match="at least 2"):
        RandomFeatures(kernel, n_components=1).fit(X)
    with pytest.raises(ValueError, match="no random features"):
        RandomFeatures(RBF(1.0) + RBF(2.0)).fit(X)


def test_many_rows_start_from_a_sample_of_them(monkeypatch):
    monkeypatch.setattr(_regression_on_features, "SAMPLE", 60)
    given = {"kernel": None, "noise": "auto", "optimizer": "lbfgs", "random_state": 0}
    model = process(**given).fit(X, y)
    assert model.score(X, y) > 0.85
    assert 0.01 < model.noise_ < 0.1
    waves = process(**given, approximation="features", n_components=150).fit(X, y)
    assert waves.score(X, y) > 0.85
    auto = process(**given, n_components="auto").fit(X, y)
    assert auto.n_components_ == 100
    assert auto.distance_from_exact_.relative_gap < 0.01


def test_white_noise_normalised_outputs_given_matrices_and_draws():
    kernel = theirs.ConstantKernel(1.5) * theirs.RBF(1.1) + theirs.WhiteKernel(0.05)
    model = process(kernel=kernel, noise=None, normalize_y=True, n_components=150).fit(X, 10.0 + 3.0 * y)
    exact = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, 10.0 + 3.0 * y)
    for of_exact, of_model in zip(
        exact.predict(T, return_std=True), model.predict(T, return_std=True), strict=True
    ):
        np.testing.assert_allclose(of_model, of_exact, atol=1e-2)
    drawn = model.sample_y(T[:3], 4000, random_state=1)
    mean, std = model.predict(T[:3], return_std=True)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=5 * std.max() / np.sqrt(4000))
    given = process(kernel="precomputed", n_components=150).fit(FIXED["kernel"](X), y)
    np.testing.assert_allclose(
        given.predict(FIXED["kernel"](T, X)), process(n_components=150).fit(X, y).predict(T), atol=1e-3
    )


def test_an_exact_fit_forgets_the_features_and_files_keep_them(tmp_path):
    model = process(n_components=20).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    back = mercer.load(tmp_path / "model.mercer")
    for mine, kept in zip(model.predict(T, return_std=True), back.predict(T, return_std=True), strict=True):
        np.testing.assert_array_equal(mine, kept)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "X_train_")
    model.set_params(approximation=None).fit(X, y)
    assert not hasattr(model, "feature_map_")
    assert not hasattr(model, "log_marginal_likelihood_bounds_")
    np.testing.assert_allclose(model.predict(T), GaussianProcessRegressor(**FIXED).fit(X, y).predict(T))
    model.set_params(approximation=Nystroem(landmarks="cholesky", n_components=25)).fit(X, y)
    assert model.feature_map_.landmarks == "cholesky"
    assert not hasattr(model, "L_")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"noise": None, "alpha": np.full(150, 0.1)}, "noise for each point"),
        ({"noise": None}, "alpha=1e-10 is too small"),
        ({"solver": "cg"}, "solver='cg'"),
        ({"parametric": "linear"}, "parametric"),
        ({"kernel": "sigmoid"}, "positive semi-definite"),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(given, words):
    with pytest.raises(ValueError, match=words):
        process(**given).fit(X, y)
    model = process(n_components=10).fit(X, y)
    with pytest.raises(ValueError, match="does not keep"):
        model.log_marginal_likelihood(model.theta_)
    assert clone(model).approximation == "nystroem"
