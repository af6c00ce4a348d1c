"""Gaussian processes by conjugate gradients: means, variances, evidence with an error bar."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer import GaussianProcessRegressor
from mercer.gram import Workers
from mercer.gram.kernel_family import KernelFamily
from mercer.kernels import (
    RBF,
    Matern,
)
from mercer.kernels.tuning import Tuning
from mercer.solvers.gaussian.evidence import StochasticEvidence, exact_evidence

pytestmark = pytest.mark.core


def test_conjugate_gradients_agree_with_the_factor(data):
    X, Y, new = data
    exact = GaussianProcessRegressor(kernel=1.3 * RBF(0.3), noise=0.1, optimizer=None).fit(X, Y)
    steps = clone(exact).set_params(solver="cg", tol=1e-13, random_state=0).fit(X, Y)
    assert np.isnan(steps.condition_)
    for option in ("return_std", "return_cov"):
        for ours, theirs in zip(
            steps.predict(new, **{option: True}), exact.predict(new, **{option: True}), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)
    low, high = steps.quadratic_bounds_
    truth = exact.quadratic_bounds_[0]
    assert low <= truth * (1 + 1e-12)
    assert truth <= high * (1 + 1e-12)
    assert high - low < 1e-10 * truth
    value = steps.log_marginal_likelihood_value_
    assert abs(value - exact.log_marginal_likelihood_value_) < 5 * steps.log_marginal_likelihood_error_
    assert steps.certificate_.relative_gap < 1e-12


def test_variances_from_loose_steps_are_never_too_small(data):
    X, Y, new = data
    exact = GaussianProcessRegressor(kernel=RBF(0.3), noise=0.1, optimizer=None).fit(X, Y)
    loose = clone(exact).set_params(solver="cg", tol=1e-2, preconditioner_rank=0).fit(X, Y)
    rough, true = loose.predict(new, return_std=True)[1], exact.predict(new, return_std=True)[1]
    assert (rough >= true - 1e-9).all()
    assert (rough**2 <= true**2 + 1e-2).all()


def test_the_error_bar_of_the_evidence_is_right(data):
    X, Y, _ = data
    ours = 1.3 * Matern([1.0, 2.0, 3.0], nu=2.5)
    family = KernelFamily(Tuning(ours), X, Workers(1))
    member = family.at(family.theta)
    exact = exact_evidence(member, 0.05, Y, gradient=True)
    estimates = [
        StochasticEvidence(probes=10, tol=1e-10, rank=5, seed=s)(member, 0.05, Y, gradient=True)
        for s in range(30)
    ]
    values = np.array([e.value for e in estimates])
    errors = np.array([e.error for e in estimates])
    assert 0.6 < values.std() / np.sqrt((errors**2).mean()) < 1.5
    assert abs(values.mean() - exact.value) < 4 * values.std() / np.sqrt(30)
    gradients = np.array([e.gradient for e in estimates])
    spread = gradients.std(axis=0) / np.sqrt(30)
    assert (np.abs(gradients.mean(axis=0) - exact.gradient) < 4 * spread + 1e-9).all()


def test_parameters_from_the_estimated_evidence():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(250, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=250)
    exact = GaussianProcessRegressor(kernel=1.0 * RBF(0.5), noise=0.1).fit(X, y)
    steps = GaussianProcessRegressor(
        kernel=1.0 * RBF(0.5), noise=0.1, solver="cg", tol=1e-4, random_state=0, max_iter=8, n_probes=32
    )
    with warnings.catch_warnings():  # whether it stops by itself depends on the probes
        warnings.filterwarnings("ignore", "GaussianProcessRegressor stopped at max_iter", ConvergenceWarning)
        steps.fit(X, y)
    assert exact.log_marginal_likelihood(steps.theta_) > exact.log_marginal_likelihood_value_ - 2.0


@pytest.mark.parametrize("optimizer", [None, "fmin_l_bfgs_b"])
def test_without_time_there_is_a_model_all_the_same(optimizer):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.sin(X[:, 0])
    model = GaussianProcessRegressor(
        1.0 * RBF(0.5), noise=0.1, optimizer=optimizer, solver="cg", time_limit=1e-9, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert np.isfinite(model.predict(X)).all()
    assert model.certify(X, y).relative_gap == pytest.approx(model.certificate_.relative_gap, rel=1e-6)
    low, high = model.quadratic_bounds_
    assert low <= high
