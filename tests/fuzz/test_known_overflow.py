"""Numbers beyond float64 were shipped, or refused in nobody's words, once."""

import numpy as np
import pytest

from . import discovery
from .code import Code
from .data import Data
from .fits import Fit
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


NASTY = [("an_outlier", 160, None), ("wild_scales", 0, None), ("normal", 0, "huge"), ("normal", -160, "tiny")]


@pytest.mark.parametrize(("shape", "exponent", "weight"), NASTY)
@pytest.mark.parametrize("name", sorted(discovery.estimators()))
def test_every_estimator_ships_finite_numbers_or_none(worker, name, shape, exponent, weight):
    weight = weight if discovery.takes_weight(name) else None
    data = Data("vectors", shape, 12, 2, exponent, "dense", "feature", 0, 2, "integers", weight, 1)
    params = {"n_jobs": 1} if "n_jobs" in discovery.parameters(name) else {}
    if discovery.is_search(name):
        params |= {"param_grid": {"gamma": [0.1, 1.0]}, "cv": None if name.startswith("Detector") else 2}
    judged(worker, Fit(name, params, data))


@pytest.mark.parametrize("machine", ["SVC", "NuSVC", "SVCPath", "KernelAdatron", "KernelPerceptron"])
def test_a_width_that_underflows(worker, machine):
    """The variance of the data overflows: gamma="scale" is zero, and zero times infinity is nan."""
    X = np.array([[3.4558e159], [8.2162e159]])
    judged(worker, given(machine, {}, X, np.array([0, 1])))


def test_steps_with_an_indefinite_kernel(worker):
    X, y = np.array([[0.3456], [0.8216], [0.3304]]), np.array([2.04, -2.556, 0.418])
    params = {"kernel": Code("mercer.kernels.Sigmoid(gamma=1.0, coef0=-1.0)")}
    judged(worker, given("KernelWidrowHoff", params, X, y))


def test_a_product_of_kernels_that_overflows(worker):
    X = np.array([[5.6e99, -9.9e99, 8.9e99], [7.2e99, -1.6e100, 1.3e100]])
    params = {"kernel": Code("mercer.kernels.RBF(0.5) * mercer.kernels.Linear()")}
    judged(worker, given("KernelRidge", params, X, np.array([2.0, -2.6])))


def test_single_precision_numbers_whose_sum_is_infinite(worker):
    X = np.array([[3e38, 1.0], [-3e38, 1.0], [3e38, 0.0], [-3e38, 2.0], [-3e38, 2.0], [3e38, 2.0]])
    judged(worker, given("SVC", {}, X, np.arange(6) % 2, container="float32"))


def test_a_margin_where_an_indefinite_kernel_gives_no_length(worker):
    X = np.abs(np.random.default_rng(0).normal(size=(6, 2)))
    judged(worker, given("KernelAdatron", {"kernel": "additive_chi2"}, X, np.arange(6) % 2))


def test_a_variance_that_overflows(worker):
    X = np.random.default_rng(0).normal(size=(5, 2)) * 1e299
    report = judged(worker, given("OneClassSVM", {"kernel": "anova"}, X))
    assert "gamma='scale'" in report.refusal


@pytest.mark.parametrize("machine", ["KernelPerceptron", "SVC"])
def test_a_spline_that_overflows(worker, machine):
    X = np.array([[1e150, 1.0], [-3e150, 2.0], [2e150, 0.0]])
    judged(worker, given(machine, {"kernel": "spline"}, X, np.array([0, 1, 0])))


@pytest.mark.parametrize("machine", ["SVR", "SVRPath", "OnlineSVR"])
@pytest.mark.parametrize("container", ["float32", "csr"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_widths_beyond_all_bounds(worker, kernel, container, machine):
    """A product with gamma overflows; in single precision gamma itself does, and nothing times it is nan."""
    X, y = np.array([[82.1, 38.9], [75.0, 27.3], [59.3, 1.6], [77.4, 31.3]]), np.array([2.0, 1.0, 3.0, 1.0])
    judged(worker, given(machine, {"kernel": kernel, "gamma": 1e300}, X, y, container=container))


@pytest.mark.parametrize("stored", [[-1e300, 1e300, 1e300], [-1e300, 0.0, 1e300]])
def test_a_variance_of_sparse_data_that_overflows(worker, stored):
    X = np.array([stored]).T
    report = judged(worker, given("SVR", {"kernel": "laplacian"}, X, np.arange(3.0), container="csc"))
    assert report.ending != "refused" or "column" in report.refusal or "gamma" in report.refusal


def test_axes_of_a_matrix_whose_squares_overflow(worker):
    v = 10.0 ** np.linspace(-90, 80, 12)
    K = np.outer(v, v)
    judged(worker, given("SphereAndSlab", {"kernel": "precomputed"}, K, kind="matrix"))


def test_probabilities_of_weights_whose_products_vanish(worker):
    words = ["ababa", "bb", "babab", "", "a", "bbb", "abb", "b", "baaab", "aaaba", "abbbb", "bbaa"]
    X, y = np.array([[float(len(word))] for word in words]), np.arange(12) % 3
    params = {"kernel": "linear", "probability": True, "random_state": 1}
    judged(worker, given("NuSVC", params, X, y, np.full(12, 1e-200)))
