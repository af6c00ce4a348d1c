"""Refusals that named neither the column nor the parameter nor the remedy once."""

import numpy as np
import pytest
import scipy.sparse as sp

import mercer

from .code import Code
from .commands import Command
from .data import Data
from .fits import Fit
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


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


def test_a_solver_of_duals_is_refused_for_a_risk():
    with pytest.raises(ValueError, match="solver='ascent'"):
        mercer.KernelLogisticRegression(solver="ascent").fit([[0.0], [1.0]], [0, 1])


def test_a_solver_of_hard_margins_is_refused_for_a_risk():
    with pytest.raises(ValueError, match="solver='lagrangian'"):
        mercer.KernelClassifier(solver="lagrangian").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("machine", ["GaussianProcessRegressor", "LinearSVR"])
def test_a_target_whose_squares_overflow_is_named(machine):
    X = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.raises(ValueError, match=r"y reaches 1e\+300 \(row 3\).*divide y"):
        getattr(mercer, machine)().fit(X, np.where(np.arange(8) == 3, 1e300, 0.0))


def test_a_process_of_a_matrix_that_rounding_makes_indefinite(worker):
    X = np.array([[-23.6, -1.1e10], [89.9, -3.7e9], [77.1, 1.6e10], [99.9, -6.4e9], [-60.3, 9.1e9]])
    params = {"kernel": Code("mercer.kernels.Linear().centered()")}
    judged(worker, given("GaussianProcessClassifier", params, X, np.array([1, 0, 0, 0, 0])))


def test_components_of_a_matrix_of_zeros(worker):
    params = {"kernel": "linear", "n_components": 2, "eigen_solver": "arpack"}
    judged(worker, given("KernelPCA", params, np.zeros((5, 3))))


def test_text_in_a_frame_is_told_with_its_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0], "dose": ["low", "high"]})
    with pytest.raises(ValueError, match=r"X must hold numbers \(column 'dose'\)"):
        mercer.SVC().fit(frame, [0, 1])


def test_a_path_without_a_name_is_refused_in_words():
    with pytest.raises(ValueError, match="path is empty: name the file to read"):
        mercer.load("")


@pytest.mark.parametrize("machine", ["MARS", "AdaptiveAdditiveSplines"])
def test_splines_of_huge_numbers_name_the_place(machine):
    X = np.random.default_rng(0).normal(size=(9, 2))
    X[4, 1] = -1e120
    with pytest.raises(ValueError, match=r"X reaches 1e\+120 \(row 4, column 1\)"):
        getattr(mercer, machine)().fit(X, X[:, 0])


def test_random_features_of_a_kernel_on_text_name_the_kernel():
    kernel = mercer.kernels.Spectrum(2)
    with pytest.raises(ValueError, match=r"kernel=Spectrum\(.*has no random features.*Nystroem takes any"):
        mercer.OneClassSVM(kernel=kernel, approximation="features").fit(["ab", "b", "ba"])
