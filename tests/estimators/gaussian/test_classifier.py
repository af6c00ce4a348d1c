"""Gaussian process classification: scikit-learn, exact probabilities, several classes, limits."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as Reference
from sklearn.gaussian_process.kernels import RBF as THEIR_RBF
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, ExpSineSquared, WhiteKernel
from sklearn.gaussian_process.kernels import Matern as TheirMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as TheirRationalQuadratic
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import GaussianProcessClassifier, KernelLogisticRegression
from mercer.kernels import RBF
from mercer.problems.logistic_normal import logistic_normal_mean

pytestmark = pytest.mark.core

THEIRS = [
    ConstantKernel(2.0) * THEIR_RBF([1.0, 2.0, 3.0]),
    ConstantKernel(1.0) * TheirMatern(1.5) + WhiteKernel(0.1),
    TheirRationalQuadratic() * ConstantKernel(3.0) + DotProduct(),
    ConstantKernel(2.0, constant_value_bounds="fixed") * THEIR_RBF(1.5),
    THEIR_RBF(2.0) * TheirMatern(1.0, nu=2.5) + ConstantKernel(0.3),
]


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=60) > 0
    return X, np.where(y, "yes", "no"), rng.normal(size=(11, 3))


@pytest.mark.parametrize("kernel", THEIRS, ids=str)
def test_agrees_with_scikit_learn(classes, kernel):
    X, y, new = classes
    model = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
    other = Reference(kernel, optimizer=None).fit(X, y)
    value, slopes = model.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    evidence, gradient = other.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    assert value == pytest.approx(evidence, abs=1e-6)
    np.testing.assert_allclose(slopes, gradient, atol=1e-6)
    for ours, theirs in zip(
        model.latent_mean_and_variance(new), other.latent_mean_and_variance(new), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    np.testing.assert_array_equal(model.predict(new), other.predict(new))
    np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(new), atol=1e-3)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, y).relative_gap < 1e-9


def test_finds_the_maximum_that_scikit_learn_finds(classes):
    X, y, _ = classes
    kernel = ConstantKernel(1.0) * THEIR_RBF(1.0)
    model, other = GaussianProcessClassifier(kernel).fit(X, y), Reference(kernel).fit(X, y)
    assert model.log_marginal_likelihood_value_ == pytest.approx(
        other.log_marginal_likelihood_value_, abs=1e-5
    )
    np.testing.assert_allclose(model.kernel_.theta, other.kernel_.theta, atol=1e-2)
    assert model.base_estimator_.L_.shape == (60, 60)
    np.testing.assert_allclose(model.base_estimator_.pi_, other.base_estimator_.pi_, atol=1e-3)


def test_gradients_are_those_of_differences_for_kernels_of_ours(classes):
    X, y, _ = classes
    model = GaussianProcessClassifier(2.0 * RBF([0.5, 0.2, 0.1]) + 0.1, optimizer=None).fit(X, y)
    gradient = model.log_marginal_likelihood(model.theta_, eval_gradient=True)[1]
    for j in range(gradient.size):
        step = np.zeros(gradient.size)
        step[j] = 1e-4
        up, down = (model.log_marginal_likelihood(model.theta_ + s * step) for s in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-4, abs=1e-5)


def test_the_mode_is_that_of_logistic_regression(classes):
    X, y, new = classes
    model = GaussianProcessClassifier(RBF(0.5), optimizer=None).fit(X, y)
    other = KernelLogisticRegression(kernel=RBF(0.5), C=1.0, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        model.latent_mean_and_variance(new)[0], other.decision_function(new), atol=1e-6
    )
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal)


@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.5, 1.0, 1.001, 3.0, 30.0])
@pytest.mark.parametrize("mean", [-9.0, -0.7, 0.0, 2.0])
def test_probabilities_are_the_exact_integral(mean, spread):
    def density(z):
        return expit(mean + spread * z) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    bend = np.clip(-mean / spread, -11, 11) if spread else 0.0
    exact = sum(quad(density, *ends, epsabs=1e-14, limit=400)[0] for ends in ((-12, bend), (bend, 12)))
    found = logistic_normal_mean(np.array([mean]), np.array([spread**2]))
    assert found[0] == pytest.approx(exact, abs=1e-12)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    kernel = ConstantKernel(1.0) * THEIR_RBF(1.0)
    rest = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
    other = Reference(kernel, optimizer=None).fit(X, y)
    np.testing.assert_allclose(rest.predict_proba(X), other.predict_proba(X), atol=1e-3)
    assert rest.log_marginal_likelihood_value_ == pytest.approx(
        other.log_marginal_likelihood_value_, abs=1e-6
    )
    assert rest.kernel_.theta.shape == other.kernel_.theta.shape
    assert len(rest.certificate_.parts) == 3
    pairs = GaussianProcessClassifier(kernel, optimizer=None, multi_class="one_vs_one").fit(X, y)
    theirs = Reference(kernel, optimizer=None, multi_class="one_vs_one").fit(X, y)
    np.testing.assert_array_equal(pairs.predict(X), theirs.predict(X))
    chances = pairs.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(pairs.classes_[chances.argmax(axis=1)], pairs.predict(X))
    assert pairs.certify(X, y).relative_gap < 1e-9


def test_what_is_not_there_is_refused(classes):
    X, y, _ = classes
    with pytest.raises(ValueError, match="precomputed"):
        GaussianProcessClassifier("precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="raise cache_size"):
        GaussianProcessClassifier(cache_size=0.01).fit(X, y)
    with pytest.raises(ValueError, match="no Gaussian process"):
        GaussianProcessClassifier("sigmoid").fit(X, y)


def test_a_time_limit_keeps_the_best(classes):
    X, y, new = classes
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = GaussianProcessClassifier(1.0 * RBF(0.5), time_limit=1e-9).fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert np.isfinite(model.predict_proba(new)).all()


@pytest.mark.parametrize(
    "kernel", [1.0 * RBF(0.5), ConstantKernel(1.0) * THEIR_RBF([1.0, 2.0, 3.0]), ExpSineSquared(2.0, 50.0)]
)
@pytest.mark.parametrize("machine", [GaussianProcessClassifier, mercer.GaussianProcessRegressor])
def test_files_keep_all(classes, kernel, machine, tmp_path):
    X, y, new = classes
    target = y if machine is GaussianProcessClassifier else X[:, 0] + X[:, 1] ** 2
    model = machine(kernel, optimizer=None)
    if machine is not GaussianProcessClassifier:
        model.set_params(alpha=0.1)
    model.fit(X, target)
    mercer.save(model, tmp_path / "model.mercer")
    back = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(back.predict(new), model.predict(new))
    assert back.log_marginal_likelihood(back.theta_) == pytest.approx(model.log_marginal_likelihood())
    if machine is GaussianProcessClassifier:
        np.testing.assert_array_equal(back.predict_proba(new), model.predict_proba(new))
    else:
        np.testing.assert_array_equal(
            back.predict(new, return_std=True)[1], model.predict(new, return_std=True)[1]
        )
    assert clone(model).get_params()["kernel"] == kernel


@parametrize_with_checks([GaussianProcessClassifier()])
def test_checks(estimator, check):
    check(estimator)
