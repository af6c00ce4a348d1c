"""Ordered classes: the optimum of an independent solver, thresholds in order, invariances, the contract."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, OrdinalSVC
from mercer.solvers import OrderedThresholds, UnsuitableSolverError

FORMS = [(c, loss) for c in ("implicit", "explicit") for loss in ("hinge", "squared_hinge")]


@parametrize_with_checks([OrdinalSVC(tol=1e-9), OrdinalSVC(constraints="explicit", tol=1e-9)])
def test_scikit_learn_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_class_weight_classifiers":
        estimator.set_params(tol=1e-6)  # the check allows no more than 1000 steps
    check(estimator)


def steps(seed=0, n=60, crossed=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.digitize(X @ [1.0, 0.5] + 0.5 * rng.normal(size=n), [-1.0, 0.0, 0.8])
    return X, np.array([0, 2, 1, 3])[y] if crossed else y


def optimum(K, y, C, constraints, loss):
    """Return the least value over coefficients, thresholds and slacks, and the thresholds."""
    clarabel = pytest.importorskip("clarabel")
    n, k = y.size, y.max() + 1
    pairs = [
        (i, j) for i in range(n) for j in range(k - 1) if constraints == "implicit" or y[i] in (j, j + 1)
    ]
    m, width = len(pairs), n + k - 1
    L = np.linalg.cholesky(K + 1e-10 * np.eye(n))  # f = L u, with ||u|| the norm of w
    squared = loss == "squared_hinge"
    P = np.concatenate([np.ones(n), np.zeros(k - 1), np.full(m, 2 * C if squared else 0.0)])
    q = np.concatenate([np.zeros(width), np.zeros(m) if squared else np.full(m, C)])
    A = np.zeros((2 * m + k - 2, width + m))
    b = np.zeros(A.shape[0])
    for row, (i, j) in enumerate(pairs):
        sign = 1.0 if y[i] > j else -1.0
        A[row, :n], A[row, n + j], A[row, width + row] = -sign * L[i], sign, -1.0
        b[row] = -1.0
        A[m + row, width + row] = -1.0
    for j in range(k - 2):
        A[2 * m + j, n + j], A[2 * m + j, n + j + 1] = 1.0, -1.0
    options = clarabel.DefaultSettings()
    options.verbose = False
    cones = [clarabel.NonnegativeConeT(A.shape[0])]
    found = clarabel.DefaultSolver(sp.csc_matrix(np.diag(P)), q, sp.csc_matrix(A), b, cones, options).solve()
    return found.obj_val, np.array(found.x[n:width])


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize(("constraints", "loss"), FORMS)
def test_the_optimum_is_that_of_a_conic_solver(constraints, loss, crossed):
    X, y = steps(crossed=crossed)
    model = OrdinalSVC(C=2.0, gamma=0.7, constraints=constraints, loss=loss, tol=1e-8).fit(X, y)
    value, thresholds = optimum(rbf_kernel(X, gamma=0.7), y, 2.0, constraints, loss)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.dual == pytest.approx(value, rel=1e-6)
    assert model.thresholds_ == pytest.approx(thresholds, abs=1e-3)
    assert (np.diff(model.thresholds_) >= 0).all()


def test_the_order_is_kept_where_it_binds():
    X, y = steps(crossed=True)
    model = OrdinalSVC(kernel="linear", constraints="explicit", tol=1e-7).fit(X, y)
    assert np.diff(model.thresholds_).min() == pytest.approx(0.0, abs=1e-12)
    proof = model.certify(X, y)
    assert 0.0 <= proof.gap <= 1e-6 * proof.primal
    again = clone(model).set_params(solver=OrderedThresholds(inner="interior_point")).fit(X, y)
    assert again.thresholds_ == pytest.approx(model.thresholds_, abs=1e-4)
    with pytest.raises(UnsuitableSolverError, match="another kind"):
        clone(model).set_params(solver="smo").fit(X, y)
    with pytest.raises(UnsuitableSolverError, match="by themselves"):
        OrdinalSVC(solver="ordered_thresholds").fit(X, y)


@pytest.mark.parametrize(("constraints", "loss"), FORMS)
def test_an_unfinished_fit_proves_what_it_can(constraints, loss):
    X, y = steps(crossed=True)
    with pytest.warns(UserWarning, match="max_iter=3"):
        model = OrdinalSVC(constraints=constraints, loss=loss, max_iter=3).fit(X, y)
    assert model.certificate_.status == "iteration_limit"
    assert 0.0 < model.certificate_.gap < np.inf
    assert model.certify(X, y).gap == pytest.approx(model.certificate_.gap)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_a_weight_of_two_is_the_row_twice_and_the_order_turns_round(seed):
    X, y = steps(seed % 7, n=30)
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 3, size=30)
    constraints, loss = FORMS[seed % 4]
    asked = {"gamma": 0.5, "constraints": constraints, "loss": loss, "tol": 1e-7, "solver": "auto"}
    twice = np.repeat(np.arange(30), weight)
    one = OrdinalSVC(**asked).fit(X, y, sample_weight=weight.astype(float))
    two = OrdinalSVC(**asked).fit(X[twice], y[twice])
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-6)
    turned = OrdinalSVC(**asked).fit(X, y.max() - y, sample_weight=weight.astype(float))
    assert turned.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-6)
    assert turned.latent(X) == pytest.approx(-one.latent(X), abs=1e-3)


def test_two_classes_are_the_support_vector_machine():
    X, y = steps()
    y = (y > 1).astype(int)
    ours, plain = OrdinalSVC(tol=1e-7).fit(X, y), SVC(tol=1e-7).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-5)


def test_class_weights_and_names_in_an_order_of_their_own(tmp_path):
    X, y = steps()
    names = np.array(["poor", "fair", "good", "best"])
    model = OrdinalSVC(order=list(names), class_weight={"best": 5.0}, tol=1e-6).fit(X, names[y])
    numbers = OrdinalSVC(class_weight={3: 5.0}, tol=1e-6).fit(X, y)
    assert list(model.classes_) == list(names)
    assert (model.predict(X) == names[numbers.predict(X)]).all()
    assert model.certify(X, names[y]).gap == pytest.approx(model.certificate_.gap, abs=1e-9)
    assert (model.margins(X, names[y]) > 0).tolist() == (model.predict(X) == names[y]).tolist()
    mercer.save(model, tmp_path / "m.mercer")
    assert (mercer.load(tmp_path / "m.mercer").predict(X) == model.predict(X)).all()
    with pytest.raises(ValueError, match="must name each class of y once"):
        OrdinalSVC(order=["poor", "fair"]).fit(X, names[y])


def test_slacks_make_the_primal_value():
    X, y = steps()
    for constraints, loss in FORMS:
        model = OrdinalSVC(kernel="linear", constraints=constraints, loss=loss).fit(X, y)
        power = 2 if loss == "squared_hinge" else 1
        value = 0.5 * (model.coef_**2).sum() + (model.slacks(X, y) ** power).sum()
        assert value == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert (model.decision_function(X).argmax(axis=1) == model.predict(X)).all()
