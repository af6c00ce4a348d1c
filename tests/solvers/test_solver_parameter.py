"""``solver=`` of the estimators: names, objects, refusals, and what each solver promises."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from clouds import blobs
from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, kernel
from mercer.kernels import RBF
from mercer.problems import InfeasibleError
from mercer.solvers import SMO, Ascent, Chunking, InteriorPoint, Limits, UnsuitableSolverError

pytestmark = pytest.mark.core

X, y = blobs(90, 3, 2, seed=0)
target = np.sin(X[:, 0]) + 0.3 * X[:, 1]
TIGHT = {"tol": 1e-8}
MACHINES = [
    SVC(C=2.0),
    SVC(loss="squared_hinge"),
    NuSVC(nu=0.4),
    SVR(),
    NuSVR(),
    SVDD(nu=0.2),
    OneClassSVM(nu=0.3),
]


@kernel(psd=True)
def common_letters(a, b):
    return float(len(set(a) & set(b)))


def fit(model):
    return model.fit(X, target if isinstance(model, SVR | NuSVR) else y)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("solver", ["smo", "chunking", "interior_point"])
def test_every_machine_is_the_same_with_every_solver(machine, solver):
    default = fit(clone(machine).set_params(**TIGHT))
    model = fit(clone(machine).set_params(solver=solver, **TIGHT))
    assert model.certificate_.status == "optimal"
    assert model.certificate_.dual == pytest.approx(default.certificate_.dual, rel=1e-6)
    values = model.decision_function if hasattr(model, "decision_function") else model.predict
    expected = default.decision_function if hasattr(default, "decision_function") else default.predict
    np.testing.assert_allclose(values(X), expected(X), atol=1e-5)
    again = model.certify(X, target if isinstance(model, SVR | NuSVR) else y)
    assert again.gap == pytest.approx(model.certificate_.gap, rel=1e-3, abs=1e-9 * abs(again.dual))


def test_smo_equals_decomposition():
    ours = SVC(C=3.0, solver="smo", **TIGHT).fit(X, y)
    theirs = SVC(C=3.0, **TIGHT).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize("tau", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_adatron_equals_a_machine_without_bias_on_the_shifted_kernel(tau, loss):
    K = RBF(0.5)(X)
    model = SVC(C=2.0, kernel=RBF(0.5), loss=loss, solver=Ascent(tau=tau), tol=1e-9).fit(X, y)
    judge = SVC(C=2.0, kernel="precomputed", loss=loss, fit_intercept=False, tol=1e-9).fit(K + tau**2, y)
    np.testing.assert_allclose(model.decision_function(X), judge.decision_function(K + tau**2), atol=1e-6)
    assert model.certificate_.dual == pytest.approx(judge.certificate_.dual, rel=1e-7)
    assert model.intercept_[0] == pytest.approx(tau**2 * model.dual_coef_.sum(), rel=1e-9)
    assert model.certify(X, y).gap <= 1e-6


def test_adatron_without_bias_equals_the_machine_without_bias():
    for params in ({"C": 2.0}, {"C": np.inf, "gamma": 5.0}, {"loss": "squared_hinge"}):
        model = SVC(solver="ascent", fit_intercept=False, tol=1e-7, **params).fit(X, y)
        judge = SVC(fit_intercept=False, tol=1e-7, **params).fit(X, y)
        assert model.certificate_.dual == pytest.approx(judge.certificate_.dual, rel=1e-6)
        assert model.intercept_[0] == 0.0


def test_regression_by_ascent():
    model = SVR(solver=Ascent(tau=2.0), tol=1e-8).fit(X, target)
    K = model.kernel_(X) + 4.0
    judge = SVR(kernel="precomputed", fit_intercept=False, tol=1e-8).fit(K, target)
    np.testing.assert_allclose(model.predict(X), judge.predict(K), atol=1e-6)


def test_the_safe_tau_is_the_radius_of_the_points():
    auto = SVC(kernel="linear", solver="ascent", tol=1e-8).fit(X, y)
    radius = np.sqrt((X * X).sum(axis=1).max())
    given = SVC(kernel="linear", solver=Ascent(tau=radius), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(auto.decision_function(X), given.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("order", ["nonbound", "cyclic", "random", "violators", "gap", "ascending"])
def test_slow_headway_of_single_variables_is_not_taken_for_rounding(order):
    """On two features hundreds of sweeps gain little each; all orders get there in the end."""
    model = SVC(kernel="linear", solver=Ascent(order=order), tol=1e-8).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap <= 1e-8


def test_the_margin_with_the_safe_tau_is_at_least_half_of_that_with_a_free_bias():
    """The margin in the larger space is at least gamma (1 + b^2 / R^2)^(-1/2)."""
    apart = X + 4.0 * np.where(y == y.max(), 1.0, -1.0)[:, None]
    free = SVC(kernel="linear", C=np.inf, tol=1e-7).fit(apart, y)
    fixed = SVC(kernel="linear", C=np.inf, solver="ascent", tol=1e-7).fit(apart, y)
    larger = 1.0 / np.sqrt(2.0 * fixed.certificate_.dual)
    assert 0.5 * free.margin_ <= larger <= free.margin_ * (1 + 1e-6)


@pytest.mark.parametrize("order", ["cyclic", "random", "violators", "nonbound", "ascending"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_hard_margin_that_does_not_exist_is_said(order, fit_intercept):
    model = SVC(C=np.inf, kernel="linear", solver=Ascent(order=order), fit_intercept=fit_intercept)
    with pytest.raises(InfeasibleError, match="cannot be separated through the origin"):
        model.fit(X, y)


def test_a_point_at_the_origin_of_feature_space():
    """k(x, x) = 0 has no curvature: its multiplier goes to C, and there is no hard margin without bias."""
    Z = np.vstack([X, np.zeros((1, 3))])
    labels = np.append(y, y[0])
    soft = SVC(C=2.0, kernel="linear", solver="ascent", fit_intercept=False, tol=1e-8).fit(Z, labels)
    judge = SVC(C=2.0, kernel="linear", fit_intercept=False, tol=1e-8).fit(Z, labels)
    assert soft.certificate_.dual == pytest.approx(judge.certificate_.dual, rel=1e-8)
    assert abs(soft.dual_coef_[0, list(soft.support_).index(90)]) == 2.0
    with pytest.raises(InfeasibleError, match=r"1 of 91 points lie at the origin.*first row 90"):
        SVC(C=np.inf, kernel="linear", solver="ascent", fit_intercept=False).fit(Z, labels)
    squared = SVC(kernel="linear", loss="squared_hinge", solver="ascent", fit_intercept=False).fit(Z, labels)
    assert squared.certificate_.status == "optimal"


def test_learning_rates_per_point():
    K = RBF(0.5)(X)
    rates = np.random.default_rng(0).uniform(0.5, 1.5, 90) / (np.diagonal(K) + 1.0)
    model = SVC(kernel=RBF(0.5), solver=Ascent(rates=rates, tau=1.0), tol=1e-8).fit(X, y)
    judge = SVC(kernel=RBF(0.5), solver=Ascent(tau=1.0), tol=1e-8).fit(X, y)
    assert model.certificate_.dual == pytest.approx(judge.certificate_.dual, rel=1e-8)
    with pytest.raises(ValueError, match=r"rates\[0\]=1 must be positive and below 2 / \(K_ii \+ r_i\) = 1"):
        SVC(kernel=RBF(0.5), solver=Ascent(rates=1.0, tau=1.0)).fit(X, y)
    with pytest.raises(ValueError, match=r"rates has shape \(3,\); for 90 points"):
        SVC(solver=Ascent(rates=np.ones(3))).fit(X, y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            SVC(solver="smo", fit_intercept=False),
            "solver='smo' .* use fit_intercept=True, or solver=\"ascent\"",
        ),
        (NuSVC(nu=0.3, solver="ascent"), "solver='ascent' changes one variable at a time"),
        (NuSVR(solver="ascent"), "solver='ascent' changes one variable at a time"),
        (SVDD(solver="ascent"), "solver='ascent' changes one variable at a time"),
        (OneClassSVM(solver="ascent"), "solver='ascent' changes one variable at a time"),
        (SVC(solver="subgradient"), "solver='subgradient' .* needs the data of a linear kernel"),
        (SVC(solver="subgradient", kernel="linear", C=np.inf), "solver='subgradient' is for the soft margin"),
        (
            SVC(solver="lagrangian", kernel="linear", loss="squared_hinge"),
            "squared losses have no such bound",
        ),
        (SVC(solver="chunking", kernel="sigmoid"), "solver='chunking' .* positive semi-definite"),
        (SVC(solver="interior_point", kernel="sigmoid"), "solver='interior_point' .* positive semi-definite"),
        (SVC(solver="interior_point", cache_size=0.001), "raise cache_size"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value),
)
def test_a_mismatch_is_one_readable_sentence(model, words):
    with pytest.raises(UnsuitableSolverError, match=words):
        fit(model)


def test_what_an_option_may_be():
    with pytest.raises(ValueError, match=r"omega=2.5 must be in \(0, 2\)"):
        Ascent(omega=2.5)
    with pytest.raises(ValueError, match="order='first' must be one of 'cyclic'"):
        Ascent(order="first")
    with pytest.raises(ValueError, match='tau=-1 must be "auto" or a positive number'):
        Ascent(tau=-1)
    with pytest.raises(ValueError, match="chunk=1 must be an integer of at least 2"):
        Chunking(chunk=1)
    with pytest.raises(ValueError, match="either omega or rates"):
        Ascent(omega=1.5, rates=0.1)
    with pytest.raises(ValueError, match="fit_intercept=False has none"):
        SVC(solver=Ascent(tau=2.0), fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match="solver"):
        SVC(solver="simplex").fit(X, y)
    for solver in (SMO(tol=1e-6), SMO(limits=Limits(max_iter=3)), Chunking(criterion="gap")):
        with pytest.raises(ValueError, match="set by the estimator's own"):
            SVC(solver=solver).fit(X, y)


def test_solver_objects_live_in_estimators():
    solver = Ascent(omega=1.5, order="cyclic")
    assert repr(solver) == "Ascent(omega=1.5, order='cyclic')"
    model = SVC(solver=solver)
    twin = clone(model)
    assert twin.solver == solver
    assert twin.solver is not solver
    model.fit(X, y)
    assert solver == Ascent(omega=1.5, order="cyclic"), "fit changes no parameter"
    model.set_params(solver__omega=0.5)
    assert model.get_params()["solver__omega"] == 0.5
    with pytest.raises(ValueError, match=r"must be in \(0, 2\)"):
        model.set_params(solver__omega=3.0)
    with pytest.raises(ValueError, match="Invalid parameter 'speed' for solver"):
        solver.set_params(speed=3)
    search = GridSearchCV(SVC(solver=Ascent()), {"solver__omega": [0.8, 1.2]}, cv=2).fit(X, y)
    assert search.best_estimator_.solver.omega in (0.8, 1.2)


@pytest.mark.parametrize("solver", ["lagrangian", "subgradient"])
def test_primal_solvers_are_accurate_to_a_hundredth_and_say_so(solver):
    best = SVC(kernel="linear", tol=1e-8).fit(X, y).certificate_.dual
    with pytest.warns(ConvergenceWarning, match="accurate to a gap of 0.01 only"):
        model = SVC(kernel="linear", solver=solver).fit(X, y)
    assert model.certificate_.status == "iteration_limit"
    assert model.certificate_.relative_gap <= 1e-2
    assert model.certificate_.dual <= best * (1 + 1e-9)
    assert model.certificate_.primal >= best * (1 - 1e-9)
    assert model.certificate_.primal <= best * 1.02
    for data in (X, sp.csr_matrix(X), X.astype(np.float32)):
        enough = SVC(kernel="linear", solver=solver, criterion="gap", tol=1e-2).fit(data, y)
        assert enough.certificate_.status == "optimal"
        assert enough.certify(data, y).relative_gap <= 1.01e-2
    tube = SVR(kernel="linear", solver=solver, criterion="gap", tol=1e-2, fit_intercept=False).fit(X, target)
    assert tube.certificate_.relative_gap <= 1e-2


@pytest.mark.parametrize("solver", ["smo", "chunking", "ascent", "interior_point"])
def test_data_of_any_kind(solver):
    Z, labels = blobs(80, 4, 4, seed=1)
    several = SVC(solver=solver, tol=1e-6).fit(Z, labels)
    assert several.certificate_.status == "optimal"
    assert len(several.certificate_.parts) == 6
    sparse = SVC(solver=solver, tol=1e-6, gamma=several._gamma).fit(sp.csr_matrix(Z), labels)
    given = several.decision_function(Z)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_matrix(Z)), given, atol=1e-4)

    words = ["abc", "abe", "bcd", "xyz", "xyw", "yzw", "abx", "cdz"]
    model = SVC(kernel=common_letters, solver=solver)
    assert model.fit(words, [0, 0, 0, 1, 1, 1, 0, 1]).score(words, [0, 0, 0, 1, 1, 1, 0, 1]) == 1.0
    probable = SVC(solver=solver, probability=True).fit(X, y)
    assert (probable.predict_proba(X).argmax(axis=1) == (probable.predict(X) == probable.classes_[1])).all()


@pytest.mark.parametrize("solver", [Ascent(), Chunking(chunk=20), Ascent(order="cyclic")], ids=repr)
def test_beyond_the_memory_for_a_whole_matrix(solver):
    small = SVC(
        C=0.5, gamma=2.0, solver=solver, tol=1e-6, cache_size=0.5 if solver.name == "chunking" else 0.05
    )
    wide = SVC(C=0.5, gamma=2.0, solver=solver, tol=1e-6)
    few = {"chunking": 60}.get(solver.name, 90)
    small.fit(X[:few], y[:few])
    wide.fit(X[:few], y[:few])
    np.testing.assert_allclose(small.decision_function(X), wide.decision_function(X), atol=1e-5)


def test_limits_are_told():
    with pytest.warns(ConvergenceWarning, match="max_iter=5 after"):
        model = SVC(solver="smo", max_iter=5, tol=1e-10).fit(X, y)
    assert model.certificate_.n_iter <= 5
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        SVC(solver=Ascent(omega=0.01), time_limit=1e-3, tol=1e-12).fit(X, y)


def test_warm_start():
    model = SVC(solver="smo", warm_start=True, tol=1e-6).fit(X, y)
    first = model.n_iter_[0]
    model.fit(X, y)
    assert model.n_iter_[0] <= first // 10
    np.testing.assert_array_equal(InteriorPoint().get_params()["tol"], 1e-3)
