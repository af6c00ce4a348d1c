"""Weights of the rows in searches and paths of the command."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline

import mercer
from mercer import SVC, SVCSearch


@pytest.fixture
def weighted(tmp_path):
    """Numbers, a class and a weight; a second file has each row as often as its weight says."""
    rng = np.random.default_rng(2)
    n = 90
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["w"] = rng.integers(0, 3, size=n)
    frame["class"] = np.where(frame["a"] + 0.8 * rng.normal(size=n) > 0, "x", "y")
    frame.to_csv(tmp_path / "weighted.csv", index=False)
    return frame


def test_search_counts_rows_by_their_weights(mercer_command, weighted):
    done = mercer_command(
        "search", "weighted.csv", "--weights", "w", "--no-scale", "--folds", "3", "--top", "200", "--json"
    )
    assert done.code == 0
    X, y = weighted[["a", "b"]].to_numpy(), weighted["class"].to_numpy()
    weight = weighted["w"].to_numpy(dtype=float)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    machine = Pipeline([("machine", SVC(cache_size=500))])
    direct = SVCSearch(estimator=machine, cv=splits, refit=False).fit(X, y, sample_weight=weight)
    shown = {(r["C"], r["gamma"]): r["score"] for r in done.json["results"]}
    scores = direct.cv_results_["mean_test_score"]
    assert len(shown) == len(scores)
    for params, score in zip(direct.cv_results_["params"], scores, strict=True):
        assert shown[params["machine__C"], params["machine__gamma"]] == pytest.approx(score, abs=1e-12)
    plain = SVCSearch(estimator=machine, cv=splits, refit=False).fit(X, y)
    assert np.abs(plain.cv_results_["mean_test_score"] - scores).max() > 0.01  # the weights matter
    said = mercer_command("search", "weighted.csv", "--weights", "w", "--folds", "3").out
    assert "--weights w" in said


def test_train_searches_with_weights_and_fits_with_them(mercer_command, weighted, tmp_path):
    done = mercer_command("train", "weighted.csv", "--weights", "w", "--search", "--no-scale", "--folds", "3")
    assert done.code == 0
    assert "rows counted by their weights" in done.err
    model = mercer.load(tmp_path / "weighted.mercer")
    machine = model[-1]
    assert machine.n_features_in_ == 2
    X, y, weight = weighted[["a", "b"]], weighted["class"], weighted["w"].to_numpy(dtype=float)
    same = SVC(**machine.get_params()).fit(X.to_numpy(), y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X.to_numpy()), atol=1e-6)
    assert mercer_command("verify", "weighted.mercer", "weighted.csv").code == 0


def test_a_path_with_weights_is_that_of_repeated_rows(mercer_command, weighted, tmp_path):
    options = ("--holdout", "0", "--no-scale", "--C-max", "10", "--points", "5", "--gamma", "0.5", "--json")
    done = mercer_command("path", "weighted.csv", "--weights", "w", *options)
    rows = np.repeat(np.arange(90), weighted["w"])
    weighted.iloc[rows].drop(columns="w").to_csv(tmp_path / "repeated.csv", index=False)
    twice = mercer_command("path", "repeated.csv", *options)
    for a, b in zip(done.json["path"], twice.json["path"], strict=True):
        assert a["C"] == pytest.approx(b["C"], rel=1e-6)
        assert a["training"] == pytest.approx(b["training"])


def test_bounds_of_regression_need_a_tolerance(mercer_command):
    refused = mercer_command("search", "diabetes", "--method", "bound")
    assert refused.code == 2
    assert "--method bound needs --tolerance" in refused.err
    large = mercer_command("search", "diabetes", "--method", "bound", "--tolerance", "1e6")
    assert large.code == 2
    assert "a constant is off by at most" in large.err
    wrong = mercer_command("search", "iris", "--tolerance", "1")
    assert wrong.code == 2
    assert "--tolerance is for regression" in wrong.err


def test_scores_of_train_are_those_of_repeated_rows(mercer_command, weighted):
    options = ("--weights", "w", "--no-scale", "--folds", "3", "--json")
    done = mercer_command("train", "weighted.csv", *options)
    X, y = weighted[["a", "b"]].to_numpy(), weighted["class"].to_numpy()
    weight = weighted["w"].to_numpy()
    train, test = train_test_split(np.arange(90), test_size=0.25, random_state=0, stratify=y)
    train, test = np.sort(train), np.sort(test)

    def score(inside, outside):
        model = SVC().fit(X[inside], y[inside], sample_weight=weight[inside].astype(float))
        again = np.repeat(outside, weight[outside])
        return accuracy_score(y[again], model.predict(X[again])), recall_score(
            y[again], model.predict(X[again]), average="macro"
        )

    accuracy, balanced = score(train, test)
    held_out = done.json["held_out"]
    assert held_out["weighted"]
    assert held_out["rows"] == test.size
    assert held_out["accuracy"] == pytest.approx(accuracy)
    assert held_out["balanced accuracy"] == pytest.approx(balanced)
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(train, y[train])
    expected = [score(train[a], train[b])[0] for a, b in folds]
    assert done.json["cross_validation"]["scores"] == pytest.approx(expected)
    assert "each counted once" in done.json["bound"]["from"]
    shown = mercer_command("train", "weighted.csv", "--weights", "w", "--folds", "3").out
    assert "held-out rows, weighted" in shown
    assert "rows, weighted)" in shown


def test_scores_of_regression_count_weights(mercer_command, weighted, tmp_path):
    frame = weighted.assign(**{"class": weighted["a"] ** 2 + 0.3 * weighted["b"]})
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    done = mercer_command(
        "train", "numbers.csv", "--weights", "w", "--holdout", "0", "--folds", "0", "--json"
    )
    assert done.json["held_out"] is None
    rows = np.repeat(np.arange(90), weighted["w"])
    frame.iloc[rows].drop(columns="w").to_csv(tmp_path / "repeated.csv", index=False)
    by_weight = mercer_command("evaluate", "numbers.mercer", "numbers.csv", "--weights", "w", "--json").json
    by_row = mercer_command("evaluate", "numbers.mercer", "repeated.csv", "--json").json
    assert (by_weight["weighted"], by_row["weighted"]) == (True, False)
    assert by_weight["scores"] == pytest.approx(by_row["scores"])
    plain = mercer_command("evaluate", "numbers.mercer", "numbers.csv", "--json").json
    assert plain["scores"]["R²"] != pytest.approx(by_weight["scores"]["R²"])


def test_evaluate_counts_by_weight(mercer_command, weighted, tmp_path):
    assert mercer_command("train", "weighted.csv", "--weights", "w", "--folds", "0").code == 0
    rows = np.repeat(np.arange(90), weighted["w"])
    weighted.iloc[rows].drop(columns="w").to_csv(tmp_path / "repeated.csv", index=False)
    by_weight = mercer_command("evaluate", "weighted.mercer", "weighted.csv", "--weights", "w", "--json").json
    by_row = mercer_command("evaluate", "weighted.mercer", "repeated.csv", "--json").json
    assert by_weight["scores"] == pytest.approx(by_row["scores"])
    assert by_weight["confusion"] == by_row["confusion"]
    shown = mercer_command("evaluate", "weighted.mercer", "weighted.csv", "--weights", "w").out
    assert f"90, counted by their weights ({weighted['w'].sum()} in all)" in shown
    for column, words in (("a", "it is one of the features"), ("z", "has no column 'z'"), ("class", "text")):
        refused = mercer_command("evaluate", "weighted.mercer", "weighted.csv", "--weights", column)
        assert refused.code == 2
        assert words in refused.err
    weighted.assign(w=0).to_csv(tmp_path / "nothing.csv", index=False)
    refused = mercer_command("evaluate", "weighted.mercer", "nothing.csv", "--weights", "w")
    assert (refused.code, "all 0" in refused.err) == (2, True)
