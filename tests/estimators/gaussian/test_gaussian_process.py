"""Gaussian processes: scikit-learn, kernel ridge regression, samples, other data, refusals."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor as Reference
from sklearn.gaussian_process.kernels import RBF as THEIR_RBF
from sklearn.gaussian_process.kernels import ConstantKernel as TheirConstant
from sklearn.gaussian_process.kernels import Matern as TheirMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as TheirRationalQuadratic
from sklearn.gaussian_process.kernels import WhiteKernel

from mercer import GaussianProcessRegressor, KernelRidge, kernel
from mercer.estimators.ridge import IllConditionedWarning
from mercer.kernels import (
    RBF,
    Chi2,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Spline,
)

pytestmark = pytest.mark.core


# Pairs of kernels, and how scikit-learn's parameters (their names sorted) turn into ours.
PAIRS = [
    (
        1.3 * RBF(gamma=np.array([0.5, 0.125, 0.5 / 9])),
        TheirConstant(1.3) * THEIR_RBF([1.0, 2.0, 3.0]),
        lambda g: np.r_[-0.5 * g[1:], g[0]],  # gamma = 1 / (2 length^2)
    ),
    (RBF(0.5), THEIR_RBF(1.0), lambda g: -0.5 * g),
    (
        0.7 * Matern([1.0, 2.0, 3.0], nu=2.5) + Constant(0.4),
        TheirConstant(0.7) * TheirMatern([1.0, 2.0, 3.0], nu=2.5) + TheirConstant(0.4),
        lambda g: np.r_[g[1:4], g[0], g[4]],
    ),
    (Matern(1.5, nu=1.5), TheirMatern(1.5, nu=1.5), lambda g: g),
    (Matern(1.5, nu=0.5), TheirMatern(1.5, nu=0.5), lambda g: g),
    (
        RationalQuadratic(1.5, 0.7) * Matern(2.0),
        TheirRationalQuadratic(1.5, 0.7) * TheirMatern(2.0, nu=1.5),
        lambda g: np.r_[g[1], g[0], g[2]],
    ),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "change"),
    PAIRS,
    ids=lambda p: "" if callable(p) and not hasattr(p, "get_params") else str(p),
)
@pytest.mark.parametrize("normalize_y", [False, True])
def test_agrees_with_scikit_learn(data, ours, theirs, change, normalize_y):
    X, Y, new = data
    for y in (Y[:, 0], Y):
        model = GaussianProcessRegressor(
            kernel=ours, noise=0.05, optimizer=None, bounds={"noise": "fixed"}, normalize_y=normalize_y
        ).fit(X, y)
        other = Reference(kernel=theirs, alpha=0.05, optimizer=None, normalize_y=normalize_y).fit(X, y)
        mean, std = model.predict(new, return_std=True)
        expected, spread = other.predict(new, return_std=True)
        np.testing.assert_allclose(mean, expected, atol=1e-8)
        np.testing.assert_allclose(std, spread, atol=1e-8)
        np.testing.assert_allclose(
            model.predict(new, return_cov=True)[1], other.predict(new, return_cov=True)[1], atol=1e-8
        )
        value, gradient = model.log_marginal_likelihood(model.theta_, eval_gradient=True)
        evidence, slopes = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)
        assert value == pytest.approx(evidence, rel=1e-9)
        assert value == model.log_marginal_likelihood()
        np.testing.assert_allclose(gradient, change(slopes), rtol=1e-6, atol=1e-7)


def test_the_gradient_by_the_noise_is_that_of_white_noise(data):
    X, Y, _ = data
    model = GaussianProcessRegressor(kernel=RBF(0.5), noise=0.3, optimizer=None).fit(X, Y)
    other = Reference(kernel=THEIR_RBF(1.0) + WhiteKernel(0.3), alpha=1e-14, optimizer=None).fit(X, Y)
    gradient = model.log_marginal_likelihood(eval_gradient=True)[1]
    slopes = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)[1]
    np.testing.assert_allclose(gradient, [-0.5 * slopes[0], slopes[1]], rtol=1e-6)
    assert model.hyperparameters_ == ["gamma", "noise"]


KERNELS = [
    2.0 * RBF([0.5, 0.2, 0.1]) + 0.5 * Linear(),
    RationalQuadratic([1.0, 2.0, 3.0], 0.7) * Matern(2.0, nu=2.5),
    (1.0 + 0.1 * Linear()) ** 2,
    Polynomial(2, 0.3, 1.0),
    Laplacian(0.3).on([0, 2]) + Constant(0.5),
    (RBF(0.2) + Linear()).normalized(),
    RBF(0.2).centered(),
    Spline(),
]


@pytest.mark.parametrize("ours", KERNELS, ids=str)
def test_the_gradient_is_that_of_differences(data, ours):
    X, Y, _ = data
    model = GaussianProcessRegressor(kernel=ours, noise=0.3, optimizer=None).fit(X, Y)
    gradient = model.log_marginal_likelihood(model.theta_, eval_gradient=True)[1]
    assert len(model.hyperparameters_) == gradient.size
    for j in range(gradient.size):
        step = np.zeros(gradient.size)
        step[j] = 1e-5
        up, down = (model.log_marginal_likelihood(model.theta_ + s * step) for s in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-5)


def test_equals_kernel_ridge_regression(data):
    X, Y, new = data
    process = GaussianProcessRegressor(kernel=RBF(0.3), noise=0.2, optimizer=None).fit(X, Y)
    ridge = KernelRidge(kernel=RBF(0.3), alpha=0.2).fit(X, Y)
    np.testing.assert_allclose(process.predict(new), ridge.predict(new), atol=1e-12)
    np.testing.assert_allclose(process.dual_coef_, ridge.dual_coef_, atol=1e-10)
    assert process.certificate_.primal == pytest.approx(ridge.certificate_.primal)
    assert process.certify(X, Y).relative_gap < 1e-12
    quadratic = np.vdot(Y, ridge.dual_coef_)
    assert process.quadratic_bounds_ == pytest.approx((quadratic, quadratic))


def test_noise_of_each_point_is_a_weight(data):
    X, Y, new = data
    noise = np.random.default_rng(1).uniform(0.1, 1.0, size=60)
    process = GaussianProcessRegressor(kernel=RBF(0.3), noise=noise, optimizer=None).fit(X, Y[:, 0])
    ridge = KernelRidge(kernel=RBF(0.3), alpha=1.0).fit(X, Y[:, 0], 1.0 / noise)
    np.testing.assert_allclose(process.predict(new), ridge.predict(new), atol=1e-10)
    other = Reference(kernel=THEIR_RBF(1.0), alpha=noise, optimizer=None).fit(X, Y[:, 0])
    same = clone(process).set_params(kernel=RBF(0.5)).fit(X, Y[:, 0])
    for ours, theirs in zip(
        same.predict(new, return_std=True), other.predict(new, return_std=True), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert same.certificate_.relative_gap < 1e-12
    with pytest.raises(ValueError, match="noise has shape"):
        clone(process).set_params(noise=noise[:-1]).fit(X, Y)


def test_a_mean_asks_for_no_posterior(data, monkeypatch):
    X, Y, new = data
    for solver in ("cholesky", "cg"):
        model = GaussianProcessRegressor(kernel=RBF(0.5), optimizer=None, solver=solver).fit(X, Y)
        expected = model.predict(new)
        monkeypatch.setattr(model, "_get_posterior", None)  # whoever calls it fails
        np.testing.assert_array_equal(model.predict(new), expected)
        with pytest.raises(TypeError):
            model.predict(new, return_std=True)


def test_samples_have_the_posterior_moments(data):
    X, Y, new = data
    model = GaussianProcessRegressor(kernel=RBF(0.3), noise=0.2, optimizer=None, normalize_y=True).fit(X, Y)
    mean, cov = model.predict(new, return_cov=True)
    draws = model.sample_y(new, 4000, random_state=1)
    assert draws.shape == (9, 2, 4000)
    scale = np.sqrt(cov[np.arange(9), np.arange(9)])
    np.testing.assert_allclose((draws.mean(axis=2) - mean) / scale, 0.0, atol=0.08)
    for t in range(2):
        np.testing.assert_allclose(np.cov(draws[:, t]) / cov[0, 0, t], cov[:, :, t] / cov[0, 0, t], atol=0.2)
    flat = clone(model).fit(X, Y[:, 0])
    assert flat.sample_y(new, 3).shape == (9, 3)
    np.testing.assert_array_equal(flat.sample_y(new, 3), flat.sample_y(new, 3))


def test_deviations_exclude_the_noise_and_grow_to_the_prior(data):
    X, Y, _ = data
    model = GaussianProcessRegressor(kernel=2.0 * RBF(0.5), noise=0.5, optimizer=None).fit(X, Y[:, 0])
    far = model.predict(np.full((1, 3), 50.0), return_std=True)
    assert far[0] == pytest.approx(0.0, abs=1e-12)
    assert far[1] == pytest.approx(np.sqrt(2.0))
    near = model.predict(X, return_std=True)[1]
    assert (near < np.sqrt(0.5)).all()  # one observation of variance 0.5 leaves less than that


@kernel(psd=True)
def shared_letters(a, b):
    return len(set(a) & set(b))


def test_words_and_matrices(data):
    words = ["cat", "tack", "dog", "god", "a", "hippo", "tic", "toe"]
    y = np.array([len(word) for word in words], dtype=float)
    model = GaussianProcessRegressor(kernel=1.0 * shared_letters, noise=0.5, bounds={"noise": "fixed"})
    assert model.fit(words, y).hyperparameters_ == ["scale"]
    mean, std = model.predict(["cow"], return_std=True)
    assert np.isfinite([mean, std]).all()
    X, Y, new = data
    K = RBF(0.3)
    given = GaussianProcessRegressor(kernel="precomputed", noise=0.2, optimizer=None).fit(K(X), Y)
    direct = GaussianProcessRegressor(kernel=K, noise=0.2, optimizer=None).fit(X, Y)
    np.testing.assert_allclose(given.predict(K(new, X)), direct.predict(new), atol=1e-10)
    with pytest.raises(ValueError, match="precomputed"):
        given.predict(K(new, X), return_std=True)
    single = clone(direct).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(
        single.predict(new, return_std=True)[1], direct.predict(new, return_std=True)[1], atol=1e-5
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_duplicates_and_tiny_noise_are_named(data, dtype):
    X, Y, new = data
    X = np.r_[X, X].astype(dtype)
    Y = np.r_[Y, Y + 0.01]
    for noise in (1e-17, 1e-300):
        with pytest.warns(IllConditionedWarning, match="Raise noise"):
            model = GaussianProcessRegressor(kernel=RBF(0.05), noise=noise, optimizer=None).fit(X, Y)
        mean, std = model.predict(new, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
        assert np.isfinite(model.log_marginal_likelihood(eval_gradient=True)[1]).all()
        assert np.isfinite(model.sample_y(new)).all()


def test_the_search_survives_singular_matrices():
    x = np.repeat(np.linspace(0, 1, 10), 3)[:, None]
    y = np.sin(3 * x[:, 0])
    with pytest.warns(Warning, match=r"noise|bounds"):
        model = GaussianProcessRegressor(noise=1e-6).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-3)


def test_what_cannot_be_is_refused(data):
    X, Y, _ = data
    cases = [
        ({"kernel": "sigmoid"}, ValueError, "no Gaussian process"),
        ({"noise": 0.0}, ValueError, "noise"),
        ({"noise": 0.1, "bounds": {"gama": (1, 2)}}, ValueError, "'gama' is no parameter"),
        ({"bounds": {"gama": (1, 2)}}, ValueError, "length_scale_bounds"),
        ({"noise": 0.1, "alpha": 0.1}, ValueError, "both name the variance"),
        ({"kernel": RBF(1.0), "bounds": {"gamma": (2.0, 3.0)}}, ValueError, "start"),
        ({"kernel": RBF(1.0), "bounds": {"gamma": "free"}}, ValueError, "fixed"),
        ({"bounds": {"noise": "free"}}, ValueError, "noise"),
        ({"kernel": Chi2(1.0)}, ValueError, "Negative"),
        ({"noise": np.ones(60), "solver": "cg"}, ValueError, "cholesky"),
        ({"optimizer": "newton"}, ValueError, "optimizer"),
    ]
    for params, error, word in cases:
        with pytest.raises(error, match=word):
            GaussianProcessRegressor(**params).fit(X, Y)
    model = GaussianProcessRegressor(kernel=RBF(1.0), optimizer=None).fit(X, Y)
    with pytest.raises(RuntimeError, match="return_std"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="theta has shape"):
        model.log_marginal_likelihood([0.0, 1.0, 2.0])
