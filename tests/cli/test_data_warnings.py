"""Columns and results that deserve a word: row numbers, dates, numbers in disguise, classes nobody finds."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

pytest.importorskip("typer")
pytest.importorskip("pandas")

from mercer.cli.text_columns import disguise

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(120, 2)), 3)
KIND = np.where(X[:, 1] + 0.3 * RNG.normal(size=120) > 0, "up", "down")


def table(name, cells, last=KIND):
    lines = [f"{name},b,kind", *(f'"{c}",{b},{k}' for c, b, k in zip(cells, X[:, 1], last, strict=True))]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ([f"${k}.50" for k in range(20)], "numbers written with '$'"),
        ([f"{k} €" for k in range(20)], "numbers written with '€'"),
        ([f"{k}%" for k in range(20)], "numbers written with '%'"),
        ([f"1,{k:03d}" for k in range(20)], "numbers written with ','"),
        ([f"1 {k:03d}" for k in range(20)], "numbers written with spaces"),
        ([f"${k},123.45" for k in range(1, 20)], "numbers written with '$' and ','"),
        ([f"{k}kg" for k in range(20)], "numbers written with 'kg'"),
        ([f"USD {k}" for k in range(20)], "numbers written with 'USD'"),
        ([*map(str, range(30)), "unknown"], "30 different numbers, but also 'unknown'"),
        ([*map(str, range(30)), "-", "n.d."], "30 different numbers, but also '-', 'n.d.'"),
        ([f"C{k}" for k in range(20)], None),
        ([f"{k}{'abcd'[k % 4]}" for k in range(20)], None),
        ([f"2024-01-{k:02d}" for k in range(1, 20)], None),
        (["red", "green", "blue", "10%", "20%", "30%"], None),
        (["10%", "20%", "30%"], None),
        ([f"word {k}" for k in range(20)], None),
    ],
)
def test_numbers_in_disguise(kinds, words):
    assert disguise(kinds) == words


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"${100 + 7 * k % 41}" for k in range(120)], "numbers written with '$': each of the 41 texts"),
        (range(120), "column 'x' looks like a row number"),
        (RNG.permutation(120) + 5000, "column 'x' looks like a row number"),
        (1_700_000_000 + 60 * np.arange(120), "column 'x' looks like a row number"),
    ],
)
def test_doubtful_columns_are_used_but_not_in_silence(mercer_command, tmp_path, cells, words):
    (tmp_path / "data.csv").write_text(table("x", cells))
    done = mercer_command("train", "data.csv", "--folds", "0")
    assert done.code == 0
    assert done.err.count("warning:") == 1
    assert words in done.err
    assert words in " ".join(mercer_command("train", "data.csv", "--folds", "0", "--json").json["warnings"])
    assert words in mercer_command("search", "data.csv", "--folds", "2").err
    without = mercer_command("train", "data.csv", "--folds", "0", "--exclude", "x")
    assert (without.code, "warning" in without.err) == (0, False)


@pytest.mark.parametrize("name", ["id", "customer_id", "CustomerID", "row index", "ID_2"])
def test_a_name_that_says_so(mercer_command, tmp_path, name):
    cells = 1000 + 17 * RNG.permutation(120)
    (tmp_path / "data.csv").write_text(table(name, cells))
    assert "looks like an identifier" in mercer_command("train", "data.csv", "--folds", "0").err


@pytest.mark.parametrize("name", ["width", "acid", "idle time", "humid", "grid"])
def test_other_columns_are_no_matter_of_doubt(mercer_command, tmp_path, name):
    cells = 1000 + 17 * RNG.permutation(120)
    (tmp_path / "data.csv").write_text(table(name, cells))
    done = mercer_command("train", "data.csv", "--folds", "0")
    assert (done.code, "warning" in done.err) == (0, False)


def test_numbers_that_cannot_be_kinds_are_refused_with_the_way_out(mercer_command, tmp_path):
    (tmp_path / "data.csv").write_text(table("x", [f"${k},{100 + k}" for k in range(120)]))
    done = mercer_command("train", "data.csv")
    assert done.code == 2
    assert "column 'x' holds numbers written with '$' and ','" in done.err
    assert "write them as plain numbers, such as 1234.5" in done.err
    assert "--exclude x" in done.err
    (tmp_path / "data.csv").write_text(table("x", ["unknown", *(f"{k}.5" for k in range(119))]))
    assert "119 different numbers, but also 'unknown'" in mercer_command("train", "data.csv").err
    prices = [f"{k} €" for k in range(120)]
    (tmp_path / "data.csv").write_text(table("x", X[:, 0], prices))
    assert "the target 'kind' holds numbers written with '€'" in mercer_command("train", "data.csv").err
    (tmp_path / "data.csv").write_text(table("x", X[:, 0], [f"{k % 12} €" for k in range(120)]))
    done = mercer_command("train", "data.csv", "--folds", "0")
    assert "each of the 12 texts is treated as a class" in done.err


def test_a_machine_that_knows_one_answer_is_told(mercer_command, tmp_path):
    rare = np.where(np.arange(120) % 15 == 0, "fraud", "fine")
    (tmp_path / "data.csv").write_text(table("x", RNG.normal(size=120), rare))
    plain = ["--C", "0.1", "--class-weight", "none"]
    done = mercer_command("train", "data.csv", "--folds", "0", *plain)
    assert "not useful: it predicts 'fine' for every row" in done.out
    assert "the model predicts 'fine' for every held-out row" in done.err
    assert "--class-weight balanced" in done.err
    kept = train_test_split(np.arange(120), test_size=0.25, random_state=0)[0][0]
    once = np.where(np.arange(120) == kept, "fraud", KIND)
    (tmp_path / "data.csv").write_text(table("x", X[:, 0], once))
    done = mercer_command("train", "data.csv", "--folds", "0")
    assert "no row of the class 'fraud' (1 in all) was held out" in done.err


def test_what_nothing_can_be_learned_from_is_refused(mercer_command, tmp_path):
    place = tmp_path / "data.csv"
    place.write_text(table("x", [""] * 120))
    done = mercer_command("train", "data.csv", "--impute", "median")
    assert (done.code, "has no values in column 'x'. Drop it: --exclude x" in done.err) == (2, True)
    place.write_text(table("x", ["-inf" if k == 9 else k * k for k in range(120)]))
    done = mercer_command("train", "data.csv")
    assert (done.code, "column 'x' of data.csv is infinite in row 10" in done.err) == (2, True)
    place.write_text(table("x", [k * k for k in range(120)]))
    assert mercer_command("train", "data.csv", "--folds", "0").code == 0
    (tmp_path / "new.csv").write_text("x,b\n1,2\n3,inf\n")
    done = mercer_command("predict", "data.mercer", "new.csv")
    assert (done.code, "column 'b' of new.csv is infinite in row 2" in done.err) == (2, True)
    place.write_text(table("x", X[:, 0], [0.1] * 120))
    done = mercer_command("train", "data.csv")
    assert (done.code, "is constant, 0.1: there is nothing to learn" in done.err) == (2, True)
    place.write_text("a,b,y\n" + "".join(f"1,same,{k % 2}\n" for k in range(40)))
    done = mercer_command("train", "data.csv")
    assert (done.code, "every feature of data.csv is constant" in done.err) == (2, True)


def test_names_are_told_before_gaps(mercer_command, tmp_path):
    names = ["" if k == 3 else f"Smith, John {k}" for k in range(120)]
    (tmp_path / "data.csv").write_text(table("x", names))
    assert "--exclude x" in mercer_command("train", "data.csv").err


def test_rows_that_are_twice_in_the_file(mercer_command, tmp_path):
    text = table("x", X[:, 0])
    head, *rows = text.splitlines()
    (tmp_path / "data.csv").write_text("\n".join([head, *rows * 3]))
    done = mercer_command("train", "data.csv", "--folds", "0")
    assert "held-out rows have duplicates among the training rows" in done.err
    words = text.replace("up", "up,red").replace("down", "down,blue").replace("kind", "kind,colour")
    head, *rows = words.splitlines()
    (tmp_path / "data.csv").write_text("\n".join([head, *rows * 3]))
    done = mercer_command("train", "data.csv", "--folds", "0", "--target", "kind")
    assert "held-out rows have duplicates among the training rows" in done.err
    (tmp_path / "data.csv").write_text(words)
    assert "an equal" not in mercer_command("train", "data.csv", "--folds", "0", "--target", "kind").err
