"""Columns beside the kernel that cost nothing, against a generic solver of the primal problem."""

import cvxpy as cp
import numpy as np
import pytest

import mercer
from mercer import SVC, SVR, KernelClassifier, KernelRegressor
from mercer.kernels import RBF, Linear, Precomputed, Spline, ThinPlate

N = 40


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    f = np.sin(2.0 * X[:, 0]) + 2.0 * X[:, 1]
    return X, f + 0.4 * rng.normal(size=N), rng.uniform(0.5, 2.0, N)


def primal(K, P, penalty):
    """Return the least value of 1/2 b'Kb + penalty(K b + P d) over P'b = 0.

    With N a basis of {b: P'b = 0}, N'KN = V D V' and u = D^(1/2) V'z, b = N z, this is 1/2 |u|^2, and values
    are N V D^(1/2) u + P d: what K b has along P is for d to say.
    """
    Q, _ = np.linalg.qr(P, mode="complete")
    null = Q[:, P.shape[1] :]
    values, vectors = np.linalg.eigh(null.T @ K @ null)
    features = null @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    u, d = cp.Variable(features.shape[1]), cp.Variable(P.shape[1])
    objective = 0.5 * cp.sum_squares(u) + penalty(features @ u + P @ d)
    return cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")


def columns(X, *, constant=True):
    return np.column_stack([np.ones(len(X)), X]) if constant else X


HINGES = {
    "hinge": lambda u: cp.pos(u),
    "squared_hinge": lambda u: cp.square(cp.pos(u)),
}


@pytest.mark.parametrize("loss", HINGES)
@pytest.mark.parametrize("kernel", [RBF(0.5), Spline(), ThinPlate()], ids=str)
def test_semiparametric_classifiers(data, kernel, loss):
    X, f, w = data
    y = np.where(f > 0, 1.0, -1.0)
    model = SVC(kernel=kernel, C=2.0, loss=loss, tol=1e-7, parametric="linear").fit(X, y, sample_weight=w)
    kept = model.kernel_(X)
    best = primal(kept, columns(X), lambda f: 2.0 * (w @ HINGES[loss](1 - cp.multiply(y, f))))
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certificate_.dual <= best * (1 + 1e-6)
    again = model.certify(X, y, sample_weight=w)
    assert again.status == "optimal"
    assert again.gap <= 1e-6 * best
    # The certificate is about the function that predicts.
    beta = np.zeros(N)
    beta[model.support_] = model.dual_coef_[0]
    slack = np.maximum(0.0, 1.0 - y * model.decision_function(X))
    value = 0.5 * beta @ kept @ beta + 2.0 * w @ (slack if loss == "hinge" else slack**2)
    assert value == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(columns(X).T @ beta, 0.0, atol=1e-8 * np.abs(beta).sum())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_semiparametric_tubes(data, fit_intercept):
    X, y, w = data
    model = SVR(kernel=RBF(0.5), C=3.0, epsilon=0.2, tol=1e-7, parametric=[1], fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=w)
    P = columns(X[:, 1:], constant=fit_intercept)
    best = primal(RBF(0.5)(X), P, lambda f: 3.0 * (w @ cp.pos(cp.abs(y - f) - 0.2)))
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certify(X, y, sample_weight=w).status == "optimal"
    assert model.parametric_coef_.shape == (1, 1)
    if not fit_intercept:
        assert model.intercept_[0] == 0.0


@pytest.mark.parametrize("loss", ["huber", "pinball", "squared_error"])
def test_semiparametric_regressors(data, loss):
    X, y, w = data
    penalties = {
        "huber": lambda r: cp.huber(r, 1.0),
        "pinball": cp.abs,
        "squared_error": cp.square,
    }
    loss_object = mercer.losses.Huber(1.0) if loss == "huber" else loss
    model = KernelRegressor(loss=loss_object, kernel=ThinPlate(), C=1.5, tol=1e-9).fit(X, y, w)
    scale = _scale(model, penalties[loss])
    best = primal(model.kernel_(X), columns(X), lambda f: 1.5 * scale * (w @ penalties[loss](y - f)))
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certify(X, y, w).relative_gap <= 1e-8


def _scale(model, penalty):
    """Return our loss in units of CVXPY's."""
    ours = float(model.loss_.value(np.array([0.0]), np.array([0.5]))[0])
    return ours / float(penalty(cp.Constant([0.5])).value[0])


def test_all_classes_at_once(data):
    X, f, _ = data
    y = np.digitize(f, [-1.0, 1.0])
    model = KernelClassifier(
        loss="multinomial_deviance", kernel=RBF(0.5), C=2.0, tol=1e-9, parametric="linear"
    )
    model.fit(X, y)
    P, K = columns(X), RBF(0.5)(X)
    L = np.linalg.cholesky(K + 1e-12 * np.eye(N))
    b, d = cp.Variable((N, 3)), cp.Variable((3, 3))
    F = K @ b + P @ d
    deviance = cp.sum(cp.log_sum_exp(F, axis=1)) - cp.sum(cp.multiply(np.eye(3)[y], F))
    best = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(L.T @ b) + 2.0 * deviance)).solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certify(X, y).status == "optimal"
    assert model.parametric_coef_.shape == (3, 2)


def test_pairs_of_classes_have_coefficients_of_their_own(data):
    X, f, _ = data
    y = np.digitize(f, [-1.0, 1.0])
    model = SVC(kernel=RBF(0.5), tol=1e-7, parametric="linear").fit(X, y)
    assert model.parametric_coef_.shape == (3, 2)
    alone = SVC(kernel=RBF(0.5), tol=1e-7, parametric="linear").fit(X[y != 2], y[y != 2])
    np.testing.assert_allclose(model.parametric_coef_[0], -alone.parametric_coef_[0], atol=1e-5)
    assert model.certify(X, y).status == "optimal"


def test_users_own_functions(data):
    X, y, _ = data
    model = SVR(kernel=RBF(0.5), parametric=lambda X: np.sin(2.0 * X[:, 0]), tol=1e-7).fit(X, y)
    added = 40.0 * np.sin(2.0 * X[:, 0])
    shifted = SVR(kernel=RBF(0.5), parametric=lambda X: np.sin(2.0 * X[:, 0]), tol=1e-7).fit(X, y + added)
    np.testing.assert_allclose(shifted.predict(X) - added, model.predict(X), atol=1e-5)
    with pytest.raises(ValueError, match=r"shape \(n,\) or \(n, m\)"):
        SVR(parametric=lambda X: np.zeros(3)).fit(X, y)


def test_a_linear_kernel_may_leave_some_weights_free(data):
    X, y, _ = data
    model = SVR(kernel="linear", C=0.01, tol=1e-8, parametric=[1]).fit(X, y)
    np.testing.assert_allclose(X @ model.coef_.ravel() + model.intercept_, model.predict(X), atol=1e-10)
    assert abs(model.coef_[0, 1]) > 10 * abs(model.coef_[0, 0])


def test_dependent_columns_are_named(data):
    X, y, _ = data
    twice = np.column_stack([X, X[:, 0] + 2.0 * X[:, 1]])
    with pytest.raises(ValueError, match=r"coefficient of x2 .* linear combination of 1, x0, x1"):
        SVR(parametric="linear").fit(twice, y)
    with pytest.raises(ValueError, match=r"coefficient of x1 .*it is zero"):
        SVR(parametric="linear", fit_intercept=False).fit(np.column_stack([X[:, 0], 0 * X[:, 0]]), y)
    with pytest.raises(ValueError, match="3 columns and 2 rows"):
        SVR(parametric="linear").fit(X[:2], y[:2])


def test_what_is_refused_is_refused_in_words(data):
    X, f, _ = data
    y = f > 0
    with pytest.raises(ValueError, match="parametric"):
        SVC(C=np.inf, parametric="linear").fit(X, y)
    with pytest.raises(ValueError, match=r"parametric.*hard tube"):
        SVR(C=np.inf, parametric="linear").fit(X, f)
    with pytest.raises(ValueError, match="linear equalities"):
        SVC(solver="smo", parametric="linear").fit(X, y)
    with pytest.raises(ValueError, match="has no features"):
        SVC(kernel="precomputed", parametric="linear").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="there is no feature 7"):
        SVC(parametric=[7]).fit(X, y)
    model = SVC(parametric="linear").fit(X, y)
    assert "no norm bounds its functions" in " ".join(str(mercer.bounds.report(model, X, y)).split())
    with pytest.raises(ValueError, match="parametric"):
        model.to_sklearn()


def test_definiteness_is_judged_where_it_counts(data):
    """Minus the distance is definite beside a constant; given as a matrix, it is looked at there."""
    X, y, _ = data
    K = -np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.warns(mercer.estimators.machine.IndefiniteKernelWarning):
        assert np.isnan(SVR(kernel=Precomputed(), fit_intercept=False).fit(K, y).certificate_.gap)
    model = SVR(kernel=Precomputed(), parametric="constant", fit_intercept=False, tol=1e-7).fit(K, y)
    best = primal(K, np.ones((N, 1)), lambda f: cp.sum(cp.pos(cp.abs(y - f) - 0.1)))
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)


def test_files_keep_the_columns(data, tmp_path):
    X, f, _ = data
    for model in (
        SVC(kernel=Spline().on([0]) + RBF(0.5), tol=1e-6).fit(X, f > 0),
        KernelRegressor(kernel=ThinPlate(), parametric="quadratic").fit(X, np.column_stack([f, -f])),
        SVR(kernel=Linear(), parametric=[0]).fit(X, f),
    ):
        path = tmp_path / "model.mercer"
        mercer.save(model, path)
        again = mercer.load(path)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.parametric_coef_, model.parametric_coef_)
        assert again.parametric_ == model.parametric_


def test_probabilities_come_from_rows_that_were_held_out(data):
    X, f, _ = data
    model = SVC(kernel=RBF(0.5), parametric="linear", probability=True).fit(X, f > 0)
    p = model.predict_proba(X)
    assert ((p[:, 1] > 0.5) == (model.decision_function(X) > 0)).mean() > 0.9
