"""The linear kernel's support vector machines, solved in the weights of the features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR
from mercer.gram import gram
from mercer.kernels import RBF, Linear
from mercer.problems import soft_margin
from mercer.problems.losses.check import refuse_wrong_loss
from mercer.problems.losses.of_box import BoxLoss
from mercer.solvers import Decomposition, DualNewton, UnsuitableSolverError, suited

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, :8]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 0.01},
        {"loss": "squared_hinge"},
        {"fit_intercept": False},
        {"loss": "squared_hinge", "fit_intercept": False},
        {"class_weight": {0: 5.0, 1: 0.2}},
        {"criterion": "gap", "tol": 1e-7},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_it_finds_the_machine_of_decomposition(params, kind):
    weight = np.where(np.arange(Y.size) % 7, 1.0, 0.0)
    params = {"kernel": "linear", "tol": 1e-5, **params}
    ours = SVC(solver="dual_newton", **params).fit(kind(X), Y, sample_weight=weight)
    theirs = SVC(solver="decomposition", **params).fit(kind(X), Y, sample_weight=weight)
    assert ours.certificate_.status == theirs.certificate_.status == "optimal"
    np.testing.assert_allclose(ours.certificate_.primal, theirs.certificate_.primal, rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(kind(X)), theirs.decision_function(kind(X)), atol=5e-3)
    assert ours.certify(kind(X), Y, sample_weight=weight).status == "optimal"
    if params.get("loss") == "squared_hinge":  # its multipliers are unique
        assert ours.support_.tolist() == theirs.support_.tolist()
        np.testing.assert_allclose(ours._coefficients, theirs._coefficients, atol=1e-3)


def test_many_classes_probabilities_traces_and_warm_starts():
    A, b = load_iris(return_X_y=True)
    for probability in ({}, {"probability": True}):
        params = {"kernel": "linear", "random_state": 0, "tol": 1e-5} | probability
        ours = SVC(solver="dual_newton", **params).fit(A, b)
        theirs = SVC(solver="decomposition", **params).fit(A, b)
        np.testing.assert_allclose(ours.decision_function(A), theirs.decision_function(A), atol=1e-2)
        if probability:
            np.testing.assert_allclose(ours.predict_proba(A), theirs.predict_proba(A), atol=2e-2)
    model = SVC(kernel="linear", solver="dual_newton", trace=True, warm_start=True).fit(X, Y)
    gaps = [row["gap"] for row in model.history_[0]]
    assert gaps[-1] < 1e-2 * gaps[0]
    first = int(model.n_iter_[0])
    assert int(model.fit(X, Y).n_iter_[0]) < first


def test_limits_are_kept():
    with pytest.warns(match="max_iter=2"):
        model = SVC(kernel="linear", solver="dual_newton", max_iter=2).fit(X, Y)
    assert model.certificate_.status == "iteration_limit"
    assert np.isfinite(model.certificate_.gap)


def test_it_is_chosen_for_many_rows_and_few_features():
    rng = np.random.default_rng(0)
    for n, width, solver in ((3000, 8, DualNewton), (500, 8, Decomposition), (3000, 200, Decomposition)):
        Z = rng.normal(size=(n, width))
        problem = soft_margin(np.where(Z[:, 0] > 0, 1.0, -1.0), C=np.ones(n))
        assert isinstance(suited(gram(Linear(), Z), problem), solver)
        assert isinstance(suited(gram(RBF(1.0), Z), problem), Decomposition)


def test_what_it_cannot_solve_it_refuses_in_words():
    with pytest.raises(UnsuitableSolverError, match="linear kernel"):
        SVC(solver="dual_newton").fit(X, Y)
    with pytest.raises(UnsuitableSolverError, match="finite C"):
        SVC(kernel="linear", C=np.inf, solver="dual_newton").fit(X, Y)
    with pytest.raises(UnsuitableSolverError, match="hinge losses"):
        SVR(kernel="linear", solver="dual_newton").fit(X, Y)


@pytest.mark.parametrize("r", [0.0, 0.5])
def test_the_loss_of_a_box_is_one(r):
    rng = np.random.default_rng(1)
    lo, hi = -rng.random(30), rng.random(30)
    loss = BoxLoss(rng.normal(size=30), r, lo, hi)
    y = np.arange(30.0)
    refuse_wrong_loss(loss, y, rng)
    f, a = rng.normal(size=30), rng.uniform(lo, hi)
    excess = loss.value(y, f) + loss.conjugate(y, -a) + a * f
    np.testing.assert_allclose(loss.excess(y, f, -a), excess, atol=1e-12)
    assert (excess >= -1e-12).all()
    np.testing.assert_allclose(loss.excess(y, f, loss.derivative(y, f)), 0.0, atol=1e-12)
    assert np.isinf(loss.conjugate(y, -(hi + 0.1))).all()
