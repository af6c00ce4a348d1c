"""Agreement with independent solvers: scikit-learn's linear models, Clarabel, SciPy."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import HuberRegressor, LogisticRegression

from loss_examples import Cornered, Exponential, LogCosh
from mercer import KernelClassifier, KernelLogisticRegression, KernelRegressor, losses

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
# An explicit feature map, orthogonal on these points: scikit-learn's first-order methods then get to the end.
MAP = np.sqrt(N) * np.linalg.qr(np.column_stack([X, X**2, X[:, :1] * X[:, 1:], np.sin(3 * X)]))[0]
K = MAP @ MAP.T
SIGN = np.where(X[:, 0] * X[:, 1] + 0.4 * RNG.normal(size=N) > 0, 1.0, -1.0)
LABEL = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=N), [-0.5, 0.5])
TARGET = np.sin(2 * X[:, 0]) + 0.3 * RNG.standard_t(2, size=N)
WEIGHT = RNG.gamma(2.0, size=N)


def on_the_map(model):
    """Return the weights of the explicit features: one row for each function."""
    return model.dual_coef_ @ MAP[model.support_]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_binary_logistic_regression_on_an_explicit_feature_map(C, fit_intercept):
    ours = KernelLogisticRegression(kernel="precomputed", C=C, fit_intercept=fit_intercept, tol=1e-13)
    ours.fit(K, SIGN, WEIGHT)
    theirs = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000)
    theirs.fit(MAP, SIGN, WEIGHT)
    np.testing.assert_allclose(on_the_map(ours), theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(K), theirs.predict_proba(MAP), atol=1e-6)
    np.testing.assert_allclose(ours.predict_log_proba(K), theirs.predict_log_proba(MAP), atol=1e-5)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 1.0, 2: 0.5}])
def test_multinomial_logistic_regression_on_an_explicit_feature_map(class_weight):
    ours = KernelLogisticRegression(kernel="precomputed", class_weight=class_weight, tol=1e-13).fit(K, LABEL)
    theirs = LogisticRegression(class_weight=class_weight, tol=1e-12, max_iter=100_000).fit(MAP, LABEL)
    np.testing.assert_allclose(on_the_map(ours), theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ - theirs.intercept_.mean(), atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(K), theirs.predict_proba(MAP), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(K), theirs.predict(MAP))


def test_huber_with_threshold_and_price_matched_to_the_scale_of_scikit_learn():
    # sigma H((y - f) / sigma) with H(z) = z^2 is 2 / sigma times r^2 / 2, its threshold epsilon sigma.
    alpha, epsilon = 0.1, 1.35
    theirs = HuberRegressor(alpha=alpha, epsilon=epsilon, tol=1e-12, max_iter=100_000, warm_start=True)
    for _ in range(10):  # L-BFGS ends when the value stops falling, at the root of its precision: once more
        theirs.fit(MAP, TARGET)
    loss = losses.Huber(threshold=epsilon * theirs.scale_)
    C = 1.0 / (alpha * theirs.scale_)
    ours = KernelRegressor(loss=loss, kernel="precomputed", C=C, tol=1e-13).fit(K, TARGET)
    np.testing.assert_allclose(on_the_map(ours)[0], theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_[0], theirs.intercept_, atol=1e-6)


# -- Clarabel --------------------------------------------------------------------------------------------


def clarabel(loss_terms, C, *, outputs=1):
    """Return weights and biases that minimise 1/2 |w|^2 + C sum_i WEIGHT_i term_i(f)."""
    shape = (MAP.shape[1], outputs) if outputs > 1 else (MAP.shape[1],)
    w, b = cp.Variable(shape), cp.Variable(outputs) if outputs > 1 else cp.Variable()
    f = MAP @ w + (np.ones((N, 1)) @ cp.reshape(b, (1, outputs), order="C") if outputs > 1 else b)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * (WEIGHT @ loss_terms(f))))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return np.asarray(w.value), np.asarray(b.value), float(problem.value)


def huberized(f):
    u = cp.multiply(SIGN, f)
    # [1 - u]_+^2 with a straight tail: Huber's function of the positive part, straight from 2 on.
    return cp.huber(cp.pos(1 - u), 2)


CLASSIFIERS = [
    (losses.Hinge(), lambda f: cp.pos(1 - cp.multiply(SIGN, f))),
    (losses.SquaredHinge(), lambda f: cp.square(cp.pos(1 - cp.multiply(SIGN, f)))),
    (losses.HuberizedSquaredHinge(), huberized),
    (losses.BinomialDeviance(), lambda f: cp.logistic(-cp.multiply(SIGN, f))),
    (losses.SquaredError(), lambda f: cp.square(SIGN - f)),
    (Exponential(), lambda f: cp.exp(-cp.multiply(SIGN, f))),
]
REGRESSORS = [
    (losses.SquaredError(), lambda f: cp.square(TARGET - f)),
    (losses.Huber(0.4), lambda f: cp.huber(TARGET - f, 0.4) / 2),
    (losses.EpsilonInsensitive(0.2), lambda f: cp.pos(cp.abs(TARGET - f) - 0.2)),
    (losses.SquaredEpsilonInsensitive(0.2), lambda f: cp.square(cp.pos(cp.abs(TARGET - f) - 0.2))),
    (losses.Pinball(0.8), lambda f: cp.maximum(0.8 * (TARGET - f), -0.2 * (TARGET - f))),
]


def names(value):
    return type(value).__name__ if isinstance(value, losses.Loss) else ""


@pytest.mark.parametrize(("loss", "terms"), CLASSIFIERS, ids=names)
def test_classifiers_against_clarabel(loss, terms):
    C = 0.7
    ours = KernelClassifier(loss=loss, kernel="precomputed", C=C, tol=1e-11).fit(K, SIGN, WEIGHT)
    w, b, value = clarabel(terms, C)
    np.testing.assert_allclose(ours.certificate_.primal, value, rtol=1e-6)
    np.testing.assert_allclose(on_the_map(ours)[0], w, atol=2e-6)
    np.testing.assert_allclose(ours.intercept_[0], b, atol=2e-6)


@pytest.mark.parametrize(("loss", "terms"), REGRESSORS, ids=names)
def test_regressors_against_clarabel(loss, terms):
    C = 0.7
    ours = KernelRegressor(loss=loss, kernel="precomputed", C=C, tol=1e-11).fit(K, TARGET, WEIGHT)
    w, b, value = clarabel(terms, C)
    np.testing.assert_allclose(ours.certificate_.primal, value, rtol=1e-6)
    np.testing.assert_allclose(on_the_map(ours)[0], w, atol=2e-6)
    np.testing.assert_allclose(ours.intercept_[0], b, atol=2e-6)


def test_multinomial_deviance_with_weights_against_clarabel():
    members = (LABEL[:, None] == np.arange(3)).astype(float)
    ours = KernelClassifier(loss="multinomial_deviance", kernel="precomputed", tol=1e-12)
    ours.fit(K, LABEL, WEIGHT)
    w, b, value = clarabel(
        lambda F: cp.log_sum_exp(F, axis=1) - cp.sum(cp.multiply(members, F), axis=1), 1.0, outputs=3
    )
    np.testing.assert_allclose(ours.certificate_.primal, value, rtol=1e-6)
    np.testing.assert_allclose(on_the_map(ours), w.T, atol=5e-6)
    np.testing.assert_allclose(ours.intercept_, b - b.mean(), atol=5e-6)


class ThreeSlopes(losses.Loss):
    """A user's piecewise-linear loss with three kinks, whose least value is not zero."""

    targets = "numbers"
    smooth = False
    slopes = np.array([-2.0, -0.5, 0.7, 3.0])
    away = np.array([-1.0, 0.0, 0.5])

    def value(self, y, f):
        r = f - y
        rise = np.diff(self.slopes)[:, None] * np.maximum(r - self.away[:, None], 0.0)
        return 4.0 + self.slopes[0] * r + rise.sum(axis=0)

    def derivative(self, y, f):
        return self.slopes[np.searchsorted(self.away, f - y)]

    def pieces(self, y):
        return losses.Pieces(y + self.away[:, None], np.repeat(self.slopes[:, None], y.size, axis=1))


def test_a_piecewise_linear_loss_of_ones_own_against_clarabel():
    loss = ThreeSlopes()

    def terms(f):
        r = f - TARGET
        rises = [d * cp.pos(r - a) for d, a in zip(np.diff(loss.slopes), loss.away, strict=True)]
        return 4.0 + loss.slopes[0] * r + sum(rises)

    ours = KernelRegressor(loss=loss, kernel="precomputed", C=0.5, tol=1e-10).fit(K, TARGET, WEIGHT)
    w, b, value = clarabel(terms, 0.5)
    np.testing.assert_allclose(ours.certificate_.primal, value, rtol=1e-6)
    np.testing.assert_allclose(on_the_map(ours)[0], w, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_[0], b, atol=1e-5)
    again = ours.certify(K, TARGET, WEIGHT)
    np.testing.assert_allclose(again.primal, ours.certificate_.primal, rtol=1e-9)
    assert again.relative_gap < 1e-8


def test_a_smooth_loss_of_ones_own_against_scipy():
    loss = LogCosh()
    ours = KernelRegressor(loss=loss, kernel="precomputed", C=2.0, tol=1e-13).fit(K, TARGET, WEIGHT)

    def objective(v):
        f = MAP @ v[1:] + v[0]
        slope = 2.0 * WEIGHT * loss.derivative(TARGET, f)
        value = 0.5 * v[1:] @ v[1:] + 2.0 * WEIGHT @ loss.value(TARGET, f)
        return value, np.concatenate([[slope.sum()], v[1:] + MAP.T @ slope])

    found = minimize(objective, np.zeros(MAP.shape[1] + 1), jac=True, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(ours.certificate_.primal, found.fun, rtol=1e-9)
    np.testing.assert_allclose(on_the_map(ours)[0], found.x[1:], atol=1e-6)
    np.testing.assert_allclose(ours.intercept_[0], found.x[0], atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_loss_with_a_kink_of_ones_own_against_clarabel(fit_intercept):
    weight = np.where(np.arange(N) % 7 == 0, 0.0, WEIGHT)
    ours = KernelRegressor(
        loss=Cornered(), kernel="precomputed", C=0.5, fit_intercept=fit_intercept, tol=1e-9
    )
    ours.fit(K, TARGET, weight)
    assert ours.certificate_.status == "optimal"
    w, b = cp.Variable(MAP.shape[1]), cp.Variable() if fit_intercept else 0.0
    r = TARGET - MAP @ w - b
    terms = cp.abs(r) + cp.square(r)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.5 * (weight @ terms)))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    np.testing.assert_allclose(ours.certificate_.primal, problem.value, rtol=1e-7)
    np.testing.assert_allclose(on_the_map(ours)[0], w.value, atol=1e-4)
    assert ours.certify(K, TARGET, weight).relative_gap < 1e-8


class TwoLinks(losses.Loss):
    """A user's loss of several classes: half the squared distance from the indicator of the class."""

    targets = "classes"

    def _members(self, y, k):
        return (np.asarray(y)[:, None] == np.arange(k)).astype(float)

    def value(self, y, f):
        return 0.5 * ((f - self._members(y, f.shape[1])) ** 2).sum(axis=1)

    def derivative(self, y, f):
        return f - self._members(y, f.shape[1])

    def curvature(self, y, f):
        return np.tile(np.eye(f.shape[1]), (f.shape[0], 1, 1))

    def conjugate(self, y, s):
        return (0.5 * s**2 + s * self._members(y, s.shape[1])).sum(axis=1)

    def excess(self, y, f, s):
        return self.value(y, f) + self.conjugate(y, s) - (s * f).sum(axis=1)


def test_a_loss_of_several_classes_of_ones_own_is_least_squares_on_indicators():
    joint = KernelClassifier(loss=TwoLinks(), kernel="precomputed", fit_intercept=False, C=2.0, tol=1e-12)
    joint.fit(K, LABEL)
    members = (LABEL[:, None] == np.arange(3)).astype(float)
    exact = K @ np.linalg.solve(K + 0.5 * np.eye(N), members)
    np.testing.assert_allclose(joint.decision_function(K), exact, atol=1e-6)
    assert joint.certificate_.relative_gap < 1e-9
