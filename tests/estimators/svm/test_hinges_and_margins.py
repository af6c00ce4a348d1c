"""The squared hinge, the hard margin, and machines without a bias."""

import time

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from clouds import blobs
from mercer import SVC
from svc_bank import beta_of, dual_objective, kernel_matrix, kkt_violation, problems, solve_by_qp

pytest.importorskip("clarabel")

TOL = 1e-6
BANK = [p for p in problems() if p.kernel != "sigmoid"]
EASY = [p for p in BANK if not p.name.startswith("all_points_equal")]


def named(problem):
    return problem.name


def fit(problem, **options):
    model = SVC(**{**problem.params, "tol": TOL, "time_limit": 20.0, **options})
    return model.fit(problem.X, problem.y, sample_weight=problem.weight)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("problem", EASY[::7], ids=named)
def test_against_qp(problem, loss, intercept):
    """The squared hinge is the hinge without an upper bound and with 1 / (2 C_i) on the diagonal."""
    model = fit(problem, loss=loss, fit_intercept=intercept)
    K, sign, C = kernel_matrix(problem), problem.sign, problem.C * problem.weights
    beta, certificate = beta_of(model, sign.size), model.certificate_
    shifted, upper = K, C
    if loss == "squared_hinge":
        with np.errstate(divide="ignore"):
            shifted = K + np.diag(np.where(C > 0, 0.5 / C, 0.0))
        upper = np.where(C > 0, np.inf, 0.0)
    value, _ = solve_by_qp(shifted, sign, upper, intercept=intercept)
    objective = dual_objective(shifted, sign, beta)
    assert objective == pytest.approx(value, rel=1e-6)
    assert certificate.status == "optimal"
    assert certificate.kkt_violation <= TOL
    violation = kkt_violation(shifted, sign, upper, beta, intercept=intercept)
    assert violation == pytest.approx(certificate.kkt_violation, abs=1e-9)
    assert certificate.dual == pytest.approx(objective, rel=1e-9)
    slack = np.maximum(0.0, 1.0 - sign * (K @ beta + model.intercept_[0]))
    price = C @ slack if loss == "hinge" else C @ slack**2
    assert certificate.primal == pytest.approx(0.5 * beta @ K @ beta + price, rel=1e-9)
    assert certificate.gap >= 0
    if not intercept:
        assert model.intercept_ == [0.0]
    if loss == "hinge":
        assert certificate.gap <= certificate.kkt_violation * C.sum() * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_machines_without_a_bias_equal_liblinear(loss):
    X, y = blobs(100, 5, 2, seed=0)
    ours = SVC(kernel="linear", loss=loss, C=0.5, fit_intercept=False, tol=1e-10).fit(X, y)
    theirs = LinearSVC(loss=loss, C=0.5, fit_intercept=False, dual=True, tol=1e-10, max_iter=10**6).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


# -- hard margin -------------------------------------------------------------------------------------------


def separable(seed, *, through_origin=False, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    w = rng.normal(size=d)
    score = X @ w + (0.0 if through_origin else 0.7)
    keep = np.abs(score) > 0.2
    return X[keep], (score[keep] > 0).astype(int)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("intercept", [True, False])
def test_hard_margin_against_qp(seed, kernel, intercept):
    X, y = separable(seed, through_origin=not intercept)
    sign = np.where(y == 1, 1.0, -1.0)
    model = SVC(kernel=kernel, gamma=0.5, C=np.inf, tol=TOL, fit_intercept=intercept).fit(X, y)
    K = X @ X.T if kernel == "linear" else np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    value, beta_qp = solve_by_qp(K, sign, np.full(y.size, np.inf), intercept=intercept)
    beta, certificate = beta_of(model, y.size), model.certificate_
    assert certificate.status == "optimal"
    assert dual_objective(K, sign, beta) == pytest.approx(value, rel=1e-6)
    assert certificate.dual == pytest.approx(value, rel=1e-6)
    assert certificate.primal == pytest.approx(value, rel=1e-5)
    assert 0 <= certificate.gap == pytest.approx(certificate.primal - certificate.dual, abs=1e-9 * value)
    assert certificate.kkt_violation <= TOL
    margins = sign * model.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(K @ beta, K @ beta_qp, atol=1e-4)
    assert model.margin_ == pytest.approx(1.0 / np.sqrt(2.0 * value), rel=1e-5)
    again = model.certify(X, y)
    assert again.primal == pytest.approx(certificate.primal, rel=1e-6)
    assert again.dual == pytest.approx(certificate.dual, rel=1e-6)
    large = SVC(kernel=kernel, gamma=0.5, C=1e7, tol=TOL, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), large.decision_function(X), atol=1e-3)


def test_hard_margin_of_two_points():
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit([[0.0], [4.0]], [0, 1])
    np.testing.assert_allclose(model.decision_function([[0.0], [2.0], [4.0]]), [-1.0, 0.0, 1.0], atol=1e-8)
    assert model.margin_ == pytest.approx(2.0)
    assert model.certificate_.primal == pytest.approx(0.125)


def test_hard_margin_whose_class_hangs_on_one_point():
    X = np.array([[0.0, 0.0], [2.0, -1.0], [2.0, 1.0], [3.0, 0.0]])
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, [0, 1, 1, 1])
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=1e-7)
    np.testing.assert_allclose(model.intercept_, [-1.0], atol=1e-7)


def test_hard_margin_of_several_classes_and_zero_weights():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [8, 0], [0, 8.0]])
    y = np.repeat([0, 1, 2], 15)
    X = centres[y] + rng.uniform(-1, 1, size=(45, 2))
    X[0] = [8.0, 0.0]  # in the middle of another class, but without a weight
    weight = np.ones(45)
    weight[0] = 0.0
    model = SVC(kernel="linear", C=np.inf).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X)[1:], y[1:])
    assert len(model.certificate_.parts) == 3
    assert model.certificate_.status == "optimal"
    with pytest.raises(ValueError, match="cannot be separated"):
        SVC(kernel="linear", C=np.inf, time_limit=20.0).fit(X, y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "data",
    [
        blobs(60, 3, 2, seed=1),
        blobs(1200, 3, 2, seed=1),
        (np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])),
        (np.zeros((4, 2)), np.array([0, 1, 0, 1])),
    ],
    ids=["overlap", "large", "touching", "equal"],
)
def test_hard_margin_says_when_the_classes_cannot_be_separated(data, intercept):
    X, y = data
    started = time.perf_counter()
    with pytest.raises(ValueError, match="C=inf: the classes cannot be separated"):
        SVC(kernel="linear", C=np.inf, fit_intercept=intercept, time_limit=20.0).fit(X, y)
    assert time.perf_counter() - started < 15.0  # it was found, not given up


def test_a_separable_problem_that_passes_near_the_origin_needs_its_bias():
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    SVC(kernel="linear", C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="cannot be separated through the origin"):
        SVC(kernel="linear", C=np.inf, fit_intercept=False, time_limit=20.0).fit(X, y)
