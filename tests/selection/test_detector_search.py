"""Choosing the kernel of a detector."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVDD, OneClassSVM
from mercer.selection import DetectorSearch

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 2))
GRID = {"gamma": [0.01, 0.1, 1.0, 30.0]}


@pytest.mark.parametrize("machine", [OneClassSVM(nu=0.1), SVDD(nu=0.1)], ids=str)
def test_the_narrowest_consistent_kernel(machine):
    search = DetectorSearch(estimator=machine, param_grid=GRID).fit(X)
    accepted = search.cv_results_["mean_test_score"]
    limit = 1 - 0.1 - 2 * np.sqrt(0.1 * 0.9 / 150)
    good = [k for k in range(4) if accepted[k] >= limit]
    assert search.best_index_ == max(good, key=lambda k: GRID["gamma"][k])
    assert accepted[3] < 0.5  # the narrowest of all has learned by heart
    share = np.mean([
        (type(machine)(nu=0.1, gamma=0.1).fit(np.delete(X, rows, 0)).predict(X[rows]) > 0).mean()
        for rows in np.split(np.arange(150), 5)
    ])  # fmt: skip
    assert accepted[1] == pytest.approx(share)
    careful = search.one_standard_error_params_["gamma"]
    assert careful <= search.best_params_["gamma"]
    assert search.score_samples(X).shape == search.predict(X).shape == (150,)


def test_labels_judge_where_there_are_some():
    novel = RNG.uniform(-6, 6, size=(50, 2))
    both, y = np.vstack([X, novel]), np.repeat([1, -1], [150, 50])
    order = RNG.permutation(200)
    search = DetectorSearch(param_grid=GRID, method="kfold", scoring="balanced_accuracy")
    search.fit(both[order], y[order])
    assert search.best_score_ > 0.7
    with pytest.raises(ValueError, match="needs scoring="):
        DetectorSearch(param_grid=GRID, method="kfold").fit(both, y)


def test_pipelines_and_default_grids():
    model = make_pipeline(StandardScaler(), OneClassSVM(nu=0.2, tol=1e-2))
    search = DetectorSearch(estimator=model, cv=2).fit(X)
    assert set(search.best_params_) == {"oneclasssvm__gamma"}
    assert len(search.cv_results_["params"]) == 10


def test_refusals():
    with pytest.raises(ValueError, match="cannot choose nu"):
        DetectorSearch(param_grid={"nu": [0.1, 0.2]}).fit(X)
    with pytest.raises(ValueError, match=r"needs an estimator with 0 < nu < 1, got nu=0"):
        DetectorSearch(estimator=SVDD(nu=0), param_grid=GRID).fit(X)
    with pytest.raises(ValueError, match="does not exist for DetectorSearch"):
        DetectorSearch(method="path").fit(X)


@parametrize_with_checks([DetectorSearch(param_grid={"gamma": [0.1, 1.0]}, cv=2, n_jobs=1)])
def test_checks(estimator, check):
    check(estimator)
