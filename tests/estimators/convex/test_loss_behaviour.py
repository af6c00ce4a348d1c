"""What users may rely on beside the optimum: data of all kinds, limits, memory, ill-conditioned systems."""

import pickle
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from loss_bank import expansion
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor

import mercer
from mercer import KernelClassifier, KernelLogisticRegression, KernelRegressor, losses
from mercer.estimators.ridge import IllConditionedWarning
from mercer.problems import InfeasibleError
from mercer.solvers.risk import newton

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
SIGN = np.where(X[:, 0] + X[:, 1] ** 2 - 0.8 + 0.4 * RNG.normal(size=90) > 0, 1, -1)
LABEL = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=90), [-0.5, 0.5])
TARGET = np.sin(X[:, 0]) + 0.3 * RNG.standard_t(2, size=90)
SMOOTH = ["squared_hinge", "huberized_squared_hinge", "binomial_deviance", "multinomial_deviance"]


def test_several_outputs_are_fitted_one_by_one_on_one_matrix():
    Y = np.column_stack([TARGET, TARGET**2, -TARGET])
    for loss in ("huber", "epsilon_insensitive"):
        together = KernelRegressor(loss=loss, tol=1e-11).fit(X, Y)
        alone = MultiOutputRegressor(KernelRegressor(loss=loss, tol=1e-11)).fit(X, Y)
        np.testing.assert_allclose(together.predict(X), alone.predict(X), atol=1e-6)
        assert together.dual_coef_.shape == (3, together.support_.size)
        assert len(together.certificate_.parts) == 3
        assert together.certify(X, Y).relative_gap < 1e-9
    assert KernelRegressor().fit(X, Y[:, :1]).predict(X).shape == (90, 1)


def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row():
    weight = RNG.integers(0, 3, 90)
    rows = np.repeat(np.arange(90), weight)
    for model, y in [
        (KernelLogisticRegression(tol=1e-13, gamma=0.5), LABEL),
        (KernelClassifier(tol=1e-13, gamma=0.5), SIGN),
        (KernelRegressor(tol=1e-13, gamma=0.5), TARGET),
    ]:
        weighted = clone(model).fit(X, y, sample_weight=weight)
        repeated = clone(model).fit(X[rows], y[rows])
        function = "decision_function" if hasattr(model, "classes_") or y is not TARGET else "predict"
        np.testing.assert_allclose(getattr(weighted, function)(X), getattr(repeated, function)(X), atol=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
def test_sparse_single_and_precomputed_data_give_the_same_function(loss):
    model = KernelClassifier(loss=loss, gamma=0.3, tol=1e-12)
    dense = clone(model).fit(X, SIGN).decision_function(X)
    sparse = clone(model).fit(sp.csr_array(X), SIGN)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), dense, atol=1e-6)
    assert sp.issparse(sparse.dual_coef_)
    K = mercer.kernels.RBF(gamma=0.3)(X)
    given = clone(model).set_params(kernel="precomputed", gamma="scale").fit(K, SIGN)
    np.testing.assert_allclose(given.decision_function(K), dense, atol=1e-6)
    single = clone(model).set_params(precision="single", tol=1e-10).fit(X.astype(np.float32), SIGN)
    assert single.certificate_.relative_gap <= 1e-10
    np.testing.assert_allclose(single.decision_function(X.astype(np.float32)), dense, atol=1e-4)


def test_strings_and_a_kernel_of_ones_own():
    words = ["kernel", "colonel", "kernels", "banana", "bananas", "ananas", "colonels", "panama"] * 3
    label = np.array([0, 0, 0, 1, 1, 1, 0, 1] * 3)

    @mercer.kernel(psd=True)
    def shared_letters(a, b):
        return float(len(set(a) & set(b)))

    model = KernelLogisticRegression(kernel=shared_letters).fit(words, label)
    assert model.score(words, label) == 1.0
    assert model.certificate_.relative_gap < 1e-6
    assert model.predict_proba(["bandana"])[0, 1] > 0.5
    regressor = KernelRegressor(kernel=shared_letters).fit(words, label.astype(float))
    assert regressor.certify(words, label.astype(float)).relative_gap < 1e-6


@pytest.mark.parametrize("memory", [200, 0.02])
@pytest.mark.parametrize("loss", [*SMOOTH, "huber"])
def test_conjugate_gradients_find_what_the_factorisation_finds(loss, memory, monkeypatch):
    """With the matrix in memory and without it."""
    machine, y = (KernelRegressor, TARGET) if loss == "huber" else (KernelClassifier, SIGN)
    model = machine(loss=loss, C=10.0, tol=1e-11)
    direct = clone(model).fit(X, y)
    monkeypatch.setattr(newton, "DIRECT", 0)
    iterated = clone(model).set_params(cache_size=memory).fit(X, y)
    assert iterated.certificate_.relative_gap <= 1e-11
    use = "predict" if loss == "huber" else "decision_function"
    np.testing.assert_allclose(getattr(iterated, use)(X), getattr(direct, use)(X), atol=1e-4)
    np.testing.assert_allclose(iterated.certificate_.primal, direct.certificate_.primal, rtol=1e-9)


def test_probabilities_agree_with_predictions():
    for y in (SIGN, LABEL):
        for multiclass in ("ovo", "ovr"):
            for loss in [*SMOOTH, "squared_error"]:
                model = KernelClassifier(loss=loss, multiclass=multiclass).fit(X, y)
                p = model.predict_proba(X)
                np.testing.assert_allclose(p.sum(axis=1), 1.0)
                np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
                np.testing.assert_allclose(model.predict_log_proba(X), np.log(p))
    assert not hasattr(KernelClassifier(loss="hinge"), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        KernelClassifier(loss="hinge").predict_proba  # noqa: B018
    assert "does not determine" in str(caught.value.__cause__)


def test_deviances_of_two_classes_agree():
    """With two functions in place of one, the penalty is half: C counts twice."""
    one = KernelClassifier(loss="binomial_deviance", C=2.0, tol=1e-13).fit(X, SIGN)
    two = KernelClassifier(loss="multinomial_deviance", C=1.0, tol=1e-13).fit(X, SIGN)
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(two.certificate_.primal, 0.5 * one.certificate_.primal, rtol=1e-9)


def test_squared_error_is_kernel_ridge_regression():
    C = 3.0
    ours = KernelRegressor(loss="squared_error", C=C, gamma=0.5, fit_intercept=False, tol=1e-14).fit(
        X, TARGET
    )
    ridge = mercer.KernelRidge(kernel="rbf", gamma=0.5, alpha=1 / (2 * C)).fit(X, TARGET)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), atol=1e-8)


def test_searches_reach_into_the_loss():
    grid = {"loss__threshold": [0.1, 1.0], "C": [0.1, 1.0]}
    search = GridSearchCV(KernelRegressor(loss=losses.Huber()), grid, cv=2).fit(X, TARGET)
    assert search.best_estimator_.loss_.threshold in (0.1, 1.0)
    model = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(model.predict(X), search.predict(X))


def test_limits_leave_a_usable_model():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = KernelLogisticRegression(max_iter=1, C=100).fit(X, SIGN)
    assert model.certificate_.status == "iteration_limit"
    assert model.fit_status_ == 1
    assert np.isfinite(model.decision_function(X)).all()
    best = KernelLogisticRegression(C=100).fit(X, SIGN).certificate_.primal
    assert best <= model.certificate_.primal < 90 * 100 * np.log(2)  # no worse than knowing nothing
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        late = KernelLogisticRegression(time_limit=1e-9, C=100).fit(X, LABEL)
    assert late.certificate_.status == "time_limit"
    assert np.isfinite(late.predict_proba(X)).all()


def test_ctrl_c_keeps_what_was_reached():
    class Interrupted(losses.Huber):
        def __init__(self, threshold=0.05):
            super().__init__(threshold)
            self.calls = 0

        def curvature(self, y, f):
            self.calls += 1
            if self.calls == 8:
                signal.raise_signal(signal.SIGINT)
            return super().curvature(y, f)

    model = KernelRegressor(loss=Interrupted(), C=100.0, on_interrupt="keep").fit(X, TARGET)
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(KeyboardInterrupt):
        KernelRegressor(loss=Interrupted(), C=100.0).fit(X, TARGET)


def test_a_second_fit_starts_from_the_first():
    for model, y in [
        (KernelClassifier(warm_start=True, loss="binomial_deviance", C=100), LABEL),
        (KernelRegressor(warm_start=True, C=100), TARGET),
        (KernelLogisticRegression(warm_start=True, C=100), LABEL),
    ]:
        first = np.sum(model.fit(X, y).n_iter_)
        again = np.sum(model.fit(X, y).n_iter_)
        assert again < first
        model.fit(X[:50], y[:50])  # other rows: from the beginning
        assert model.certificate_.relative_gap < 1e-6


def test_the_trace_says_what_happened():
    model = KernelLogisticRegression(trace=True).fit(X, SIGN)
    (trace,) = model.history_
    gaps = [line["gap"] for line in trace]
    assert gaps[-1] == pytest.approx(model.certificate_.gap, rel=1e-6)
    assert gaps[-1] < gaps[0]
    assert all(gap >= 0 for gap in gaps)


def test_margins_are_positive_where_predictions_are_right():
    for y in (SIGN, LABEL):
        for loss in ("squared_hinge", "multinomial_deviance"):
            model = KernelClassifier(loss=loss, multiclass="ovr").fit(X, y)
            np.testing.assert_array_equal(model.margins(X, y) > 0, model.predict(X) == y)
    with pytest.raises(ValueError, match="of all classes has none"):
        model.slacks(X, y)


# -- near-singular systems -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("C", [1e8, 1e14])
def test_near_singular_systems_give_a_proof_or_a_warning_and_never_nan(C, dtype):
    rows = np.repeat(np.arange(8), 4)  # duplicates, some with conflicting targets
    Z = (1e-3 * X[rows]).astype(dtype)
    for model, y in [
        (KernelLogisticRegression(C=C, gamma=1.0), SIGN[: rows.size]),
        (KernelClassifier(C=C, gamma=1.0), SIGN[: rows.size]),
        (KernelRegressor(C=C, gamma=1.0), TARGET[: rows.size]),
        (KernelRegressor(C=C, gamma=1.0, loss="squared_error"), TARGET[: rows.size]),
    ]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(Z, y)
        assert np.isfinite(model.dual_coef_).all()
        assert np.isfinite(model.intercept_).all()
        if model.certificate_.status != "optimal":
            assert any(issubclass(w.category, IllConditionedWarning) for w in said)
            assert any(word in str(w.message) for w in said for word in ("condition", "singular", "rounding"))
            assert model.fit_status_ == 1
        else:
            proved = model.certificate_.relative_gap <= 1e-6
            assert proved or model.certificate_.gap <= model.certificate_.rounding
            assert proved != bool(said)  # a gap above tol that rounding explains comes with a warning
            assert all(issubclass(w.category, IllConditionedWarning) for w in said)


def test_kernel_values_that_overflow_are_refused():
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="scale the features"):
        KernelLogisticRegression(kernel="poly", degree=9, gamma=1.0).fit(1e30 * X, SIGN)


# -- kernels that are none -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_an_indefinite_kernel_gives_a_stationary_point():
    params = {"kernel": "sigmoid", "gamma": 0.4, "coef0": -0.5}
    K = np.tanh(0.4 * X @ X.T - 0.5)
    assert np.linalg.eigvalsh(K)[0] < -0.5
    for model, loss, y in [
        (KernelClassifier(loss="binomial_deviance", **params), losses.BinomialDeviance(), SIGN.astype(float)),
        (KernelRegressor(loss=losses.Huber(0.5), **params), losses.Huber(0.5), TARGET),
    ]:
        model.fit(X, y)
        assert model.certificate_.status == "stationary"
        assert np.isnan(model.certificate_.gap)
        beta = expansion(model, 90)[0]
        f = K @ beta + model.intercept_[0]
        np.testing.assert_allclose(beta, -loss.derivative(y, f), atol=1e-5)
        assert abs(beta.sum()) < 1e-6


def test_an_unbounded_objective_is_refused():
    K = -np.eye(4)
    y = np.array([1.0, -1.0, 2.0, 0.0])
    kernel = mercer.kernels.FromFunction(lambda A, B: -A @ B.T)
    with (
        pytest.warns(UserWarning, match="not positive semi-definite"),
        pytest.raises(InfeasibleError, match="not positive semi-definite"),
    ):
        KernelRegressor(loss="squared_error", C=10.0, kernel=kernel).fit(K, y)


# -- parameters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "y", "said"),
    [
        (KernelClassifier(loss="huber"), SIGN, "loss"),
        (KernelClassifier(loss=losses.Huber()), SIGN, "numbers"),
        (KernelRegressor(loss=losses.Hinge()), TARGET, "signs"),
        (KernelRegressor(loss=losses.Pinball(quantile=2.0)), TARGET, "quantile"),
        (KernelClassifier(C=0.0), SIGN, "C"),
        (KernelLogisticRegression(import_vectors=0), SIGN, "import_vectors"),
        (KernelClassifier(class_weight={1: 0.0, -1: 1.0}), SIGN, "class_weight"),
        (KernelRegressor(), np.full(90, "x"), "numbers"),
        (KernelLogisticRegression(), np.ones(90), "classes"),
    ],
)
def test_bad_input_is_named(model, y, said):
    with pytest.raises(ValueError, match=said):
        model.fit(X, y)
