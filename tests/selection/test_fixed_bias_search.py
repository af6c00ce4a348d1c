"""A search scores the machine that will be fitted: some solvers have a bias of their own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from clouds import blobs
from mercer import SVC, SVR, NuSVC, SVCSearch, SVRSearch
from mercer.selection import leave_one_out
from mercer.solvers import Ascent

pytestmark = pytest.mark.core

TIGHT = {"tol": 1e-7, "precision": "double", "n_jobs": 1}
X, Y = blobs(60, 2, 2, seed=8)
KEPT = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:12]]  # unequal classes: the bias matters
X, Y = X[KEPT], Y[KEPT]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)
SOLVERS = ["ascent", Ascent(tau=0.3, omega=1.2)]
PRICES = [0.02, 0.3, 5.0]


def table(search):
    return np.array([search.cv_results_[f"split{j}_test_score"] for j in range(search.n_splits_)])


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_scores_are_those_of_the_machine_with_its_own_bias(solver, loss):
    machine, grid = SVC(solver=solver, loss=loss, gamma=0.5, **TIGHT), {"C": PRICES}
    ours = SVCSearch(estimator=machine, param_grid=grid, cv=FOLDS, scoring="roc_auc").fit(X, Y)
    theirs = GridSearchCV(machine, grid, cv=FOLDS, scoring="roc_auc").fit(X, Y)
    np.testing.assert_allclose(table(ours), table(theirs), atol=1e-12)


def test_the_fixed_bias_is_another_problem():
    grid = {"C": PRICES}
    scores = [
        table(SVRSearch(estimator=SVR(solver=solver, **TIGHT), param_grid=grid, cv=3).fit(X, X[:, 0] + 3.0))
        for solver in ("ascent", "auto")
    ]
    assert np.abs(scores[0] - scores[1]).max() > 1e-3


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_regression(solver):
    machine, grid = SVR(solver=solver, epsilon=0.05, **TIGHT), {"C": PRICES}
    target = np.sin(X[:, 0]) + 2.0
    ours = SVRSearch(estimator=machine, param_grid=grid, cv=3).fit(X, target)
    theirs = GridSearchCV(machine, grid, cv=3).fit(X, target)
    np.testing.assert_allclose(table(ours), table(theirs), atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_paths_are_those_of_the_fixed_bias(solver):
    machine = SVC(solver=solver, gamma=0.5, **TIGHT)
    ends = {"C": [0.05, 5.0]}
    path = SVCSearch(estimator=machine, param_grid=ends, cv=FOLDS, method="path", refit=False).fit(X, Y)
    curve = path.path_curves_[0]
    some = np.linspace(0, curve["C"].size - 1, 6).astype(int)
    grid = {"C": curve["C"][some]}
    direct = GridSearchCV(machine, grid, cv=FOLDS).fit(X, Y)
    np.testing.assert_allclose(curve["scores"][some], table(direct).T, atol=1e-12)


def test_leave_one_out_is_about_the_fixed_bias():
    for C in PRICES:
        model = SVC(solver="ascent", gamma=0.5, C=C, **TIGHT).fit(X, Y)
        wrong = 0
        for i in range(Y.size):
            rest = np.arange(Y.size) != i
            wrong += clone(model).fit(X[rest], Y[rest]).predict(X[[i]])[0] != Y[i]
        found = leave_one_out(model, X, Y)
        assert found.span_bound is None
        assert wrong / Y.size <= found.xi_alpha + 1e-12
        assert wrong / Y.size <= found.sv_fraction + 1e-12
    with pytest.raises(ValueError, match="a solver that leaves the bias free"):
        SVCSearch(estimator=SVC(solver="ascent"), method="span_bound", param_grid={"C": PRICES}).fit(X, Y)


def test_what_the_solver_refuses_is_not_scored():
    with pytest.raises(ValueError, match="solver='ascent'"):
        SVCSearch(estimator=NuSVC(solver="ascent"), param_grid={"nu": [0.1, 0.2]}, cv=FOLDS).fit(X, Y)


def test_a_hard_margin_with_a_fixed_bias():
    far = X + 20.0 * Y[:, None]
    machine, grid = SVC(solver="ascent", kernel="linear", **TIGHT), {"C": [1.0, np.inf]}
    ours = SVCSearch(estimator=machine, param_grid=grid, cv=FOLDS).fit(far, Y)
    np.testing.assert_array_equal(table(ours), table(GridSearchCV(machine, grid, cv=FOLDS).fit(far, Y)))
