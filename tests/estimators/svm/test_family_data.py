"""Every machine takes every kind of data that its kernel takes, and says so when something is wrong."""

import pickle
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, SphereAndSlab, kernel
from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.kernels import RBF

pytestmark = pytest.mark.core

MACHINES = [
    SVC(),
    NuSVC(nu=0.3),
    SVR(),
    SVR(loss="squared_epsilon_insensitive"),
    NuSVR(nu=0.3),
    SVDD(nu=0.2),
    SVDD(nu=0.0),
    OneClassSVM(nu=0.2),
    SphereAndSlab(nu=0.2),
]
each_machine = pytest.mark.parametrize("machine", MACHINES, ids=str)
TIGHT = {"tol": 1e-8}
GAMMA = 0.3


def data(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.3] = 0.0
    label = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, 0)
    return X, label, X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def y_for(machine, label, target):
    return label if is_classifier(machine) else target if is_regressor(machine) else None


def values(model, X, **more):
    return model.predict(X) if is_regressor(model) else model.decision_function(X, **more)


def gram_of(X, Z):
    return rbf_kernel(X, Z, gamma=GAMMA)


@each_machine
def test_the_same_answer_from_every_layout(machine):
    X, label, target = data()
    y = y_for(machine, label, target)
    machine = clone(machine).set_params(**TIGHT, gamma=GAMMA)
    expected = values(machine.fit(X, y), X)
    dense = machine.certificate_
    for make in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, np.asfortranarray, lambda X: X.tolist()):
        model = clone(machine).fit(make(X), y)
        np.testing.assert_allclose(values(model, make(X)), expected, atol=1e-6)
        np.testing.assert_allclose(values(model, X), expected, atol=1e-6)
        assert model.certificate_.dual == pytest.approx(dense.dual, rel=1e-7)
        assert sp.issparse(model.dual_coef_) == sp.issparse(make(X))
    single = clone(machine).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(values(single, X.astype(np.float32)), expected, atol=1e-4)


@each_machine
def test_the_same_answer_from_every_kind_of_kernel(machine):
    X, label, target = data()
    y = y_for(machine, label, target)
    new = np.random.default_rng(1).normal(size=(15, 3))
    machine = clone(machine).set_params(**TIGHT)
    model = clone(machine).set_params(gamma=GAMMA).fit(X, y)
    expected = values(model, new)
    for spelling in (RBF(GAMMA), gram_of, kernel(_item, psd=True)):
        other = clone(machine).set_params(kernel=spelling).fit(X, y)
        np.testing.assert_allclose(values(other, new), expected, atol=1e-6)
    given = clone(machine).set_params(kernel="precomputed").fit(gram_of(X, X), y)
    np.testing.assert_allclose(values(given, gram_of(new, X)), expected, atol=1e-6)
    certificate = given.certify(gram_of(X, X), y)
    assert certificate.gap == pytest.approx(model.certificate_.gap, abs=1e-6 * abs(certificate.dual))


def _item(x, z):
    return np.exp(-0.3 * ((x - z) ** 2).sum())


@kernel(psd=True)
def shared_letters(a, b):
    return float(len(set(a) & set(b)))


@each_machine
def test_words_through_a_kernel_for_them(machine):
    words = ["cat", "tack", "act", "dog", "god", "goad", "dogma", "attic", "tic", "good"]
    label = np.array([int("t" in w) for w in words])
    machine = clone(machine).set_params(kernel=shared_letters + 1.0)
    model = machine.fit(words, y_for(machine, label, np.array([float(len(w)) for w in words])))
    assert values(model, ["cot", "tad"]).shape == (2,)
    assert not hasattr(model, "n_features_in_")
    if is_classifier(model):
        np.testing.assert_array_equal(model.predict(["tat", "doggo"]), [1, 0])


@each_machine
def test_certify_recomputes_the_certificate(machine):
    X, label, target = data()
    y = y_for(machine, label, target)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(X))
    weight[::7] = 0
    weight[:2] = 1
    model = clone(machine).set_params(tol=1e-4).fit(X, y, sample_weight=weight)
    known, again = model.certificate_, model.certify(X, y, weight)
    assert again.primal == pytest.approx(known.primal, rel=1e-7)
    assert again.dual == pytest.approx(known.dual, rel=1e-7)
    assert again.gap == pytest.approx(known.gap, rel=1e-3, abs=1e-9 * abs(known.dual))
    assert again.kkt_violation == pytest.approx(known.kkt_violation, rel=1e-3, abs=1e-9)
    assert (again.status, again.n_iter) == (known.status, known.n_iter)
    # It is about what is shipped. A spoilt function has a worse primal value; spoilt duals prove nothing.
    model.intercept_ = model.intercept_ + 0.1
    model.dual_coef_ = model.dual_coef_ * 1.01
    spoilt = model.certify(X, y, weight)
    assert spoilt.primal != pytest.approx(known.primal, rel=1e-6)
    assert spoilt.gap > 10 * known.gap
    with pytest.raises(ValueError, match="fitted on 60"):
        model.certify(X[:10], None if y is None else y[:10])


@each_machine
def test_the_gap_criterion_proves_what_it_promises(machine):
    X, label, target = data()
    model = clone(machine).set_params(criterion="gap", tol=1e-5).fit(X, y_for(machine, label, target))
    assert model.certificate_.status == "optimal"
    assert 0 <= model.certificate_.relative_gap <= 1e-5


@each_machine
def test_limits_leave_a_usable_model(machine):
    X, label, target = data(200)
    y = y_for(machine, label, target)
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_iter=3 .*KKT violation"):
        model = clone(machine).set_params(max_iter=3, tol=1e-9).fit(X, y)
    assert model.certificate_.status == "iteration_limit"
    assert model.fit_status_ == 1
    assert np.isfinite(values(model, X)).all()
    assert model.certificate_.gap > 0
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = clone(machine).set_params(time_limit=1e-9, tol=1e-9).fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert np.isfinite(values(model, X)).all()


@each_machine
def test_a_warm_start_takes_fewer_steps(machine):
    X, label, target = data(150)
    y = y_for(machine, label, target)
    model = clone(machine).set_params(warm_start=True, tol=1e-6).fit(X, y)
    cold, expected = np.sum(model.n_iter_), values(model, X)
    model.fit(X, y)
    assert np.sum(model.n_iter_) <= max(1, cold // 10)
    np.testing.assert_allclose(values(model, X), expected, atol=1e-4)
    model.fit(X[:50], None if y is None else y[:50])  # other rows: from the beginning
    fresh = clone(machine).set_params(tol=1e-6).fit(X[:50], None if y is None else y[:50])
    np.testing.assert_allclose(values(model, X), values(fresh, X), atol=1e-4)


@each_machine
def test_the_trace_goes_down(machine, capsys):
    X, label, target = data()
    model = clone(machine).set_params(trace=True, verbose=True).fit(X, y_for(machine, label, target))
    history = model.history_[0] if is_classifier(model) else model.history_
    assert history[-1]["kkt_violation"] <= history[0]["kkt_violation"]
    assert history[-1]["dual"] >= history[0]["dual"]
    assert "KKT violation" in capsys.readouterr().out


@each_machine
def test_pickles_clones_and_grids(machine):
    X, label, target = data()
    y = y_for(machine, label, target)
    model = clone(machine).set_params(kernel=RBF(0.2)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(values(again, X), values(model, X))
    scoring = None if y is not None else lambda estimator, X, y=None: estimator.score_samples(X).mean()
    search = GridSearchCV(model, {"kernel__gamma": [0.1, 0.5]}, scoring=scoring, cv=2).fit(X, y)
    assert search.best_params_["kernel__gamma"] in (0.1, 0.5)


@pytest.mark.parametrize("machine", [SVDD(nu=0.2), SphereAndSlab(nu=0.2)], ids=str)
def test_a_given_kernel_matrix_needs_the_lengths_of_new_points(machine):
    X, _, _ = data()
    K = X @ X.T
    ball = clone(machine).set_params(kernel="linear", **TIGHT).fit(X)
    given = clone(machine).set_params(kernel="precomputed", **TIGHT)
    np.testing.assert_array_equal(given.fit_predict(K), ball.predict(X))
    with pytest.raises(ValueError, match="diag="):
        given.predict(K)
    np.testing.assert_allclose(
        given.decision_function(K[:9], diag=np.diagonal(K)[:9]), ball.decision_function(X[:9]), atol=1e-6
    )
    np.testing.assert_allclose(given.distance(K, diag=np.diagonal(K)), ball.distance(X), atol=1e-6)
    with pytest.raises(ValueError, match="2 entries for 9 rows"):
        given.predict(K[:9], diag=[1.0, 2.0])
    with pytest.raises(ValueError, match="precomputed"):
        ball.predict(X, diag=np.ones(len(X)))


@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_sigmoid_is_solved_to_a_stationary_point_without_a_gap():
    X, label, target = data()
    for machine in (NuSVC(nu=0.3), SVR(), NuSVR(nu=0.3), OneClassSVM(nu=0.2), SVDD(nu=0.2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateFitWarning)
            model = machine.set_params(kernel="sigmoid").fit(X, y_for(machine, label, target))
        assert model.certificate_.status == "stationary"
        assert np.isnan(model.certificate_.gap)


# -- what is refused -------------------------------------------------------------------------------------


def test_nu_and_c_of_a_ball_exclude_each_other():
    X, _, _ = data()
    with pytest.raises(ValueError, match=r"nu=0.2 and C=1 both say"):
        SVDD(nu=0.2, C=1.0).fit(X)
    with pytest.raises(ValueError, match=r"C=0.001 is infeasible .* 60: .* 1 / 60 = 0.0166667"):
        SVDD(C=0.001).fit(X)
    SVDD(C=1 / 60).fit(X)


@pytest.mark.parametrize(
    ("machine", "bad"),
    [
        (NuSVC, {"nu": 0.0}),
        (NuSVC, {"nu": 1.1}),
        (NuSVR, {"nu": 0.0}),
        (NuSVR, {"C": np.inf}),
        (SVR, {"C": 0.0}),
        (SVR, {"epsilon": -0.1}),
        (SVR, {"loss": "hinge"}),
        (SVDD, {"nu": -0.1}),
        (SVDD, {"C": 0.0}),
        (OneClassSVM, {"nu": 0.0}),
        (SphereAndSlab, {"n_components": 0}),
        (SphereAndSlab, {"nu": 1.5}),
    ],
)
def test_parameters_out_of_range_are_refused(machine, bad):
    X, label, target = data()
    (name,) = bad
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        machine(**bad).fit(X, y_for(machine(), label, target))


def test_targets_must_be_numbers():
    X, _, target = data()
    with pytest.raises(ValueError, match="y must hold numbers"):
        SVR().fit(X, np.array(["a"] * len(X)))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        SVR().fit(X, target[:5])
    SVR().fit(X, target.astype(object))
    SVR().fit(X, (target > 0))


def test_a_plane_with_the_origin_among_the_points_says_so():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.warns(DegenerateFitWarning, match=r"origin of feature space .* w = 0"):
        model = OneClassSVM(kernel="linear").fit(X)
    assert model.offset_[0] == 0
    assert np.isfinite(model.decision_function(X)).all()


def test_without_a_bias():
    """A regressor through the origin: the same function as with a kernel that has no constant to use."""
    X, _, target = data()
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        model = SVR(kernel="linear", fit_intercept=False, loss=loss, tol=1e-8).fit(X, target)
        assert model.intercept_[0] == 0
        assert model.certificate_.relative_gap < 1e-6
        mirrored = SVR(kernel="linear", loss=loss, C=0.5, tol=1e-8).fit(np.r_[X, -X], np.r_[target, -target])
        np.testing.assert_allclose(mirrored.coef_, model.coef_, atol=1e-5)
        assert mirrored.intercept_[0] == pytest.approx(0, abs=1e-5)


@each_machine
def test_ctrl_c_keeps_what_was_reached_or_raises(machine):
    X, label, target = data()
    y = y_for(machine, label, target)

    def pressing(X, Z):
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return gram_of(X, Z)

    pressed = []
    model = clone(machine).set_params(kernel=pressing, on_interrupt="keep", tol=1e-9, n_jobs=1).fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.gap > 0
    assert np.isfinite(values(model, X)).all()
    pressed = []
    with pytest.raises(KeyboardInterrupt):
        clone(machine).set_params(kernel=pressing, tol=1e-9, n_jobs=1).fit(X, y)
