"""Cross-validation by exact paths, against fits."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from clouds import blobs
from mercer import SVC, SVR, SVCSearch, SVRSearch

pytestmark = pytest.mark.core


def test_accuracy_is_known_for_every_c():
    X, y = blobs(70, 2, 2, seed=3)
    splits = list(StratifiedKFold(3).split(X, y))
    search = SVCSearch(param_grid={"C": [0.05, 50.0], "gamma": [0.1, 1.0]}, cv=splits, method="path").fit(
        X, y
    )
    assert len(search.path_curves_) == 2
    rng = np.random.default_rng(0)
    for curve in search.path_curves_:
        C = curve["C"]
        assert (np.diff(C) > 0).all()
        assert C[0] >= 0.05
        assert C[-1] <= 50.0
        for k in rng.choice(C.size, size=min(8, C.size), replace=False):
            for j, (train, test) in enumerate(splits):
                model = SVC(C=C[k], tol=1e-9, **curve["params"]).fit(X[train], y[train])
                assert model.score(X[test], y[test]) == pytest.approx(curve["scores"][k, j])
    fine = SVCSearch(
        estimator=SVC(tol=1e-7),
        param_grid={"C": np.geomspace(0.05, 50.0, 40), "gamma": [0.1, 1.0]},
        cv=splits,
        select="best",
    ).fit(X, y)
    best = search.cv_results_["mean_test_score"].max()
    assert best >= fine.best_score_ - 1e-12  # no grid can find better
    assert search.status_ == "complete"
    assert search.best_params_["C"] == search.best_estimator_.C


def test_other_scores_and_regression_at_many_places():
    X, y = blobs(50, 2, 2, seed=3)
    splits = list(StratifiedKFold(2).split(X, y))
    search = SVCSearch(param_grid={"C": [0.1, 10.0]}, cv=splits, method="path", scoring="roc_auc").fit(X, y)
    assert len(search.cv_results_["params"]) == 200
    k = 120
    C = search.cv_results_["params"][k]["C"]
    direct = SVCSearch(estimator=SVC(tol=1e-9), param_grid={"C": [C]}, cv=splits, scoring="roc_auc").fit(X, y)
    assert search.cv_results_["mean_test_score"][k] == pytest.approx(direct.best_score_)
    target = np.sin(X[:, 0])
    grid = {"C": [0.1, 10.0], "epsilon": [0.05, 0.2]}
    search = SVRSearch(param_grid=grid, cv=splits, method="path").fit(X, target)
    assert len(search.cv_results_["params"]) == 400
    for k in (10, 390):
        direct = SVRSearch(
            estimator=SVR(tol=1e-9),
            param_grid={n: [v] for n, v in search.cv_results_["params"][k].items()},
            cv=splits,
        ).fit(X, target)
        assert search.cv_results_["mean_test_score"][k] == pytest.approx(direct.best_score_, abs=1e-6)


def test_weights_and_pipelines_on_paths():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = blobs(60, 2, 2, seed=5)
    weight = (np.arange(60) % 3).astype(float)
    splits = list(StratifiedKFold(2).split(X, y))
    model = make_pipeline(StandardScaler(), SVC(tol=1e-9))
    search = SVCSearch(estimator=model, param_grid={"svc__C": [0.1, 10.0]}, cv=splits, method="path")
    search.fit(X, y, sample_weight=weight)
    k = len(search.cv_results_["params"]) // 2
    C = search.cv_results_["params"][k]["svc__C"]
    direct = SVCSearch(estimator=model, param_grid={"svc__C": [C]}, cv=splits).fit(X, y, sample_weight=weight)
    assert search.cv_results_["mean_test_score"][k] == pytest.approx(direct.best_score_)


def test_refusals():
    X, y = blobs(40, 2, 2, seed=5)
    with pytest.raises(ValueError, match="not piecewise linear"):
        SVCSearch(estimator=SVC(loss="squared_hinge"), param_grid={"C": [1.0, 2.0]}, method="path").fit(X, y)
    with pytest.raises(ValueError, match="asks for more"):
        SVCSearch(param_grid={"C": [1.0, 2.0]}, method="path", scoring="neg_log_loss").fit(X, y)
