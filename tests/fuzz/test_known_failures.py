"""What an attack on the library found, kept as small examples: none of it may come back.

Each fit is judged by all properties of the fuzzer, in a process that is watched: a fit that does not end
fails its test instead of stopping the others.
"""

import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import losses

from . import discovery
from .code import Code
from .commands import Command
from .data import Data
from .fits import Fit
from .given import given
from .worker import Worker

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

SECONDS = 10.0  # of the processor, for fits that need a hundredth of one

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def worker():
    worker = Worker(SECONDS)
    yield worker
    worker.close()


def judged(worker, case, *, refusable=True):
    """Run a case; it must keep all promises and, if it is not ``refusable``, give a model."""
    report = worker.run(case)
    assert not report.failures, "\n\n".join(f"{f.key}\n{f.message}" for f in report.failures)
    assert refusable or report.ending != "refused", report.refusal
    return report


def cloud(seed, n=40, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return rng, X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


# -- 1: no gap without feasibility -----------------------------------------------------------------------


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


# -- 2: unbounded problems -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "loss"), [("SVC", "squared_hinge"), ("SVR", "squared_epsilon_insensitive")]
)
@pytest.mark.parametrize("seed", range(3))
def test_squared_losses_with_an_indefinite_kernel(worker, machine, loss, seed):
    _, X, y = cloud(seed, d=3)
    target = y if machine == "SVC" else X[:, 0]
    params = {"kernel": "sigmoid", "gamma": 1.0, "loss": loss, "C": 10.0}
    judged(worker, given(machine, params, X, target))


# -- 3: the status follows from the numbers --------------------------------------------------------------


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


# -- 4: certificate, certify and decisions are one -------------------------------------------------------


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


# -- 5: what is declared is looked at --------------------------------------------------------------------


@mercer.kernel(psd=True)
def falsely_declared(a, b):
    """Minus the distance: no kernel, whatever is said."""
    return -float(np.abs(a - b).sum())


class WrongDerivative(losses.Loss):
    """A squared error whose derivative has the wrong size."""

    targets = "numbers"

    def value(self, y, f):
        return (y - f) ** 2

    def derivative(self, y, f):
        return 5.0 * (f - y)


class NotConvex(losses.Loss):
    """A loss that bends the wrong way, with the right derivative."""

    targets = "numbers"

    def value(self, y, f):
        return 1.0 - np.exp(-((y - f) ** 2))

    def derivative(self, y, f):
        return 2.0 * (f - y) * np.exp(-((y - f) ** 2))


@pytest.mark.parametrize(
    "machine", [mercer.SVC, mercer.KernelLogisticRegression, mercer.KernelRidgeClassifier]
)
def test_a_kernel_that_is_not_what_it_declares_is_refused(machine):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="psd"):
        machine(kernel=falsely_declared).fit(X, np.arange(20) % 2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("loss", "word"), [(WrongDerivative(), "derivative"), (NotConvex(), "convex")])
def test_a_loss_that_is_not_what_it_declares_is_refused(loss, word):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=word):
        mercer.KernelRegressor(loss=loss).fit(X, X[:, 0])


# -- 6: nan never leaves ---------------------------------------------------------------------------------

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


# -- 11: limits ------------------------------------------------------------------------------------------


class Limited:
    """A fit of many rows under a limit, timed by the processor's clock."""

    place = "time_limit"

    def __init__(self, name, params, n):
        self.name, self.params, self.n = name, params, n

    def run(self):
        import time

        from .report import Report

        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.n, 4))
        role = discovery.role(self.name)
        y = X[:, 0] + rng.normal(size=self.n)
        y = (y > 0).astype(int) if role == "classifier" else np.column_stack([y, y]) if role == "views" else y
        model = discovery.estimators()[self.name](time_limit=0.5, n_jobs=1, **self.params)
        report = Report(fits=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[:50], y[:50])  # compiles
            start = time.process_time()
            model.fit(X) if role in ("detector", "map") else model.fit(X, y)
        report.seconds = time.process_time() - start
        return report


def limited():
    return [
        name
        for name in sorted(discovery.estimators())
        if {"time_limit", "n_jobs"} <= set(discovery.parameters(name))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", limited())
def test_a_time_limit_is_kept_by_every_estimator(worker, name):
    tight = {"tol": 1e-10} if "tol" in discovery.parameters(name) else {}
    report = worker.run(Limited(name, tight, 1500))
    assert not report.failures, report.failures
    assert report.seconds <= 1.1 * 0.5 + 3.0  # a slice of compiled work, and what is prepared and concluded


@pytest.mark.parametrize("limit", [1e-9, 0.05, 0.5])
def test_a_gaussian_process_larger_than_memory_under_a_limit(limit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.GaussianProcessRegressor(time_limit=limit, cache_size=2, n_jobs=1)
        model.fit(X, X[:, 0] + 0.1 * rng.normal(size=1200))
    assert np.isfinite(model.predict(X[:5])).all()


# -- 12: every fit ends ----------------------------------------------------------------------------------


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


# -- 14: threads -----------------------------------------------------------------------------------------


def test_fits_side_by_side_agree_within_their_certificates():
    _, X, y = cloud(0, n=200, d=4)
    serial = mercer.KernelClassifier().fit(X, y)
    found = [None] * 8

    def work(k):
        found[k] = mercer.KernelClassifier().fit(X, y)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    c = serial.certificate_
    for model in found:
        d = model.certificate_
        rounding = 1e-12 * abs(c.primal)
        assert max(c.dual, d.dual) <= min(c.primal, d.primal) + rounding
        # Two points of a strongly convex problem are as close as their gaps say: 1/2 |w - w'|^2 <= both.
        far = np.abs(model.decision_function(X) - serial.decision_function(X)).max()
        assert far <= 4 * np.sqrt(2 * (c.gap + d.gap) + rounding)


def test_concurrent_fits_leave_the_thread_counts_of_the_blas_alone():
    from threadpoolctl import threadpool_info

    _, X, y = cloud(0, n=300, d=4)
    mercer.KernelClassifier().fit(X, y)

    def counts():
        return sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())

    before = counts()
    for _ in range(5):
        threads = [threading.Thread(target=mercer.KernelClassifier().fit, args=(X, y)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts() == before


# -- 15: words -------------------------------------------------------------------------------------------


def test_train_on_huge_values_names_the_column(worker):
    judged(worker, Command(("train", "huge.csv", "--folds", "2")))


def test_train_on_a_huge_target_ends(worker):
    judged(worker, Command(("train", "huge_target.csv", "--folds", "0")))


@pytest.mark.parametrize("scale", [1e32, 1e100])
@pytest.mark.parametrize("machine", ["KernelRegressor", "SVR", "KernelRidge"])
def test_a_huge_target(worker, machine, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    report = judged(worker, given(machine, {}, X, scale * rng.normal(size=20)))
    assert "for ever" not in report.refusal
    assert report.ending != "refused" or "y" in report.refusal.split()


@pytest.mark.parametrize(
    "machine", ["KernelRidge", "GaussianProcessRegressor", "KernelRegressor", "SVR", "KernelPCA"]
)
@pytest.mark.parametrize("container", ["dense", "csr"])
def test_an_overflowing_kernel(worker, machine, container):
    X = np.random.default_rng(0).normal(size=(10, 2)) * 1e120
    params = (
        {"kernel": "poly", "gamma": 1.0, "degree": 5}
        if machine != "GaussianProcessRegressor"
        else {"kernel": "linear"}
    )
    case = given(machine, params, X, None if machine == "KernelPCA" else np.arange(10.0), container=container)
    assert "infs" not in judged(worker, case).refusal


def test_a_sparse_polynomial_that_overflows():
    X = sp.csr_array(np.full((4, 2), 1e100))
    with pytest.raises(ValueError, match="kernel"):
        mercer.SVC(kernel="poly", degree=10, gamma=1e300).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("header", [0, 3])
def test_a_bad_row_of_an_arff_file_is_told_with_its_line(tmp_path, header):
    from mercer.io import DataFileError, read_data

    comments = "% a comment\n" * header
    path = tmp_path / "bad.arff"
    path.write_text(
        f"{comments}@relation r\n@attribute a numeric\n@attribute y {{u,v}}\n@data\n1,u\n2\n3,v\n"
    )
    with pytest.raises(DataFileError, match=f"line {header + 6}"):
        read_data(path)


@pytest.mark.parametrize("place", ["", "."])
def test_saving_nowhere_is_refused_in_words(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    model = mercer.SVC().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises((ValueError, IsADirectoryError), match=r"path|folder|name") as refusal:
        mercer.save(model, place)
    assert "busy" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", ["one_point", "collinear", "an_outlier", "constant_column", "integers"])
@pytest.mark.parametrize("exponent", [-160, 0, 100, 160])
@pytest.mark.parametrize("name", ["QuadraticDiscriminantAnalysis", "RegularizedDiscriminantAnalysis"])
def test_discriminants_of_degenerate_data(worker, name, shape, exponent):
    for target, n in (("feature", 10), ("constant", 6)):  # halves by the first feature; one row in a class
        data = Data("vectors", shape, n, 3, exponent, "dense", target, 0, 2, "integers", None, 3)
        judged(worker, Fit(name, {}, data))


# -- found by the fuzzer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["SVC", "KernelClassifier", "KernelRidgeClassifier", "NuSVC"])
def test_two_points_far_from_the_origin(worker, machine):
    X = np.array([[1e7, 1.242245677966544], [1e7, 0.21865433458099934]])
    judged(worker, given(machine, {"kernel": "linear"}, X, np.array([0, 1])))


@pytest.mark.parametrize("y", [(0, 1, 0, 1), (1, 0, 1, 0)])
def test_a_path_of_one_point_with_weights_of_all_sizes(worker, y):
    w = np.array([1e-6, 1e8, 1e-5, 0.01])
    judged(worker, given("SVCPath", {}, np.zeros((4, 3)), np.array(y), w))


@pytest.mark.parametrize("machine", ["SVC", "NuSVC", "SVCPath", "KernelAdatron", "KernelPerceptron"])
def test_a_width_that_underflows(worker, machine):
    """The variance of the data overflows: gamma="scale" is zero, and zero times infinity is nan."""
    X = np.array([[3.4558e159], [8.2162e159]])
    judged(worker, given(machine, {}, X, np.array([0, 1])))


def test_a_matrix_of_rank_one(worker):
    v = np.array([3.7276e5, -7.7465e4, -1.76814e6, -8.4919e5])
    K = np.outer(v, v)
    judged(worker, given("SVC", {"kernel": "precomputed"}, K, np.array([0, 1, 0, 0]), kind="matrix"))


def test_a_slab_with_an_indefinite_kernel_and_no_memory(worker):
    X = 10 * np.random.default_rng(0).gamma(0.5, size=(37, 4))
    params = {"kernel": "sigmoid", "coef0": 1.0, "tol": 1e-6, "cache_size": 1e-6, "n_jobs": 1}
    judged(worker, given("SphereAndSlab", params, X))


def test_steps_with_an_indefinite_kernel(worker):
    X, y = np.array([[0.3456], [0.8216], [0.3304]]), np.array([2.04, -2.556, 0.418])
    params = {"kernel": Code("mercer.kernels.Sigmoid(gamma=1.0, coef0=-1.0)")}
    judged(worker, given("KernelWidrowHoff", params, X, y))
