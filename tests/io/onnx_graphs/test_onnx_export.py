"""ONNX: onnxruntime says what we say."""

import doctest
import sys

import numpy as np
import pytest
from file_samples import data, estimators, fitted
from onnx_running import assert_says_the_same, run
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import mercer
from mercer.io import ModelFileError, load, save, to_onnx
from mercer.io.onnx.machines import MACHINES
from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChi2,
    Chi2,
    Constant,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spline,
)
from mercer.selection.base_search import BaseSearch

KERNELS = [
    Linear(),
    Cosine(),
    Polynomial(degree=3, gamma=0.1, coef0=1.0),
    Polynomial(degree=2.5, gamma=0.1, coef0=1.0),
    RBF(0.3),
    RBF(1.0 + 3e-8),
    RBF(np.array([0.1, 0.2, 0.3, 0.4])),
    Sigmoid(gamma=0.01),
    Laplacian(0.2),
    Chi2(0.5),
    AdditiveChi2(),
    HistogramIntersection(),
    Matern(2.0, 0.5),
    Matern(2.0, 1.5),
    Matern(np.array([1.0, 2.0, 3.0, 4.0]), 2.5),
    Matern(2.0, np.inf),
    RationalQuadratic(1.5, 0.7),
    ANOVA(0.2, 2),
    Spline(5.0),
    0.1 * Linear(),
    RBF(0.3) + 0.1 * Linear() * Matern(),
    (RBF(0.3) + 1.0) ** 2,
    Polynomial(degree=2, gamma=0.1).normalized(),
    RBF(0.2).on([0, 2]) + Constant(1.0) + Linear().on(slice(1, 3)),
    RBF(np.array([0.3])).on([1]),
    RBF(0.3).centered(),
    (Linear().on([0, 1]) + RBF(0.1)).centered().normalized(),
    Sigmoid(gamma=0.01).clipped(),
    Sigmoid(gamma=0.01).flipped(),
    Sigmoid(gamma=0.01).shifted(),
]


def positive_data():
    X, targets = data()
    return np.abs(X + 5.0), np.abs(data(seed=1, n=25)[0] + 5.0), targets


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.expression())
@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_every_vector_kernel(kernel):
    X, new, targets = positive_data()
    assert_says_the_same(mercer.SVR(kernel=kernel, max_iter=5000).fit(X, targets["real"]), new)
    assert_says_the_same(mercer.SVDD(kernel=kernel, nu=0.2, max_iter=5000).fit(X), new)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::mercer.estimators.ridge.IllConditionedWarning")
@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_every_estimator_is_exported_or_refused_by_name(cls):
    X, targets = data()
    new = data(seed=1, n=100)[0]
    inside = issubclass(cls, BaseSearch) or cls.__name__.startswith("Conformal")  # what they wrap is written
    if cls not in MACHINES and not inside:
        with pytest.raises(ModelFileError, match=f"^{cls.__name__} cannot be exported to ONNX; these can: "):
            to_onnx(fitted(cls)[0])
        return
    if cls is mercer.LinearOneClassSVM:  # no plane separates centred data from the origin
        X, new = X + 5.0, new + 5.0
    wishes = {"random_state": 0, "cv": 2}
    wishes = {name: wishes[name] for name in cls().get_params() if name in wishes}
    for y in (targets["two"], targets["three"]) if is_classifier(cls()) else (targets["real"],):
        assert_says_the_same(cls(**wishes).fit(X, y), new)


@pytest.mark.parametrize(
    ("params", "classes"),
    [
        ({"probability": True}, "two"),
        ({"probability": True}, "three"),
        ({"probability": True, "multiclass": "ovr"}, "three"),
        ({"break_ties": True}, "three"),
        ({"decision_function_shape": "ovo"}, "three"),
    ],
)
@pytest.mark.parametrize("names", [["c", "a", "b"], [1, 2, 0], [3.0, -1.0, 7.0], [True, False, True]])
def test_classifiers(params, classes, names):
    X, targets = data()
    y = np.array(names)[targets[classes]] if np.unique(names).size == 3 else targets["two"] > 0
    model = mercer.SVC(**params).fit(X, y)
    out = assert_says_the_same(model, data(seed=1, n=200)[0])
    assert ("probabilities" in out) == ("probability" in params)


@pytest.mark.parametrize(
    "model",
    [
        mercer.KernelClassifier(loss="squared_hinge"),
        mercer.KernelClassifier(loss="squared_hinge", multiclass="ovr"),
        mercer.KernelClassifier(loss="huberized_squared_hinge"),
        mercer.KernelClassifier(loss="multinomial_deviance"),
        mercer.KernelClassifier(loss="squared_error"),
        mercer.KernelClassifier(loss="hinge"),
        mercer.KernelLogisticRegression(import_vectors=8),
        mercer.RegularizedDiscriminantAnalysis(alpha=0.3, gamma=0.6),
        mercer.LinearDiscriminantAnalysis(priors=[0.0, 0.5, 0.5]),
        mercer.FlexibleDiscriminantAnalysis(regressor=mercer.SVR()),
        mercer.FlexibleDiscriminantAnalysis(regressor=LinearRegression()),
        mercer.FlexibleDiscriminantAnalysis(regressor=Ridge()),
        mercer.FlexibleDiscriminantAnalysis(regressor=KernelRidge(kernel="poly", gamma=0.3, degree=2)),
        mercer.FlexibleDiscriminantAnalysis(regressor=KernelRidge(kernel="laplacian")),
    ],
    ids=repr,
)
def test_losses_and_other_settings(model):
    X, targets = data()
    assert_says_the_same(model.fit(X, targets["three"]), data(seed=1, n=100)[0])


def test_several_outputs_have_a_column_each():
    X, targets = data()
    process = mercer.GaussianProcessRegressor(optimizer=None)
    for model in (mercer.KernelRidge(), mercer.KernelRegressor(), process):
        assert_says_the_same(model.fit(X, targets["view"]), X)
        assert_says_the_same(model.fit(X, targets["view"][:, :1]), X)
    process = mercer.GaussianProcessRegressor(normalize_y=True).fit(X, 100.0 + targets["real"])
    assert_says_the_same(process, X)


def test_single_features_and_far_origins():
    X, targets = data()
    for model in (mercer.NuSVC(nu=0.5), mercer.SVC(kernel="linear", C=0.3)):
        assert_says_the_same(model.fit(X[:, :1], targets["two"]), X[:, :1])
    assert_says_the_same(mercer.SVC().fit(X + 1e4, targets["two"]), X + 1e4)


def test_probabilities_of_many_classes():
    rng = np.random.default_rng(3)
    y = np.arange(180) % 12
    X = rng.normal(size=(12, 3))[y] + 0.8 * rng.normal(size=(180, 3))
    model = mercer.SVC(probability=True).fit(X, y)
    out = assert_says_the_same(model, rng.normal(size=(300, 3)))
    np.testing.assert_array_equal(out["probabilities"].argmax(axis=1), out["label"])
    assert all(len(values) == 0 for values in run(model, X[:0]).values())


def test_what_was_loaded_or_searched_for_can_be_exported(tmp_path):
    X, targets = data()
    save(mercer.SVC(probability=True).fit(X, targets["three"]), tmp_path / "model.mercer")
    assert_says_the_same(load(tmp_path / "model.mercer"), X)
    search = GridSearchCV(mercer.SVR(), {"C": [0.1, 1.0]}, cv=2)
    assert_says_the_same(search.fit(X, targets["real"]), X)
    assert_says_the_same(make_pipeline(StandardScaler(), search).fit(X, targets["real"]), X)
    unfinished = clone(search).set_params(refit=False).fit(X, targets["real"])
    with pytest.raises(ModelFileError, match="GridSearchCV cannot be exported to ONNX"):
        to_onnx(unfinished)


def test_the_example_of_the_reference():
    tried = doctest.testmod(sys.modules[to_onnx.__module__])
    assert tried.attempted > 0
    assert tried.failed == 0


def test_the_file_is_what_was_returned(tmp_path):
    X, targets = data()
    made = to_onnx(mercer.SVC().fit(X, targets["two"]), tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == made.SerializeToString()


def test_what_cannot_be_exported_is_refused_by_name():
    X, targets = data()
    y = targets["two"]
    with pytest.raises(ModelFileError, match=r"kernel Precomputed\(\) cannot be exported to ONNX"):
        to_onnx(mercer.SVC(kernel="precomputed").fit(X @ X.T, y))

    @mercer.kernel(psd=True)
    def product(a, b):
        return float(a @ b)

    with pytest.raises(ModelFileError, match=r"^kernel .*product.* cannot be exported to ONNX"):
        to_onnx(mercer.SVC(kernel=product).fit(X, y))
    with pytest.raises(ModelFileError, match=r"^kernel .*shared_letters.* cannot be exported to ONNX"):
        to_onnx(mercer.SVC(kernel=shared_letters).fit(["ab", "bc", "xy", "yz"], [0, 0, 1, 1]))

    class Exponential(mercer.losses.MarginLoss):
        def value(self, y, f):
            return np.exp(-y * f)

        def derivative(self, y, f):
            return -y * np.exp(-y * f)

        def probability(self, f):
            return 1.0 / (1.0 + np.exp(-2.0 * f))

    tree = mercer.FlexibleDiscriminantAnalysis(regressor=DecisionTreeRegressor(max_depth=2)).fit(X, y)
    with pytest.raises(ModelFileError, match=r"regressor DecisionTreeRegressor cannot be exported to ONNX"):
        to_onnx(tree)
    cosine = mercer.FlexibleDiscriminantAnalysis(regressor=KernelRidge(kernel="cosine")).fit(X, y)
    with pytest.raises(ModelFileError, match=r"kernel 'cosine' of scikit-learn's KernelRidge"):
        to_onnx(cosine)
    with pytest.raises(ModelFileError, match=r"the probabilities of loss .*Exponential.* cannot be exported"):
        to_onnx(mercer.KernelClassifier(loss=Exponential()).fit(X, y))


@mercer.kernel(psd=True)
def shared_letters(a, b):
    return float(len(set(a) & set(b)))
