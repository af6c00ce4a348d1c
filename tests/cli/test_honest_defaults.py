"""What a person with a file gets without asking: nothing that misleads."""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mercer

pytest.importorskip("typer")


def value(out, name):
    return re.search(rf"(?m)^{re.escape(name)}\s{{2,}}(.*)$", out)[1]


@pytest.fixture
def churn(tmp_path):
    """240 customers of whom one in twelve leaves; a date, gaps, a text."""
    rng = np.random.default_rng(3)
    n = 240
    frame = pd.DataFrame(
        {
            "tenure": rng.integers(1, 72, n),
            "charge": np.round(rng.normal(65, 25, n), 2),
            "plan": rng.choice(["basic", "plus"], n),
            "signup": (np.datetime64("2021-01-01") + rng.integers(0, 900, n)).astype(str),
        }
    )
    risk = frame["charge"] / 40 - frame["tenure"] / 20 + 0.4 * rng.normal(size=n)
    frame["churn"] = np.where(risk >= np.quantile(risk, 11 / 12), "yes", "no")
    frame.loc[[4, 9], "charge"] = np.nan
    frame.to_csv(tmp_path / "churn.csv", index=False)
    return frame


def test_a_search_does_not_end_in_one_class_for_everybody(mercer_command, churn):
    words = ["--class-weight", "balanced", "--search", "--probability", "--folds", "3"]
    done = mercer_command("train", "churn.csv", *words)
    assert done.code == 0
    assert "scored by balanced accuracy" in done.err
    assert "balanced accuracy" in value(done.out, "use")
    assert "always 'no': 0.5" in value(done.out, "use")
    out = mercer_command("predict", "churn.mercer", "churn.csv").out
    assert {"yes", "no"} <= set(out.split())


def test_rare_classes_count_without_being_asked(mercer_command, churn):
    done = mercer_command("train", "churn.csv", "--folds", "0")
    assert "class weight balanced" in done.err
    assert mercer.load("churn.mercer")[-1].class_weight == "balanced"
    plain = mercer_command("train", "churn.csv", "--folds", "0", "--class-weight", "none")
    assert mercer.load("churn.mercer")[-1].class_weight is None
    assert "class weight balanced" not in plain.err


def test_one_class_for_everybody_is_never_praised(mercer_command, churn):
    pytest.importorskip("matplotlib")
    words = ["--class-weight", "none", "--C", "0.01", "--scoring", "accuracy", "--report", "page.html"]
    done = mercer_command("train", "churn.csv", *words, "--folds", "2")
    assert "not useful: it predicts 'no' for every row" in value(done.out, "use")
    page = Path("page.html").read_text(encoding="utf-8")
    assert 'class="lead poor">Not useful' in page
    assert not re.search(r'class="value good"', page)
    tones = dict(re.findall(r'<div class="name">([^<]+)</div><div class="value (\w*)">', page))
    assert tones["certificate"] == "fair"


def test_scores_go_by_the_names_of_scikit_learn(mercer_command, churn):
    done = mercer_command("train", "churn.csv", "--scoring", "average_precision", "--folds", "3", "--json")
    assert done.json["scoring"] == "average precision"
    assert 0.0 < done.json["held_out"]["guess"] < 0.2
    low, high = done.json["held_out"]["interval"]
    assert low <= done.json["held_out"]["average precision"] <= high
    found = mercer_command("search", "churn.csv", "--scoring", "roc_auc", "--folds", "2", "--json")
    assert found.json["scoring"] == "roc_auc"
    wrong = mercer_command("train", "churn.csv", "--scoring", "accuracy_")
    assert (wrong.code, "Did you mean 'accuracy'?" in wrong.err) == (2, True)


@pytest.mark.parametrize("wish", ["precision=0.6", "recall=0.9", "cost=20"])
def test_thresholds_by_wish_are_kept_in_the_model(mercer_command, churn, wish):
    done = mercer_command("train", "churn.csv", "--threshold", wish, "--folds", "3", "--json")
    assert done.code == 0
    model = mercer.load("churn.mercer")
    assert model[-1].threshold == done.json["threshold"] != 0.0
    X = churn.drop(columns="churn")
    expected = np.where(model.decision_function(X) >= model[-1].threshold, "yes", "no")
    np.testing.assert_array_equal(model.predict(X), expected)
    assert "threshold" in mercer_command("show", "churn.mercer").out


def test_thresholds_that_cannot_be(mercer_command, churn):
    for wish, words in (
        ("precision=2", "at most 1"),
        ("recalls=0.5", "it must be a number"),
        ("nonsense", "it must be a number"),
    ):
        done = mercer_command("train", "churn.csv", "--threshold", wish)
        assert (done.code, words in done.err) == (2, True)
    done = mercer_command("train", "iris", "--threshold", "0.5")
    assert (done.code, "needs two classes" in done.err) == (2, True)
    done = mercer_command("train", "churn.csv", "--threshold", "recall=0.5", "--folds", "0")
    assert (done.code, "--folds 5" in done.err) == (2, True)


def test_a_higher_price_of_misses_finds_more():
    from mercer.cli.thresholds import found_threshold

    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.2, "a", "b")  # the rarer is the first: decisions are small for it
    decision = rng.normal(size=400) - 1.5 * (y == "a")

    def recall(wish):
        at, words = found_threshold(wish, "a", y, decision, None)
        called = decision < at
        precision = np.mean(y[called] == "a")
        assert f"precision {precision:.3g} " in words
        return np.mean(called[y == "a"]), precision

    costs = [recall(("cost", price))[0] for price in (0.5, 2.0, 8.0)]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
    assert recall(("recall", 0.9))[0] >= 0.9
    assert recall(("precision", 0.7))[1] >= 0.7


def test_terminal_and_page_tell_one_story(mercer_command, churn):
    pytest.importorskip("matplotlib")
    done = mercer_command("train", "churn.csv", "--probability", "--report", "page.html", "--folds", "3")
    page = html.unescape(Path("page.html").read_text(encoding="utf-8"))
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    text = re.sub(r"data:image/png;base64,[^\"]*", "", text)
    for name in ("use", "bound", "cross-validation"):
        said = value(done.out, name)
        assert said[1:] in text, said
    assert "No guarantee:" not in text
    assert "cache_size" not in text  # no dumps of parameters
    assert text.index("95 % interval") < text.index("Bound:") < text.index("certificate")
    assert '<th class="n">precision</th><th class="n">recall</th>' in text
    for picture in (
        "Confusion matrix",
        "ROC curve",
        "Precision and recall",
        "Calibration of the probabilities",
    ):
        assert f'alt="{picture}' in text
    for words in (done.out, text):
        assert not re.search(r"(?<![\d.])0(\.0+)? ?%|e\+\d+ ?%", words)


def test_regressions_show_what_their_intervals_hold(mercer_command):
    pytest.importorskip("matplotlib")
    done = mercer_command("train", "diabetes", "--folds", "3", "--report", "page.html", "--tolerance", "60")
    held = re.search(r"90 % intervals \(± (\S+)\) cover (\S+) %", value(done.out, "intervals"))
    assert 80.0 < float(held[2]) <= 100.0
    page = Path("page.html").read_text(encoding="utf-8")
    for picture in (
        "Predicted against true values",
        "Errors (residuals)",
        "Coverage of the prediction intervals",
    ):
        assert f'alt="{picture}' in page
    assert "always the mean" in value(done.out, "use")


def test_dates_and_gaps_are_said_and_used(mercer_command, churn, tmp_path):
    done = mercer_command("train", "churn.csv", "--folds", "0")
    assert "turned the dates in 'signup' into numbers" in done.err
    assert "replaced missing values of 'charge' by the median" in done.err
    first = mercer_command("predict", "churn.mercer", "churn.csv", "--decision").out
    frame = pd.read_csv(tmp_path / "churn.csv")
    frame["signup"] = pd.to_datetime(frame["signup"])
    frame.to_parquet(tmp_path / "churn.parquet")
    again = mercer_command("predict", "churn.mercer", "churn.parquet", "--decision").out
    assert first == again  # timestamps are the dates that they are
    assert mercer_command("verify", "churn.mercer", "churn.csv").code == 0


def test_another_target_does_not_replace_a_model_in_silence(mercer_command, churn):
    assert mercer_command("train", "churn.csv", "--folds", "0", "-q").code == 0
    again = mercer_command("train", "churn.csv", "--folds", "0")
    assert (again.code, "churn.mercer exists and has the same target: overwriting it" in again.err) == (
        0,
        True,
    )
    other = mercer_command("train", "churn.csv", "--folds", "0", "--target", "plan")
    assert (other.code, "churn.mercer predicts 'churn': use --force to overwrite it" in other.err) == (
        2,
        True,
    )
    forced = mercer_command("train", "churn.csv", "--folds", "0", "--target", "plan", "--force")
    assert (forced.code, "overwriting churn.mercer, which predicts 'churn'" in forced.err) == (0, True)
    assert value(mercer_command("show", "churn.mercer").out, "target") == "plan"
    Path("notes.txt").write_text("mine\n")
    lost = mercer_command("train", "churn.csv", "-o", "notes.txt")
    assert (lost.code, "not a mercer model" in lost.err) == (2, True)
    assert Path("notes.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["--target", "chrun"], "churn"),
        (["--exclude", "tenur"], "tenure"),
        (["--weights", "charges"], "charge"),
        (["--kernel", "laplacain"], "laplacian"),
    ],
)
def test_names_that_are_nearly_right(mercer_command, churn, words, meant):
    done = mercer_command("train", "churn.csv", *words)
    assert done.code == 2
    assert f"Did you mean {meant!r}?" in done.err


def test_known_novelties_judge_a_detector(mercer_command):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(140, 2)), 6.0 * rng.normal(size=(20, 2))]
    table = pd.DataFrame(X, columns=["a", "b"]).assign(label=["ok"] * 140 + ["bad"] * 20)
    table.sample(frac=1.0, random_state=0).to_csv("seen.csv", index=False)
    done = mercer_command("train", "seen.csv", "--task", "novelty", "--folds", "2", "--json")
    assert done.json["held_out"]["ROC AUC"] > 0.8
    assert 0.3 < done.json["held_out"]["average precision"] <= 1.0
    assert mercer.load("seen.mercer").n_features_in_ == 2  # the label has taught nothing
    found = mercer_command("evaluate", "seen.mercer", "seen.csv", "--json").json["scores"]
    assert {"ROC AUC", "average precision"} <= set(found)
    numbers = table.assign(label=rng.normal(size=160))
    numbers.to_csv("numbers.csv", index=False)
    assert "the target is not used" in mercer_command("train", "numbers.csv", "--task", "novelty").err


def test_rows_that_taught_a_model_do_not_praise_it(mercer_command, churn):
    mercer_command("train", "churn.csv", "--folds", "0", "-q")
    done = mercer_command("evaluate", "churn.mercer", "churn.csv")
    assert "unknown: evaluated on its training rows" in value(done.out, "use")
    churn.iloc[::-1].to_csv("turned.csv", index=False)
    assert "better than guessing" in mercer_command("evaluate", "churn.mercer", "turned.csv").out


@pytest.fixture
def sensor(mercer_command):
    """160 readings of a curve in two columns, with noise of deviation 0.3."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0.0, 6.0, size=(160, 2))
    y = 20.0 + 2.0 * np.sin(x[:, 0]) + 0.3 * rng.normal(size=160)
    pd.DataFrame(x, columns=["a", "b"]).assign(y=y).to_csv("sensor.csv", index=False)
    return x, y


def test_a_gaussian_process_shows_what_its_intervals_hold(mercer_command, sensor):
    pytest.importorskip("matplotlib")
    words = ["--machine", "gp", "--folds", "0", "--jobs", "1", "--report", "page.html"]
    done = mercer_command("train", "sensor.csv", *words)
    assert done.code == 0
    assert "better than guessing: R²" in value(done.out, "use")
    held = re.search(r"90 % intervals \(± (\S+)\) cover (\S+) %: (.*)", value(done.out, "intervals"))
    assert 0.4 < float(held[1]) < 0.7  # 1.645 times the noise and a little for the curve
    assert 75.0 < float(held[2]) <= 100.0
    assert "noise included; coverage on 40 held-out rows" in held[3]
    assert 0.2 < float(re.search("deviation ([0-9.]+):", value(done.out, "noise"))[1]) < 0.4
    page = html.unescape(Path("page.html").read_text(encoding="utf-8"))
    assert f"Intervals: {value(done.out, 'intervals')}." in page
    for picture in ("90 % prediction intervals, noise included", "Coverage of the prediction intervals"):
        assert f'alt="{picture}' in page


def test_intervals_of_a_gaussian_process_are_predicted(mercer_command, sensor):
    x, y = sensor
    mercer_command("train", "sensor.csv", "--machine", "gp", "--folds", "0", "--jobs", "1", "-q")
    model = mercer.load("sensor.mercer")
    assert model[-1].noise == "auto"
    mercer_command("predict", "sensor.mercer", "sensor.csv", "--interval", "0.9", "-o", "said.csv", "-q")
    said = pd.read_csv("said.csv")
    assert list(said) == ["prediction", "low", "high"]
    mean, std = model.predict(pd.DataFrame(x, columns=["a", "b"]), return_std=True, noise=True)
    np.testing.assert_allclose(said["high"] - said["low"], 2 * 1.6448536 * std, rtol=1e-6)
    np.testing.assert_allclose(said["prediction"], mean, rtol=1e-8)
    inside = mercer_command("evaluate", "sensor.mercer", "sensor.csv", "--json").json["intervals"]
    covered = np.mean((said["low"] <= y) & (y <= said["high"]))
    np.testing.assert_allclose(inside["coverage"]["0.9"], covered)
    assert "noise deviation" in mercer_command("show", "sensor.mercer").out
    assert mercer_command("verify", "sensor.mercer", "sensor.csv").code == 0
    for level in ("0", "1", "90"):
        refused = mercer_command("predict", "sensor.mercer", "sensor.csv", "--interval", level)
        assert (refused.code, "between 0 and 1" in refused.err) == (2, True)
    mercer_command("train", "sensor.csv", "--folds", "0", "-q")
    refused = mercer_command("predict", "sensor.mercer", "sensor.csv", "--interval", "0.9")
    assert (refused.code, "--machine gp" in refused.err) == (2, True)


def test_a_gaussian_process_of_classes(mercer_command, people):
    pytest.importorskip("matplotlib")
    words = ["--machine", "gp", "--folds", "0", "--jobs", "1", "--report", "page.html"]
    done = mercer_command("train", "people.csv", *words)
    assert (done.code, "better than guessing" in value(done.out, "use")) == (0, True)
    out = mercer_command("predict", "people.mercer", "new.csv", "--proba").out
    assert out.splitlines()[0] == "prediction,p(no),p(yes)"
    assert mercer_command("train", "iris", *words).code == 0  # three processes, three kernels


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--C", "2"], "no --C: it estimates the noise"),
        (["--epsilon", "2"], "no --epsilon"),
        (["--gamma", "2"], "no --gamma: it estimates the widths"),
        (["--class-weight", "balanced"], "no --class-weight"),
        (["--search"], "needs no --search"),
        (["--weights", "a"], "no --weights"),
        (["--threshold", "0.3"], "no --threshold"),
        (["--task", "novelty"], "needs a target"),
        (["--machine", "forest"], "choose one of svm, gp"),
    ],
)
def test_options_that_a_gaussian_process_does_not_have(mercer_command, sensor, words, said):
    done = mercer_command("train", "sensor.csv", "--machine", "gp", *words)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not Path("sensor.mercer").exists()


def test_small_units_have_digits(mercer_command, sensor):
    x, y = sensor
    pd.DataFrame(x, columns=["a", "b"]).assign(y=1e-6 * y).to_csv("small.csv", index=False)
    done = mercer_command("train", "small.csv", "--folds", "3")
    assert re.search(r"mean absolute error \d\.?\d*e-0\d", value(done.out, "also"))
    assert re.search(r"± \d\.?\d*e-0\d", value(done.out, "intervals"))
