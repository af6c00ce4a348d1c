"""The evidence of Gaussian processes is maximised, and what ends the search."""

import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Reference
from sklearn.gaussian_process.kernels import ConstantKernel as TheirConstant
from sklearn.gaussian_process.kernels import Matern as TheirMatern
from sklearn.gaussian_process.kernels import WhiteKernel

from mercer import GaussianProcessRegressor
from mercer.kernels import (
    RBF,
    FromFunction,
    Linear,
    Matern,
)

pytestmark = pytest.mark.core


def test_finds_the_maximum_that_scikit_learn_finds(data):
    X, Y, new = data
    y = Y[:, 0] - 2.0
    model = GaussianProcessRegressor(kernel=1.0 * Matern(1.0, nu=2.5), noise=0.1).fit(X, y)
    theirs = TheirConstant(1.0) * TheirMatern(1.0, nu=2.5) + WhiteKernel(0.1)
    other = Reference(kernel=theirs, alpha=1e-14).fit(X, y)
    assert model.log_marginal_likelihood_value_ == pytest.approx(
        other.log_marginal_likelihood_value_, abs=1e-4
    )
    np.testing.assert_allclose(model.predict(new), other.predict(new), atol=1e-3)
    assert model.noise_ == pytest.approx(other.kernel_.k2.noise_level, rel=1e-2)
    gradient = model.log_marginal_likelihood(eval_gradient=True)[1]
    assert np.abs(gradient).max() < 1e-2
    assert model.kernel.get_params()["scale"] == 1.0  # the start is the user's, and stays


def test_each_feature_gets_a_width(data):
    X, Y, _ = data
    bounds = {"kernel__length_scale": (0.1, 50.0), "noise": (1e-4, 10.0)}
    with pytest.warns(ConvergenceWarning, match=r"kernel__length_scale\[2\]"):
        model = GaussianProcessRegressor(
            kernel=1.0 * Matern(np.ones(3), nu=2.5), noise=0.01, bounds=bounds, normalize_y=True
        ).fit(X, Y[:, 1])
    widths = model.kernel_.get_params()["kernel__length_scale"]
    assert widths[1] < 5.0
    assert (widths[[0, 2]] > 20.0).all()  # these features have nothing to say
    assert (widths <= 50.0 + 1e-9).all()
    assert model.hyperparameters_[:3] == [f"kernel__length_scale[{j}]" for j in range(3)]


def test_sums_and_products_are_tuned(data):
    X, Y, _ = data
    start = 1.0 * RBF(0.5) + 0.1 * Linear() * Matern(2.0)
    model = GaussianProcessRegressor(kernel=start, noise=0.1, max_iter=5)
    before = clone(model).set_params(optimizer=None).fit(X, Y[:, 0])
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        model.fit(X, Y[:, 0])
    assert model.log_marginal_likelihood_value_ > before.log_marginal_likelihood_value_
    assert model.certificate_.status == "iteration_limit"


@pytest.mark.filterwarnings("ignore:the best value of:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:the evidence of the best:sklearn.exceptions.ConvergenceWarning")
def test_restarts_find_a_better_maximum():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 5, size=(40, 1)), axis=0)
    y = np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=40)
    bad = GaussianProcessRegressor(
        kernel=1.0 * RBF(1e-4), noise=5.0, random_state=0, bounds={"kernel__gamma": (1e-5, 1e3)}
    )
    alone = clone(bad).fit(x, y).log_marginal_likelihood_value_
    more = clone(bad).set_params(n_restarts_optimizer=4).fit(x, y)
    assert more.log_marginal_likelihood_value_ > alone + 10
    again = clone(bad).set_params(n_restarts_optimizer=4).fit(x, y)
    np.testing.assert_array_equal(more.theta_, again.theta_)


@pytest.mark.filterwarnings("ignore:the evidence of the best:sklearn.exceptions.ConvergenceWarning")
def test_an_optimizer_of_ones_own(data, capsys):
    X, Y, _ = data
    seen = []

    def steps(function, start, bounds):
        value, gradient = function(start)
        seen.append((value, gradient.shape, bounds.shape))
        assert function(start, eval_gradient=False) == value
        return start + 0.01 * -gradient / np.abs(gradient).max(), value

    model = GaussianProcessRegressor(kernel=RBF(0.5), noise=0.01, optimizer=steps, verbose=True).fit(X, Y)
    assert seen[0][1:] == ((2,), (2, 2))
    assert model.log_marginal_likelihood_value_ > -seen[0][0]
    assert "log evidence" in capsys.readouterr().out


def test_what_is_fixed_stays(data):
    X, Y, _ = data
    model = GaussianProcessRegressor(
        kernel=1.0 * RBF(0.5), noise=0.1, bounds={"kernel__gamma": "fixed", "noise": "fixed"}
    ).fit(X, Y)
    assert model.kernel_.get_params()["kernel__gamma"] == 0.5
    assert model.noise_ == 0.1
    assert model.hyperparameters_ == ["scale"]
    nothing = GaussianProcessRegressor(kernel=Linear(), noise=0.1, bounds={"noise": "fixed"}).fit(X, Y)
    assert nothing.hyperparameters_ == []
    assert nothing.theta_.size == 0


def test_a_time_limit_keeps_the_best(data):
    X, Y, _ = data
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = GaussianProcessRegressor(time_limit=1e-9).fit(X, Y)
    assert model.n_iter_ == 1
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("ignore:the kernel matrix is:UserWarning")
def test_ctrl_c_keeps_the_best(data):
    X, Y, _ = data
    calls = []

    def interrupted(A, B):
        calls.append(1)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return RBF(0.25)(A, B)

    model = GaussianProcessRegressor(
        kernel=1.0 * FromFunction(interrupted), noise=0.01, on_interrupt="keep", n_jobs=1
    )
    assert model.fit(X, Y).certificate_.status == "interrupted"
    assert np.isfinite(model.predict(X, return_std=True)).all()
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_params(on_interrupt="raise").fit(X, Y)


def test_pickles_predict_the_same(data):
    X, Y, new = data
    for solver in ("cholesky", "cg"):
        model = GaussianProcessRegressor(kernel=RBF(0.5), optimizer=None, solver=solver, random_state=0)
        mean, std = model.fit(X, Y).predict(new, return_std=True)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_allclose(copy.predict(new, return_std=True), (mean, std), atol=1e-5)
