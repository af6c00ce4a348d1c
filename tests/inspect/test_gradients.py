"""Gradients of kernel expansions and the points that carry a prediction, against differences and sums."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import mercer
from mercer import SVC, SVDD, SVR, KernelRidge, OneClassSVM
from mercer.estimators.verdict import IndefiniteKernelWarning
from mercer.inspect import gradient, sensitivity, why
from mercer.kernels import (
    ANOVA,
    RBF,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spline,
    ThinPlate,
)

pytestmark = pytest.mark.core

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
TARGET = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
NEW = np.vstack([rng.normal(size=(6, 3)), X[:2]])  # training points, too: distances of zero

KERNELS = [
    RBF(0.4),
    RBF([0.1, 0.5, 1.0]),
    Matern(1.3, nu=1.5),
    Matern([1.0, 2.0, 0.7], nu=2.5),
    Matern(1.0, nu=np.inf),
    RationalQuadratic(1.2, alpha=0.7),
    Linear(),
    Polynomial(3, gamma=0.3, coef0=1.0),
    Sigmoid(0.1, -0.2),
    ANOVA(0.5, degree=2),
    Spline(),
    Spline(anchor="min"),
    ThinPlate(order=3),
    2.0 * RBF(0.3) + Linear() * Polynomial(2, gamma=0.2, coef0=0.5),
    (RBF(0.2) + Constant(0.5)) ** 2,
    RBF(0.5).on([0, 2]) + Spline().on([1]),
]


def differences(f, Z, step=1e-5):
    """Return central differences, (n, k, d)."""
    out = []
    for j in range(Z.shape[1]):
        e = np.zeros(Z.shape[1])
        e[j] = step
        out.append((f(Z + e).reshape(len(Z), -1) - f(Z - e).reshape(len(Z), -1)) / (2 * step))
    return np.stack(out, axis=2)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradients_are_differences(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        model = SVR(kernel=kernel).fit(X, TARGET)
    expected = differences(model.predict, NEW)[:, 0]
    found = gradient(model, NEW)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
    np.testing.assert_allclose(sensitivity(model, NEW), np.abs(found).mean(axis=0))


READ = {
    "KernelClassifier", "KernelLogisticRegression", "KernelRegressor", "KernelRidge", "KernelRidgeClassifier",
    "NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR",
}  # fmt: skip


def _estimators():
    for name in sorted(mercer.__all__):
        found = getattr(mercer, name)
        if inspect.isclass(found) and hasattr(found, "fit") and hasattr(found, "predict"):
            needed = inspect.signature(found).parameters.values()
            if all(p.default is not p.empty for p in needed if p.kind is not p.VAR_KEYWORD):
                yield name


@pytest.mark.parametrize("name", list(_estimators()))
def test_every_estimator_has_a_gradient_or_a_sentence(name):
    model = getattr(mercer, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, (TARGET > 0).astype(int) if is_classifier(model) else TARGET)
    try:
        found, refusal = gradient(model, NEW), ""
    except TypeError as error:
        found, refusal = None, str(error)
    if found is None:
        assert "expansion" in refusal
        assert name not in READ
        return
    machine = getattr(model, "best_estimator_", model)
    f = machine.decision_function if hasattr(machine, "decision_function") else machine.predict
    expected = differences(f, NEW)[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))


def test_several_functions_one_after_the_other():
    y = np.digitize(TARGET, [-0.5, 0.5])
    model = SVC(kernel=RBF(0.3), decision_function_shape="ovo").fit(X, y)
    found = gradient(model, NEW)
    assert found.shape == (8, 3, 3)
    np.testing.assert_allclose(found, differences(model.decision_function, NEW), atol=1e-6)
    usual = SVC(kernel=RBF(0.3)).fit(X, y)  # decision values with votes: the functions are still the pairs'
    np.testing.assert_allclose(gradient(usual, NEW), found, atol=1e-9)
    ridge = KernelRidge(kernel=RBF(0.3)).fit(X, np.column_stack([TARGET, X[:, 0]]))
    np.testing.assert_allclose(gradient(ridge, NEW), differences(ridge.predict, NEW), atol=1e-6)


def test_units_are_those_of_the_data_before_a_pipeline_scales_them():
    wide = X * [1.0, 100.0, 0.01] + 5.0
    for steps in ((StandardScaler(),), (MinMaxScaler(),), (StandardScaler(), MinMaxScaler())):
        model = make_pipeline(*steps, SVR(kernel=RBF(0.5))).fit(wide, TARGET)
        scaled = differences(lambda U, m=model: m.predict(U * [1.0, 100.0, 0.01] + 5.0), NEW)[:, 0]
        rows = NEW * [1.0, 100.0, 0.01] + 5.0
        np.testing.assert_allclose(gradient(model, rows) * [1.0, 100.0, 0.01], scaled, atol=1e-6)
    with pytest.raises(TypeError, match="'pca'"):
        gradient(make_pipeline(PCA(2), SVR()).fit(X, TARGET), X)


def test_parametric_columns_have_slopes_too():
    model = SVR(kernel=RBF(0.5), parametric="quadratic", tol=1e-6).fit(X, TARGET)
    np.testing.assert_allclose(gradient(model, NEW), differences(model.predict, NEW)[:, 0], atol=1e-6)
    with pytest.raises(TypeError, match="without known derivatives"):
        gradient(SVR(parametric=lambda X: X[:, 0] ** 3).fit(X, TARGET), X)


def test_what_has_no_gradient_is_refused_in_words():
    with pytest.raises(TypeError, match="no gradient here"):
        gradient(SVR(kernel=Laplacian(1.0)).fit(X, TARGET), X)
    with pytest.raises(TypeError, match="kink"):
        gradient(SVR(kernel=Matern(1.0, nu=0.5)).fit(X, TARGET), X)
    with pytest.raises(TypeError, match="precomputed"):
        gradient(SVR(kernel="precomputed").fit(X @ X.T, TARGET), X)
    with pytest.raises(TypeError, match="explicit features"):
        gradient(SVR(approximation="nystroem", n_components=10).fit(X, TARGET), X)
    with pytest.raises(ValueError, match="3 columns"):
        gradient(SVR().fit(X, TARGET), X[:, :2])
    with pytest.raises(TypeError, match="expansion"):
        gradient(SVDD(kernel="linear").fit(X), X)  # k(x, x) is no part of an expansion


def test_the_points_that_carry_a_prediction_sum_to_it():
    y = TARGET > 0
    model = SVC(kernel=RBF(0.3), C=2.0).fit(X, y)
    found = why(model, NEW[0])
    value = float(model.decision_function(NEW[:1])[0])
    assert found.value == pytest.approx(value)
    assert found.contributions.sum() + found.constant == pytest.approx(value)
    assert found.constant == pytest.approx(float(model.intercept_[0]))
    assert np.all(np.diff(np.abs(found.contributions)) <= 0)
    assert set(found.rows) == set(model.support_)
    place = int(np.flatnonzero(model.support_ == found.rows[0])[0])
    similar = np.exp(-0.3 * ((X[found.rows[0]] - NEW[0]) ** 2).sum())
    assert found.similarities[0] == pytest.approx(similar)
    assert found.contributions[0] == pytest.approx(similar * model.dual_coef_[0, place])
    few = why(model, NEW[0], count=3)
    assert len(few) == 3
    assert few.constant == pytest.approx(found.constant)
    piped = make_pipeline(StandardScaler(), OneClassSVM(nu=0.2)).fit(X)
    whole = why(piped, NEW[:1])
    assert whole.value == pytest.approx(float(piped.decision_function(NEW[:1])[0]))
    with pytest.raises(ValueError, match="single row"):
        why(model, NEW)
    with pytest.raises(ValueError, match="output=1"):
        why(model, NEW[0], output=1)
    with pytest.raises(ValueError, match="count=0"):
        why(model, NEW[0], count=0)
