"""Certificates that were false or empty once: none of it may come back."""

import numpy as np
import pytest

from .given import given
from .judged import cloud, judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize("solver", ["auto", "interior_point", "chunking", "smo"])
@pytest.mark.parametrize("machine", ["OneClassSVM", "NuSVC", "SVDD"])
@pytest.mark.parametrize("seed", [0, 6, 9])
def test_bounds_of_machines_whose_sums_leave_no_room(worker, machine, solver, seed):
    """The largest feasible nu: the box has no inside, and there is one feasible point."""
    rng, X, y = cloud(seed)
    w = rng.gamma(1.0, size=40)
    nu = 1.0
    if machine == "NuSVC":
        nu = 2 * min(w[y == 1].sum(), w[y == 0].sum()) / w.sum()
    params = {"gamma": 0.5, "nu": float(nu), "solver": solver}
    case = given(machine, params, X, y if machine == "NuSVC" else None, w)
    judged(worker, case, refusable=False)


@pytest.mark.parametrize("seed", range(4))
def test_an_infeasible_point_proves_nothing(worker, seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(40, 2)), 2 * rng.random(40)
    params = {"gamma": 0.5, "nu": 1.0, "solver": "interior_point", "criterion": "gap", "tol": 0.1}
    judged(worker, given("OneClassSVM", params, X, None, w), refusable=False)


@pytest.mark.parametrize(
    ("machine", "loss"), [("SVC", "squared_hinge"), ("SVR", "squared_epsilon_insensitive")]
)
@pytest.mark.parametrize("seed", range(3))
def test_squared_losses_with_an_indefinite_kernel(worker, machine, loss, seed):
    _, X, y = cloud(seed, d=3)
    target = y if machine == "SVC" else X[:, 0]
    params = {"kernel": "sigmoid", "gamma": 1.0, "loss": loss, "C": 10.0}
    judged(worker, given(machine, params, X, target))


@pytest.mark.parametrize("value", [0.1, 1.0, 0.0, -1e6])
def test_ridge_with_a_bias_and_a_constant_target(worker, value):
    X = np.random.default_rng(0).normal(size=(20, 2))
    judged(worker, given("KernelRidge", {"fit_intercept": True}, X, np.full(20, value)), refusable=False)


@pytest.mark.parametrize("seed", range(3))
def test_a_gaussian_process_of_a_noiseless_linear_target(worker, seed):
    X = np.random.default_rng(seed).normal(size=(20, 3))
    judged(worker, given("GaussianProcessRegressor", {}, X, X[:, 0]), refusable=False)


@pytest.mark.parametrize("offset", [1e8, 1e9])
def test_ridge_classification_far_from_the_origin(worker, offset):
    X = np.array([[offset, 82.5], [offset, -19.3], [offset, 3.0]])
    judged(worker, given("KernelRidgeClassifier", {"kernel": "linear"}, X, np.array([0, 1, 1])))


def test_ridge_classification_with_weights_of_all_sizes(worker):
    w = np.array([1e3, 1e-6, 10.0, 1e7, 1e3, 1e8])
    X = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    params = {"kernel": "linear", "alpha": 0.1}
    judged(worker, given("KernelRidgeClassifier", params, X, np.array([0, 1, 2, 3, 0, 3]), w))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("nu", [0.2, 0.5, 0.9])
def test_a_nu_machine_whose_hulls_meet(worker, kernel, nu):
    """Points of both classes in the same places: the optimum is w = 0."""
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 4, axis=0)
    judged(worker, given("NuSVC", {"nu": nu, "kernel": kernel}, X, np.arange(20) % 2), refusable=False)
