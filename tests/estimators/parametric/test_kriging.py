"""Gaussian processes around a trend: universal kriging, against its textbook formulas."""

import numpy as np
import pytest
from scipy.interpolate import make_smoothing_spline
from scipy.linalg import null_space

import mercer
from mercer import GaussianProcessRegressor
from mercer.kernels import RBF, Spline, ThinPlate

NOISE = 0.09


@pytest.fixture(scope="module")
def field():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (45, 2))
    Y = np.column_stack([3.0 + 2.0 * X[:, 0] + np.sin(3.0 * X[:, 1]), 5.0 * X[:, 1] + np.cos(2.0 * X[:, 0])])
    return X, Y + 0.3 * rng.normal(size=Y.shape), rng.uniform(-3.0, 3.0, (20, 2))


def textbook(kernel, X, y, T, P, p, noise):
    """Return mean and covariance of f at T by generalised least squares (Cressie 1993, 3.4)."""
    S = kernel(X) + noise * np.eye(len(X))
    k, kk = kernel(T, X), kernel(T)
    inverse = np.linalg.inv(S)
    M = np.linalg.inv(P.T @ inverse @ P)
    d = M @ P.T @ inverse @ y
    rest = p - k @ inverse @ P
    return k @ inverse @ (y - P @ d) + p @ d, kk - k @ inverse @ k.T + rest @ M @ rest.T


def with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


def test_mean_and_covariance_are_the_textbooks(field):
    X, Y, T = field
    kernel = 2.0 * RBF(0.7)
    model = GaussianProcessRegressor(kernel=kernel, noise=NOISE, optimizer=None, parametric="linear").fit(
        X, Y
    )
    mean, cov = model.predict(T, return_cov=True)
    _, std = model.predict(T, return_std=True)
    for t in range(2):
        m, c = textbook(kernel, X, Y[:, t], T, with_ones(X), with_ones(T), NOISE)
        np.testing.assert_allclose(mean[:, t], m, atol=1e-9)
        np.testing.assert_allclose(cov[:, :, t], c, atol=1e-9)
        np.testing.assert_allclose(std[:, t], np.sqrt(np.diagonal(c)), atol=1e-9)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, Y).relative_gap <= 1e-12
    assert model.parametric_coef_.shape == (2, 2)


def restricted(kernel, X, y, P, noise):
    """Return the log density of contrasts of the outputs: of N'y, N an orthonormal basis of P'N = 0."""
    N = null_space(P.T)
    S = N.T @ (kernel(X) + noise * np.eye(len(X))) @ N
    z = N.T @ y
    return -0.5 * (z @ np.linalg.solve(S, z) + np.linalg.slogdet(S)[1] + z.size * np.log(2.0 * np.pi))


def test_the_evidence_is_that_of_contrasts(field):
    X, Y, _ = field
    model = GaussianProcessRegressor(kernel=2.0 * RBF(0.7), noise=NOISE, parametric="linear").fit(X, Y[:, 0])
    found = restricted(model.kernel_, X, Y[:, 0], with_ones(X), model.noise_)
    assert model.log_marginal_likelihood_value_ == pytest.approx(found, abs=1e-8)
    theta = np.log([1.5, 0.4, 0.2])
    value, slope = model.log_marginal_likelihood(theta, eval_gradient=True)
    expected = restricted(1.5 * RBF(0.4), X, Y[:, 0], with_ones(X), 0.2)
    assert set(model.hyperparameters_) >= {"noise"}
    names = {"scale": 1.5, "gamma": 0.4, "noise": 0.2}
    given = np.log(
        [next(v for k, v in names.items() if label.endswith(k)) for label in model.hyperparameters_]
    )
    value, slope = model.log_marginal_likelihood(given, eval_gradient=True)
    assert value == pytest.approx(expected, abs=1e-8)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-5
        up, down = (model.log_marginal_likelihood(given + s * step) for s in (1.0, -1.0))
        assert slope[j] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-5)
    # And it is a maximum.
    best = model.log_marginal_likelihood_value_
    for j in range(3):
        for s in (-0.1, 0.1):
            moved = model.theta_.copy()
            moved[j] += s
            assert model.log_marginal_likelihood(moved) <= best + 1e-6


def test_a_trend_costs_nothing(field):
    X, Y, T = field
    model = GaussianProcessRegressor(kernel=1.0 * RBF(), noise="auto", parametric="linear", random_state=0)
    plain, std = model.fit(X, Y[:, 0]).predict(T, return_std=True)
    tilted, again = model.fit(X, Y[:, 0] + 100.0 - 70.0 * X[:, 1]).predict(T, return_std=True)
    np.testing.assert_allclose(tilted - 100.0 + 70.0 * T[:, 1], plain, atol=1e-4)
    np.testing.assert_allclose(again, std, atol=1e-4)


@pytest.mark.parametrize("kernel", [Spline(), ThinPlate()], ids=str)
def test_the_mean_of_the_integrated_wiener_process_is_the_smoothing_spline(kernel):
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0.0, 3.0, 40))
    y = np.sin(2.0 * x) + 0.1 * rng.normal(size=40)
    model = GaussianProcessRegressor(kernel=kernel, noise=0.01, optimizer=None).fit(x[:, None], y)
    expected = make_smoothing_spline(x, y, lam=0.01)(x)
    mean, std = model.predict(x[:, None], return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    # The variance is noise times the diagonal of the smoother.
    smoother = np.column_stack([make_smoothing_spline(x, e, lam=0.01)(x) for e in np.eye(40)])
    np.testing.assert_allclose(std**2, 0.01 * np.diagonal(smoother), atol=1e-10)
    assert model.certify(x[:, None], y).status == "optimal"


def test_noise_may_differ_from_point_to_point(field):
    X, Y, T = field
    noise = np.linspace(0.01, 0.5, len(X))
    model = GaussianProcessRegressor(kernel=RBF(0.7), noise=noise, optimizer=None, parametric="linear")
    model.fit(X, Y[:, 0])
    mean, cov = textbook(RBF(0.7), X, Y[:, 0], T, with_ones(X), with_ones(T), noise)
    found, std = model.predict(T, return_std=True)
    np.testing.assert_allclose(found, mean, atol=1e-9)
    np.testing.assert_allclose(std**2, np.diagonal(cov), atol=1e-9)
    assert model.certify(X, Y[:, 0]).status == "optimal"


def test_outputs_may_be_normalised_and_files_keep_everything(field, tmp_path):
    X, Y, T = field
    model = GaussianProcessRegressor(
        kernel=RBF(0.7), noise=0.1, optimizer=None, normalize_y=True, parametric="quadratic"
    ).fit(X, Y)
    mercer.save(model, tmp_path / "kriging.mercer")
    again = mercer.load(tmp_path / "kriging.mercer")
    for ours, theirs in zip(
        model.predict(T, return_cov=True), again.predict(T, return_cov=True), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert model.certify(X, Y).status == "optimal"
    scaled = GaussianProcessRegressor(
        kernel=RBF(0.7), noise=0.1 * Y[:, 0].var(), optimizer=None, parametric="quadratic"
    )
    scaled.set_params(kernel=Y[:, 0].var() * RBF(0.7)).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.predict(T)[:, 0], scaled.predict(T), atol=1e-8)


def test_conjugate_gradients_are_refused(field):
    X, Y, _ = field
    with pytest.raises(ValueError, match=r"a trend .* needs solver='cholesky'"):
        GaussianProcessRegressor(kernel=RBF(1.0), noise=0.1, solver="cg", parametric="linear").fit(X, Y)
