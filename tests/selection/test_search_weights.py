"""Sample weights in searches: a weight of two is the row twice, in fits, in scores and in the refit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clouds import blobs
from mercer import SVC, SVDD, SVR, NuSVR, OneClassSVM, SVCSearch, SVRSearch
from mercer.selection import DetectorSearch

pytestmark = pytest.mark.core

TIGHT = {"tol": 1e-8, "precision": "double", "n_jobs": 1}
RNG = np.random.default_rng(4)
X = RNG.normal(size=(70, 2))
Y = np.sin(2 * X[:, 0]) + 0.3 * RNG.normal(size=70)
WEIGHT = RNG.integers(0, 4, size=70).astype(float)
FOLDS = list(KFold(3, shuffle=True, random_state=0).split(X))


def scores(search):
    return np.array([search.cv_results_[f"split{j}_test_score"] for j in range(search.n_splits_)]).T


def by_hand(machine, candidates, judge, y=None):
    """Return what a search should find: fits with the weights, scores by the weights."""
    table = []
    for params in candidates:
        row = []
        for train, test in FOLDS:
            model = clone(machine).set_params(**params)
            model.fit(X[train], None if y is None else y[train], sample_weight=WEIGHT[train])
            row.append(judge(model, test))
        table.append(row)
    return np.array(table)


@pytest.mark.parametrize("cache_size", [1000, 0.01], ids=["shared", "alone"])
@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (SVR(gamma=0.5, **TIGHT), {"C": [0.2, 5.0], "epsilon": [0.05, 0.3]}),
        (NuSVR(gamma=0.5, **TIGHT), {"C": [0.2, 5.0], "nu": [0.2, 0.6]}),
    ],
    ids=["SVR", "NuSVR"],
)
def test_regressors(machine, grid, cache_size):
    search = SVRSearch(estimator=machine, param_grid=grid, cv=FOLDS, cache_size=cache_size)
    search.fit(X, Y, sample_weight=WEIGHT)

    def judge(model, test):
        return r2_score(Y[test], model.predict(X[test]), sample_weight=WEIGHT[test])

    expected = by_hand(machine, search.cv_results_["params"], judge, Y)
    np.testing.assert_allclose(scores(search), expected, atol=1e-5)
    final = clone(machine).set_params(**search.best_params_).fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_allclose(search.predict(X), final.predict(X), atol=1e-6)
    plain = SVRSearch(estimator=machine, param_grid=grid, cv=FOLDS).fit(X, Y)
    assert np.abs(scores(plain) - expected).max() > 1e-2  # the weights matter


@pytest.mark.parametrize("machine", [OneClassSVM(nu=0.2, **TIGHT), SVDD(nu=0.2, **TIGHT)], ids=str)
def test_detectors(machine):
    grid = {"gamma": [0.05, 0.5, 5.0]}
    search = DetectorSearch(estimator=machine, param_grid=grid, cv=FOLDS).fit(X, sample_weight=WEIGHT)

    def judge(model, test):
        return np.average(model.predict(X[test]) > 0, weights=WEIGHT[test])

    expected = by_hand(machine, search.cv_results_["params"], judge)
    np.testing.assert_allclose(scores(search), expected, atol=1e-12)
    rows = WEIGHT.sum() ** 2 / (WEIGHT**2).sum()
    assert search.cv_results_["standard_error"][0] == pytest.approx(np.sqrt(0.2 * 0.8 / rows))
    ones = DetectorSearch(estimator=machine, param_grid=grid, cv=FOLDS).fit(X, sample_weight=np.ones(70))
    plain = DetectorSearch(estimator=machine, param_grid=grid, cv=FOLDS).fit(X)
    np.testing.assert_array_equal(scores(ones), scores(plain))
    assert ones.best_params_ == plain.best_params_


def test_detectors_judged_by_labels():
    labels = np.where(np.abs(X).max(axis=1) > 1.5, -1, 1)
    machine, grid = OneClassSVM(nu=0.2, **TIGHT), {"gamma": [0.05, 0.5]}
    search = DetectorSearch(
        estimator=machine, param_grid=grid, cv=FOLDS, method="kfold", scoring="accuracy"
    ).fit(X, labels, sample_weight=WEIGHT)

    def judge(model, test):
        return np.average(model.predict(X[test]) == labels[test], weights=WEIGHT[test])

    expected = by_hand(machine, search.cv_results_["params"], judge)
    np.testing.assert_allclose(scores(search), expected, atol=1e-12)


@pytest.mark.parametrize("method", ["kfold", "path", "span_rule", "alignment", "bound"])
def test_every_method_of_regression_takes_weights(method):
    grid = {"gamma": [0.2, 1.0]} if method == "alignment" else {"C": [0.2, 5.0]}
    model = make_pipeline(StandardScaler(), SVR())
    search = SVRSearch(
        estimator=model, param_grid={f"svr__{k}": v for k, v in grid.items()}, method=method, cv=FOLDS,
        tolerance=0.3, refit=False,
    ).fit(X, Y, sample_weight=WEIGHT)  # fmt: skip
    assert np.isfinite(search.best_score_)
    constant = clone(search).fit(X, Y, sample_weight=np.full(70, 1.0))
    plain = clone(search).fit(X, Y)
    np.testing.assert_allclose(
        constant.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-6
    )


def test_weights_that_do_not_fit_are_refused():
    P, y = blobs(40, 2, 2, seed=0)
    search = SVCSearch(estimator=SVC(), param_grid={"C": [1.0]}, cv=4)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(39,\); for 40 rows it must be \(40,\)"):
        search.fit(P, y, sample_weight=np.ones(39))
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    weight = np.repeat([1.0, 0.0], 20)
    with pytest.raises(ValueError, match="zero for all 20 rows that fold 1 of 2 is judged by"):
        SVCSearch(param_grid={"C": [1.0]}, cv=halves).fit(P, y, sample_weight=weight)
