"""Linear machines are scikit-learn estimators with the parameters, attributes and answers of its classes."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as TheirSVC
from sklearn.svm import LinearSVR as TheirSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    KernelClassifier,
    LinearClassifier,
    LinearOneClassSVM,
    LinearRegressor,
    LinearSVC,
    LinearSVR,
)
from mercer.losses import Pinball
from mercer.solvers import UnsuitableSolverError

CANCER, SICK = load_breast_cancer(return_X_y=True)
CANCER = StandardScaler().fit_transform(CANCER)
IRIS, KIND = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
DIABETES, PROGRESS = StandardScaler().fit_transform(DIABETES), PROGRESS / 50.0


@pytest.mark.filterwarnings("ignore::mercer.estimators.degenerate.DegenerateFitWarning")  # centred data
@parametrize_with_checks(
    [
        LinearSVC(),
        LinearSVC(loss="hinge", fit_intercept="unpenalised"),
        LinearSVR(),
        LinearClassifier(loss="binomial_deviance"),
        LinearRegressor(),
        LinearOneClassSVM(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("ours", "theirs"), [(LinearSVC, TheirSVC), (LinearSVR, TheirSVR)])
def test_parameters_and_defaults_are_scikit_learns(ours, theirs):
    our, their = (inspect.signature(cls.__init__).parameters for cls in (ours, theirs))
    assert [p for p in our if p in their] == list(their)
    for name, p in their.items():
        assert our[name].default == p.default
        assert our[name].kind == p.kind
    X, y = (CANCER, SICK) if ours is LinearSVC else (DIABETES, PROGRESS)
    mine, yours = ours().fit(X, y), theirs(max_iter=100_000).fit(X, y)
    for name in ("coef_", "intercept_"):
        assert getattr(mine, name).shape == getattr(yours, name).shape
    assert isinstance(mine.n_iter_, int)


def objective(model, loss, X, y, scale):
    w, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    f = X @ w.T + b
    return 0.5 * (w**2).sum() + 0.5 * ((b / scale) ** 2).sum() + model.C * loss(f, y).sum()


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_classifier_has_the_optimum_of_liblinear(loss, dual):
    power = 1 if loss == "hinge" else 2
    signs = np.where(KIND[:, None] == np.arange(3), 1.0, -1.0)
    value = lambda f, y: np.maximum(0.0, 1.0 - y * f) ** power  # noqa: E731
    same = {"loss": loss, "C": 0.5, "intercept_scaling": 2.0}
    ours = LinearSVC(dual=dual, tol=1e-7, max_iter=-1, **same).fit(IRIS, KIND)
    theirs = TheirSVC(dual=True, tol=1e-8, max_iter=10**6, random_state=0, **same).fit(IRIS, KIND)
    known = objective(theirs, value, IRIS, signs, 2.0)
    np.testing.assert_allclose(objective(ours, value, IRIS, signs, 2.0), known, rtol=1e-6)
    np.testing.assert_allclose(ours.certificate_.primal, known, rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(IRIS), theirs.decision_function(IRIS), atol=2e-3)
    assert (ours.predict(IRIS) == theirs.predict(IRIS)).all()


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_the_regressor_has_the_optimum_of_liblinear(loss):
    power = 1 if loss == "epsilon_insensitive" else 2
    value = lambda f, y: np.maximum(np.abs(y - f[:, 0]) - 0.1, 0.0) ** power  # noqa: E731
    ours = LinearSVR(loss=loss, epsilon=0.1, tol=1e-8).fit(DIABETES, PROGRESS)
    theirs = TheirSVR(loss=loss, epsilon=0.1, tol=1e-8, max_iter=10**6, dual=True, random_state=0)
    known = objective(theirs.fit(DIABETES, PROGRESS), value, DIABETES, PROGRESS, 1.0)
    np.testing.assert_allclose(ours.certificate_.primal, known, rtol=1e-6)
    np.testing.assert_allclose(ours.predict(DIABETES), theirs.predict(DIABETES), atol=1e-3)


def test_logistic_regression_is_a_loss():
    ours = LinearClassifier(loss="binomial_deviance", tol=1e-12).fit(CANCER, SICK)
    theirs = LogisticRegression(tol=1e-10, max_iter=10_000).fit(CANCER, SICK)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(CANCER), theirs.predict_proba(CANCER), atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "binomial_deviance", "squared_error"])
def test_it_is_the_kernel_machine_with_the_linear_kernel(loss):
    ours = LinearClassifier(loss=loss, tol=1e-9, C=0.3).fit(IRIS, KIND)
    theirs = KernelClassifier(loss=loss, kernel="linear", C=0.3, multiclass="ovr", tol=1e-9).fit(IRIS, KIND)
    np.testing.assert_allclose(ours.certificate_.primal, theirs.certificate_.primal, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (LinearSVC(loss="hinge"), IRIS, KIND),
        (LinearSVC(), IRIS, KIND),
        (LinearSVR(fit_intercept="unpenalised"), DIABETES, PROGRESS),
        (LinearRegressor(loss=Pinball(0.8), tol=1e-6), DIABETES, np.stack([PROGRESS, -PROGRESS], axis=1)),
        (LinearOneClassSVM(nu=0.2), CANCER + 3.0, None),
    ],
)
def test_the_certificate_can_be_computed_again(model, X, y):
    weight = np.where(np.arange(X.shape[0]) % 5, 1.0, 0.0)
    model = clone(model).fit(X, y, sample_weight=weight)
    again = model.certify(X, y, sample_weight=weight)
    assert again.status == model.certificate_.status == "optimal"
    np.testing.assert_allclose(again.primal, model.certificate_.primal, rtol=1e-9)
    np.testing.assert_allclose(again.dual, model.certificate_.dual, rtol=1e-6)
    assert again.relative_gap <= model.tol
    with pytest.raises(ValueError, match="fitted on"):
        model.certify(X[:-1], None if y is None else y[:-1])


def test_weights_count_rows():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=SICK.size)
    for model in (LinearSVC(loss="hinge", tol=1e-8), LinearSVC(tol=1e-8), LinearSVC(dual=True, tol=1e-8)):
        weighted = clone(model).set_params(max_iter=-1, C=0.1).fit(CANCER, SICK, sample_weight=weight)
        repeated = clone(weighted).fit(np.repeat(CANCER, weight, axis=0), np.repeat(SICK, weight))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_sparse_data_are_the_same_data():
    hidden = np.where(np.abs(IRIS) > 0.5, IRIS, 0.0)
    for model in (LinearSVC(tol=1e-8), LinearSVC(dual=True, loss="hinge", tol=1e-8, max_iter=-1)):
        dense = clone(model).fit(hidden, KIND)
        for kind in (sp.csr_matrix, sp.csr_array, sp.csc_array):
            sparse = clone(model).fit(kind(hidden), KIND)
            np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
            values = hidden @ sparse.coef_.T + sparse.intercept_
            np.testing.assert_allclose(sparse.decision_function(kind(hidden)), values)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_path_is_the_fits_of_its_values(loss):
    model = LinearSVC(loss=loss, tol=1e-7)
    Cs = [0.01, 0.1, 1.0]
    path = model.path(CANCER, SICK, Cs)
    assert not hasattr(model, "coef_")
    for C, found in zip(Cs, path, strict=True):
        alone = LinearSVC(loss=loss, tol=1e-7, C=C).fit(CANCER, SICK)
        assert found.C == C
        assert not found.warm_start
        np.testing.assert_allclose(found.certificate_.primal, alone.certificate_.primal, rtol=1e-6)
    if loss == "squared_hinge":
        assert path[-1].n_iter_ < alone.n_iter_


def test_a_warm_start_begins_where_the_last_fit_ended():
    model = LinearSVC(warm_start=True, loss="hinge").fit(CANCER, SICK)
    cold = model.n_iter_
    assert model.fit(CANCER, SICK).n_iter_ < cold
    assert model.fit(CANCER[:400], SICK[:400]).certificate_.status == "optimal"
    assert model.fit(IRIS, KIND).coef_.shape == (3, 4)


def test_the_bias_is_penalised_free_or_absent():
    X, y = CANCER[:, :5] + 10.0, SICK
    penalised = LinearSVC(intercept_scaling=1e-3).fit(X, y)
    free = LinearSVC(fit_intercept="unpenalised", tol=1e-9).fit(X, y)
    none = LinearSVC(fit_intercept=False).fit(X, y)
    shifted = LinearSVC(fit_intercept="unpenalised", tol=1e-9).fit(X - 10.0, y)
    np.testing.assert_allclose(free.coef_, shifted.coef_, atol=1e-4)
    assert abs(penalised.intercept_[0]) < 1e-2 < abs(free.intercept_[0])
    assert none.intercept_.tolist() == [0.0]
    assert free.certificate_.primal < none.certificate_.primal


def test_what_is_not_supported_is_refused_in_words():
    for params, words in (
        ({"penalty": "l1"}, "penalty='l1' is not supported"),
        ({"multi_class": "crammer_singer"}, "multi_class='crammer_singer' is not supported"),
    ):
        with pytest.raises(ValueError, match=words):
            LinearSVC(**params).fit(IRIS, KIND)
    with pytest.raises(UnsuitableSolverError, match="unpenalised bias"):
        LinearSVC(dual=True, fit_intercept="unpenalised").fit(IRIS, KIND)
    with pytest.raises(ValueError, match="a function for each class"):
        LinearClassifier(loss="multinomial_deviance").fit(IRIS, KIND)
    with pytest.raises(AttributeError, match="predict_proba"):
        LinearClassifier(loss="hinge").fit(IRIS, KIND).predict_proba(IRIS)
    with pytest.raises(ValueError, match="not fitted on"):
        LinearSVC().fit(IRIS[:100], KIND[:100]).certify(IRIS[:100], KIND[:100] + 1)


def test_a_limit_gives_a_usable_machine_and_one_warning():
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_iter=1 after 1 steps"):
        model = LinearSVC(loss="hinge", max_iter=1).fit(CANCER, SICK)
    assert model.certificate_.status == "iteration_limit"
    assert model.fit_status_ == 1
    assert model.score(CANCER, SICK) > 0.8


def test_a_trace_shows_the_gap_falling():
    model = LinearSVC(loss="hinge", trace=True).fit(CANCER, SICK)
    gaps = [row["gap"] for row in model.history_[0]]
    assert gaps[-1] < 1e-3 * gaps[0]


def test_only_kinks_need_their_multipliers_kept():
    assert not hasattr(LinearSVC().fit(IRIS, KIND), "dual_coef_")
    assert LinearSVC(dual=True).fit(IRIS, KIND).certify(IRIS, KIND).status == "optimal"
    kinked = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-9).fit(IRIS, KIND)
    assert kinked.dual_coef_.shape == (3, 150)
    np.testing.assert_allclose(kinked.dual_coef_ @ IRIS, kinked.coef_, atol=1e-3)
    assert not hasattr(kinked.set_params(loss="squared_hinge").fit(IRIS, KIND), "dual_coef_")


def test_the_detector_knows_when_there_is_no_plane():
    from mercer.estimators.degenerate import DegenerateFitWarning

    with pytest.warns(DegenerateFitWarning, match="w = 0"):
        model = LinearOneClassSVM().fit(CANCER)
    assert not model.coef_.any()
    assert (model.predict(CANCER) == 1).all()
    assert model.certificate_.status == "optimal"
