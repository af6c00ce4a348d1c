"""Fits that did not end once: rounding has the last word, and they say so."""

import numpy as np
import pytest

from .code import Code
from .data import Data
from .fits import Fit
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize("seed", [1, 2])
def test_a_tube_around_cauchy_data(worker, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy(size=(40, 3))
    params = {"kernel": "poly", "degree": 5, "gamma": "auto", "C": 0.018, "epsilon": 0.0, "tol": 1e-6}
    judged(worker, given("SVR", params, X, rng.standard_cauchy(40)))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_nu_machine_with_a_nearly_constant_kernel(worker, seed):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    judged(worker, given("NuSVC", {"solver": "smo", "gamma": 1e-4, "nu": 0.005}, X, np.arange(60) % 2))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_logistic_regression_of_three_huge_rows(worker, kernel):
    X = np.random.default_rng(0).normal(size=(3, 2)) * 1e67
    judged(worker, given("KernelLogisticRegression", {"kernel": kernel}, X, np.array([0, 1, 0])))


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_logistic_regression_of_five_rows_with_a_huge_kernel(worker, seed):
    X = np.random.default_rng(seed).normal(size=(5, 2))
    C, degree = [1, 100, 0.01][seed % 3], [3, 2, 5][seed // 3 % 3]
    params = {"kernel": "poly", "gamma": 1e11, "C": C, "degree": degree}
    judged(worker, given("KernelLogisticRegression", params, X, np.array([0, 1, 0, 1, 1])))


@pytest.mark.parametrize("C", [1e6, 1e9])
def test_an_indefinite_matrix_with_a_large_price(worker, C):
    X = np.random.default_rng(0).normal(size=(30, 3))
    K = -((X[:, None] - X[None]) ** 2).sum(axis=2)
    judged(worker, given("SVC", {"kernel": "precomputed", "C": C}, K, np.arange(30) % 2, kind="matrix"))


@pytest.mark.parametrize("reach", [5, 50, 150])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_path_on_wild_scales(worker, kernel, reach):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-reach, reach + 1, size=(1, 3))
    judged(worker, given("SVCPath", {"kernel": kernel}, X, np.arange(30) % 2))


def test_a_slab_with_an_indefinite_kernel_and_no_memory(worker):
    X = 10 * np.random.default_rng(0).gamma(0.5, size=(37, 4))
    params = {"kernel": "sigmoid", "coef0": 1.0, "tol": 1e-6, "cache_size": 1e-6, "n_jobs": 1}
    judged(worker, given("SphereAndSlab", params, X))


def test_logistic_regression_of_four_classes_with_an_indefinite_kernel(worker):
    """Rounding let the rounds go in circles between two points."""
    data = Data("matrix", "wide", 13, 3, 2, "coo", "constant", 0, 4, "texts", "ones", 329)
    judged(worker, Fit("KernelLogisticRegression", {"kernel": "precomputed", "import_tol": 0.0}, data))


def test_logistic_regression_with_an_indefinite_and_huge_kernel(worker):
    K = 1e200 * np.random.default_rng(0).normal(size=(9, 9))
    case = given(
        "KernelLogisticRegression", {"kernel": "precomputed"}, K + K.T, np.arange(9) % 3, kind="matrix"
    )
    judged(worker, case)


def test_rounds_that_rounding_ends_early(worker):
    """Each round of the proximal method ended in rounding, and sixty of them took minutes."""
    X = np.array([[3.5e3, 8e-6], [-1.3e4, 9e-6], [-5.4e3, 6e-6], [2.9e3, 3e-7], [-7.4e3, -2e-6], [6e3, 4e-7]])
    params = {"kernel": Code("mercer.kernels.Linear() ** 2"), "solver": "proximal"}
    judged(worker, given("KernelRegressor", params, X, np.array([2.0, -2.0, -2.0, -1.0, -2.0, 2.0])))


def test_weights_of_wild_scales(worker):
    """A tenth of the way in each step is progress, and a way of 1e200 has thousands of them."""
    data = Data("vectors", "wild_scales", 12, 3, -1, "list", "normal", 0, 2, "integers", None, 285)
    judged(worker, Fit("LinearOneClassSVM", {"n_jobs": 1, "tol": 0.1, "nu": 0.5}, data))
