"""What settings are judged by, and which of equals is chosen."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score

import mercer
from clouds import blobs
from mercer.selection.scoring import chosen_scoring, rare_class, row_shares, scorer_of


@pytest.fixture(scope="module")
def churn():
    """300 rows of which one in twelve leaves; the columns tell something of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    risk = X[:, 0] + 0.7 * X[:, 1] + 0.6 * rng.normal(size=300)
    return X, np.where(risk >= np.quantile(risk, 11 / 12), "yes", "no")


def test_rare_classes_are_not_judged_by_accuracy(churn, caplog):
    X, y = churn
    assert rare_class(y) == ("yes", pytest.approx(1 / 12, abs=1e-3))
    assert chosen_scoring(y, True)[0] == "balanced_accuracy"
    caplog.set_level("INFO", "mercer")
    search = mercer.SVCSearch(param_grid={"C": [0.03, 1.0, 30.0], "gamma": [1e-4, 0.1]}).fit(X, y)
    assert search.scoring_ == "balanced_accuracy"
    assert "balanced accuracy" in caplog.text
    assert set(search.predict(X)) == {"yes", "no"}  # accuracy's best says no to everybody
    plain = mercer.SVCSearch(param_grid={"C": [0.03], "gamma": [1e-4]}, scoring="accuracy").fit(X, y)
    assert plain.best_score_ > 0.9
    assert set(plain.predict(X)) == {"no"}


def test_equal_classes_and_numbers_keep_their_scores():
    X, y = blobs(60, 2, 2, seed=1)
    assert rare_class(y) is None
    assert mercer.SVCSearch(param_grid={"C": [1.0]}).fit(X, y).scoring_ == "accuracy"
    assert mercer.SVRSearch(param_grid={"C": [1.0]}).fit(X, X[:, 0]).scoring_ == "r2"
    weight = np.where(y == 1, 0.05, 1.0)
    weighed = mercer.SVCSearch(param_grid={"C": [1.0]}).fit(X, y, sample_weight=weight)
    assert weighed.scoring_ == "balanced_accuracy"  # a weight of 0.05 is a twentieth of a row


def test_a_tie_goes_to_the_simpler_machine():
    X, y = load_iris(return_X_y=True)
    search = mercer.SVCSearch().fit(X, y)
    table = search.cv_results_
    best, error = table["mean_test_score"].max(), table["standard_error"][search.best_candidate_index_]
    tied = [
        p["C"] for p, m in zip(table["params"], table["mean_test_score"], strict=True) if m >= best - error
    ]
    assert search.best_params_["C"] == min(tied) < 32
    best = mercer.SVCSearch(select="best").fit(X, y)
    assert best.best_params_["C"] <= 32  # 8192 has the same score but for rounding


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("average_precision", lambda y, F, p: average_precision_score(y == "a", -F)),
        ("f1", lambda y, F, p: f1_score(y == "a", p == "a")),
    ],
)
def test_scores_of_one_class_are_about_the_rarer_by_any_name(name, by_hand):
    X, y = blobs(80, 2, 2, seed=2)
    y = np.where((y == 1) & (np.arange(80) % 3 == 0), "a", "b")
    model = mercer.SVC(class_weight="balanced").fit(X, y)
    value = scorer_of(model, name, y)(model, X, y)
    assert value == pytest.approx(by_hand(y, model.decision_function(X), model.predict(X)))


def test_paths_know_balanced_accuracy_for_every_price(churn):
    X, y = churn
    search = mercer.SVCSearch(method="path", param_grid={"C": [0.1, 20.0], "gamma": [0.2]}, cv=3).fit(X, y)
    (curve,) = search.path_curves_
    assert search.scoring_ == "balanced_accuracy"
    folds = mercer.SVCSearch(
        estimator=mercer.SVC(tol=1e-8), param_grid={"C": curve["C"][::15], "gamma": [0.2]}, cv=3
    ).fit(X, y)
    np.testing.assert_allclose(
        folds.cv_results_["mean_test_score"], curve["mean_test_score"][::15], atol=1e-9
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_of_rows_make_the_scores(weighted):
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    weight = rng.random(50) if weighted else None
    shares = row_shares("balanced_accuracy", y, weight)
    assert shares @ (y == p) == pytest.approx(balanced_accuracy_score(y, p, sample_weight=weight))
    assert row_shares("roc_auc", y) is None


def test_recommendations_follow_the_same_rule(churn):
    X, y = churn
    advice = mercer.recommend(X, y, time_budget=120)
    assert advice.scoring == "balanced_accuracy"
    assert advice.baseline == pytest.approx(0.5)
    assert set(advice.fit(X, y).predict(X)) == {"yes", "no"}
    precise = mercer.recommend(X, y, time_budget=120, scoring="average_precision")
    assert precise.baseline == pytest.approx(1 / 12, abs=0.01)
    assert precise.score > 0.3
