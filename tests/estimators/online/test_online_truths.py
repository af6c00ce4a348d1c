"""What theory says of machines that learn from a stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

from mercer import SVC, SVR, KernelAdatron, KernelPerceptron, KernelWidrowHoff, OnlineSVR, Perceptron
from mercer.kernels import RBF, Linear, Polynomial


def separable(seed, n, d, margin, offset):
    """Return points at least ``margin`` from a plane at ``offset`` from the origin."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X += np.outer(offset + y * (margin + rng.exponential(size=n)) - X @ w, w)
    return X, y


# -- Novikoff ------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(4, 60), st.integers(1, 5), st.floats(0.05, 1.0), st.floats(-3, 3))
def test_never_more_updates_than_novikoff_allows_with_a_bias(seed, n, d, margin, offset):
    X, y = separable(seed, n, d, margin, offset)
    for model in (Perceptron(max_iter=-1), KernelPerceptron(kernel="linear", max_iter=-1)):
        model.fit(X, y)
        assert model.status_ == "no_mistakes"
        assert model.mistakes_ == model.n_updates_[0] <= model.novikoff(X, y) * (1 + 1e-9)
        np.testing.assert_array_equal(model.predict(X), y)


@given(st.integers(0, 10**6), st.integers(4, 60), st.integers(1, 5), st.floats(0.05, 1.0))
def test_never_more_updates_than_novikoff_allows_through_the_origin(seed, n, d, margin):
    X, y = separable(seed, n, d, margin, 0.0)
    for model in (
        Perceptron(fit_intercept=False, max_iter=-1),
        KernelPerceptron(kernel=Polynomial(3, 1.0, 1.0), fit_intercept=False, max_iter=-1),
    ):
        model.fit(X, y)
        assert model.status_ == "no_mistakes"
        assert model.n_updates_[0] <= model.novikoff(X, y) * (1 + 1e-9)


def test_the_bound_is_the_formula():
    """The bound of a separating function that is known: R = 2, margin 1, bias 1 (up to the scale of both)."""
    X, y = np.array([[2.0], [0.0], [2.0], [-1.0]]), np.array([1, 0, 1, 0])
    through = Perceptron(fit_intercept=False, max_iter=5)
    with pytest.warns(ConvergenceWarning, match="max_iter=5 after 5 passes, still making mistakes"):
        through.fit(X, y)
    assert through.status_ == "iteration_limit"
    assert np.isinf(through.novikoff(X, y))  # a point at the origin has no side
    model = Perceptron().fit(X, y)
    assert model.radius_ == 2.0
    assert model.novikoff(X, y) == pytest.approx(2 * (2.0**2 + 1.0**2) / 1.0**2)
    shifted = Perceptron(radius=3.0).fit(X, y)
    assert shifted.novikoff(X, y) == pytest.approx((2.0**2 + 3.0**2) * (1 + 1 / 3.0**2))


def test_one_bound_per_machine():
    X, y = load_iris(return_X_y=True)
    model = KernelPerceptron(kernel=RBF(1.0), max_iter=1000).fit(X, y)
    bounds = model.novikoff(X, y)
    assert bounds.shape == model.n_updates_.shape == (3,)
    assert (model.n_updates_ <= bounds).all()
    assert model.mistakes_ <= model.loss_ == model.n_updates_.sum()
    assert model.score(X, y) == 1.0


# -- machines that climb a dual ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=90) > 0, 1, 0)


@pytest.mark.parametrize("rate", [1.0, 1.5])
@pytest.mark.parametrize(
    "params",
    [{"C": 2.0}, {"C": 0.5, "loss": "squared_hinge"}, {"C": np.inf, "kernel": RBF(8.0)}],
    ids=["hinge", "squared", "hard"],
)
def test_the_adatron_is_a_support_vector_machine_without_bias(overlapping, params, rate):
    X, y = overlapping
    params = {"kernel": RBF(1.0), **params}
    ours = KernelAdatron(tol=1e-8, max_iter=-1, learning_rate=rate, **params).fit(X, y)
    theirs = SVC(tol=1e-9, fit_intercept=False, **params).fit(X, y)
    assert ours.status_ == ours.certificate_.status == "optimal"
    assert ours.certificate_.kkt_violation <= 1e-8
    assert 0 <= ours.certificate_.relative_gap < 1e-6
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.support_[np.argsort(ours.support_)], np.sort(theirs.support_))
    assert ours.margin_ == pytest.approx(theirs.margin_, rel=1e-5)
    assert ours.certify(X, y).gap == pytest.approx(ours.certificate_.gap, abs=1e-9)


def test_the_adatron_of_many_classes_is_one_machine_per_class():
    X, y = load_iris(return_X_y=True)
    ours = KernelAdatron(kernel=RBF(0.5), tol=1e-7, max_iter=-1, shuffle=True, random_state=0).fit(X, y)
    theirs = SVC(kernel=RBF(0.5), tol=1e-8, fit_intercept=False, multiclass="ovr").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert len(ours.certificate_.parts) == 3


@pytest.mark.parametrize(
    "params",
    [{"C": 3.0}, {"C": 3.0, "loss": "squared_epsilon_insensitive"}, {"C": 0.2, "epsilon": 0.0}],
    ids=["linear", "squared", "no tube"],
)
def test_online_regression_is_support_vector_regression_without_bias(overlapping, params):
    X, _ = overlapping
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    ours = OnlineSVR(kernel=RBF(2.0), tol=1e-8, max_iter=-1, **params).fit(X, y)
    theirs = SVR(kernel=RBF(2.0), tol=1e-9, fit_intercept=False, **params).fit(X, y)
    assert ours.status_ == "optimal"
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    assert ours.certify(X, y).kkt_violation <= 2e-8


def test_the_step_of_one_over_k_converges_where_a_step_of_one_does_not():
    """k(x, x) = 9: as printed, the step would overshoot ninefold."""
    X, y = np.array([[3.0], [1.0]]), np.array([3.0, 1.0])
    model = OnlineSVR(kernel=Linear(), C=np.inf, epsilon=0.5, tol=1e-10).fit(X, y)
    assert model.status_ == "optimal"
    np.testing.assert_allclose(model.predict(X), [2.5, 2.5 / 3], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.1, 2.0])
def test_widrow_hoff_is_kernel_ridge_regression(overlapping, alpha):
    X, _ = overlapping
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    ours = KernelWidrowHoff(kernel=RBF(2.0), alpha=alpha, tol=1e-9, max_iter=-1).fit(X, y)
    theirs = KernelRidge(kernel="rbf", gamma=2.0, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
    c = ours.certificate_
    w2 = theirs.dual_coef_ @ RBF(2.0)(X) @ theirs.dual_coef_
    best = 0.5 * w2 + ((y - theirs.predict(X)) ** 2).sum() / (2 * alpha)
    assert c.dual - 1e-9 <= best <= c.primal + 1e-9
    assert c.gap < 1e-9


def test_the_plain_rule_of_widrow_and_hoff_interpolates():
    X = np.arange(6.0)[:, None]
    y = np.array([1.0, -1.0, 2.0, 0.0, 1.0, 3.0])
    model = KernelWidrowHoff(kernel=RBF(1.0), alpha=0.0, tol=1e-9, max_iter=-1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    assert model.certificate_.kkt_violation <= 1e-9
    assert np.isinf(model.certificate_.gap)


def test_a_gap_is_proved_of_every_stream(overlapping):
    X, y = overlapping
    model = KernelAdatron(kernel=RBF(1.0))
    for row, label in zip(X, y, strict=True):
        model.partial_fit(row[None], [label], classes=[0, 1])
    assert not hasattr(model, "certificate_")
    proof = model.certify(X, y)
    best = SVC(kernel=RBF(1.0), fit_intercept=False, tol=1e-8).fit(X, y).certificate_.primal
    assert proof.dual <= best <= proof.primal
    fitted = clone(model).fit(X, y)
    assert proof.gap > fitted.certificate_.gap
    fitted.partial_fit(X, y)
    assert not hasattr(fitted, "certificate_")
    assert not hasattr(fitted, "margin_")
    assert fitted.shape_fit_ == (180, 2)


def test_an_example_at_the_origin_pays_its_slack_in_full():
    X, y = np.array([[0.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    ours = KernelAdatron(kernel="linear", C=0.7, tol=1e-9).fit(X, y)
    theirs = SVC(kernel="linear", C=0.7, fit_intercept=False, tol=1e-9).fit(X, y)
    assert ours.dual_coef_[0, list(ours.support_).index(0)] == 0.7
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal)
    with pytest.warns(ConvergenceWarning, match="KKT violation 1"):
        hard = KernelAdatron(kernel="linear", C=np.inf, max_iter=20).fit(X, y)
    assert np.isinf(hard.certificate_.gap)
    regression = OnlineSVR(kernel="linear", C=0.7, epsilon=0.1, tol=1e-9).fit(X, [5.0, 1.0, -1.0])
    assert regression.dual_coef_[0, list(regression.support_).index(0)] == 0.7
    assert regression.certificate_.gap == pytest.approx(0.0, abs=1e-8)


# -- the protocol --------------------------------------------------------------------------------------------


def test_without_loss_nothing_changes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0).astype(int)
    for model in (Perceptron(max_iter=-1), KernelPerceptron(max_iter=-1)):
        model.fit(X, y)
        before = model.decision_function(X)
        curve = model.loss_
        model.partial_fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), before)
        assert model.loss_ == curve
    wide = OnlineSVR(epsilon=100.0).partial_fit(X, X[:, 0])
    assert wide.n_support_ == wide.mistakes_ == wide.loss_ == 0
    np.testing.assert_array_equal(wide.predict(X), 0.0)


def test_the_tally_counts_predictions_made_before_the_truth_was_seen():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=70) > 0).astype(int)
    model = KernelPerceptron(kernel=RBF(1.0), radius=1.0).partial_fit(X[:1], y[:1], classes=[0, 1])
    wrong = [1]
    for x, label in zip(X[1:], y[1:], strict=True):
        value = model.decision_function(x[None])[0]
        wrong.append(int((1 if label else -1) * value <= 0))
        model.partial_fit(x[None], [label])
    assert model.mistakes_ == model.loss_ == sum(wrong)
    np.testing.assert_array_equal(model.loss_curve_[:, 0], np.arange(1, 71))
    np.testing.assert_array_equal(model.loss_curve_[:, 1], np.cumsum(wrong))


def test_long_curves_keep_few_points_however_they_grow():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20000, 2))
    y = (X[:, 0] > 0).astype(int)
    whole = Perceptron(radius=3.0).partial_fit(X, y, classes=[0, 1])
    parts = Perceptron(radius=3.0)
    for piece in np.array_split(np.arange(20000), 37):
        parts.partial_fit(X[piece], y[piece], classes=[0, 1])
    np.testing.assert_array_equal(whole.loss_curve_, parts.loss_curve_)
    assert len(whole.loss_curve_) == 2500
    np.testing.assert_array_equal(np.diff(whole.loss_curve_[:, 0]), 8)
    assert whole.loss_curve_[-1].tolist() == [20000.0, whole.loss_, whole.mistakes_]
