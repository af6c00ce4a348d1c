"""The command as a person uses it on files of their own."""

import html
import io
import re
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.cli import run


def value(text, name):
    return re.search(rf"(?m)^{re.escape(name)}\s+(.*)$", text)[1]


def test_train_says_aloud_what_it_does_and_ends_with_a_table(mercer_command, people, tmp_path):
    done = mercer_command("train", "people.csv", "--target", "buys")
    assert done.code == 0
    assert "120 rows, 3 features; task classify: the target 'buys' has 2 different values" in done.err
    assert "standardised 2 numeric columns" in done.err
    assert "one-hot encoded 1 text column as 3 columns: 'city'" in done.err
    assert re.fullmatch(
        r"better than guessing: accuracy \S+ on 30 held-out rows \(95 % interval \S+ to \S+\); "
        r"always '(yes|no)': \S+",
        value(done.out, "use"),
    )
    assert re.search(r"balanced accuracy \S+, precision of '(yes|no)' \S+, recall", value(done.out, "also"))
    assert re.fullmatch(r"accuracy \S+ ± \S+ \(5 folds over 90 rows\)", value(done.out, "cross-validation"))
    assert re.fullmatch(r"\d+ of 120 rows \(.*%\)", value(done.out, "support vectors"))
    assert value(done.out, "certificate").startswith("optimal: proved within ")
    assert "of new rows wrong, with probability 95 %" in value(done.out, "bound")
    assert value(done.out, "time").endswith(" s")
    assert value(done.out, "model") == "people.mercer, fitted on all 120 rows"
    assert "\x1b" not in done.out + done.err  # no colours and no bars in a pipe

    model = mercer.load(tmp_path / "people.mercer")
    assert model[-1].shape_fit_[0] == 120
    assert set(model.predict(people.drop(columns="buys"))) == {"yes", "no"}


def test_the_numbers_are_those_of_the_library(mercer_command, people):
    """Held-out score, folds and the final machine can be had in Python, step by step."""
    from sklearn.compose import ColumnTransformer
    from sklearn.model_selection import StratifiedKFold, train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    done = mercer_command("train", "people.csv", "--target", "buys", "--C", "3", "--json")
    X, y = people.drop(columns="buys"), people["buys"].to_numpy()
    prepare = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["age", "income"]),
            ("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["city"]),
        ]
    )
    model = make_pipeline(prepare, mercer.SVC(C=3.0))
    rows = np.arange(120)
    train, test = (
        np.sort(part) for part in train_test_split(rows, test_size=0.25, random_state=0, stratify=y)
    )
    held_out = model.fit(X.iloc[train], y[train]).score(X.iloc[test], y[test])
    assert done.json["held_out"]["accuracy"] == pytest.approx(held_out)
    scores = [
        model.fit(X.iloc[train[a]], y[train[a]]).score(X.iloc[train[b]], y[train[b]])
        for a, b in StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train])
    ]
    np.testing.assert_allclose(done.json["cross_validation"]["scores"], scores)
    final = model.fit(X, y)[-1]
    assert done.json["support_vectors"] == final.support_.size
    assert done.json["certificate"]["primal"] == pytest.approx(final.certificate_.primal, rel=1e-6)
    assert done.json["task"] == "classify"
    assert done.json["bound"]["at_most"] > 1 - held_out


def test_predictions_are_the_models_own(mercer_command, people, tmp_path):
    mercer_command("train", "people.csv", "--target", "buys", "--probability", "-q")
    model = mercer.load(tmp_path / "people.mercer")
    new = pd.read_csv(tmp_path / "new.csv")
    done = mercer_command("predict", "people.mercer", "new.csv", "--proba", "--decision")
    found = pd.read_csv(io.StringIO(done.out))
    assert list(found.columns) == ["prediction", "p(no)", "p(yes)", "decision"]
    np.testing.assert_array_equal(found["prediction"], model.predict(new))
    np.testing.assert_array_equal(found["decision"], model.decision_function(new))
    np.testing.assert_array_equal(found[["p(no)", "p(yes)"]], model.predict_proba(new))


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_predictions_in_small_batches_are_the_same(output, mercer_command, people, tmp_path):
    """Columns that the model does not take, such as the class itself, do not disturb it."""
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    mercer_command("predict", "people.mercer", "people.csv", "-o", output, "--batch-rows", "7")
    found = pd.read_csv(output) if output.endswith("csv") else pd.read_parquet(output)
    model = mercer.load(tmp_path / "people.mercer")
    np.testing.assert_array_equal(found["prediction"], model.predict(people.drop(columns="buys")))


def test_predicting_takes_constant_memory(mercer_command, people, tmp_path):
    """Four times the rows, the same peak."""
    import tracemalloc

    mercer_command("train", "people.csv", "--target", "buys", "-q")
    text = (tmp_path / "new.csv").read_text().partition("\n")
    peaks = []
    for times in (100, 400):
        (tmp_path / "long.csv").write_text(text[0] + "\n" + text[2] * times)
        mercer_command("predict", "people.mercer", "long.csv", "-o", "out.csv", "--batch-rows", "500")
        tracemalloc.start()
        mercer_command("predict", "people.mercer", "long.csv", "-o", "out.csv", "--batch-rows", "500")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (tmp_path / "out.csv").read_text().count("\n") == 30 * times + 1
    assert peaks[1] < 1.3 * peaks[0] + 1e6


def test_predict_reads_from_a_pipe(mercer_command, people, tmp_path, monkeypatch):
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    with (tmp_path / "new.csv").open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        done = mercer_command("predict", "people.mercer", "-")
    assert len(done.out.splitlines()) == 31


def test_the_columns_may_stand_in_another_order(mercer_command, people, tmp_path):
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    straight = mercer_command("predict", "people.mercer", "new.csv").out
    new = pd.read_csv(tmp_path / "new.csv")
    new[["city", "income", "age"]].to_csv(tmp_path / "turned.csv", index=False)
    assert mercer_command("predict", "people.mercer", "turned.csv").out == straight


def test_evaluate(mercer_command, people):
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    done = mercer_command("evaluate", "people.mercer", "people.csv", "--target", "buys", "--json")
    assert done.json["rows"] == 120
    matrix = np.array(done.json["confusion"])
    assert matrix.sum() == 120
    assert done.json["scores"]["accuracy"] == pytest.approx(np.trace(matrix) / 120)
    shown = mercer_command("evaluate", "people.mercer", "people.csv").out
    assert not re.search(r"\d\.\d{4}", shown)  # digits beyond the third are chance
    assert "predicted no  predicted yes" in shown
    wrong = mercer_command("evaluate", "people.mercer", "people.csv", "--target", "age")
    assert wrong.code == 2


def test_verify_holds_for_the_file_and_its_data_alone(mercer_command, people, tmp_path):
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    good = mercer_command("verify", "people.mercer", "people.csv", "--target", "buys", "--json")
    assert good.code == 0
    assert good.json["holds"]
    assert good.json["same_data"]
    text = (tmp_path / "people.csv").read_text().splitlines()
    other = text[7].rpartition(",")
    text[7] = f"{other[0]},{'no' if other[2] == 'yes' else 'yes'}"
    (tmp_path / "people.csv").write_text("\n".join(text) + "\n")
    bad = mercer_command("verify", "people.mercer", "people.csv")
    assert bad.code == 1
    assert value(bad.out, "verdict") == "it does not hold"
    assert "the target is not the one" in bad.out


def test_weights_are_kept_for_verification(mercer_command, people, tmp_path):
    people.assign(w=np.linspace(0.5, 2.0, 120)).to_csv(tmp_path / "weighted.csv", index=False)
    done = mercer_command("train", "weighted.csv", "--target", "buys", "--weights", "w", "--json")
    assert done.json["data"]["features"] == 3
    assert mercer_command("verify", "weighted.mercer", "weighted.csv", "--target", "buys").code == 0
    shown = mercer_command("show", "weighted.mercer", "--json").json
    assert shown["weights"] == "kept"


def test_show(mercer_command, people):
    mercer_command("train", "people.csv", "--target", "buys", "--C", "2.5", "-q")
    done = mercer_command("show", "people.mercer")
    assert value(done.out, "machine") == "SVC"
    assert "C 2.5" in value(done.out, "parameters")
    assert value(done.out, "features") == "age, income, city"
    assert value(done.out, "training rows") == "120"
    assert "OneHotEncoder" in value(done.out, "preparation")


def test_missing_values_are_filled_in_unless_that_is_refused(mercer_command, people):
    refused = mercer_command("train", "gaps.csv", "--target", "buys", "--impute", "none")
    assert refused.code == 2
    assert "'income' in 1, 'city' in 1 of 120 rows" in refused.err
    assert "--impute median" in refused.err
    done = mercer_command("train", "gaps.csv", "--target", "buys")
    assert done.code == 0
    assert "replaced missing values of 'income' by the median, with an indicator column\n" in done.err
    assert "missing values of 'city' are a category of their own\n" in done.err
    assert mercer_command("predict", "gaps.mercer", "gaps.csv").code == 0
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    gap = mercer_command("predict", "people.mercer", "gaps.csv")
    assert gap.code == 2
    assert re.search(r"missing values, first in column '(income', row 4|city', row 6)", gap.err)


def test_regression_prices_follow_the_targets_unit(mercer_command):
    """Multiplying the target by a number multiplies the predictions by it."""
    table = pd.DataFrame({"x": np.linspace(0, 6, 60)})
    for unit, name in ((1.0, "one.csv"), (1000.0, "kilo.csv")):
        table.assign(y=unit * np.sin(table["x"])).to_csv(name, index=False)
        done = mercer_command("train", name, "--tolerance", 0.2 * unit, "--tol", "1e-6", "--json")
        assert done.json["task"] == "regress"
        assert done.json["bound"]["of_new_rows"] == f"missed by more than {0.2 * unit:g}"
    first = pd.read_csv(io.StringIO(mercer_command("predict", "one.mercer", "one.csv").out))["prediction"]
    second = pd.read_csv(io.StringIO(mercer_command("predict", "kilo.mercer", "kilo.csv").out))["prediction"]
    np.testing.assert_allclose(second / 1000.0, first, atol=2e-3)
    assert "give --tolerance" in mercer_command("train", "one.csv").out


def test_novelty(mercer_command, people):
    done = mercer_command("train", "people.csv", "--target", "none", "--exclude", "buys", "--nu", "0.2")
    assert "task novelty: there is no target" in done.err
    assert "falsely called novel" in value(done.out, "bound")
    found = pd.read_csv(io.StringIO(mercer_command("predict", "people.mercer", "new.csv").out))
    assert set(found["prediction"]) <= {1, -1}
    assert mercer_command("verify", "people.mercer", "people.csv", "--target", "none").code == 0


def test_report_and_its_own_command(mercer_command, people, tmp_path):
    pytest.importorskip("matplotlib")
    done = mercer_command("train", "people.csv", "--target", "buys", "--folds", "2", "--report", "page.html")
    assert done.code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert value(done.out, "use")[1:] in html.unescape(page)  # one story: the same words
    assert value(done.out, "bound") in html.unescape(page)
    assert "city: one-hot encoded" in page
    assert (
        mercer_command("report", "people.mercer", "people.csv", "--target", "buys", "--folds", "0").code == 0
    )
    assert (tmp_path / "people.html").is_file()


def test_named_data_sets_and_other_formats(mercer_command, tmp_path):
    done = mercer_command("train", "iris", "--folds", "0", "--json")
    assert done.json["data"] == {"source": "iris", "rows": 150, "features": 4}
    assert (tmp_path / "iris.mercer").is_file()
    (tmp_path / "sparse.svm").write_text(
        "".join(f"{1 if k % 2 else -1} 1:{k % 2} {2 + k % 5}:1\n" for k in range(60))
    )
    done = mercer_command("train", "sparse.svm", "--folds", "2")
    assert "scaled 6 sparse columns" in done.err
    assert mercer_command("verify", "sparse.mercer", "sparse.svm").code == 0
    assert (
        mercer_command("evaluate", "sparse.mercer", "sparse.svm", "--json").json["scores"]["accuracy"] == 1.0
    )


def test_search_and_train_with_what_it_found(mercer_command, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    table.assign(y=(table["a"] * table["b"] > 0).astype(int)).to_csv("xor.csv", index=False)
    found = mercer_command("search", "xor.csv", "--folds", "3", "--top", "3", "--best", "--json")
    assert found.code == 0
    assert len(found.json["results"]) == 3
    assert found.json["best_score"] == max(one["score"] for one in found.json["results"])
    shown = mercer_command("search", "xor.csv", "--folds", "3", "--top", "2")
    flags = re.search(r"mercer train xor.csv --target last (.*)", shown.out)[1].split()
    assert mercer_command("train", "xor.csv", *flags).code == 0
    done = mercer_command("train", "xor.csv", "--search", "--folds", "3")
    assert "chosen from" in done.err
    assert "chosen by the search" in value(done.out, "cross-validation")


def test_path(mercer_command, people):
    done = mercer_command(
        "path", "people.csv", "--target", "buys", "--C-max", "100", "--points", "4", "--json"
    )
    assert done.code == 0
    assert len(done.json["path"]) == 4
    assert all(abs(point["relative_gap"]) < 1e-6 for point in done.json["path"])
    shown = mercer_command("path", "people.csv", "--target", "buys", "--C-max", "100", "--points", "4").out
    assert "held-out accuracy" in shown
    assert "best" in shown


def test_convert_there_and_back(mercer_command, tmp_path):
    mercer_command("train", "iris", "--no-scale", "--folds", "0", "-q")
    words = mercer_command("convert", "iris.mercer", "iris.model")
    assert words.code == 2
    assert "integers" in words.err  # the classes of iris are names
    data = pd.DataFrame({"a": np.arange(40) % 7, "b": np.arange(40) % 5, "y": np.arange(40) % 2})
    data.to_csv("numbers.csv", index=False, header=False)
    mercer_command("train", "numbers.csv", "--no-scale", "-q", "--no-header")
    assert mercer_command("convert", "numbers.mercer", "numbers.model").code == 0
    assert (tmp_path / "numbers.model").read_text().startswith("svm_type c_svc\n")
    assert mercer_command("convert", "numbers.model", "again.mercer").code == 0
    first = mercer_command("predict", "numbers.mercer", "numbers.csv", "--target", "last", "--no-header").out
    assert (
        mercer_command("predict", "again.mercer", "numbers.csv", "--target", "last", "--no-header").out
        == first
    )
    mercer_command("train", "iris", "--folds", "0", "-q")
    scaled = mercer_command("convert", "iris.mercer", "iris.model")
    assert "cannot store the preprocessing (StandardScaler)" in scaled.err
    assert mercer_command("convert", "iris.mercer", "iris.xyz").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "nowhere.csv"], "the file 'nowhere.csv' does not exist"),
        (["train", "people.csv", "--target", "colour"], "its columns are 'age', 'income', 'city', 'buys'"),
        (["train", "people.csv", "--task", "guess"], "--task guess is invalid"),
        (["train", "people.csv", "--kernel", "magic"], "choose one of rbf, linear"),
        (["train", "people.csv", "--gamma", "wide"], "it must be 'scale', 'auto' or a non-negative number"),
        (["train", "people.csv", "--C", "-1"], "'C' parameter"),
        (["train", "people.csv", "--task", "regress"], "needs numbers, but the target 'buys' is text"),
        (["train", "people.csv", "--exclude", "x"], "--exclude 'x'"),
        (["train", "people.csv", "--weights", "city"], "weights must be numbers"),
        (["train", "people.csv", "--holdout", "1.5"], "--holdout 1.5"),
        (["train", "people.csv", "--folds", "1"], "--folds 1"),
        (["train", "people.csv", "--epsilon", "1"], "--epsilon is for regression"),
        (["train", "people.csv", "--nu", "0.1", "--C", "2"], "give one of the two"),
        (["train", "people.csv", "-o", "no/such/folder/x"], "does not exist"),
        (["predict", "nothing.mercer", "people.csv"], "model file nothing.mercer does not exist"),
        (["predict", "people.csv", "people.csv"], "is a text file, not a model"),
        (["show", "people.csv"], "is a text file, not a model"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, words, mercer_command, people):
    done = mercer_command(*arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert done.err.strip().splitlines()[-1].startswith("mercer: ")
    assert not done.out


def test_a_missing_column_is_named_when_predicting(mercer_command, people, tmp_path):
    mercer_command("train", "people.csv", "--target", "buys", "-q")
    pd.read_csv(tmp_path / "new.csv").drop(columns="city").to_csv(tmp_path / "less.csv", index=False)
    done = mercer_command("predict", "people.mercer", "less.csv")
    assert done.code == 2
    assert "no column 'city'" in done.err


def test_names_that_look_like_names_are_refused_as_categories(mercer_command, people, tmp_path):
    people.assign(id=[f"person {k}" for k in range(120)]).to_csv(tmp_path / "ids.csv", index=False)
    done = mercer_command("train", "ids.csv", "--target", "buys")
    assert done.code == 2
    assert "--exclude id" in done.err
    assert mercer_command("train", "ids.csv", "--target", "buys", "--exclude", "id", "-q").code == 0


def test_fewer_folds_than_asked_for_are_told(mercer_command):
    kinds = ["rare", *["x", "y"] * 19, "x"]
    table = pd.DataFrame({"a": np.arange(40) % 7, "b": np.arange(40) % 5, "y": kinds})
    table.to_csv("rare.csv", index=False)
    done = mercer_command("train", "rare.csv")
    assert done.code == 0
    assert "no folds instead of 5" in done.err
    assert "cross-validation" not in done.out


def test_limits_are_told(mercer_command):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    table.assign(y=rng.integers(0, 2, 300)).to_csv("noise.csv", index=False)
    done = mercer_command("train", "noise.csv", "--C", "1e6", "--time-limit", "1e-9", "--folds", "0")
    assert done.code == 0
    assert "warning: " in done.err
    assert value(done.out, "certificate").startswith("time_limit")


def test_usage_errors_help_and_version(mercer_command):
    assert mercer_command("trainn").code == 2
    assert mercer_command("train").code == 2
    assert mercer_command("--version").out.strip() == f"mercer {mercer.__version__}"
    for name in ("train", "predict", "evaluate", "verify", "show", "search", "path", "convert", "report"):
        text = mercer_command(name, "--help")
        assert text.code == 0
        assert f"mercer {name} " in text.out.partition("Examples")[2]
        assert "\x1b" not in text.out
    assert "Exit codes: 0 success; 1" in mercer_command("--help").out


def test_libsvms_tools_answer_to_the_command(mercer_command, tmp_path):
    (tmp_path / "d").write_text("".join(f"{1 if k % 2 else -1} 1:{k % 2} 2:{k % 5}\n" for k in range(20)))
    assert mercer_command("svm-train", "-h", "0", "-w1", "2", "-q", "d", "m").code == 0
    assert mercer_command("svm-predict", "d", "m", "o").out == "Accuracy = 100% (20/20) (classification)\n"
    assert mercer_command("svm-scale", "d").out.startswith("-1 1:-1 2:-1")
    assert mercer_command("evaluate", "m", "d", "--format", "svmlight").code == 0
    assert mercer_command("show", "m").out.startswith("file")


def test_help_needs_no_heavy_import():
    """Completion in a shell starts the command at each touch of the key."""
    import subprocess

    code = (
        "import sys, mercer.cli.app; print([m for m in ('numpy', 'sklearn', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_completion_knows_the_commands(mercer_command, monkeypatch, capsys):
    monkeypatch.setenv("_MERCER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "mercer ver")
    monkeypatch.setenv("COMP_CWORD", "1")
    capsys.readouterr()
    run([])
    assert capsys.readouterr().out.split() == ["verify"]


def test_a_bug_is_told_as_one(mercer_command, people, monkeypatch):
    import mercer.cli.learning_table

    def broken(*args):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(mercer.cli.learning_table, "prepare_table", broken)
    done = mercer_command("train", "people.csv")
    assert done.code == 70
    assert "a bug: ZeroDivisionError: oops" in done.err
    monkeypatch.setenv("MERCER_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        mercer_command("train", "people.csv")


def test_ctrl_c_leaves_nothing_behind(mercer_command, people, tmp_path, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mercer.SVC, "fit", interrupted)
    done = mercer_command("train", "people.csv", "--target", "buys")
    assert done.code == 130
    assert not (tmp_path / "people.mercer").exists()


def test_no_warning_of_python_escapes(mercer_command, people):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mercer_command("train", "people.csv", "--target", "buys", "-q").code == 0
