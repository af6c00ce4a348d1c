"""noise="auto": processes on data as they come, intervals that hold, and words where nothing was found."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

from mercer import GaussianProcessRegressor
from mercer.kernels import RBF

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def raw():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    rows = np.random.default_rng(0).permutation(y.size)
    return X[rows[:200]], y[rows[:200]], X[rows[200:]], y[rows[200:]]


@pytest.mark.parametrize("params", [{}, {"normalize_y": True, "kernel": 1.0 * RBF(gamma=np.ones(10))}])
def test_raw_columns_and_raw_outputs(raw, params):
    X, y, new, truth = raw
    with warnings.catch_warnings():  # features that have nothing to say reach their bounds
        warnings.filterwarnings("ignore", "the best value of", ConvergenceWarning)
        model = GaussianProcessRegressor(noise="auto", random_state=0, **params).fit(X, y)
    assert model.score(new, truth) > 0.3
    mean, std = model.predict(new, return_std=True, noise=True)
    assert 0.8 < np.mean(np.abs(mean - truth) < 1.645 * std) < 0.97  # 90 % are meant
    latent = model.predict(new, return_std=True)[1]
    assert np.mean(np.abs(mean - truth) < 1.645 * latent) < 0.6
    spread = model._y_std[0] ** 2
    np.testing.assert_allclose(std**2, latent**2 + model.noise_ * spread, rtol=1e-10)
    cov = model.predict(new[:5], return_cov=True, noise=True)[1]
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov)), std[:5], rtol=1e-8)


@pytest.mark.parametrize("normalize", [False, True])
def test_a_kernel_by_its_name_gets_an_amplitude(raw, normalize):
    X, y, new, truth = raw
    X, new = X[:, [2, 3, 8]] / X[:, [2, 3, 8]].std(axis=0), new[:, [2, 3, 8]] / X[:, [2, 3, 8]].std(axis=0)
    model = GaussianProcessRegressor("matern", noise="auto", normalize_y=normalize, random_state=0)
    assert model.fit(X, y).score(new, truth) > 0.25
    assert "scale" in " ".join(model.hyperparameters_)


def test_the_units_of_the_data_do_not_matter(raw):
    X, y, new, _ = raw
    X, y, new = X[:80, [2, 8]], y[:80], new[:20, [2, 8]]
    one = GaussianProcessRegressor(noise="auto", random_state=0).fit(X, y)
    two = GaussianProcessRegressor(noise="auto", random_state=0).fit(1e4 * X, 1e-3 * y)
    np.testing.assert_allclose(two.predict(1e4 * new), 1e-3 * one.predict(new), rtol=1e-2)


@pytest.mark.filterwarnings("ignore:the best value of:sklearn.exceptions.ConvergenceWarning")
def test_a_start_that_finds_nothing_says_so(raw):
    X, y, _, _ = raw
    with pytest.warns(ConvergenceWarning, match="no better than that of a constant"):
        GaussianProcessRegressor(noise=0.01, normalize_y=True).fit(X, y)
    rng = np.random.default_rng(0)
    with pytest.warns(ConvergenceWarning, match="no better than that of a constant"):
        GaussianProcessRegressor(noise="auto").fit(rng.normal(size=(60, 2)), rng.normal(size=60))


def test_noise_needs_one_variance(raw):
    X, y, new, _ = raw
    model = GaussianProcessRegressor(alpha=np.full(200, 0.5), optimizer=None).fit(X, y)
    with pytest.raises(ValueError, match="one variance"):
        model.predict(new, return_std=True, noise=True)
    with pytest.raises(ValueError, match="noise"):
        GaussianProcessRegressor(noise="loud").fit(X, y)
