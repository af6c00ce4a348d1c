"""partial_fit and forget are exact: after every step the model is the one that a fresh fit finds."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator
from update_bank import DATA, MACHINES, distance, fresh, function, some, targets

import mercer
from mercer import SVC, SVDD, SVR, KernelRidge, OneClassSVM
from mercer.estimators.updating.live import FRESH
from mercer.kernels import RBF

pytestmark = pytest.mark.core


def quietly(call):
    """Call something that may warn of rounding or of a collapsed plane: what counts are the values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def step(model, X, y, i, rng):
    """Learn row i and forget a random one."""
    quietly(lambda: model.partial_fit(X[i : i + 1], *([] if y is None else [y[i : i + 1]])))
    out = int(rng.integers(model.shape_fit_[0]))
    kept = getattr(model, "y_fit_", None)
    if kept is None or len(np.unique(np.delete(kept, out))) > 1:
        quietly(lambda: model.forget(out))


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", MACHINES)
def test_every_step_equals_a_fresh_fit(name, data):
    rng = np.random.default_rng(len(name) + len(data))
    X = DATA[data](rng, 44)
    machine, kind = MACHINES[name]
    y = targets(kind, X, rng)
    model = clone(machine).set_params(updatable=True)
    quietly(lambda: model.fit(X[:30], some(y, slice(0, 30))))
    for i in range(30, 44):
        step(model, X, y, i, rng)
        twin = quietly(lambda: fresh(model))
        assert distance(model, twin) < 1e-8
        assert model.certificate_.status == "optimal"
        again = quietly(
            lambda: model.certify(model.X_fit_, getattr(model, "y_fit_", None), model.sample_weight_fit_)
        )
        assert again.gap <= 1e-8 * max(abs(again.dual), 1e-2)
    if data == "plain":
        np.testing.assert_allclose(function(model, X), function(twin, X), atol=1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["hinge", "tube", "plane", "ball"])
def test_ten_thousand_steps_do_not_drift(name):
    rng = np.random.default_rng(0)
    X = DATA["plain"](rng, 5060)
    machine, kind = MACHINES[name]
    y = targets(kind, X, rng)
    model = clone(machine).set_params(updatable=True)
    model.fit(X[:60], some(y, slice(0, 60)))
    for i in range(60, 5060):  # one in, one out
        step(model, X, y, i, rng)
        if i % 250 == 0:
            assert distance(model, fresh(model)) < 1e-8
    assert distance(model, fresh(model)) < 1e-8


@pytest.mark.parametrize("name", ["hinge", "tube", "ball"])
def test_products_and_factors_are_renewed_now_and_then(name):
    rng = np.random.default_rng(13)
    X = DATA["plain"](rng, 110)
    machine, kind = MACHINES[name]
    y = targets(kind, X, rng)
    model = clone(machine).set_params(updatable=True)
    model.fit(X[:40], some(y, slice(0, 40)))
    for i in range(40, 110):
        step(model, X, y, i, rng)
    assert model._live.age > FRESH
    assert distance(model, fresh(model)) < 1e-8


def test_many_rows_at_a_time():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=300)
    model = SVR(updatable=True).fit(X[:40], y[:40])
    model.partial_fit(X[40:200], y[40:200])  # a working-set solver's work
    assert distance(model, fresh(model)) < 1e-8
    model.partial_fit(X[200:206], y[200:206])  # one walk
    assert distance(model, fresh(model)) < 1e-8
    model.forget(np.arange(10, 180))
    assert model.shape_fit_ == (36, 3)
    assert distance(model, fresh(model)) < 1e-8
    np.testing.assert_array_equal(model.X_fit_, np.delete(X[:206], np.arange(10, 180), axis=0))


def test_a_window_keeps_the_latest_rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] > 0, 1, 0)
    model = SVC(updatable=True, window=40).fit(X[:60], y[:60])
    np.testing.assert_array_equal(model.X_fit_, X[20:60])
    for i in range(60, 90):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(model.X_fit_, X[50:])
    np.testing.assert_array_equal(model.y_fit_, y[50:])
    assert distance(model, fresh(model)) < 1e-8
    model.partial_fit(X, y)  # more rows than the window holds
    np.testing.assert_array_equal(model.X_fit_, X[50:])


def test_weights_and_sparse_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.5)
    y, w = X[:, 0] + 0.1 * rng.normal(size=60), rng.integers(0, 3, size=60).astype(float)
    dense = SVR(kernel=RBF(gamma=0.3), updatable=True).fit(X[:40], y[:40], w[:40])
    sparse = SVR(kernel=RBF(gamma=0.3), updatable=True).fit(sp.csr_matrix(X[:40]), y[:40], w[:40])
    for model, rows in ((dense, X[40:]), (sparse, sp.csr_matrix(X[40:]))):
        model.partial_fit(rows, y[40:], w[40:]).forget([0, 5])
        assert distance(model, fresh(model)) < 1e-8
    np.testing.assert_allclose(dense.predict(X), sparse.predict(sp.csr_matrix(X)), atol=1e-8)


def test_any_data_that_have_a_kernel():
    from mercer.kernels import Spectrum

    words = ["aab", "abb", "bba", "bbb", "aaa", "aba", "bab", "baa"]
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    model = SVC(kernel=Spectrum(2), updatable=True).fit(words[:6], y[:6])
    model.partial_fit(words[6:], y[6:]).forget(0)
    assert list(model.X_fit_) == words[1:]
    assert distance(model, fresh(model)) < 1e-8


def test_classes_come_and_go_with_their_rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = np.repeat([0, 1, 2], 20)
    model = SVC(updatable=True).fit(X[:40], y[:40])
    model.partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert distance(model, fresh(model)) < 1e-8
    model.forget(slice(0, 20))
    np.testing.assert_array_equal(model.classes_, [1, 2])
    assert distance(model, fresh(model)) < 1e-8
    with pytest.raises(ValueError, match="greater than one"):
        model.forget(slice(0, 20))
    assert model.predict(X).size == 60  # a refused step leaves the model as it was


def test_what_depends_on_the_data_is_frozen_at_the_first_call():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    y = (rng.random(80) < 0.2).astype(int)
    model = SVC(class_weight="balanced", updatable=True).partial_fit(X[:40], y[:40])
    gamma, weights = model.kernel_.gamma, model.class_weight_.copy()
    model.partial_fit(100.0 * X[40:], y[40:])
    assert model.kernel_.gamma == gamma
    np.testing.assert_array_equal(model.class_weight_, weights)


def test_a_hard_margin_and_an_indefinite_kernel_are_solved_anew():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 2))
    y = np.where(X[:, 0] > 0, 1, 0)
    model = SVC(C=np.inf, kernel=RBF(gamma=0.5), updatable=True).fit(X[:40], y[:40])
    model.partial_fit(X[40:], y[40:]).forget([3, 4])
    assert distance(model, fresh(model)) < 1e-6
    bent = quietly(lambda: SVC(kernel="sigmoid", gamma=1.0, coef0=1.0, updatable=True).fit(X[:40], y[:40]))
    quietly(lambda: bent.partial_fit(X[40:], y[40:]))
    assert bent.certificate_.status == "stationary"


def test_probabilities_follow():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    model = SVC(probability=True, updatable=True, tol=1e-8).fit(X[:110], y[:110])
    before = model.link_slopes_.copy()
    model.partial_fit(X[110:], y[110:]).forget(np.arange(20))
    twin = fresh(model)
    assert not np.array_equal(before, model.link_slopes_)
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(X), atol=0.02)


def test_without_updatable_rows_are_refused_with_advice():
    X, y = np.random.default_rng(8).normal(size=(20, 2)), np.arange(20) % 2
    model = SVC().fit(X, y)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="updatable=True"):
        model.forget(0)
    with pytest.raises(ValueError, match="fitted without updatable"):
        model.set_params(updatable=True).forget(0)
    with pytest.raises(ValueError, match="window=3 needs updatable=True"):
        SVC(window=3).fit(X, y)
    with pytest.raises(ValueError, match="precomputed"):
        SVC(kernel="precomputed", updatable=True).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="parametric=None"):
        SVC(parametric="linear", updatable=True).fit(X, y)
    kept = SVC(updatable=True).fit(X, y)
    assert "X_fit_" not in vars(kept.set_params(updatable=False).fit(X, y))


def test_bad_rows_are_refused():
    X, y = np.random.default_rng(9).normal(size=(20, 2)), np.arange(20) % 2
    model = SVC(updatable=True).fit(X, y)
    with pytest.raises(IndexError, match="rows has 20"):
        model.forget(20)
    with pytest.raises(TypeError, match="whole numbers"):
        model.forget(1.5)
    with pytest.raises(ValueError, match="mask of shape"):
        model.forget([True, False])
    with pytest.raises(ValueError, match="names all 20 rows"):
        model.forget(slice(None))
    with pytest.raises(ValueError, match="not among classes"):
        model.partial_fit(X, y + 5, classes=[0, 1])
    with pytest.raises(ValueError, match="target y is None"):
        SVR(updatable=True).fit(X, y).partial_fit(X)
    model.forget(np.arange(20) == 3).forget(-1)
    np.testing.assert_array_equal(model.X_fit_, np.delete(X, [3, 19], axis=0))


@pytest.mark.parametrize("name", ["hinge", "pairs", "tube", "plane", "ball"])
def test_nothing_of_a_forgotten_row_remains_in_a_file(name, tmp_path):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(40, 2))
    machine, kind = MACHINES[name]
    y = targets(kind, X, rng)
    model = clone(machine).set_params(updatable=True, trace=True)
    if kind in ("labels", "classes"):
        model.set_params(probability=True)
    model.fit(X[:39], some(y, slice(0, 39)))
    model.partial_fit(X[39:], *([] if y is None else [y[39:]]))
    number = int(model.support_[0])  # one that the machine rests on
    values = [X[number, 0].tobytes(), X[number, 1].tobytes()]
    path = mercer.save(model, tmp_path / "model.mercer")
    assert all(value in path.read_bytes() for value in values)
    before = mercer.load(path)
    np.testing.assert_array_equal(before.X_fit_, X)
    for forgetful in (model, before):
        forgetful.forget(number)
        mercer.save(forgetful, path)
        pickled = pickle.dumps(forgetful)
        for value in values:
            assert value not in path.read_bytes()
            assert value not in pickled
    again = mercer.load(path)
    np.testing.assert_allclose(function(again, X), function(model, X), atol=1e-9)
    again.partial_fit(X[number : number + 1], *([] if y is None else [y[number : number + 1]]))
    assert distance(again, fresh(again)) < 1e-8


def test_a_trace_has_the_last_step_only():
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    model = SVC(updatable=True, trace=True).fit(X, y)
    model.forget(0)
    assert [len(lines) for lines in model.history_] == [1]
    assert model.history_[0][0]["gap"] <= 1e-9 * abs(model.certificate_.dual)


def test_a_copy_goes_its_own_way():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = SVC(updatable=True).fit(X, y).forget(0)
    twin = pickle.loads(pickle.dumps(model))
    model.forget(0)
    twin.forget([5, 6])
    assert distance(model, fresh(model)) < 1e-8
    assert distance(twin, fresh(twin)) < 1e-8
    before = X.copy()
    X[:] = 0.0  # the rows are copies
    np.testing.assert_array_equal(model.X_fit_, before[2:])


def partial_checks():
    """Return scikit-learn's checks that call partial_fit, of every machine that has it."""
    found = []
    for model in (SVC(), SVR(), OneClassSVM(), SVDD(), KernelRidge()):
        for estimator, check in estimator_checks_generator(model.set_params(updatable=True)):
            function = getattr(check, "func", check)
            if "partial_fit" in inspect.getsource(function) or "pickle" in function.__name__:
                found.append(
                    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{function.__name__}")
                )
    return found


@pytest.mark.parametrize(("estimator", "check"), partial_checks())
def test_scikit_learn_checks(estimator, check):
    check(estimator)
