"""SVCPath and SVRPath: the machine at any C, in every form that data can have."""

import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import SVC, SVR, SVCPath, SVRPath
from mercer.estimators.svm import svcpath, svrpath
from mercer.kernels import RBF
from naive_path import clouds

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def data():
    return clouds(90, 21)


@pytest.fixture(scope="module")
def path(data):
    return SVCPath(gamma=0.5, C_max=1e3).fit(*data)


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(22)
    x = np.sort(rng.uniform(0, 6, (70, 1)), axis=0)
    return x, np.sin(x[:, 0]) + 0.2 * rng.normal(size=70)


def same_machine(ours, theirs, X, atol=1e-5):
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=atol)
    for name in (
        "certificate_",
        "support_",
        "dual_coef_",
        "intercept_",
        "n_support_",
        "shape_fit_",
        "kernel_",
    ):
        assert hasattr(ours, name)
    assert ours.certificate_.status == "optimal"
    assert ours.certificate_.gap <= 1e-8 * ours.certificate_.primal
    assert ours.certificate_.primal <= theirs.certificate_.primal * (1 + 1e-12)


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 37.0, 1e3])
def test_the_machine_at_c_is_the_fitted_one(path, data, C):
    X, y = data
    ours, theirs = path.at(C), SVC(gamma=0.5, C=C, tol=1e-9).fit(X, y)
    same_machine(ours, theirs, X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(ours.margin_, theirs.margin_, rtol=1e-6)
    assert type(ours) is SVC
    assert ours.get_params()["C"] == C
    known, anew = ours.certificate_, ours.certify(X, y)
    np.testing.assert_allclose([anew.primal, anew.dual], [known.primal, known.dual], rtol=1e-9)
    assert anew.kkt_violation <= 1e-8
    fresh = set(vars(theirs)) - {"history_"}
    assert fresh <= set(vars(ours)), "a fitted attribute is missing"


@pytest.mark.parametrize("C", [1e-3, 0.5, 20.0])
def test_the_regression_at_c_is_the_fitted_one(curve, C):
    X, y = curve
    path = SVRPath(epsilon=0.15, gamma=1.0, C_max=100.0).fit(X, y)
    theirs = SVR(epsilon=0.15, gamma=1.0, C=C, tol=1e-10).fit(X, y)
    ours = path.at(C)
    same_machine(ours, theirs, X)
    assert ours.certify(X, y).kkt_violation <= 1e-8
    assert set(vars(theirs)) - {"history_"} <= set(vars(ours))
    np.testing.assert_allclose(path.predict(X, C=[C, 50.0])[:, 0], ours.predict(X), atol=1e-10)
    np.testing.assert_allclose(path.predict(X, C=C), ours.predict(X))


def test_the_estimator_is_the_machine_at_its_own_c(path, data):
    X, y = data
    machine = path.at(path.C)
    np.testing.assert_array_equal(path.decision_function(X), machine.decision_function(X))
    np.testing.assert_array_equal(path.support_, machine.support_)
    assert path.certify(X, y).kkt_violation <= 1e-8
    assert path.score(X, y) == machine.score(X, y)
    np.testing.assert_allclose(path.slacks(X, y), machine.slacks(X, y))


def test_many_values_of_c_at_once(path, data):
    X, _ = data
    Cs = [1e-4, 0.3, 5.0, 900.0]
    table = path.decision_function(X, C=Cs)
    labels = path.predict(X, C=Cs)
    for k, C in enumerate(Cs):
        np.testing.assert_allclose(table[:, k], path.at(C).decision_function(X), atol=1e-9)
        np.testing.assert_array_equal(labels[:, k], path.predict(X, C=C))


def test_what_the_knots_say(path, data):
    X, y = data
    K = RBF(gamma=0.5)(X)
    assert (np.diff(path.Cs_) >= 0).all()
    np.testing.assert_allclose(path.Cs_ * path.lambdas_, 1.0)
    assert path.alphas_.shape == (path.Cs_.size, 90)
    assert (path.alphas_ >= 0).all()
    assert (path.alphas_ <= 1).all()
    f = path.Cs_[:, None] * (path.alphas_ * y) @ K + path.intercepts_[:, None]
    for k in range(0, path.Cs_.size, 7):
        np.testing.assert_allclose(f[k], path.at(path.Cs_[k]).decision_function(X), atol=1e-8)
    np.testing.assert_allclose(path.training_error(path.Cs_), ((f >= 0) != (y > 0)).mean(axis=1))
    assert path.events_["kind"].tolist().count("enter") > 20
    assert set(path.events_["index"]) <= set(range(90))
    assert path.C_range_ == (0.0, 1e3)
    assert path.kkt_violation_ <= 1e-8
    curves = path.curves([1.0, 2.0])
    np.testing.assert_allclose(1.0 / curves["norm"], [path.at(1.0).margin_, path.at(2.0).margin_])


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_more_than_two_classes(multiclass):
    rng = np.random.default_rng(23)
    X = rng.normal(size=(90, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=90), [-0.5, 0.6])]
    path = SVCPath(multiclass=multiclass, C_max=100.0).fit(X, y)
    theirs = SVC(multiclass=multiclass, C=3.0, tol=1e-9).fit(X, y)
    ours = path.at(3.0)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(path.predict(X, C=[3.0])[:, 0], ours.predict(X))
    assert len(path.Cs_) == len(path.alphas_) == len(path.events_) == len(path.intercepts_) == 3
    assert path.decision_function(X, C=[1.0, 3.0]).shape == (90, 3, 2)
    assert len(ours.certificate_.parts) == 3


def test_weights_classes_and_rows_of_weight_zero(data):
    X, y = data
    weight = np.random.default_rng(24).integers(0, 3, 90).astype(float)
    options = {"gamma": 0.5, "class_weight": {1.0: 2.5}}
    path = SVCPath(**options, C_max=50.0).fit(X, y, sample_weight=weight)
    theirs = SVC(**options, C=4.0, tol=1e-9).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(path.at(4.0).decision_function(X), theirs.decision_function(X), atol=1e-6)
    assert (path.alphas_[:, weight == 0] == 0).all()
    target = X[:, 0]
    curve = SVRPath(gamma=0.5, C_max=50.0).fit(X, target, sample_weight=weight)
    direct = SVR(gamma=0.5, C=4.0, tol=1e-9).fit(X, target, sample_weight=weight)
    np.testing.assert_allclose(curve.at(4.0).predict(X), direct.predict(X), atol=1e-6)
    np.testing.assert_allclose(curve.predict(X, C=[4.0])[:, 0], curve.at(4.0).predict(X), atol=1e-9)
    assert (curve.thetas_[:, weight == 0] == 0).all()


def test_sparse_precomputed_single_precision_and_text(data, path):
    X, y = data
    expected = path.decision_function(X)
    sparse = SVCPath(gamma=0.5, C_max=10.0).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), expected, atol=1e-9)
    assert sp.issparse(sparse.at(2.0).dual_coef_)
    K = RBF(gamma=0.5)(X)
    given = SVCPath(kernel="precomputed", C_max=10.0).fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), expected, atol=1e-9)
    np.testing.assert_allclose(given.decision_function(K, C=[1.0])[:, 0], expected, atol=1e-9)
    single = SVCPath(gamma=0.5, C_max=10.0).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.decision_function(X.astype(np.float32)), expected, atol=1e-4)

    @mercer.kernel(psd=True)
    def shared_letters(a, b):
        return float(len(set(a) & set(b)))

    words = ["ab", "abc", "bcd", "xy", "xyz", "yz", "abx", "zx"]
    labels = [0, 0, 0, 1, 1, 1, 0, 1]
    text = SVCPath(kernel=shared_letters, C_max=10.0).fit(words, labels)
    assert text.at(5.0).score(words, labels) >= 0.75


def test_pipelines_searches_clones_and_pickles(data, path):
    X, y = data
    search = GridSearchCV(SVCPath(C_max=10.0), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    again = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(again.at(2.5).decision_function(X), path.at(2.5).decision_function(X))
    assert clone(path).get_params() == path.get_params()


def test_every_parameter_of_the_machines_is_handed_on():
    """What SVC and SVR share with their paths is shared, unless a path has no use for it."""
    without = {"C", "verbose", "max_iter", "time_limit", "on_interrupt"}
    for one, whole, shared in ((SVC, SVCPath, svcpath.SHARED), (SVR, SVRPath, svrpath.SHARED)):
        common = set(one().get_params()) & set(whole().get_params())
        assert common - without == set(shared)


# -- refusals and limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C_min": 5.0, "C_max": 2.0}, "C_min=5.0 must be less than C_max=2.0"),
        ({"C": 20.0, "C_max": 10.0}, "C=20.0 is not on the path"),
        ({"C": 0.1, "C_min": 0.5}, "C=0.1 is not on the path"),
        ({"C_max": -1.0}, "C_max"),
        ({"kernel": "sigmoid", "coef0": -1.0}, "not positive semi-definite"),
        ({"cache_size": 0.01}, "cache_size=0.01 MB is too small"),
    ],
)
def test_refusals(data, options, message):
    for estimator in (SVCPath, SVRPath):
        with pytest.raises(ValueError, match=message):
            estimator(**options).fit(*data)


def test_values_of_c_that_are_not_on_the_path(data, path):
    X, y = data
    for C in (0.0, -1.0, 1001.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="not on the path"):
            path.at(C)
    with pytest.raises(TypeError, match="must be a number"):
        path.at("1")
    part = SVCPath(gamma=0.5, C_min=0.5, C_max=10.0).fit(X, y)
    with pytest.raises(ValueError, match=r"between 0\.5 and 10"):
        part.at(0.4)
    np.testing.assert_allclose(part.at(0.5).dual_coef_, path.at(0.5).dual_coef_, atol=1e-12)
    with pytest.raises(NotFittedError):
        SVCPath().at(1.0)
    with pytest.raises(NotFittedError):
        SVRPath().predict(X)


def test_limits_leave_a_path_that_is_exact_so_far():
    X, y = clouds(300, 25)
    with pytest.warns(ConvergenceWarning, match="max_iter=1: the path reaches C="):
        part = SVCPath(max_iter=1, C_max=1e4, C=1e4).fit(X, y)
    assert part.fit_status_ == 1
    reached = part.C_range_[1]
    assert reached < 1e4
    assert part.at(reached).certificate_.kkt_violation <= 1e-8
    assert part.certificate_.kkt_violation <= 1e-8
    with pytest.raises(ValueError, match="not on the path"):
        part.at(1e4)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        SVRPath(time_limit=1e-9).fit(X, X[:, 0])


def test_a_path_less_exact_than_asked_for_says_so(data, monkeypatch):
    X, y = data
    monkeypatch.setattr("mercer.solvers.path.breakpoints.NOISE", 0.0)
    with pytest.warns(ConvergenceWarning, match="above tol=1e-30"):
        SVCPath(tol=1e-30, C_max=1e3).fit(X, y)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_ctrl_c_keeps_the_path_so_far():
    X, y = clouds(600, 26)
    SVCPath(C_max=10.0).fit(X[:50], y[:50])  # compiled before the signal comes
    main = threading.main_thread().ident
    sent = []

    class Pressed(RBF):
        """Ctrl-C comes while kernel values are computed, once per fit."""

        def evaluate(self, X, Z=None):
            if not sent:
                sent.append(signal.pthread_kill(main, signal.SIGINT))
            return super().evaluate(X, Z)

        def fused(self):
            return None

    kept = SVCPath(kernel=Pressed(gamma=2.0), on_interrupt="keep", C_max=1e4, C=1.0).fit(X, y)
    assert kept.paths_[0].status == "interrupted"
    assert kept.C_range_[1] < 1e4
    assert kept.certificate_.kkt_violation <= 1e-8
    sent.clear()
    with pytest.raises(KeyboardInterrupt):
        SVCPath(kernel=Pressed(gamma=2.0)).fit(X, y)


def test_progress_is_told(data, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVCPath(verbose=True, C_max=10.0).fit(*data)
    assert "[SVCPath]" in capsys.readouterr().out
