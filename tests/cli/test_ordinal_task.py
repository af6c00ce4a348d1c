"""``mercer train --task ordinal``: ordered classes from a table."""

import numpy as np
import pytest

import mercer


@pytest.fixture
def grades(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)).round(3)
    y = np.digitize(X @ [1.0, 0.7] + 0.3 * rng.normal(size=150), [-1.0, 0.0, 1.0]) + 1
    place = tmp_path / "grades.csv"
    lines = [f"{a},{b},{g}" for (a, b), g in zip(X, y, strict=True)]
    place.write_text("a,b,grade\n" + "\n".join(lines) + "\n")
    return place


def test_ordered_classes_from_a_table(grades, mercer_command):
    said = mercer_command("train", grades, "--target", "grade", "--task", "ordinal", "--C", "10", "--json",
                          "--class-weight", "balanced")  # fmt: skip
    assert said.code == 0, said.err
    document = said.json
    assert document["task"] == "ordinal"
    assert document["machine"] == "OrdinalSVC"
    assert document["parameters"]["C"] == 10
    assert document["parameters"]["class_weight"] == "balanced"
    model = mercer.load(grades.with_suffix(".mercer"))
    assert model[-1].thresholds_.size == 3
    assert (np.diff(model[-1].thresholds_) >= 0).all()
    assert document["certificate"]["status"] == "optimal"


@pytest.mark.parametrize(
    "options", [["--nu", "0.1"], ["--probability"], ["--search"], ["--threshold", "0.5"], ["--machine", "gp"]]
)
def test_what_ordered_classes_do_not_have_is_refused(grades, mercer_command, options):
    said = mercer_command("train", str(grades), "--target", "grade", "--task", "ordinal", *options)
    assert said.code != 0
    assert "--task ordinal" in said.err or "--threshold needs" in said.err


def test_texts_have_no_order(tmp_path, mercer_command):
    place = tmp_path / "words.csv"
    place.write_text("a,size\n" + "".join(f"{k},{'low' if k % 2 else 'high'}\n" for k in range(40)))
    said = mercer_command("train", str(place), "--target", "size", "--task", "ordinal")
    assert said.code != 0
    assert "number the classes from lowest to highest" in " ".join(said.err.split())
