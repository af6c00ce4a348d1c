"""What the command says of files as people have them."""

import re
import shlex
import sys

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")


def customers(rows=80):
    lines = [",".join(["id", "since", "spend", "plan", "site", "outcome"])]
    for k in range(rows):
        day = f"2023-{k % 12 + 1:02d}-{k // 12 + 1:02d}"
        spend, plan = 20 + (7 * k) % 60, ("basic", "gold plus")[k % 2]
        outcome = "will leave" if spend < 45 else "stays on"
        lines.append(f"C{k:04d},{day},{spend},{plan},web,{outcome}")
    return "\n".join(lines) + "\n"


def test_names_are_told_with_the_way_out_and_dates_become_numbers(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text(customers())
    done = mercer_command("train", "data.csv", "--target", "outcome")
    assert done.code == 2
    assert "column 'id' has 80 different texts" in done.err
    assert "since" not in done.err.splitlines()[-1]
    assert "--exclude id" in done.err
    done = mercer_command("train", "data.csv", "--target", "outcome", "--exclude", "id")
    assert done.code == 0
    assert "turned the dates in 'since' into numbers" in done.err
    assert mercer_command("predict", "data.mercer", "data.csv").code == 0
    done = mercer_command("train", "data.csv", "--target", "outcome", "--exclude", "id", "--no-dates")
    assert done.code == 0
    assert "dropped the dates in 'since'" in done.err
    assert mercer_command("predict", "data.mercer", "data.csv").code == 0
    assert "constant columns, not informative: 'site'" in done.err


def test_a_name_with_a_space_can_be_copied_into_the_shell(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text(customers().replace("id,since", "customer id,since"))
    done = mercer_command("train", "data.csv", "--target", "outcome", "--exclude", "since")
    assert "--exclude 'customer id'" in done.err


def test_a_target_that_is_a_name(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text(customers())
    done = mercer_command("train", "data.csv", "--target", "id", "--exclude", "since")
    assert done.code == 2
    assert "the target 'id' has 80 different texts in 80 rows" in done.err
    assert "too many for classes" in done.err


def test_a_target_with_one_value(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n" + "1,same kind\n2,same kind\n" * 10)
    assert "is constant, 'same kind': there is" in mercer_command("train", "data.csv").err


def test_one_feature_is_not_features(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n" + "".join(f"{k},{'xy'[k % 2]}\n" for k in range(20)))
    done = mercer_command("train", "data.csv", "--folds", "0")
    assert done.code == 0
    assert "20 rows, 1 feature; task" in done.err


def test_decimal_commas_are_read_and_said(mercer_command, tmp_path):
    rows = "".join(f"{k},5;{k % 3};{2 * k},25\n" for k in range(40))
    (tmp_path / "haus.csv").write_text("Fläche;Zimmer;Preis\n" + rows)
    done = mercer_command("train", "haus.csv", "--target", "Preis", "--C", "100")
    assert done.code == 0
    assert "task regress: the target 'Preis' is a number" in done.err
    assert "decimal separator ','" in done.err
    done = mercer_command("predict", "haus.mercer", "haus.csv")
    assert done.code == 0
    first = float(done.out.splitlines()[1].split(",")[0])
    assert abs(first - 0.25) < 20
    assert mercer_command("verify", "haus.mercer", "haus.csv", "--target", "Preis").code == 0
    done = mercer_command("train", "haus.csv", "--target", "Preis", "--decimal", ".", "--task", "regress")
    assert "needs numbers, but the target 'Preis' is text such as '0,25'" in done.err


def test_the_target_cannot_be_left_out(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text(customers())
    done = mercer_command("train", "data.csv", "--exclude", "outcome")
    assert done.code == 2
    assert "--exclude 'outcome': it is the target" in done.err


def test_gaps_of_texts_are_not_filled_by_a_median(mercer_command, tmp_path):
    lines = customers().splitlines()
    lines[3] = lines[3].replace("gold plus", "").replace("basic", "")
    lines[5] = ",".join([*lines[5].split(",")[:2], "", *lines[5].split(",")[3:]])
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    words = ["--target", "outcome", "--exclude", "id", "--exclude", "since", "--impute", "median"]
    done = mercer_command("train", "data.csv", *words, "--gamma", "0.12345678")
    assert done.code == 0
    assert "replaced missing values of 'spend' by the median, with an" in done.err
    assert "missing values of 'plan' are a category of their own\n" in done.err

    shown = mercer_command("show", "data.mercer").out
    where = "with indicator columns (SimpleImputer)"
    assert f"spend: missing values replaced by median, {where}, standardised (StandardScaler)" in shown
    assert "one-hot encoded (OneHotEncoder)" in shown
    assert "ColumnTransformer(" not in shown
    assert "RBF(gamma=0.12346)" in shown
    assert mercer_command("show", "data.mercer", "--json").json["kernel"] == "RBF(gamma=0.12345678)"


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_whole_words(mercer_command, tmp_path, monkeypatch, colour):
    (tmp_path / "data.csv").write_text(customers())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color" if colour else "dumb")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    told = mercer_command("train", "data.csv", "--target", "outcome", "-q").err
    assert told.count("mercer:") == 1
    assert ("\x1b[1;31mmercer:\x1b[0m" in told) == colour
    lines = re.sub(r"\x1b\[[\d;]*m", "", told).splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 60
    assert "--exclude" in " ".join(lines)


@pytest.mark.parametrize("verb", ["predict", "show"])
def test_data_in_the_place_of_a_model(mercer_command, tmp_path, verb):
    (tmp_path / "data.csv").write_text(customers())
    done = mercer_command(verb, "data.csv", *(["data.csv"] if verb == "predict" else []))
    assert done.code == 2
    assert "data.csv is a text file, not a model" in done.err


def test_every_feature_left_out(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    done = mercer_command("train", "data.csv", "--exclude", "a")
    assert done.code == 2
    assert "--exclude leaves no feature of data.csv" in done.err


def test_texts_that_training_had_not_are_told(mercer_command, tmp_path):
    words = ["--target", "outcome", "--exclude", "id", "--exclude", "since"]
    (tmp_path / "data.csv").write_text(customers())
    assert mercer_command("train", "data.csv", *words, "--folds", "0").code == 0
    assert "warning" not in mercer_command("predict", "data.mercer", "data.csv").err

    (tmp_path / "new.csv").write_text(customers(30).replace("gold plus", "platinum"))
    told = "column 'plan' has values not seen in training: 'platinum'"
    done = mercer_command("predict", "data.mercer", "new.csv", "--batch-rows", "7")
    assert done.code == 0
    assert done.err.count(told) == 1
    assert len(done.out.splitlines()) == 31
    assert told in mercer_command("evaluate", "data.mercer", "new.csv", "--target", "outcome").err


def test_an_encoding_is_asked_for_and_taken_by_every_command(mercer_command, people, tmp_path):
    text = (tmp_path / "people.csv").read_text().replace("Oslo", "Malmö").replace("Lima", "Zürich")
    (tmp_path / "windows.csv").write_bytes(text.encode("cp1252"))
    (tmp_path / "excel.csv").write_bytes(text.encode("utf-16"))
    refused = mercer_command("train", "windows.csv")
    assert refused.code == 2
    assert "is not UTF-8" in refused.err
    assert "--encoding cp1252" in refused.err
    named = ("windows.csv", "--encoding", "cp1252")
    done = mercer_command("train", *named, "--folds", "0", "--no-scale")
    assert done.code == 0
    assert "text encoding cp1252" in done.err
    assert mercer_command("verify", "windows.mercer", *named).code == 0
    assert mercer_command("verify", "windows.mercer", "excel.csv").code == 0
    assert mercer_command("report", "windows.mercer", *named, "--folds", "0").code == 0
    for command in ("evaluate", "predict"):
        one = mercer_command(command, "windows.mercer", *named)
        other = mercer_command(command, "windows.mercer", "excel.csv")
        assert (one.code, one.err, one.out) == (0, "", other.out)
    for command in ("search", "path"):
        done = mercer_command(command, *named, "--time-limit", "20", "--json")
        assert done.code == 0
    assert (
        "encoding='klingon' is not a known encoding"
        in mercer_command("train", "windows.csv", "--encoding", "klingon").err
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_mistake_leaves_older_predictions_alone(mercer_command, people, tmp_path, ending):
    assert mercer_command("train", "people.csv", "--folds", "0").code == 0
    output = tmp_path / f"out.{ending}"
    assert mercer_command("predict", "people.mercer", "people.csv", "-o", output).code == 0
    before = output.read_bytes()
    rows = (tmp_path / "people.csv").read_text().splitlines()
    (tmp_path / "cut.csv").write_text("\n".join([*rows[:60], "1,2"]))
    done = mercer_command("predict", "people.mercer", "cut.csv", "-o", output, "--batch-rows", "10")
    assert done.code == 2
    assert output.read_bytes() == before
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob(".*.part"))
    missing = mercer_command(
        "predict", "people.mercer", "people.csv", "-o", tmp_path / "no" / f"out.{ending}"
    )
    assert (missing.code, "there is no such folder" in missing.err) == (2, True)
    assert mercer_command("predict", "people.mercer", "people.csv", "-o", "/dev/null").code == 0


def test_the_command_that_a_search_proposes_runs_as_it_stands(mercer_command, people, tmp_path):
    text = (tmp_path / "people.csv").read_text().replace("Oslo", "Malmö").replace(",", ";")
    (tmp_path / "my people.csv").write_bytes(text.encode("cp1252"))
    how = ("--encoding", "cp1252", "--separator", ";", "--header")
    what = (
        "--exclude",
        "income",
        "--kernel",
        "linear",
        "--no-scale",
        "--task",
        "classify",
        "--impute",
        "mean",
    )
    done = mercer_command("search", "my people.csv", "--target", "buys", "--folds", "2", *how, *what)
    assert done.code == 0
    line = next(line for line in done.out.splitlines() if "train with" in line)
    words = shlex.split(line.partition(": mercer ")[2])
    assert words[:4] == ["train", "my people.csv", "--target", "buys"]
    assert {"cp1252", ";", "--header", "income", "linear", "--no-scale", "classify", "mean"} <= set(words)
    trained = mercer_command(*words, "--folds", "0", "--json")
    assert trained.code == 0
    assert trained.json["data"]["features"] == 2
    assert trained.json["kernel"] == "Linear()"


def test_a_first_row_that_counts_as_data_is_told(mercer_command, tmp_path):
    rows = "".join(f"{k % 7},{k % 5},{'no' if k % 7 < 3 else 'yes'}\n" for k in range(60))
    (tmp_path / "data.csv").write_text("2019,2020,answer\n" + rows)
    assert "the first row contains numbers and is taken as data" in mercer_command("train", "data.csv").err
    done = mercer_command("train", "data.csv", "--header")
    assert "the target 'answer' has 2 different values" in done.err
    assert "is taken as data" not in done.err
    (tmp_path / "data.csv").write_text(rows)
    assert "is taken as data" not in mercer_command("train", "data.csv", "--no-header").err


def test_a_label_that_is_new_is_named_plainly(mercer_command, people):
    mercer_command("train", "people.csv", "--folds", "0")
    done = mercer_command("verify", "people.mercer", "people.csv", "--target", "age")
    assert done.code == 2
    assert "np." not in done.err


def test_an_interrupt_is_no_traceback(monkeypatch, capsys):
    from mercer import cli

    def stopped(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.libsvm, "_tool", lambda tool: stopped)
    assert cli.run(["svm-train", "data"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    monkeypatch.setattr(cli, "run", stopped)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130


def test_a_model_of_another_kind_is_named(mercer_command, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.5\n-1 1:-0.5\n")
    (tmp_path / "other.model").write_bytes(b"\x10\x02\0\0\0\0\0\0{}\nmore\n")
    done = mercer_command("svm-predict", "a.svm", "other.model", "out.txt")
    assert done.code == 1
    assert "can't open model file other.model: it does not begin as model files of LIBSVM do" in done.err
    assert not (tmp_path / "out.txt").exists()
