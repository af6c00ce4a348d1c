"""Kernel products that had grown old once: certificate and machine disagreed, or rounding was not counted."""

import numpy as np
import pytest

from . import items  # noqa: F401  the kernels' functions are pickled by name
from .code import Code
from .commands import Command
from .data import Data
from .exports import Export
from .fits import Fit
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


def test_sums_of_multipliers_restored_at_the_end(worker):
    """With multipliers of 1e8 the rounding of a sum, put back into one of them, changes the function."""
    X = np.array([[3.45584192064786], [8.216181435011583], [3.304370761833871]])
    y = np.array([2.0409191213851825, -2.5556650313141818, 0.41809884672577885])
    judged(worker, given("NuSVR", {"kernel": "linear"}, X, y, np.array([1e4, 1e8, 1e6])), refusable=False)


@pytest.mark.parametrize("X", [[-0.0, -2.751089363272283e19, -0.0], [-3.7e-119, -2.05e151, 1e-119]])
def test_a_path_that_begins_with_huge_products(worker, X):
    params = {"kernel": Code("mercer.kernels.Linear()")}
    judged(worker, given("SVCPath", params, np.array(X)[:, None], np.array([0, 1, 0])))


def test_newton_steps_on_a_matrix_of_rank_one(worker):
    X = np.array([[25972.986044652658], [-125302.94040795666]])
    params = {"kernel": Code("mercer.kernels.Linear() ** 2")}
    judged(worker, given("KernelClassifier", params, X, np.array([0, 1])), refusable=False)


def test_newton_steps_beside_an_outlier(worker):
    X = np.array([[34558419206.4786], [0.8216181435011584], [0.33043707618338714]])
    params = {"kernel": Code("mercer.kernels.RBF(0.5) + mercer.kernels.Linear()")}
    judged(worker, given("KernelRegressor", params, X, np.array([1e6, 0.0, 0.0])), refusable=False)


def test_an_offset_that_is_small_beside_one(worker):
    """On features the offset rho is kept as 1 - rho."""
    X = np.array([[0.345584192064786], [0.8216181435011584]])
    judged(worker, given("OneClassSVM", {"approximation": "features", "nu": 1e-9}, X), refusable=False)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_one_function_for_each_class_in_a_file(worker, classes):
    X = np.random.default_rng(0).normal(size=(12, 2))
    params = {"loss": "multinomial_deviance"}
    judged(worker, given("KernelClassifier", params, X, np.arange(12) % classes), refusable=False)


@pytest.mark.parametrize("machine", ["KernelAdatron", "KernelPerceptron"])
def test_a_diagonal_that_overflows(worker, machine):
    X = np.array([[3e38], [3e38], [0.0]])
    judged(worker, given(machine, {"kernel": "sigmoid"}, X, np.array([0, 1, 0]), container="float32"))


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_a_width_beyond_single_precision(worker, kernel):
    X = np.array([[0.3455841839313507], [0.8216181397438049]])
    params = {"kernel": kernel, "gamma": 1e100}
    judged(worker, given("KernelWidrowHoff", params, X, np.array([2.0, -2.5]), container="float32"))


def test_steps_that_change_nothing_end(worker):
    X = 100.0 * np.random.default_rng(0).normal(size=(24, 2))
    X[0] *= 1e12
    params = {"kernel": Code("1e-8 * mercer.kernels.Linear()"), "solver": "smo"}
    case = given("SVC", params, X, (np.arange(24) == 0).astype(int), container="csr")
    judged(worker, case, refusable=False)


def test_a_target_whose_square_overflows_in_a_search(worker):
    X = np.random.default_rng(0).normal(size=(10, 1)) * 10.0 ** np.arange(-50, 150, 20)[:, None]
    grid = {"C": [1.0, 100.0], "gamma": [0.1, 1.0]}
    judged(worker, given("SVRSearch", {"param_grid": grid}, X, X[:, 0]))


def test_a_column_of_normalised_kernel_values_in_onnx(worker):
    """onnxruntime merges a single factor into a product, in single precision."""
    data = Data("vectors", "normal", 2, 1, -1, "dense", "normal", 0, 2, "integers", None, 0)
    params = {"kernel": Code("mercer.kernels.Linear().normalized()"), "n_jobs": 1}
    judged(worker, Export(Fit("SVDD", params, data)), refusable=False)


@pytest.mark.parametrize("method", ["path", "kfold", "span_rule"])
def test_a_search_without_folds_or_with_a_huge_target(worker, method):
    X, y = np.array([[0.3], [0.8], [0.5], [0.1]]), np.array([2.0, -2.5, 1.0, 0.0])
    params = {"param_grid": {"C": [1.0, 100.0], "gamma": [0.1, 1.0]}, "method": method}
    judged(worker, given("SVRSearch", params | {"cv": Code("{}")}, X, y))
    judged(worker, given("SVRSearch", params, X, 1e160 * y))


def test_an_indefinite_matrix_of_wild_scales(worker):
    X = np.random.default_rng(0).normal(size=(6, 2)) * 10.0 ** np.array([60, 100, 70, -80, 90, 100])[:, None]
    case = given("KernelClassifier", {"kernel": "precomputed"}, X @ X.T, np.arange(6) % 2, kind="matrix")
    judged(worker, case)


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "additive_chi2"},
        {"kernel": "histogram_intersection", "approximation": "nystroem"},
        {"kernel": "rbf", "parametric": "quadratic", "solver": "cg"},
    ],
)
def test_ridge_of_numbers_whose_squares_overflow(worker, params):
    X = np.array([[1e300, 0.0], [1e300, 0.0]])
    judged(worker, given("KernelRidge", params, X, np.array([2e299, -1e300])))
    judged(worker, given("KernelRidge", params, X, np.array([2.0, -1.0])))


def test_a_discriminant_of_tiny_numbers(worker):
    X = np.array([[3.45584192064786e-161], [8.216181435011584e-161]])
    judged(worker, given("KernelFisherDiscriminant", {"kernel": "linear"}, X, np.array([0, 1])))


def test_a_second_view_with_a_centred_kernel_in_a_file(worker):
    X = np.random.default_rng(0).normal(size=(6, 1))
    Y = np.column_stack([X[:, 0], np.arange(6.0)])
    params = {"kernel": Code("mercer.kernels.Linear().centered()")}
    judged(worker, given("KernelCCA", params, X, Y), refusable=False)


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": Code("mercer.kernels.Linear()"), "alpha": 1.0, "parametric": "linear"},
        {"kernel": Code("mercer.kernels.RBF(0.5) * mercer.kernels.Linear()"), "cache_size": 1e-6},
    ],
)
def test_a_process_on_wild_scales(worker, params):
    X = 10.0 ** np.array([[-126.0], [-143], [109], [76], [101], [10], [95], [-52], [-15]])
    judged(worker, given("GaussianProcessRegressor", params, X, np.sin(np.arange(9.0))))


def test_eigenfunctions_of_a_width_beyond_single_precision(worker):
    params = {"kernel": "rbf", "gamma": 1e100, "precision": "single"}
    judged(worker, given("MercerFeatures", params, np.array([[0.3], [0.8]])))


def test_a_trend_beside_a_large_kernel(worker):
    """Coefficients whose sum is zero up to 1e-13 see what a kernel of 1e9 makes of that."""
    X = 1000.0 + np.random.default_rng(0).normal(size=(4, 2))
    judged(worker, given("SVR", {"kernel": "spline"}, X, np.array([0.0, -1.0, -1.0, -1.0])))


def test_a_hard_tube_around_an_indefinite_kernel(worker):
    X = np.array([1.2, 1.2, 1.2, 0.5, 1.2, 1.2, 0.5, 0.5])[:, None]
    y = np.array([0.02, -0.51, -1.85, 0.69, 0.39, -0.21, 0.14, 2.03])
    judged(
        worker, given("OnlineSVR", {"kernel": "sigmoid", "gamma": "auto", "C": Code("float('inf')")}, X, y)
    )


def test_import_vectors_with_weights_that_vanish(worker):
    X, y = np.array([[0.3], [0.8], [0.5]]), np.array([0, 1, 2])
    params = {"import_vectors": "auto"}
    judged(worker, given("KernelLogisticRegression", params, X, y, np.full(3, 1e-200)))


@pytest.mark.parametrize("scale", [1e8, 1e30])
def test_landmarks_that_overflow_in_single_precision(worker, scale):
    X = scale * np.random.default_rng(0).normal(size=(9, 2))
    judged(worker, given("Nystroem", {"kernel": "poly"}, X, container="float32"))


def test_a_bound_that_never_fails(worker):
    words = ("train", "words.csv", "--threshold", "1", "--delta", "1e-300", "--folds", "0")
    assert not worker.run(Command(words)).failures


def test_a_trend_of_wild_scales(worker):
    X = np.array([[3.5e-68, 8.2e99], [3.3e-73, -1.3e-26], [9.1e43, 4.5e15]])
    params = {"kernel": "linear", "parametric": "linear"}
    judged(worker, given("KernelClassifier", params, X, np.array([0, 1, 0])))


def test_a_seed_that_is_no_integer(worker):
    params = {"random_state": -1.0}
    X = np.array([[0.0], [1.0], [0.2], [1.1]])
    judged(worker, given("MixtureDiscriminantAnalysis", params, X, np.array([0, 1, 0, 1])))
