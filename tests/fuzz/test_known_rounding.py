"""Certificate, ``certify`` and decisions that were three different things once, by rounding."""

import numpy as np
import pytest

from .code import Code
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize("seed", range(4))
def test_a_large_constant_feature_beside_a_large_price(worker, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(30, 2)), np.full(30, 1e6)])
    y = (X[:, 0] + 0.3 * rng.normal(size=30) > 0).astype(int)
    judged(worker, given("SVC", {"kernel": "linear", "C": 5e7}, X, y))


@pytest.mark.parametrize("seed", range(4))
def test_a_polynomial_of_a_large_constant_feature(worker, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(30, 2)), np.full(30, 1e6)])
    y = (X[:, 0] + 0.3 * rng.normal(size=30) > 0).astype(int)
    judged(worker, given("SVC", {"kernel": "poly", "degree": 2, "gamma": 1.0, "C": 1e4}, X, y))


def test_single_precision_of_huge_data(worker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) * 1e25
    judged(worker, given("SVR", {"precision": "single"}, X, rng.normal(size=20)))


@pytest.mark.parametrize("container", ["coo", "csr", "dense"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("exponent", [7, 19, 35])
def test_a_classifier_on_huge_sparse_data(worker, kernel, exponent, container):
    X = np.random.default_rng(1).normal(size=(12, 3)) * 10.0**exponent
    params = {"kernel": kernel, "gamma": 1.0}
    judged(worker, given("KernelClassifier", params, X, np.arange(12) % 2, container=container))


@pytest.mark.parametrize("machine", ["SVC", "KernelClassifier", "KernelRidgeClassifier", "NuSVC"])
def test_two_points_far_from_the_origin(worker, machine):
    X = np.array([[1e7, 1.242245677966544], [1e7, 0.21865433458099934]])
    judged(worker, given(machine, {"kernel": "linear"}, X, np.array([0, 1])))


@pytest.mark.parametrize("y", [(0, 1, 0, 1), (1, 0, 1, 0)])
def test_a_path_of_one_point_with_weights_of_all_sizes(worker, y):
    w = np.array([1e-6, 1e8, 1e-5, 0.01])
    judged(worker, given("SVCPath", {}, np.zeros((4, 3)), np.array(y), w))


def test_a_matrix_of_rank_one(worker):
    v = np.array([3.7276e5, -7.7465e4, -1.76814e6, -8.4919e5])
    K = np.outer(v, v)
    judged(worker, given("SVC", {"kernel": "precomputed"}, K, np.array([0, 1, 0, 0]), kind="matrix"))


@pytest.mark.parametrize("kernel", ["RBF(1e-3).centered()", "RationalQuadratic()"])
@pytest.mark.parametrize("container", ["dense", "float32", "csr"])
@pytest.mark.parametrize("machine", ["SVC", "NuSVC"])
def test_distances_that_cancel(worker, machine, container, kernel):
    """A row is at distance 0 from its copy, though the squares of its numbers have no digits left for it."""
    X = 1e29 * np.random.default_rng(1).normal(size=(8, 3))
    y = np.array([0, 1, 2, 0, 0, 2, 2, 1])
    params = {"kernel": Code(f"mercer.kernels.{kernel}")}
    judged(worker, given(machine, params, X, y, container=container), refusable=False)


@pytest.mark.parametrize("container", ["dense", "csr"])
def test_many_columns_far_from_the_origin(worker, container):
    X = 1e8 * np.random.default_rng(1).normal(size=(12, 30))
    params = {"gamma": 1.0}
    case = given("KernelClassifier", params, X, np.arange(12) % 2, container=container)
    judged(worker, case, refusable=False)


def test_a_target_whose_square_overflows(worker):
    X, y = np.array([[0.3], [0.8]]), np.array([1e300, -1e300])
    judged(worker, given("KernelRidge", {"kernel": "rbf"}, X, y))


@pytest.mark.parametrize("columns", [4, 40])
@pytest.mark.parametrize("machine", ["SVC", "NuSVC", "KernelClassifier"])
def test_a_row_beside_which_all_others_are_nothing(worker, machine, columns):
    """Less the mean of 1e130 the other rows would all be the same."""
    X = np.random.default_rng(3).normal(size=(12, columns)) * 1e3
    X[0] *= 1e130
    judged(worker, given(machine, {"gamma": 1.0}, X, np.arange(12) % 2), refusable=False)


@pytest.mark.parametrize("seed", range(4))
def test_values_that_the_bias_cancels(worker, seed):
    """K beta is 1e9, the margins are 1: nothing is left of them, however small the gap came out."""
    X = np.random.default_rng([1, seed]).normal(size=(7, 1)) + 1e8
    y = np.argsort(np.argsort(X[:, 0])) * 2 // 7
    report = judged(worker, given("SVC", {"kernel": "precomputed"}, 10 * X @ X.T, y, kind="matrix"))
    assert report.ending == "ill_conditioned"


@pytest.mark.parametrize("height", [1e300, -1e300])
def test_a_constant_target_of_the_largest_numbers(worker, height):
    """The optimum is zero, the terms of the dual value are not: what is left of them is rounding."""
    A = np.random.default_rng(0).normal(size=(7, 7))
    judged(worker, given("NuSVR", {"kernel": "precomputed"}, A @ A.T, np.full(7, height), kind="matrix"))
