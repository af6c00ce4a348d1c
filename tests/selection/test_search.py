"""Searches find what scikit-learn's find, on shared matrices or without."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.svm
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from clouds import blobs
from mercer import SVC, SVR, NuSVC, NuSVR, SVCSearch, SVRSearch, kernel
from mercer.kernels import RBF, Linear
from mercer.selection import InterruptedSearchWarning, target_alignment

pytestmark = pytest.mark.core

TIGHT = {"tol": 1e-7}
GRID = {"C": [0.1, 2.0, 50.0], "gamma": [0.02, 0.3, "scale"]}


def table(search):
    folds = search.n_splits_
    return np.array([search.cv_results_[f"split{j}_test_score"] for j in range(folds)])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scoring", [None, "accuracy", "f1_macro", "neg_log_loss"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_scores_as_grid_search(classes, scoring, n_jobs):
    X, y = blobs(90, 3, classes, seed=3)
    y = np.array(["a", "b", "c"])[y]
    machine = SVC(**({"probability": True} if scoring == "neg_log_loss" else {}), **TIGHT)
    options = {"scoring": scoring, "cv": 4, "n_jobs": n_jobs, "select": "best"}
    ours = SVCSearch(estimator=machine, param_grid=GRID, **options).fit(X, y)
    theirs = GridSearchCV(machine, GRID, scoring=scoring, cv=4).fit(X, y)
    # Probabilities are found to a tolerance of their own, from wherever the fit came.
    np.testing.assert_allclose(table(ours), table(theirs), atol=5e-3 if scoring == "neg_log_loss" else 1e-12)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=2e-2)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    shared = [name for name in theirs.cv_results_ if not name.endswith("_time")]
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    for name in shared:
        if name.startswith("param_"):
            assert list(ours.cv_results_[name]) == list(theirs.cv_results_[name])
    assert ours.status_ == "complete"


def test_same_scores_as_the_other_library():
    X, y = blobs(150, 4, 2, seed=1)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    theirs = GridSearchCV(sklearn.svm.SVC(**TIGHT), GRID, cv=folds, scoring="roc_auc").fit(X, y)
    ours = SVCSearch(estimator=SVC(**TIGHT), param_grid=GRID, cv=folds, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(table(ours), table(theirs), atol=1e-12)
    target = X[:, 0] + 0.1 * np.sin(9 * X[:, 1])
    grid = {"C": [0.1, 5.0], "epsilon": [0.01, 0.2], "gamma": [0.1, 1.0]}
    theirs = GridSearchCV(sklearn.svm.SVR(**TIGHT), grid, cv=4).fit(X, target)
    ours = SVRSearch(estimator=SVR(**TIGHT), param_grid=grid, cv=4, select="best").fit(X, target)
    np.testing.assert_allclose(table(ours), table(theirs), atol=1e-5)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (SVC(loss="squared_hinge", **TIGHT), {"C": [0.1, 3.0], "gamma": [0.1, 0.5]}),
        (SVC(fit_intercept=False, **TIGHT), {"C": [0.1, 3.0]}),
        (SVC(kernel="poly", coef0=1.0, **TIGHT), {"degree": [1, 2, 3], "C": [0.1, 1.0]}),
        (SVC(class_weight="balanced", multiclass="ovr", **TIGHT), {"C": [0.1, 1.0]}),
        (SVC(kernel=RBF() + Linear(), **TIGHT), {"kernel__k1__gamma": [0.1, 1.0], "C": [0.5]}),
        (SVC(kernel=RBF(), criterion="gap", tol=1e-6), {"kernel": [RBF(0.1), Linear()]}),
        (NuSVC(**TIGHT), {"nu": [0.2, 0.4, 0.6]}),
        (SVC(kernel=RBF(0.3).centered() + Linear(), fit_intercept=False, **TIGHT), {"C": [0.1, 1.0, 10.0]}),
        (SVC(kernel=2 * RBF([0.1, 0.2, 0.3]).normalized(), **TIGHT), {"C": [0.1, 1.0]}),
    ],
    ids=lambda v: str(v)[:40],
)
def test_other_machines(machine, grid):
    X, y = blobs(80, 3, 3, seed=5)
    ours = SVCSearch(estimator=machine, param_grid=grid, cv=3, select="best").fit(X, y)
    theirs = GridSearchCV(machine, grid, cv=3).fit(X, y)
    np.testing.assert_allclose(table(ours), table(theirs), atol=1e-12)


def test_nu_regression_and_squared_losses():
    X, _ = blobs(70, 2, 2, seed=5)
    y = np.sin(X[:, 0])
    for machine, grid in (
        (NuSVR(**TIGHT), {"nu": [0.2, 0.6], "C": [0.5, 5.0]}),
        (SVR(loss="squared_epsilon_insensitive", **TIGHT), {"C": [0.5, 5.0]}),
    ):
        ours = SVRSearch(estimator=machine, param_grid=grid, cv=3).fit(X, y)
        theirs = GridSearchCV(machine, grid, cv=3).fit(X, y)
        np.testing.assert_allclose(table(ours), table(theirs), atol=1e-5)


def test_pipelines_learn_their_scaling_from_the_training_rows():
    X, y = blobs(80, 3, 2, seed=2)
    X = X * [1.0, 100.0, 1e-3]
    model = make_pipeline(StandardScaler(), SVC(**TIGHT))
    grid = {"svc__C": [0.1, 3.0], "svc__gamma": [0.1, "scale"]}
    ours = SVCSearch(estimator=model, param_grid=grid, cv=4).fit(X, y)
    theirs = GridSearchCV(model, grid, cv=4).fit(X, y)
    np.testing.assert_array_equal(table(ours), table(theirs))
    steps = {"standardscaler": [StandardScaler(), MinMaxScaler()], "svc__C": [1.0, 3.0]}
    ours = SVCSearch(estimator=model, param_grid=steps, cv=4).fit(X, y)  # by plain fits
    np.testing.assert_array_equal(table(ours), table(GridSearchCV(model, steps, cv=4).fit(X, y)))


@pytest.mark.parametrize("kind", ["float32", "csr", "precomputed", "strings"])
def test_data_of_all_kinds(kind):
    X, y = blobs(60, 3, 2, seed=7)
    machine, grid = SVC(**TIGHT), {"C": [0.1, 3.0], "gamma": [0.1, 0.5]}
    if kind == "float32":
        X = X.astype(np.float32)
    elif kind == "csr":
        X = sp.csr_matrix(np.where(np.abs(X) < 0.4, 0.0, X))
    elif kind == "precomputed":
        X, machine, grid = RBF(0.2)(X), SVC(kernel="precomputed", **TIGHT), {"C": [0.1, 3.0]}
    else:
        X = np.array(["ab" * (k % 5 + 1) if label else "cb" * (k % 4 + 1) for k, label in enumerate(y)])
        machine, grid = SVC(kernel=letters_in_common, **TIGHT), {"C": [0.1, 3.0]}
    ours = SVCSearch(estimator=machine, param_grid=grid, cv=3, select="best").fit(X, y)
    theirs = GridSearchCV(machine, grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(table(ours), table(theirs))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@kernel(psd=True)
def letters_in_common(a, b):
    return float(sum(a.count(c) * b.count(c) for c in set(a)))


def test_without_memory_machines_are_fitted_one_by_one():
    X, y = blobs(80, 3, 2, seed=2)
    shared = SVCSearch(estimator=SVC(**TIGHT), param_grid=GRID, cv=4).fit(X, y)
    alone = SVCSearch(estimator=SVC(**TIGHT), param_grid=GRID, cv=4, cache_size=0.01).fit(X, y)
    np.testing.assert_array_equal(table(shared), table(alone))
    with pytest.raises(ValueError, match=r"works on the whole kernel matrix, but 80 rows need cache_size"):
        SVCSearch(param_grid=GRID, cache_size=0.01, method="xi_alpha").fit(X, y)


def weighted_scores(machine, candidates, splits, X, y, weight):
    """Return what a search with weights should find, by fitting and counting."""
    out = []
    for train, test in splits:
        row = []
        for params in candidates:
            model = clone(machine).set_params(**params).fit(X[train], y[train], sample_weight=weight[train])
            row.append(np.average(model.predict(X[test]) == y[test], weights=weight[test]))
        out.append(row)
    return np.array(out)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_a_weight_of_two_is_the_row_twice_in_fits_and_scores(scoring):
    X, y = blobs(80, 3, 2, seed=2)
    weight = np.random.default_rng(0).integers(0, 4, size=80).astype(float)
    splits = list(StratifiedKFold(4).split(X, y))
    ours = SVCSearch(estimator=SVC(**TIGHT), param_grid=GRID, cv=splits, scoring=scoring)
    ours.fit(X, y, sample_weight=weight)
    expected = weighted_scores(SVC(**TIGHT), ours.cv_results_["params"], splits, X, y, weight)
    np.testing.assert_allclose(table(ours), expected, atol=1e-12)
    cold = SVC(**TIGHT).set_params(**ours.best_params_).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.decision_function(X), cold.decision_function(X), atol=1e-4)
    scaled = SVCSearch(estimator=make_pipeline(StandardScaler(), SVC(**TIGHT)), param_grid={"svc__C": [1.0]})
    scaled.fit(X, y, sample_weight=weight)
    assert scaled.best_estimator_[-1].certificate_.status == "optimal"


def test_groups_and_splitters():
    X, y = blobs(60, 3, 2, seed=2)
    groups = np.arange(60) % 7
    options = {"param_grid": {"C": [0.1, 1.0]}}
    ours = SVCSearch(estimator=SVC(**TIGHT), cv=GroupKFold(3), **options).fit(X, y, groups=groups)
    theirs = GridSearchCV(SVC(**TIGHT), cv=GroupKFold(3), **options).fit(X, y, groups=groups)
    np.testing.assert_array_equal(table(ours), table(theirs))
    for cv in (
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        LeaveOneOut(),
        [(range(30), range(30, 60))],
    ):
        ours = SVCSearch(estimator=SVC(**TIGHT), cv=cv, **options).fit(X, y)
        np.testing.assert_array_equal(
            table(ours), table(GridSearchCV(SVC(**TIGHT), cv=cv, **options).fit(X, y))
        )


def test_metadata_routing():
    X, y = blobs(60, 3, 2, seed=2)
    rng = np.random.default_rng(1)
    given = {"sample_weight": rng.uniform(0.5, 2.0, size=60), "groups": np.arange(60) % 5}
    with sklearn.config_context(enable_metadata_routing=True):
        machine = SVC(**TIGHT).set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        options = {"param_grid": {"C": [0.1, 1.0]}, "cv": GroupKFold(3), "scoring": scorer}
        ours = SVCSearch(estimator=machine, **options).fit(X, y, **given)
        theirs = GridSearchCV(machine, **options).fit(X, y, **given)
        np.testing.assert_allclose(table(ours), table(theirs), atol=1e-12)
        assert not np.isin(table(ours), np.arange(21) / 20).all()  # the scores are weighted
        silent = SVC(**TIGHT).set_fit_request(sample_weight=False)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        search = SVCSearch(estimator=silent, param_grid={"C": [0.1, 1.0]}, cv=GroupKFold(3), scoring=scorer)
        with pytest.raises(TypeError, match="sample_weight"):
            search.fit(X, y, **given)


def test_scikit_learns_own_tools_take_searches():
    X, y = blobs(60, 3, 2, seed=2)
    search = SVCSearch(param_grid={"C": [0.1, 1.0]}, cv=3)
    assert cross_val_score(search, X, y, cv=3).shape == (3,)
    outer = GridSearchCV(search, {"method": ["kfold", "span_rule"]}, cv=2).fit(X, y)
    assert outer.best_params_["method"] in ("kfold", "span_rule")
    other = SVCSearch(estimator=LogisticRegression(), param_grid={"C": [0.1, 1.0]}, cv=3).fit(X, y)
    theirs = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    np.testing.assert_array_equal(table(other), table(theirs))


def test_custom_scorers_see_the_fitted_machine():
    X, y = blobs(60, 3, 2, seed=2)

    def few_support_vectors(model, X, y):
        return -float(model.n_support_.sum())

    search = SVCSearch(param_grid={"C": [0.1, 100.0]}, scoring=few_support_vectors, cv=3).fit(X, y)
    assert search.best_params_ == {"C": 100.0}


# -- the choice --------------------------------------------------------------------------------------------


def test_one_standard_error():
    X, y = blobs(120, 3, 2, seed=4)
    search = SVCSearch(param_grid=GRID | {"gamma": [0.02, 0.3]}, cv=6).fit(X, y)
    results = search.cv_results_
    means, errors = results["mean_test_score"], results["standard_error"]
    np.testing.assert_allclose(errors, table(search).std(axis=0, ddof=1) / np.sqrt(6))
    best, simple = search.best_candidate_index_, search.one_standard_error_index_
    assert means[best] == means.max()
    allowed = [k for k in range(means.size) if means[k] >= means[best] - errors[best]]
    assert simple == min(allowed, key=lambda k: (results["params"][k]["C"], results["params"][k]["gamma"]))
    chosen = SVCSearch(param_grid=GRID | {"gamma": [0.02, 0.3]}, cv=6, select="one_standard_error").fit(X, y)
    assert chosen.best_params_ == search.one_standard_error_params_
    assert chosen.best_params_["C"] == chosen.best_estimator_.C


@pytest.mark.parametrize(
    "machine", [SVC(), SVC(kernel=RBF()), SVC(kernel="poly"), NuSVC(), SVC(kernel="linear")], ids=str
)
def test_default_grids(machine):
    X, y = blobs(40, 3, 2, seed=0)
    search = SVCSearch(estimator=machine.set_params(tol=1e-2), cv=2, refit=False)
    names = {name.rpartition("__")[2] for name in _candidates(search, X, y)[0]}
    assert names & {"C", "nu"}
    if machine.kernel != "linear":
        assert names & {"gamma", "degree"}


def _candidates(search, X, y):
    from mercer.selection.parameter_grids import default_grid, settings

    return settings(default_grid(search.estimator, X, y))


def test_regression_grids_scale_with_the_target():
    X, _ = blobs(40, 3, 2, seed=0)
    y = X[:, 0]
    from mercer.selection.parameter_grids import default_grid

    one, large = default_grid(SVR(), X, y), default_grid(SVR(), X, 1000 * y)
    np.testing.assert_allclose(1000 * one["C"], large["C"])
    np.testing.assert_allclose(1000 * one["epsilon"], large["epsilon"])
    np.testing.assert_allclose(one["gamma"], large["gamma"])


# -- other methods -----------------------------------------------------------------------------------------


def test_alignment():
    X, y = blobs(60, 3, 2, seed=1)
    search = SVCSearch(param_grid={"gamma": [0.01, 0.3, 10.0]}, method="alignment").fit(X, y)
    t = np.where(y == 1, 1.0, -1.0)
    H = np.eye(60) - 1 / 60
    T = H @ np.outer(t, t) @ H
    for gamma, score in zip([0.01, 0.3, 10.0], search.cv_results_["mean_test_score"], strict=True):
        Kc = H @ RBF(gamma)(X) @ H
        assert score == pytest.approx((Kc * T).sum() / np.linalg.norm(Kc) / np.linalg.norm(T))
    rows = np.repeat(np.arange(60), np.arange(60) % 3)
    weighted = target_alignment(RBF(0.3)(X), y, classes=True, weight=(np.arange(60) % 3).astype(float))
    assert weighted == pytest.approx(target_alignment(RBF(0.3)(X[rows]), y[rows], classes=True))
    assert target_alignment(np.outer(t, t), t, classes=False) == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"cannot choose 'C'"):
        SVCSearch(param_grid={"C": [1.0]}, method="alignment").fit(X, y)


def test_bounds_choose_and_share_their_delta():
    from mercer.bounds import report

    X, y = blobs(100, 3, 2, seed=1)
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}
    search = SVCSearch(param_grid=grid, method="bound", delta=0.1).fit(X, y)
    for k, params in enumerate(search.cv_results_["params"]):
        found = report(SVC(**params).fit(X, y), X, y, delta=0.1, candidates=4).lines[0].value
        assert search.cv_results_["mean_test_score"][k] == pytest.approx(1.0 - found)
    assert len(search.bound_reports_) == 4
    with pytest.raises(ValueError, match="needs tolerance="):
        SVRSearch(param_grid={"C": [1.0]}, method="bound").fit(X, X[:, 0])


# -- refusals and early ends -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"param_grid": {"C": 1.0}}, r"param_grid\['C'\]=1.0 must be a list"),
        ({"param_grid": {"C": []}}, r"param_grid\['C'\] is empty"),
        ({"param_grid": {"C": [-1.0]}}, r"'C' parameter of SVC must be"),
        ({"param_grid": {"nonsense": [1]}}, r"Invalid parameter 'nonsense'"),
        ({"method": "guess"}, r"'method' parameter of SVCSearch"),
        ({"estimator": NuSVC(), "method": "sv_fraction"}, r"leaving points out of SVC; NuSVC is none"),
        ({"estimator": SVC(loss="squared_hinge"), "method": "xi_alpha"}, r"needs loss='hinge'"),
        ({"estimator": SVC(fit_intercept=False), "method": "span_bound"}, r"fit_intercept=True"),
        ({"method": "span_rule", "param_grid": {"C": [np.inf]}}, r"needs a finite C"),
        ({"method": "path", "param_grid": {"C": [1.0]}}, r"looks at a range of C"),
        ({"estimator": LogisticRegression()}, r"for LogisticRegression give the grid"),
    ],
)
def test_bad_input_is_refused_in_words(options, message):
    X, y = blobs(40, 3, 2, seed=0)
    with pytest.raises(ValueError, match=message):
        SVCSearch(**options).fit(X, y)


def test_statements_about_two_classes_refuse_three():
    X, y = blobs(40, 3, 3, seed=0)
    for method in ("xi_alpha", "span_bound", "bound", "path"):
        with pytest.raises(ValueError, match=r"two.class"):
            SVCSearch(param_grid={"C": [0.1, 1.0]}, method=method).fit(X, y)


def test_regressors_have_no_error_rates():
    X, y = blobs(40, 3, 2, seed=0)
    with pytest.raises(ValueError, match=r"method='xi_alpha' does not exist for SVRSearch"):
        SVRSearch(method="xi_alpha").fit(X, y.astype(float))


def test_without_refit():
    X, y = blobs(40, 3, 2, seed=0)
    search = SVCSearch(param_grid={"C": [1.0]}, refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")
    with pytest.raises(AttributeError, match="refit=False"):
        search.score(X, y)


class Interrupting:
    """A scorer of predictions that is interrupted at its n-th call."""

    _response_method = "predict"

    def __init__(self, calls):
        self.calls = calls

    def __call__(self, model, X, y):
        self.calls -= 1
        if self.calls < 0:
            raise KeyboardInterrupt
        return float((model.predict(X) == y).mean())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cache_size", [1000, 0.001])
def test_ctrl_c_keeps_the_best_so_far(n_jobs, cache_size):
    X, y = blobs(60, 3, 2, seed=0)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0, 10.0]}
    options = {"param_grid": grid, "cv": 3, "n_jobs": n_jobs, "cache_size": cache_size, "select": "best"}
    with pytest.warns(InterruptedSearchWarning, match=r"ended early \(interrupted\): \d of 9 settings"):
        search = SVCSearch(scoring=Interrupting(14), **options).fit(X, y)
    assert search.status_ == "interrupted"
    known = np.isfinite(search.cv_results_["mean_test_score"])
    assert 0 < known.sum() < 9
    whole = SVCSearch(**options).fit(X, y)
    np.testing.assert_array_equal(table(search)[:, known], table(whole)[:, known])
    assert search.best_score_ == pytest.approx(search.cv_results_["mean_test_score"][known].max())
    assert search.predict(X).shape == (60,)
    with pytest.raises(KeyboardInterrupt):
        SVCSearch(scoring=Interrupting(14), on_interrupt="raise", **options).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        SVCSearch(scoring=Interrupting(0), **options).fit(X, y)


def test_time_limits():
    X, y = blobs(60, 3, 2, seed=0)
    with pytest.raises(ValueError, match=r"time_limit=1e-09 ended the search before any of 9 settings"):
        SVCSearch(param_grid=GRID, time_limit=1e-9).fit(X, y)
    search = SVCSearch(param_grid=GRID, time_limit=1e6).fit(X, y)
    assert search.status_ == "complete"


def test_progress_is_shown_on_request(capsys):
    X, y = blobs(40, 3, 2, seed=0)
    pytest.importorskip("rich")
    SVCSearch(param_grid=GRID, cv=2, verbose=True).fit(X, y)
    shown = capsys.readouterr().out
    assert "SVCSearch" in shown
    assert "18/18" in shown
    SVCSearch(param_grid=GRID, cv=2).fit(X, y)
    assert capsys.readouterr().out == ""


def test_machines_that_stop_early_are_told_of():
    from sklearn.exceptions import ConvergenceWarning

    X, y = blobs(60, 3, 2, seed=0)
    machine = SVC(max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning) as told:
        SVCSearch(estimator=machine, param_grid={"C": [1.0, 10.0]}, cv=2, refit=False).fit(X, y)
    assert "4 fits of the search stopped before their tolerance" in str(told[0].message)


def test_searches_are_clonable_and_leave_the_machine_alone():
    X, y = blobs(40, 3, 2, seed=0)
    machine = SVC(C=7.0)
    search = clone(SVCSearch(estimator=machine, param_grid={"C": [1.0]})).fit(X, y)
    assert machine.C == 7.0
    assert not hasattr(machine, "support_")
    assert search.best_estimator_.C == 1.0
