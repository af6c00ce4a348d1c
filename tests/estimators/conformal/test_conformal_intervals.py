"""Intervals and sets against their definitions, the closed forms against fits from scratch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_intervals import intervals, sets
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, QuantileRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVR, ConformalClassifier, ConformalRegressor, KernelRegressor, KernelRidge, NuSVR
from mercer.problems.conformal import CoverageGuarantee, class_scores, equal_folds, quantile, rank


@pytest.fixture(scope="module")
def line():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=40), rng.uniform(-2, 2, (7, 2))


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=40) > 0, "yes", "no"), rng.normal(size=(9, 2))


MACHINES = [
    KernelRidge(kernel="rbf", gamma=0.7, alpha=0.3),
    KernelRidge(kernel="rbf", gamma=0.7, alpha=0.3, fit_intercept=True),
    KernelRidge(kernel="linear", alpha=0.3, fit_intercept=True),
    SVR(gamma=0.7, C=2.0, tol=1e-8),
    SVR(gamma=0.7, C=2.0, loss="squared_epsilon_insensitive", tol=1e-8),
    SVR(gamma=0.7, C=2.0, fit_intercept=False, tol=1e-8),
    NuSVR(gamma=0.7, nu=0.4, tol=1e-8),
    KernelRegressor(gamma=0.7, tol=1e-10),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: f"{type(m).__name__}")
@pytest.mark.parametrize("method", ["jackknife+", "cv+"])
def test_machines_on_one_matrix_equal_fits_from_scratch(line, machine, method):
    X, y, new = line
    model = ConformalRegressor(machine, method=method, cv=6, random_state=0).fit(X, y)
    assert len(model.left_out_coef_) == 1
    assert not hasattr(model, "left_out_")
    np.testing.assert_allclose(
        model.predict_interval(new, 0.8), intervals(machine, X, y, model.folds_, new, 0.8), atol=1e-4
    )


@pytest.mark.parametrize(
    "machine",
    [Ridge(), KernelRidge(kernel="rbf", alpha="loo"), SVR(), make_pipeline(StandardScaler(), SVR(gamma=0.5))],
    ids=["sklearn", "searched", "scaled", "pipeline"],
)
def test_what_depends_on_the_rows_is_fitted_from_scratch(line, machine):
    X, y, new = line
    model = ConformalRegressor(machine, method="jackknife+").fit(X, y)
    assert not hasattr(model, "left_out_coef_")
    found = model.predict_interval(new, 0.9)
    np.testing.assert_allclose(found, intervals(machine, X, y, model.folds_, new, 0.9), atol=1e-10)


def test_a_precomputed_kernel_gives_the_same_intervals(line):
    X, y, new = line
    kernel = mercer.kernels.RBF(gamma=0.7)
    for method in ("split", "cv+", "jackknife+"):
        options = {"method": method, "cv": 5, "random_state": 0}
        for machine in (KernelRidge(alpha=0.3), SVR(tol=1e-6)):
            plain = ConformalRegressor(machine.set_params(kernel=kernel), **options).fit(X, y)
            expected = plain.predict_interval(new)
            given = ConformalRegressor(machine.set_params(kernel="precomputed"), **options).fit(kernel(X), y)
            np.testing.assert_allclose(given.predict_interval(kernel(new, X)), expected, atol=1e-5)


def test_split_widens_by_a_quantile_of_unseen_errors(line):
    X, y, new = line
    model = ConformalRegressor(SVR(gamma=0.7), random_state=3, calibration_size=0.25).fit(X, y)
    unseen = model.folds_ == 0
    assert unseen.sum() == 10
    inside = SVR(gamma=0.7).fit(X[~unseen], y[~unseen])
    half = np.sort(np.abs(y - inside.predict(X))[unseen])[math.ceil(0.8 * 11) - 1]
    low, high = model.predict_interval(new, 0.8)
    np.testing.assert_allclose(low, inside.predict(new) - half)
    np.testing.assert_allclose(high, model.predict(new) + half)


def test_too_few_calibration_rows_give_infinite_intervals(line):
    X, y, new = line
    for method in ("split", "jackknife+"):
        model = ConformalRegressor(SVR(gamma=1.0), method=method, random_state=0).fit(X[:18], y[:18])
        n = model.scores_.size  # an interval is infinite where n < 1 / a - 1
        assert np.isfinite(model.predict_interval(new, n / (n + 1) - 1e-6).width).all()
        found = model.predict_interval(new, n / (n + 1) + 1e-6)
        assert np.isinf(found.width).all()
        assert "7 of them infinite" in str(found)


def test_a_frozen_estimator_is_calibrated_on_all_rows(line):
    X, y, new = line
    frozen = FrozenEstimator(SVR(gamma=0.7).fit(X[:20], y[:20]))
    model = ConformalRegressor(frozen).fit(X[20:], y[20:])
    assert model.scores_.size == 20
    np.testing.assert_array_equal(model.predict(new), frozen.predict(new))
    with pytest.raises(ValueError, match="frozen: use 'split'"):
        ConformalRegressor(frozen, method="cv+").fit(X, y)


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
def test_quantile_machines_follow_the_noise(method):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (80, 1))
    y = (0.1 + X[:, 0]) * rng.normal(size=80)
    machine = KernelRegressor(loss="pinball", gamma=0.3, C=3.0, tol=1e-4)
    model = ConformalRegressor(machine, method=method, quantiles=(0.1, 0.9), cv=5, random_state=0).fit(X, y)
    width = model.predict_interval([[0.2], [2.8]], 0.8).width
    assert width[1] > 1.4 * width[0]
    assert model.low_.loss.quantile == 0.1
    assert model.estimator_.loss.quantile == 0.5
    if method == "split":
        unseen = model.folds_ == 0
        outside = np.maximum(model.low_.predict(X) - y, y - model.high_.predict(X))[unseen]
        np.testing.assert_allclose(model.scores_, outside)


def test_quantile_machines_of_scikit_learn(line):
    X, y, new = line
    pipe = make_pipeline(StandardScaler(), QuantileRegressor(alpha=0.0))
    model = ConformalRegressor(pipe, quantiles=(0.1, 0.9), random_state=0).fit(X, y)
    assert np.isfinite(model.predict_interval(new, 0.8)).all()
    with pytest.raises(ValueError, match="quantile regressor"):
        ConformalRegressor(Ridge(), quantiles=(0.1, 0.9)).fit(X, y)
    with pytest.raises(ValueError, match="two increasing numbers"):
        ConformalRegressor(pipe, quantiles=(0.9, 0.1)).fit(X, y)


# -- sets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("machine", [SVC(gamma=0.5, C=2.0, tol=1e-8), LogisticRegression()])
def test_sets_equal_their_definition(two, machine, by_class):
    X, y, new = two
    for method in ("jackknife+",) if by_class else ("jackknife+", "cv+"):
        options = {"class_score": "decision", "mondrian": by_class, "cv": 4, "random_state": 0}
        model = ConformalClassifier(machine, method=method, **options).fit(X, y)
        assert hasattr(model, "left_out_coef_") == isinstance(machine, SVC)
        found = model.predict_set(new, 0.75)
        np.testing.assert_array_equal(found, sets(machine, X, y, model.folds_, new, 0.75, by_class))


def test_split_sets_and_their_faces():
    X, y = load_iris(return_X_y=True)
    model = ConformalClassifier(SVC(gamma=0.5), random_state=0).fit(X, y)
    found = model.predict_set(X, 0.95)
    assert len(found) == 150
    np.testing.assert_array_equal(found.sizes, [len(labels) for labels in found])
    np.testing.assert_array_equal(found.contain(y), [c in labels for c, labels in zip(y, found, strict=True)])
    assert str(found).startswith("150 prediction sets, ")
    # More coverage, larger sets.
    assert (np.asarray(found) <= np.asarray(model.predict_set(X, 0.99))).all()


def test_mondrian_sets_use_the_scores_of_each_class(two):
    X, y, new = two
    machine = SVC(gamma=0.5)
    model = ConformalClassifier(machine, mondrian=True, random_state=0).fit(X, y)
    for c in range(2):
        own = np.sort(model.scores_[model.labels_ == c])
        table = model._values_of(model.estimator_, new)[:, c]
        np.testing.assert_array_equal(
            model.predict_set(new, 0.8).members[:, c], table <= own[math.ceil(0.8 * (own.size + 1)) - 1]
        )
    with pytest.raises(ValueError, match="no guarantee with method='cv\\+'"):
        ConformalClassifier(machine, mondrian=True, method="cv+").fit(X, y)


def test_a_class_without_calibration_rows_is_in_every_set():
    X, y = load_iris(return_X_y=True)
    keep = np.r_[0:50, 50:100, 100:103]
    fitted = FrozenEstimator(SVC(probability=True, random_state=0).fit(X, y))
    model = ConformalClassifier(fitted, mondrian=True).fit(X[keep], y[keep])
    assert model.predict_set(X, 0.9).members[:, 2].all()  # three rows are fewer than 1 / 0.1 - 1


@pytest.mark.parametrize("kind", ["probability", "cumulative", "decision"])
def test_class_scores(kind):
    P = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    expected = {
        "probability": 1 - P,
        "cumulative": [[0.5, 0.8, 1.0], [0.8, 0.8, 1.0], [1.0, 1.0, 1.0]],
        "decision": [[-0.2, 0.2, 0.3], [0.0, 0.0, 0.2], [1.0, 1.0, -1.0]],
    }
    np.testing.assert_allclose(class_scores(P, kind), expected[kind], atol=1e-15)


# -- guarantees ----------------------------------------------------------------------------------------------


@given(n=st.integers(1, 400), hundredths=st.integers(1, 99))
def test_ranks_are_exact(n, hundredths):
    assert rank(n, hundredths / 100) == -(-hundredths * (n + 1) // 100)


def test_quantiles():
    assert quantile(np.array([3.0, 1.0, 2.0]), 0.5) == 2.0
    assert quantile(np.array([3.0, 1.0, 2.0]), 0.75) == 3.0
    assert quantile(np.array([3.0, 1.0, 2.0]), 0.76) == np.inf


@given(n=st.integers(2, 10_000), folds=st.integers(2, 100))
def test_cv_plus_guarantees_at_least_the_simple_bound(n, folds):
    folds = min(folds, n)
    n -= n % folds
    found = CoverageGuarantee("cv+", 0.9, n, folds).guaranteed
    assert max(0.0, 0.8 - math.sqrt(2 / n)) - 1e-12 <= found <= 0.8 + 1e-12


def test_guarantees_in_words(line):
    X, y, new = line
    said = {
        "split": "0.9 guar",
        "cv+": "guaranteed, 0.9 asked for (cv+, 40 rows, 10 folds)",
        "jackknife+": "0.8 g",
    }
    for method, words in said.items():
        found = ConformalRegressor(KernelRidge(), method=method).fit(X, y).predict_interval(new)
        assert words in str(found)
        assert found.guaranteed <= 0.9
    assert float(CoverageGuarantee("jackknife+", 0.95, 100, 100)) == pytest.approx(0.9)


def test_folds_are_of_equal_size():
    folds = equal_folds(47, 10, np.random.RandomState(0))
    assert np.bincount(folds + 1).tolist() == [7, *[4] * 10]


def test_bad_input(line):
    X, y, new = line
    model = ConformalRegressor(KernelRidge()).fit(X, y)
    for coverage in (0.0, 1.0, 90, "0.9", None):
        with pytest.raises(ValueError, match=r"coverage=.* must be a number between 0 and 1"):
            model.predict_interval(new, coverage)
    with pytest.raises(ValueError, match="cv=50 must be at most the number of rows, 40"):
        ConformalRegressor(KernelRidge(), method="cv+", cv=50).fit(X, y)


def test_scores_that_need_probabilities_are_refused_without_them():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(ValueError, match="class_score='cumulative' needs probabilities, which SVC lacks"):
        ConformalClassifier(SVC(), class_score="cumulative").fit(X, y)
