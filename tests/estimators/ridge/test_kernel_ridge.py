"""Kernel ridge regression: closed forms, scikit-learn, certificates, leave-one-out, bad conditioning."""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.linear_model import Ridge

from mercer import SVR, KernelRidge, kernel
from mercer.estimators.ridge import IllConditionedWarning
from mercer.kernels import RBF, Linear, Matern

pytestmark = pytest.mark.core

SOLVERS = ["cholesky", "eigen", "cg"]
KERNELS = ["linear", "rbf", "poly", "laplacian"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2, X[:, 2]] + 0.1 * rng.normal(size=(90, 3))
    weight = rng.uniform(0.1, 3.0, size=90)
    weight[:4] = 0.0
    return X, Y, weight


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", KERNELS)
def test_agrees_with_scikit_learn(data, name, solver):
    X, Y, weight = data
    for y, w in ((Y[:, 0], None), (Y, weight)):
        theirs = Reference(kernel=name, alpha=0.3).fit(X, y, w)
        ours = KernelRidge(kernel=name, alpha=0.3, solver=solver, tol=1e-16, random_state=0).fit(X, y, w)
        assert ours.solver_ == solver
        assert ours.dual_coef_.shape == theirs.dual_coef_.shape
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
        if solver != "cg" or name != "linear":  # a linear kernel has many coefficients for one function
            np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_penalty_for_each_output(data, solver):
    X, Y, weight = data
    alpha = [0.1, 2.0, 0.1]
    theirs = Reference(kernel="rbf", alpha=alpha).fit(X, Y, weight)
    ours = KernelRidge(kernel="rbf", alpha=alpha, solver=solver, tol=1e-15).fit(X, Y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    np.testing.assert_array_equal(ours.alpha_, alpha)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bias_is_that_of_ridge_regression_on_features(data, solver, weighted):
    X, Y, weight = data
    w = weight if weighted else None
    theirs = Ridge(alpha=0.7, solver="cholesky").fit(X, Y, w)
    ours = KernelRidge(alpha=0.7, fit_intercept=True, solver=solver, tol=1e-16).fit(X, Y, w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-7)
    np.testing.assert_allclose(ours.dual_coef_.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_certificates(data, solver, fit_intercept):
    X, Y, weight = data
    model = KernelRidge(
        kernel="rbf", alpha=0.2, solver=solver, fit_intercept=fit_intercept, tol=1e-9, random_state=1
    ).fit(X, Y, weight)
    certificate = model.certificate_
    f = model.predict(X)
    K = RBF(0.25)(X)
    norms = np.einsum("ij,ij->j", model.dual_coef_, K @ model.dual_coef_)
    primal = (weight[:, None] * (Y - f) ** 2).sum(axis=0) + 0.2 * norms
    np.testing.assert_allclose([part.primal for part in certificate.parts], primal, rtol=1e-9)
    assert certificate.primal == pytest.approx(primal.sum())
    assert certificate.gap >= 0.0
    assert certificate.relative_gap < 1e-9
    assert certificate.status == "optimal"
    again = model.certify(X, Y, weight)
    assert again.primal == pytest.approx(certificate.primal, rel=1e-10)
    assert again.gap == pytest.approx(certificate.gap, rel=1e-3, abs=1e-20)


def test_the_gap_bounds_the_distance_of_any_model(data):
    X, Y, weight = data
    y = Y[:, 0]
    best = KernelRidge(kernel="rbf", alpha=0.2, fit_intercept=True).fit(X, y, weight)
    rng = np.random.default_rng(3)
    for size in (1e-6, 1e-3, 1.0):
        worse = clone(best).fit(X, y, weight)
        noise = size * rng.normal(size=y.size) * (weight > 0)
        noise[weight > 0] -= noise[weight > 0].mean()
        worse.dual_coef_ = worse.dual_coef_ + noise
        certificate = worse.certify(X, y, weight)
        assert certificate.dual <= best.certificate_.primal * (1 + 1e-12)
        assert certificate.primal >= best.certificate_.dual * (1 - 1e-12)
        assert certificate.gap >= certificate.primal - best.certificate_.primal - 1e-12
    worse.dual_coef_ = worse.dual_coef_ + 0.1 * (weight > 0)  # the coefficients no longer sum to 0
    assert worse.certify(X, y, weight).gap == np.inf


def test_limits_end_with_a_usable_model(data):
    X, Y, _ = data
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = KernelRidge(
            kernel="rbf", alpha=1e-3, solver="cg", max_iter=2, preconditioner_rank=0, trace=True
        ).fit(X, Y)
    assert model.certificate_.status == "iteration_limit"
    assert np.isfinite(model.predict(X)).all()
    assert model.certify(X, Y).gap == pytest.approx(model.certificate_.gap, rel=1e-6)
    assert [step["n_iter"] for step in model.history_] == [1, 2]
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        KernelRidge(kernel="rbf", alpha=1e-3, solver="cg", time_limit=1e-9).fit(X, Y)


@pytest.mark.filterwarnings("ignore:KernelRidge stopped:sklearn.exceptions.ConvergenceWarning")
def test_ctrl_c_keeps_what_was_reached(data):
    X, Y, _ = data
    calls = []

    def interrupted(A, B):
        calls.append(1)
        if len(calls) == 30:
            signal.raise_signal(signal.SIGINT)
        return RBF(0.25)(A, B)

    options = {
        "alpha": 1e-6,
        "solver": "cg",
        "tol": 1e-14,
        "preconditioner_rank": 0,
        "n_jobs": 1,
        "cache_size": 0.01,
    }
    model = KernelRidge(kernel=interrupted, on_interrupt="keep", **options).fit(X, Y)
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.predict(X)).all()
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        KernelRidge(kernel=interrupted, **options).fit(X, Y)


def test_gaps_of_conjugate_gradients_fall(data, capsys):
    X, Y, _ = data
    model = KernelRidge(
        kernel="rbf", alpha=1e-2, solver="cg", tol=1e-12, preconditioner_rank=10, trace=True, verbose=True
    ).fit(X, Y[:, 0])
    duals = [step["dual"] for step in model.history_]
    assert (np.diff(duals) > -1e-12 * duals[-1]).all()
    assert all(step["gap"] >= 0 for step in model.history_)
    assert "[KernelRidge]" in capsys.readouterr().out
    plain = KernelRidge(kernel="rbf", alpha=1e-2, solver="cg", tol=1e-12, preconditioner_rank=0)
    assert plain.fit(X, Y[:, 0]).n_iter_ > model.n_iter_


# -- leave-one-out -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leave_one_out_is_that_of_refits(data, fit_intercept):
    X, Y, weight = data
    model = KernelRidge(kernel="rbf", alpha=[0.3, 0.3, 1.0], fit_intercept=fit_intercept).fit(X, Y, weight)
    found = model.loo_predict(X, Y, weight)
    assert found.shape == Y.shape
    for i in (0, 5, 40, 89):
        rest = np.arange(90) != i
        refit = clone(model).fit(X[rest], Y[rest], weight[rest])
        np.testing.assert_allclose(found[i], refit.predict(X[i : i + 1])[0], atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_penalty_of_smallest_leave_one_out_error(data, fit_intercept):
    X, Y, weight = data
    alphas = np.geomspace(1e-4, 1e2, 13)
    model = KernelRidge(kernel="rbf", alpha="loo", alphas=alphas, fit_intercept=fit_intercept)
    model.fit(X, Y, weight)
    assert model.loo_errors_.shape == (13, 3)
    np.testing.assert_array_equal(model.alpha_, alphas[model.loo_errors_.argmin(axis=0)])
    for place in (2, 8):
        fixed = clone(model).set_params(alpha=alphas[place]).fit(X, Y, weight)
        left = Y - fixed.loo_predict(X, Y, weight)
        error = (weight[:, None] * left**2).sum(axis=0) / weight.sum()
        np.testing.assert_allclose(model.loo_errors_[place], error, rtol=1e-9)
    refit = clone(model).set_params(alpha=model.alpha_).fit(X, Y, weight)
    np.testing.assert_allclose(model.predict(X), refit.predict(X), atol=1e-9)
    one = clone(model).fit(X, Y[:, 1], weight)
    assert one.loo_errors_.shape == (13,)
    assert one.alpha_ == model.alpha_[1]


def test_the_default_grid_brackets_the_best(data):
    X, Y, _ = data
    model = KernelRidge(kernel="rbf", alpha="loo").fit(X, Y[:, 0])
    assert model.alphas_.size == 50
    place = int(model.loo_errors_.argmin())
    assert 0 < place < 49


def test_a_path_is_many_fits(data):
    X, Y, weight = data
    model = KernelRidge(kernel="rbf", fit_intercept=True)
    path = model.path(X, Y, weight, alphas=[0.01, 1.0])
    assert not hasattr(model, "dual_coef_")
    for k, alpha in enumerate(path.alphas):
        one = clone(model).set_params(alpha=alpha).fit(X, Y, weight)
        np.testing.assert_allclose(path.dual_coef[k], one.dual_coef_, atol=1e-8)
        np.testing.assert_allclose(path.intercept[k], one.intercept_, atol=1e-10)
        positive = weight > 0
        np.testing.assert_allclose(
            path.left_out[k][positive], (Y - one.loo_predict(X, Y, weight))[positive], atol=1e-9
        )
        assert np.isnan(path.left_out[k][~positive]).all()


# -- kinds of data -------------------------------------------------------------------------------------------


def test_kernels_data_and_precision(data):
    X, Y, _ = data
    y = Y[:, 0]
    reference = KernelRidge(kernel=RBF(0.25), alpha=0.3).fit(X, y)
    K = RBF(0.25)(X)
    given = KernelRidge(kernel="precomputed", alpha=0.3).fit(K, y)
    np.testing.assert_allclose(given.predict(K[:5]), reference.predict(X[:5]), atol=1e-10)
    sparse = KernelRidge(kernel="rbf", gamma=0.25, alpha=0.3).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict(sp.csr_matrix(X[:5])), reference.predict(X[:5]), atol=1e-10)
    single = KernelRidge(kernel="rbf", alpha=0.3).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict(X[:5].astype(np.float32)), reference.predict(X[:5]), atol=1e-5)
    function = KernelRidge(kernel=lambda A, B: RBF(0.25)(A, B), alpha=0.3).fit(X, y)
    np.testing.assert_allclose(function.predict(X[:5]), reference.predict(X[:5]), atol=1e-9)
    zero = np.ones(90)
    zero[10:20] = 0.0
    without = KernelRidge(kernel="precomputed", alpha=0.3).fit(K, y, zero)
    some = KernelRidge(kernel=RBF(0.25), alpha=0.3).fit(X, y, zero)
    np.testing.assert_allclose(without.dual_coef_, some.dual_coef_, atol=1e-9)
    assert (some.dual_coef_[10:20] == 0).all()


@kernel(psd=True)
def shared_letters(a, b):
    return len(set(a) & set(b))


def test_words():
    words = ["cat", "tack", "dog", "god", "a", "hippo", "tic", "toe"]
    y = np.array([len(word) for word in words], dtype=float)
    for solver in SOLVERS:
        model = KernelRidge(kernel=shared_letters, alpha=0.5, solver=solver, tol=1e-14).fit(words, y)
        K = np.array([[len(set(a) & set(b)) for b in words] for a in words], dtype=float)
        expected = K @ np.linalg.solve(K + 0.5 * np.eye(8), y)
        np.testing.assert_allclose(model.predict(words), expected, atol=1e-6)


def test_squared_tube_of_no_width_is_ridge_regression(data):
    X, Y, _ = data
    C = 5.0
    machine = SVR(
        gamma=0.25, C=C, epsilon=0.0, loss="squared_epsilon_insensitive", tol=1e-9, precision="double"
    ).fit(X, Y[:, 0])
    ridge = KernelRidge(kernel="rbf", gamma=0.25, alpha=1 / (2 * C), fit_intercept=True).fit(X, Y[:, 0])
    np.testing.assert_allclose(ridge.predict(X), machine.predict(X), atol=1e-6)


# -- conditioning --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-18])
def test_singular_systems_are_named(data, alpha, dtype):
    X, Y, _ = data
    X = np.r_[X, X[:30]].astype(dtype)
    y = np.r_[Y[:, 0], Y[:30, 0]]
    with pytest.warns(IllConditionedWarning, match="singular"):
        model = KernelRidge(kernel="rbf", gamma=2.0, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-4)
    assert np.isfinite(model.dual_coef_).all()


def test_near_singular_systems_are_named(data):
    X, Y, _ = data
    with pytest.warns(IllConditionedWarning, match="condition number is about"):
        model = KernelRidge(kernel=Matern(200.0, nu=2.5), alpha=3e-13).fit(X, Y)
    assert np.isfinite(model.predict(X)).all()
    assert model.condition_ > 1e14


@pytest.mark.filterwarnings("ignore:KernelRidge stopped:sklearn.exceptions.ConvergenceWarning")
def test_conjugate_gradients_that_stagnate_say_so(data):
    X, Y, _ = data
    with pytest.warns(IllConditionedWarning, match="stagnate"):
        model = KernelRidge(kernel="rbf", gamma=0.01, alpha=1e-16, solver="cg", tol=1e-10).fit(X, Y[:, 0])
    assert model.certificate_.status in (
        "optimal",
        "ill_conditioned",
        "iteration_limit",
    )  # as its numbers say
    met = model.certificate_.relative_gap <= 1e-10
    assert met or model.certificate_.gap <= model.certificate_.rounding or model.fit_status_ == 1
    misfit = Y[:, 0] - model.predict(X)
    assert misfit @ misfit < Y[:, 0] @ Y[:, 0]  # better than nothing
    assert model.certify(X, Y[:, 0]).gap >= 0


def test_constant_features_and_outputs():
    X, y = np.ones((6, 2)), np.full(6, 3.0)
    model = KernelRidge(kernel="rbf", alpha=1.0, fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(model.predict(X), 3.0)
    with pytest.warns(IllConditionedWarning):
        model = KernelRidge(kernel="linear", alpha=0.0, fit_intercept=True).fit(
            np.zeros((6, 2)), np.arange(6.0)
        )
    np.testing.assert_allclose(model.predict(np.zeros((1, 2))), 2.5)


@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_what_cannot_be_is_refused(data):
    X, Y, _ = data
    y = Y[:, 0]
    cases = [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": [1.0, 2.0]}, "one for each of 1 outputs"),
        ({"alpha": "loo", "alphas": [0.0, 1.0]}, "alphas"),
        ({"alpha": "loo", "solver": "cg"}, "cache_size"),
        ({"kernel": "sigmoid", "solver": "cg"}, "positive semi-definite"),
        ({"alpha": 0.0, "solver": "cg"}, "alpha > 0"),
        ({"kernel": RBF(0.5), "gamma": 2.0}, "gamma"),
        ({"tol": 0.0}, "tol"),
    ]
    for params, word in cases:
        with pytest.raises(ValueError, match=word):
            KernelRidge(**params).fit(X, y)
    with pytest.raises(ValueError, match="y"):
        KernelRidge().fit(X, None)
    with pytest.raises(ValueError, match="inconsistent"):
        KernelRidge().fit(X, y[:-1])
    model = KernelRidge().fit(X, y)
    with pytest.raises(ValueError, match="rows"):
        model.certify(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="sample_weight is 0"):
        model.certify(X, y, np.r_[0.0, np.ones(89)])


@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_an_indefinite_kernel_is_a_stationary_point(data):
    X, Y, _ = data
    with pytest.warns(UserWarning, match="."):
        theirs = Reference(kernel="sigmoid", alpha=0.3).fit(X, Y[:, 0])
    ours = KernelRidge(kernel="sigmoid", alpha=0.3).fit(X, Y[:, 0])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
    assert ours.certificate_.status == "stationary"
    assert np.isnan(ours.certificate_.gap)


def test_memory_decides(data):
    X, Y, _ = data
    assert KernelRidge(cache_size=1).fit(X, Y).solver_ == "cholesky"
    assert KernelRidge(cache_size=0.01).fit(X, Y).solver_ == "cg"
    assert isinstance(KernelRidge(kernel=Linear()).fit(X, Y).kernel_, Linear)
