"""Models of LIBSVM and scikit-learn as ours, and ours as theirs."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from file_samples import data

import mercer
from mercer.io import (
    ModelFileError,
    dumps,
    libsvm_predict,
    libsvm_probabilities,
    loads,
    read_libsvm_model,
    write_libsvm_model,
)
from mercer.io.libsvm.conversion import from_libsvm, to_libsvm
from mercer.io.libsvm.model_text import format_libsvm_model, parse_libsvm_model
from mercer.kernels import Matern
from mercer.problems.calibration import link_logits
from mercer.problems.platt_sigmoid import link_of_sigmoid
from mercer.solvers.calibration.sigmoid import nearest_sigmoid

pytestmark = pytest.mark.core

NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"]
KERNELS = ["linear", "poly", "rbf", "sigmoid", "precomputed"]


def problem(name, kernel, classes="three"):
    X, targets = data()
    X, new = X + 2.0, data(seed=1, n=25)[0] + 2.0  # away from the origin, or one plane could not hold them
    y = {"SVR": targets["real"], "NuSVR": targets["real"]}.get(name, targets[classes])
    params = {"kernel": kernel}
    if kernel == "precomputed":
        X, new = X @ X.T, new @ X.T
    else:
        params |= {"gamma": 0.02 if kernel == "sigmoid" else 0.2, "coef0": 0.1, "degree": 2}
    if "nu" in sklearn.svm.__dict__[name]().get_params():
        params["nu"] = 0.6
    return X, y, new, params


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


CASES = [(n, k, c) for n in NAMES for k in KERNELS for c in (("two", "three") if "SVC" in n else ("two",))]


@pytest.mark.parametrize(("name", "kernel", "classes"), CASES)
@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_to_scikit_learn_and_back(name, kernel, classes):
    X, y, new, params = problem(name, kernel, classes)
    ours = getattr(mercer, name)(**params).fit(X, y)
    theirs = ours.to_sklearn()
    assert type(theirs) is getattr(sklearn.svm, name)
    np.testing.assert_allclose(values(theirs, new), values(ours, new), atol=1e-12)
    np.testing.assert_array_equal(theirs.n_support_, ours.n_support_)
    again = type(ours).from_sklearn(theirs)
    np.testing.assert_allclose(values(again, new), values(ours, new), atol=1e-12)
    np.testing.assert_array_equal(again.dual_coef_, ours.dual_coef_)


@pytest.mark.parametrize(("name", "kernel", "classes"), CASES)
def test_from_scikit_learn(name, kernel, classes):
    X, y, new, params = problem(name, kernel, classes)
    theirs = getattr(sklearn.svm, name)(tol=1e-6, **params).fit(X, y)
    ours = getattr(mercer, name).from_sklearn(theirs)
    np.testing.assert_allclose(values(ours, new), values(theirs, new), atol=1e-10)
    np.testing.assert_array_equal(ours.predict(new), ours.predict(new))
    assert ours.get_params().items() >= {k: v for k, v in params.items() if k != "kernel"}.items()
    assert np.isinf(ours.certificate_.kkt_violation), "nothing is proved before certify"
    proof = ours.certify(X, y)
    # The sums that nu fixes hold up to rounding only, which the largest violation does not forgive.
    assert proof.kkt_violation < 1e-4 or (name == "NuSVR" and proof.primal - proof.dual < 1e-5 * proof.primal)
    if ours.kernel_.is_psd:
        assert proof.relative_gap < 1e-3
    np.testing.assert_allclose(values(loads(dumps(ours)).model, new), values(ours, new), atol=0)


def test_sparse_models_and_callables():
    X, targets = data()
    S = sp.csr_matrix(np.where(np.abs(X) > 0.8, X, 0.0))
    ours = mercer.SVC(probability=True).fit(S, targets["three"])
    theirs = ours.to_sklearn()
    np.testing.assert_allclose(theirs.decision_function(S), ours.decision_function(S), atol=1e-12)
    np.testing.assert_allclose(libsvm_probabilities(ours, S), theirs.predict_proba(S), atol=0.01)
    back = mercer.SVC.from_sklearn(theirs)
    np.testing.assert_allclose(back.decision_function(S), ours.decision_function(S), atol=1e-12)

    def product(A, B):
        return A @ B.T

    theirs = sklearn.svm.SVC(kernel=product).fit(X, targets["three"])
    ours = mercer.SVC.from_sklearn(theirs)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-10)
    with pytest.raises(ValueError, match="cannot be given to scikit-learn"):
        ours.to_sklearn()


def test_what_the_others_do_not_have_is_refused_by_name(tmp_path):
    X, targets = data()
    y = targets["three"]
    with pytest.raises(ValueError, match=r"Matern.*cannot be given to scikit-learn"):
        mercer.SVC(kernel=Matern()).fit(X, y).to_sklearn()
    with pytest.raises(ModelFileError, match=r"Matern.*cannot be given to LIBSVM"):
        write_libsvm_model(mercer.SVC(kernel=Matern()).fit(X, y), tmp_path / "m")
    with pytest.raises(ValueError, match="machine for each pair"):
        mercer.SVC(multiclass="ovr").fit(X, y).to_sklearn()
    with pytest.raises(ModelFileError, match="SVDD has no counterpart"):
        write_libsvm_model(mercer.SVDD().fit(X), tmp_path / "m")
    with pytest.raises(ModelFileError, match="labels are integers"):
        write_libsvm_model(mercer.SVC().fit(X, np.array(list("abc"))[y]), tmp_path / "m")
    with pytest.raises(TypeError, match=r"takes a sklearn.svm.SVC, not a NuSVC"):
        mercer.SVC.from_sklearn(sklearn.svm.NuSVC().fit(X, y))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "kernel", "classes"), CASES)
@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_libsvm_files_come_back(name, kernel, classes, tmp_path):
    X, y, new, params = problem(name, kernel, classes)
    ours = getattr(mercer, name)(**params).fit(X, y)
    again = read_libsvm_model(
        write_libsvm_model(ours, tmp_path / "m.model"), n_rows=len(X) if kernel == "precomputed" else None
    )
    assert type(again) is type(ours)
    np.testing.assert_array_equal(again.predict(new), ours.predict(new))
    np.testing.assert_allclose(values(again, new), values(ours, new), atol=1e-12)
    for name in ("classes_", "n_support_", "intercept_"):
        np.testing.assert_array_equal(getattr(again, name, None), getattr(ours, name, None))
    text = (tmp_path / "m.model").read_text()
    assert format_libsvm_model(to_libsvm(again)) == text


# Written by LIBSVM 3.37 for ten points of the classes 2, 1 and 3; it names them as they came.
THREE = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 10
rho 0.097997112783510087 0.41295048106466775 0.41770382959251301
label 2 1 3
probA -1.7640362907980978 -1.8762680774505855 -0.46207774847213823
probB 0.35713652341847851 0.44687657936820824 0.079480714623733018
nr_sv 3 3 4
SV
0.71312896019341387 0 1:0.1 2:0.2 
1 0.82680631457614462 1:0.5 2:0.1 
0 0.69435644880740499 
-0.26070349211413985 1 1:1 2:2 
-0.45242546807927414 1 1:2 2:2 
-1 0.8563869429294888 1:1 2:1 
-0.54614200058786966 -0.55381079520491261 1:3 2:1 
-0 -1 1:2.5 2:2 
-0.44185060717919866 -0.30257614772457608 1:3 2:3 
-0.53317015561648129 -1 1:1 2:3 
"""  # noqa: W291


def test_a_file_of_libsvm_means_what_libsvm_means():
    stored = parse_libsvm_model(THREE.encode())
    model = from_libsvm(stored)
    assert model.classes_.tolist() == [1, 2, 3]
    x = np.array([[0.3, 0.4], [2.0, 1.0], [1.0, 2.5]])
    V = stored.vectors.toarray()
    K = np.exp(-0.5 * ((x[:, None] - V[None]) ** 2).sum(axis=2))
    ends = np.concatenate([[0], np.cumsum(stored.n_support)])
    n = 0
    for i in range(3):  # the definition: a positive decision of the pair (i, j) means label i
        for j in range(i + 1, 3):
            a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            f = K[:, a] @ stored.coef[j - 1, a] + K[:, b] @ stored.coef[i, b] - stored.rho[n]
            one, two = np.searchsorted(model.classes_, stored.labels[[i, j]])
            number = {(0, 1): 0, (0, 2): 1, (1, 2): 2}[min(one, two), max(one, two)]
            ours = model._raw_decision(x)[:, number] * (1 if one < two else -1)
            np.testing.assert_allclose(ours, f, atol=1e-12)
            n += 1
    again = to_libsvm(model)
    np.testing.assert_array_equal(again.labels, [2, 1, 3])
    assert format_libsvm_model(again) == THREE
    P = libsvm_probabilities(model, x)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P > 0).all()
    assert set(libsvm_predict(model, x).tolist()) <= {1, 2, 3}


def test_ties_go_to_the_class_that_the_file_names_first():
    tie = THREE.replace("-0.26070349211413985 1", "-0.26070349211413985 0")
    model = from_libsvm(parse_libsvm_model(tie.encode()))
    # Far away only the biases speak: 1 beats 2, 3 beats 2 and 3 beats 1, then with signs chosen for a circle.
    model.intercept_ = np.array([1.0, -1.0, 1.0])  # 1 over 2, 3 over 1, 2 over 3: one vote each
    far = np.array([[1e6, 1e6]])
    assert model.predict(far).tolist() == [1]
    assert libsvm_predict(model, far).tolist() == [2]


@pytest.mark.parametrize("order", [[3, 1, 2], [2, 3, 1], [1, 2, 3]])
def test_classes_can_be_written_in_any_order(order):
    model = from_libsvm(parse_libsvm_model(THREE.encode()))
    other = from_libsvm(parse_libsvm_model(format_libsvm_model(to_libsvm(model, labels=order)).encode()))
    x = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(other._raw_decision(x), model._raw_decision(x), atol=1e-12)
    np.testing.assert_allclose(libsvm_probabilities(other, x), libsvm_probabilities(model, x), atol=1e-12)
    with pytest.raises(ModelFileError, match="in some order"):
        to_libsvm(model, labels=[1, 2])


def test_a_sigmoid_becomes_a_link_and_comes_back():
    f = np.linspace(-3, 3, 61)[:, None]
    for A, B in ((-1.5, 0.0), (-0.3, 0.4), (-2.0, -0.7)):
        knots, slopes = link_of_sigmoid(A, B)
        z = link_logits(f, knots[None], slopes[None])[:, 0]
        wish = -A * f[:, 0] - B
        agrees = np.sign(wish) == np.sign(f[:, 0])
        np.testing.assert_allclose(z[agrees], wish[agrees], atol=1e-6)
        assert (np.abs(z[~agrees]) < 1e-6).all()
    knots, slopes = link_of_sigmoid(-1.5, 0.0)
    np.testing.assert_allclose(nearest_sigmoid(knots, slopes), (-1.5, 0.0), atol=1e-6)


def test_wider_data_and_missing_rows(tmp_path):
    path = tmp_path / "m"
    path.write_text(THREE)
    assert read_libsvm_model(path, n_features=5).n_features_in_ == 5
    with pytest.raises(ModelFileError, match="n_features=1"):
        read_libsvm_model(path, n_features=1)


def test_what_comes_from_scikit_learn_can_be_saved():
    X, targets = data()
    model = mercer.SVC.from_sklearn(sklearn.svm.SVC().fit(X, targets["three"]))
    assert not hasattr(model, "predict_proba")
    again = loads(dumps(model)).model
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
